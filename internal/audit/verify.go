package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// The kinds of breaks.
const (
	BreakChanged   = "changed"   // an entry is not what its hash says
	BreakMissing   = "missing"   // entries are gone, or out of order
	BreakReplaced  = "replaced"  // a checkpoint knows another entry in its place
	BreakTail      = "tail"      // a checkpoint knows entries behind the last one
	BreakSignature = "signature" // a checkpoint is not signed by the instance
)

// Break is the first place at which an audit is not what was written.
type Break struct {
	Seq     int64  `json:"seq" doc:"The first entry that is wrong or gone"`
	Kind    string `json:"kind" enum:"changed,missing,replaced,tail,signature"`
	Message string `json:"message"`
}

// Verifier checks the entries of one workspace in their order.
type Verifier struct {
	publicKey   string
	checkpoints []Checkpoint // by seq, ascending, of those behind the start
	next        int64        // the seq of the next entry; 0 = any, of a part without its beginning
	previous    string
	entries     int64
	first       int64
	broken      *Break
}

// Start is where a verification begins.
type Start struct {
	Workspace string // "" = not known: what stands before the first entry is not checked
	// After is the seq of a checkpoint behind which the verification begins: what is before it
	// was verified earlier. Defaults to 0: the beginning of the chain.
	After int64
	// Part allows a first entry that is not the beginning of the chain.
	Part bool
}

// NewVerifier returns a Verifier with checkpoints that the holder of publicKey must have
// signed.
func NewVerifier(start Start, publicKey string, checkpoints []Checkpoint) *Verifier {
	v := &Verifier{publicKey: publicKey, next: 1}
	if start.Workspace != "" {
		v.previous = Genesis(start.Workspace)
	}
	for _, c := range checkpoints {
		switch signed := c.SignedBy(publicKey); {
		case !signed || start.Workspace != "" && c.Workspace != start.Workspace:
			v.fail(c.Seq, BreakSignature, "the %s of %s at entry %d has no valid signature of this instance", c.Kind, c.At.Format(time.RFC3339), c.Seq)
		case c.Seq >= v.next && (c.Kind == KindCut || c.Seq == start.After):
			v.next, v.previous = c.Seq+1, c.Hash
		case c.Kind == KindCheckpoint:
			v.checkpoints = append(v.checkpoints, c)
		}
	}
	if start.Part && v.next == 1 {
		v.next, v.previous = 0, ""
	}
	slices.SortStableFunc(v.checkpoints, func(a, b Checkpoint) int { return cmp.Compare(a.Seq, b.Seq) })
	v.checkpoints = slices.DeleteFunc(v.checkpoints, func(c Checkpoint) bool { return c.Seq < v.next })
	return v
}

func (v *Verifier) fail(seq int64, kind, format string, args ...any) {
	if v.broken == nil || seq < v.broken.Seq {
		v.broken = &Break{Seq: seq, Kind: kind, Message: fmt.Sprintf(format, args...)}
	}
}

// Next checks the next entry. It reports false once a link is broken: the entries behind it
// say nothing more.
func (v *Verifier) Next(e Entry) bool {
	if v.next == 0 {
		v.next, v.previous = e.Seq, e.Previous
	}
	if v.first == 0 {
		v.first = e.Seq
	}
	if v.previous == "" && v.entries == 0 {
		v.previous = e.Previous
	}
	switch {
	case e.Seq != v.next:
		v.fail(v.next, BreakMissing, "entry %d is not in its place: entry %d stands there", v.next, e.Seq)
	case e.Hash != e.Sum():
		v.fail(e.Seq, BreakChanged, "entry %d was changed: its hash is of other contents", e.Seq)
	case e.Previous != v.previous:
		v.fail(e.Seq, BreakReplaced, "entry %d does not follow the entry before it: one of them was replaced", e.Seq)
	default:
		v.compare(e)
	}
	if v.broken != nil && v.broken.Seq <= e.Seq {
		return false
	}
	v.next, v.previous, v.entries = e.Seq+1, e.Hash, v.entries+1
	return true
}

// compare compares an entry with the checkpoints at its place.
func (v *Verifier) compare(e Entry) {
	for len(v.checkpoints) > 0 && v.checkpoints[0].Seq <= e.Seq {
		c := v.checkpoints[0]
		v.checkpoints = v.checkpoints[1:]
		if c.Seq == e.Seq && c.Hash != e.Hash {
			v.fail(e.Seq, BreakReplaced, "entry %d is another one than at the checkpoint of %s: the audit was replaced", e.Seq, c.At.Format(time.RFC3339))
		}
	}
}

// Report is what a verification found.
type Report struct {
	Entries   int64  `json:"entries" doc:"How many entries were checked"`
	First     int64  `json:"first" doc:"The first of them; 0 = there are none"`
	Last      int64  `json:"last"`
	Hash      string `json:"hash" doc:"The hash of the last of them"`
	Broken    *Break `json:"broken" doc:"The first broken link; null: there is none"`
	PublicKey string `json:"public_key" doc:"The key that checks the signatures of checkpoints"`
}

// Report ends the verification: entries that a checkpoint knows must have come.
func (v *Verifier) Report() Report {
	if len(v.checkpoints) > 0 {
		c := v.checkpoints[len(v.checkpoints)-1]
		if last := max(v.next-1, 0); v.broken == nil && c.Seq > last {
			v.fail(last+1, BreakTail, "the entries %d to %d are gone, which the checkpoint of %s knows", last+1, c.Seq, c.At.Format(time.RFC3339))
		}
	}
	r := Report{Entries: v.entries, First: v.first, Broken: v.broken, PublicKey: v.publicKey}
	if v.entries > 0 {
		r.Last, r.Hash = v.next-1, v.previous
	}
	return r
}
