package audit

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxDocuments bounds the documents that one entry names. Those beyond it are in further
// entries of the request.
const maxDocuments = 500

// Trail collects what one request does, and has its rows kept. It is safe for concurrent
// use. All functions do nothing without a Trail in ctx.
type Trail struct {
	recorder *Recorder
	text     bool        // keep questions as they are
	failed   func(error) // is told of rows that nobody waited for

	mu      sync.Mutex
	row     Row
	details Details
	known   map[string]bool // documents that a row names, or will
	fresh   []string        // documents that no row names yet
	changes bool            // the store writes a row with the first change
	opened  bool            // it did
	parts   int             // rows that were made for the recorder
}

// Config is how questions are kept.
type Config struct {
	// Questions keeps the words of questions. Defaults to false: their hashes are kept.
	Questions bool
	// Failed is told of rows that nobody waited for and that could not be kept. Defaults to
	// nobody.
	Failed func(error)
}

// NewTrail returns the Trail of a request. A nil recorder keeps nothing.
func NewTrail(cfg Config, recorder *Recorder, id, address string) *Trail {
	if cfg.Failed == nil {
		cfg.Failed = func(error) {}
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	return &Trail{
		recorder: recorder, text: cfg.Questions, failed: cfg.Failed,
		row: Row{ID: id, Entry: Entry{At: now, RequestID: id, Address: clean(address)}},
	}
}

type trailKey struct{}

// With returns a context with a Trail.
func With(ctx context.Context, t *Trail) context.Context {
	return context.WithValue(ctx, trailKey{}, t)
}

func of(ctx context.Context) *Trail {
	t, _ := ctx.Value(trailKey{}).(*Trail)
	if t == nil || t.recorder == nil {
		return nil
	}
	return t
}

// Without returns a context in which nothing is the change of a request.
func Without(ctx context.Context) context.Context {
	return context.WithValue(ctx, trailKey{}, (*Trail)(nil))
}

// Action is what a request asks for.
type Action struct {
	Name    string   // the operationId of its route
	Object  string   // what its path names
	Path    []string // what its path names beside it
	Changes bool     // it may change something
}

// Begin notes that a request is written down, whatever comes of it.
func (t *Trail) Begin(a Action, s Sender) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changes = a.Changes
	t.describe(a, s)
}

// Sender is who sent a request.
type Sender struct {
	Actor     string // "" = nobody is known
	For       string // for whom a key acts
	Session   bool
	Link      bool
	Workspace string // of the sender
	Named     string // the workspace that a refused request names
}

// SenderOf returns the sender whose principal a request has.
func SenderOf(p knowledge.Principal) Sender {
	s := Sender{Workspace: p.Workspace(), Actor: "user:" + p.User()}
	if key := p.KeyID(); key != "" {
		s.Actor = "key:" + key
		switch {
		case p.User() != "":
			s.For = "user:" + p.User()
		case p.ExternalUser() != "":
			s.For = "external:" + p.ExternalUser()
		}
	} else if p.ExternalUser() != "" {
		s.Actor = "external:" + p.ExternalUser()
	}
	return s
}

// describe is called with mu held.
func (t *Trail) describe(a Action, s Sender) {
	e := &t.row.Entry
	e.Action, t.details.Path = a.Name, nil
	for _, p := range a.Path {
		t.details.Path = append(t.details.Path, clean(p))
	}
	if a.Object != "" {
		e.Object = clean(a.Object)
	}
	if e.Actor == "" || s.Actor != "" {
		e.Actor = clean(s.Actor)
	}
	if e.Actor == "" {
		e.Actor = "anonymous"
	}
	if t.row.Workspace == "" || s.Workspace != "" {
		t.row.Workspace = clean(s.Workspace)
	}
	t.details.For, t.details.Session, t.details.Link, t.details.Workspace = clean(s.For), s.Session, s.Link, clean(s.Named)
}

// Opening returns the row that a transaction writes with the first change of a request; ok is
// false if it writes none. Its outcome is that of a request that never ends.
func Opening(ctx context.Context) (row Row, ok bool) {
	t := of(ctx)
	if t == nil {
		return row, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.changes || t.opened || t.parts > 0 {
		return row, false
	}
	row = t.row
	row.Entry.Outcome, row.Entry.Details = OutcomeInterrupted, t.details.encode()
	return row, true
}

// Opened notes that the transaction with the row of Opening is committed.
func Opened(ctx context.Context) {
	if t := of(ctx); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.opened = true
	}
}

// Answer keeps the row of a request before its answer is sent: outcome is OutcomeOK or a
// code. It describes the request again, because a handler may have found out who sent it.
// Later calls do nothing.
func (t *Trail) Answer(ctx context.Context, a Action, s Sender, status int, outcome string) error {
	if t.recorder == nil {
		return nil
	}
	t.mu.Lock()
	if t.parts > 0 {
		t.mu.Unlock()
		return nil
	}
	t.describe(a, s)
	t.row.Entry.Outcome, t.details.Status = outcome, status
	opened := t.opened
	first := t.takeRow(!opened)
	t.mu.Unlock()
	if opened { // the row in the database names no documents: those that left are in the next row
		t.recorder.Finish(first)
	} else if err := t.recorder.Record(ctx, first); err != nil {
		return err
	}
	return t.Commit(ctx)
}

// HasDocuments reports whether there are documents that no row names yet.
func (t *Trail) HasDocuments() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.fresh) > 0
}

// Replayed notes that the answer is the stored one of an earlier request.
func (t *Trail) Replayed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.details.Replayed = true
}

// takeRow returns the next row, if documents is set with up to maxDocuments of those that no
// row names yet. It is called with mu held.
func (t *Trail) takeRow(documents bool) Row {
	t.parts++
	row, details := t.row, t.details
	if documents {
		n := min(len(t.fresh), maxDocuments)
		details.Documents, t.fresh = t.fresh[:n], t.fresh[n:]
	}
	if t.parts > 1 {
		details.Part = t.parts
		row.ID += "/" + strconv.Itoa(t.parts)
	}
	row.Entry.Details = details.encode()
	return row
}

// Commit keeps the rows of documents that were noted since the row of Answer. Those of a run
// that the request has started do not wait for a commit: the row that names the run was
// committed with it, and the run's record, which has its sources, before its words are shown.
func (t *Trail) Commit(ctx context.Context) error {
	for t.recorder != nil {
		t.mu.Lock()
		if t.parts == 0 || len(t.fresh) == 0 {
			t.mu.Unlock()
			return nil
		}
		row, follows := t.takeRow(true), t.opened && t.details.Run != ""
		t.mu.Unlock()
		if follows {
			t.recorder.Follow(ctx, row, t.failed)
			continue
		}
		if err := t.recorder.Record(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// Commit keeps the rows of documents that were noted, for an answer whose bytes do not pass
// the writer of the router.
func Commit(ctx context.Context) error {
	if t := of(ctx); t != nil {
		return t.Commit(ctx)
	}
	return nil
}
