package audit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/audit"
)

// at is when the entries of a test begin.
func at(n int) time.Time { return time.Date(2026, 3, 1, 9, 0, n, 123000, time.UTC) }

// chain returns a chain of n entries of a workspace.
func chain(workspace string, n int) []audit.Entry {
	var list []audit.Entry
	previous := audit.Genesis(workspace)
	for i := 1; i <= n; i++ {
		e := audit.Entry{
			At: at(i), Actor: "key:a", Action: "get-chunk", Object: fmt.Sprintf("chunk-%d", i), Outcome: audit.OutcomeOK,
			RequestID: fmt.Sprintf("request-%d", i), Address: "192.0.2.7", Details: json.RawMessage(`{"status":200,"documents":["d<1>"]}`),
		}.Link(int64(i), previous)
		list, previous = append(list, e), e.Hash
	}
	return list
}

// verified checks a chain.
func verified(start audit.Start, entries []audit.Entry, key string, checkpoints ...audit.Checkpoint) audit.Report {
	v := audit.NewVerifier(start, key, checkpoints)
	for _, e := range entries {
		if !v.Next(e) {
			break
		}
	}
	return v.Report()
}

func signer() audit.Signer { return audit.NewSigner([]byte("the key of the instance")) }

// checkpoint is what the chain had at an entry.
func checkpoint(kind string, e audit.Entry) audit.Checkpoint {
	return signer().Sign(audit.Checkpoint{Kind: kind, Workspace: "acme", Seq: e.Seq, Hash: e.Hash, At: at(59)})
}

func TestVerify(t *testing.T) {
	t.Parallel()
	whole := chain("acme", 9)
	head := checkpoint(audit.KindCheckpoint, whole[8])
	forged := head
	forged.Seq, forged.Hash = 7, whole[6].Hash
	rewritten := slices.Clone(whole) // an entry is other, and all hashes behind it fit
	rewritten[3].Actor = "key:b"
	for i := 3; i < len(rewritten); i++ {
		rewritten[i] = rewritten[i].Link(int64(i+1), rewritten[i-1].Hash)
	}
	change := func(edit func(list []audit.Entry) []audit.Entry) []audit.Entry { return edit(slices.Clone(whole)) }
	for name, c := range map[string]struct {
		start       audit.Start
		entries     []audit.Entry
		checkpoints []audit.Checkpoint
		seq         int64 // 0 = nothing is broken
		kind        string
	}{
		"a whole chain":         {entries: whole, checkpoints: []audit.Checkpoint{head}},
		"no entries":            {},
		"changed bytes":         {entries: change(func(l []audit.Entry) []audit.Entry { l[3].Object = "chunk-5"; return l }), seq: 4, kind: audit.BreakChanged},
		"changed details":       {entries: change(func(l []audit.Entry) []audit.Entry { l[3].Details = json.RawMessage(`{}`); return l }), seq: 4, kind: audit.BreakChanged},
		"a deleted entry":       {entries: change(func(l []audit.Entry) []audit.Entry { return slices.Delete(l, 3, 4) }), seq: 4, kind: audit.BreakMissing},
		"the first deleted":     {entries: whole[1:], seq: 1, kind: audit.BreakMissing},
		"two in another order":  {entries: change(func(l []audit.Entry) []audit.Entry { l[3], l[4] = l[4], l[3]; return l }), seq: 4, kind: audit.BreakMissing},
		"contents that swapped": {entries: change(func(l []audit.Entry) []audit.Entry { l[3].Seq, l[4].Seq = 5, 4; l[3], l[4] = l[4], l[3]; return l }), seq: 4, kind: audit.BreakChanged},
		"an entry of its own": {entries: change(func(l []audit.Entry) []audit.Entry {
			l[3].Actor = "key:b"
			l[3] = l[3].Link(4, l[3].Previous)
			return l
		}), seq: 5, kind: audit.BreakReplaced},
		"another workspace":       {entries: chain("other", 9), seq: 1, kind: audit.BreakReplaced},
		"a tail that was cut":     {entries: whole[:6], checkpoints: []audit.Checkpoint{head}, seq: 7, kind: audit.BreakTail},
		"all entries gone":        {checkpoints: []audit.Checkpoint{head}, seq: 1, kind: audit.BreakTail},
		"a log that was replaced": {entries: rewritten, checkpoints: []audit.Checkpoint{head}, seq: 9, kind: audit.BreakReplaced},
		"the same without one":    {entries: rewritten},
		"a forged checkpoint":     {entries: whole, checkpoints: []audit.Checkpoint{forged}, seq: 7, kind: audit.BreakSignature},
		"what the retention cut":  {entries: whole[4:], checkpoints: []audit.Checkpoint{checkpoint(audit.KindCut, whole[3]), head}},
		"more than that":          {entries: whole[5:], checkpoints: []audit.Checkpoint{checkpoint(audit.KindCut, whole[3]), head}, seq: 5, kind: audit.BreakMissing},
		"behind a checkpoint":     {start: audit.Start{After: 9}, entries: nil, checkpoints: []audit.Checkpoint{head}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.start.Workspace = "acme"
			report := verified(c.start, c.entries, signer().PublicKey(), c.checkpoints...)
			switch {
			case c.seq == 0 && report.Broken != nil:
				t.Errorf("broken: %+v", *report.Broken)
			case c.seq > 0 && (report.Broken == nil || report.Broken.Seq != c.seq || report.Broken.Kind != c.kind):
				t.Errorf("broken: %+v, want %s at %d", report.Broken, c.kind, c.seq)
			}
		})
	}
}

func TestCheckpointsNeedTheKey(t *testing.T) {
	t.Parallel()
	c := checkpoint(audit.KindCheckpoint, chain("acme", 1)[0])
	if !c.SignedBy(signer().PublicKey()) {
		t.Error("a checkpoint is not signed by its signer")
	}
	if c.SignedBy(audit.NewSigner([]byte("another key")).PublicKey()) {
		t.Error("a checkpoint is signed by another instance")
	}
	for name, change := range map[string]func(*audit.Checkpoint){
		"kind": func(c *audit.Checkpoint) { c.Kind = audit.KindCut }, "workspace": func(c *audit.Checkpoint) { c.Workspace = "other" },
		"seq": func(c *audit.Checkpoint) { c.Seq++ }, "hash": func(c *audit.Checkpoint) { c.Hash = "" }, "at": func(c *audit.Checkpoint) { c.At = c.At.Add(time.Second) },
	} {
		other := c
		if change(&other); other.SignedBy(signer().PublicKey()) {
			t.Errorf("a checkpoint with another %s is signed", name)
		}
	}
}
