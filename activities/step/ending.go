package step

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// RunEnder ends runs. It is the only code that does so, apart from the publication
// of a version that ends its run in the same transaction, and runs that end on a
// full disk.
type RunEnder struct {
	Blobs interface {
		// PutAll stores blobs. After an error some may be stored.
		PutAll(ctx context.Context, items ...blob.Item) error
	}
	Runs RunEnds
	Hub  interface {
		Finish(run string, items []stream.Item)
	}
}

// RunEnds is the part of the store that ends runs.
type RunEnds interface {
	// RunForSystem returns a run; CodeNotFound if there is none.
	RunForSystem(ctx context.Context, workspace, id string) (store.Run, error)
	// EndAnswer stores how a run ended and the messages that it leaves, in one
	// transaction. Only the first end of a run is stored.
	EndAnswer(ctx context.Context, workspace, id string, end store.RunEnd, messages ...store.Message) error
}

// End stores the whole log of a run, its end and its messages, and then passes the
// log to the readers in this process. items ends with the items of e. End changes
// nothing if the run has ended. Its errors come from the stores.
func (r RunEnder) End(ctx context.Context, run knowledge.RunRef, items []stream.Item, e record.Ending, messages ...store.Message) error {
	before, err := r.Runs.RunForSystem(ctx, run.Workspace, run.Run)
	if err != nil {
		return fmt.Errorf("read run %s: %w", run.Run, err)
	}
	if before.Status != knowledge.RunRunning {
		return nil
	}
	if err := r.store(ctx, run, items, e); err != nil {
		return fmt.Errorf("store the log of run %s: %w", run.Run, err)
	}
	if err := r.Runs.EndAnswer(ctx, run.Workspace, run.Run, e.RunEnd(run.LogKey(), time.Now().UTC()), messages...); err != nil {
		return fmt.Errorf("end run %s: %w", run.Run, err)
	}
	r.Hub.Finish(run.Run, items)
	return nil
}

// store stores the log of a run and its answer in one step.
func (r RunEnder) store(ctx context.Context, run knowledge.RunRef, items []stream.Item, e record.Ending) error {
	log, err := json.Marshal(stream.StoredLog{Items: items})
	if err != nil {
		return fmt.Errorf("encode the log: %w", err)
	}
	blobs := []blob.Item{{Key: run.LogKey(), Data: log}}
	if e.Record != nil {
		answer, err := json.Marshal(e.Record)
		if err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}
		blobs = append(blobs, blob.Item{Key: e.Answer, Data: answer})
	}
	return r.Blobs.PutAll(ctx, blobs...)
}
