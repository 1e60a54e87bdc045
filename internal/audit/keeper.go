package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// How often a Keeper does what.
const (
	keepEvery       = 5 * time.Second // a request for the audit does not wait for it
	checkpointEvery = time.Minute
	cutEvery        = time.Hour
	// interruptedAfter is how long a change may take whose row waits for its end. In a
	// process that is alone, those of earlier processes are not waited for.
	interruptedAfter = 30 * time.Minute
	// page is how many entries are read at a time.
	page = 1000
)

// Batch is what the store adds to the chains at a time.
type Batch struct {
	Rows      []Row     // of a journal, and of changes that have ended
	Position  *Position // of the journal behind the rows; nil = there is none
	EndBefore time.Time // rows that wait since before are interrupted
}

// Head is the newest entry of a workspace.
type Head struct {
	Workspace string
	Seq       int64
	Hash      string
}

// Store keeps the chains. Its methods are for the process, not for a client.
type Store interface {
	// ExtendAudit adds a batch, and what waits in the database, to the chains of their
	// workspaces. more reports that there is more in the database. It is CodeConflict while
	// another process does so.
	ExtendAudit(ctx context.Context, b Batch) (more bool, err error)
	// AuditHeads lists the newest entry of each workspace.
	AuditHeads(ctx context.Context) ([]Head, error)
	// AuditLinks lists up to limit entries of a workspace behind a place, ascending.
	AuditLinks(ctx context.Context, workspace string, after int64, limit int) ([]Entry, error)
	// AuditCheckpoints lists the checkpoints of a workspace by their entries, ascending.
	AuditCheckpoints(ctx context.Context, workspace string) ([]Checkpoint, error)
	// PutAuditCheckpoint stores a checkpoint in the place of an earlier one of its day.
	PutAuditCheckpoint(ctx context.Context, c Checkpoint) error
	// CutAudit removes up to limit of the oldest entries of a workspace from before a time,
	// never the newest one, and stores the record that sign signs. removed is 0 if there are
	// none.
	CutAudit(ctx context.Context, workspace string, before time.Time, limit int, sign func(Checkpoint) Checkpoint) (cut Checkpoint, removed int64, err error)
}

// Outside keeps checkpoints where whoever changes the database does not reach.
type Outside interface {
	// Put stores a checkpoint in the place of an earlier one of its day.
	Put(ctx context.Context, c Checkpoint) error
	// List lists the checkpoints of a workspace.
	List(ctx context.Context, workspace string) ([]Checkpoint, error)
}

// Keeper brings rows into the chains, signs checkpoints and removes what is too old. Several
// processes may have one each. It is safe for concurrent use.
type Keeper struct {
	Store    Store
	Recorder *Recorder // of this process; nil = it serves no requests
	Journal  *Journal  // its sink; nil = the database is
	Signer   Signer
	Outside  Outside         // nil = checkpoints are in the database alone
	Days     int             // after which entries are removed; 0 = never
	Alone    bool            // no other process has rows that wait
	Log      *slog.Logger    // required
	Began    time.Time       // of this process
	mu       sync.Mutex      // one extension at a time
	broken   map[string]bool // workspaces whose broken chain was logged
	marks    sync.Mutex
}

// Run keeps rows until ctx ends, and then once more. sweeps has it sign checkpoints and remove
// entries too, which in a cluster a schedule does.
func (k *Keeper) Run(ctx context.Context, sweeps bool) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	var signed, cut time.Time
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			if k.Recorder != nil {
				k.Recorder.later.Wait()
			}
			k.warn(last, "rows of the audit stay in the journal until the next start", k.Keep(last))
			return
		}
		k.warn(ctx, "rows of the audit are not in the chain yet", k.Keep(ctx))
		if sweeps && time.Since(signed) >= checkpointEvery {
			signed = time.Now()
			k.warn(ctx, "the audit has no new checkpoint", k.Checkpoint(ctx))
		}
		if sweeps && k.Days > 0 && time.Since(cut) >= cutEvery {
			cut = time.Now()
			k.warn(ctx, "old entries of the audit were not removed", k.Cut(ctx))
		}
	}
}

func (k *Keeper) warn(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		k.Log.WarnContext(ctx, what, "error", err)
	}
}

// Once does all that Run does, once.
func (k *Keeper) Once(ctx context.Context) error {
	err := errors.Join(k.Keep(ctx), k.Checkpoint(ctx))
	if k.Days > 0 {
		err = errors.Join(err, k.Cut(ctx))
	}
	return err
}

// Keep brings all rows of this process, and those in the database, into their chains.
func (k *Keeper) Keep(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for more := true; more; {
		var err error
		if more, err = k.keep(ctx); err != nil {
			return fmt.Errorf("extend the audit: %w", err)
		}
	}
	return nil
}

// keep adds one batch. It does nothing while another process adds one: the next call has
// these rows too.
func (k *Keeper) keep(ctx context.Context) (more bool, err error) {
	b, journaled, finished := Batch{EndBefore: time.Now().Add(-interruptedAfter)}, 0, []Row(nil)
	if k.Alone && k.Began.After(b.EndBefore) {
		b.EndBefore = k.Began
	}
	if k.Journal != nil {
		rows, position := k.Journal.Take()
		if b.Rows, journaled = rows, len(rows); journaled > 0 {
			b.Position = &position
		}
	}
	if k.Recorder != nil {
		finished = k.Recorder.takeFinished()
		b.Rows = append(b.Rows, finished...)
	}
	if more, err = k.Store.ExtendAudit(ctx, b); err != nil {
		if k.Recorder != nil {
			k.Recorder.returnFinished(finished)
		}
		if knowledge.IsCode(err, knowledge.CodeConflict) {
			err = nil
		}
		return false, err
	}
	if k.Journal != nil {
		k.Journal.Done(journaled)
	}
	return more, nil
}
