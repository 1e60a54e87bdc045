package api

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// documentRemovals starts the removals of documents.
type documentRemovals struct {
	store    Store
	dispatch Dispatcher
	views    *views
	now      func() time.Time
}

func (dr *documentRemovals) removeDocument(ctx context.Context, p knowledge.Principal, project, id string) (*removedOutput, error) {
	if project != "" {
		d, err := dr.store.Document(ctx, p, id)
		if err != nil {
			return nil, fmt.Errorf("read document %s: %w", id, err)
		}
		if found, err := dr.store.Project(ctx, p, project); err != nil {
			return nil, fmt.Errorf("read project %s: %w", project, err)
		} else if found.ID != d.Project {
			return nil, knowledge.NotFound("document", id)
		}
	}
	removal, err := dr.start(ctx, p, knowledge.NewID(), id)
	if err != nil {
		return nil, err
	}
	out := &removedOutput{Run: removal.RunID, Events: dr.views.eventsURL(p, removal.RunID)}
	out.Body.ID, out.Body.Status, out.Body.RunID = id, knowledge.StatusDeleting, removal.RunID
	return out, nil
}

// start hides a document and starts its removal, in a run of this id unless one
// runs already.
func (dr *documentRemovals) start(ctx context.Context, p knowledge.Principal, run, id string) (store.Removal, error) {
	removal, err := dr.store.MarkRemoving(ctx, p, id, run, dr.now())
	if err != nil {
		return removal, fmt.Errorf("remove document %s: %w", id, err)
	}
	// The removal is accepted: a client that leaves must not keep it from starting.
	starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), removePatience)
	defer cancel()
	if err := dr.dispatch.Remove(starting, removal); err != nil {
		// The document is hidden and its removal is on record; it is started later.
		edge.RequestLog(ctx).WarnContext(ctx, "removal starts later", "document", id, "run", removal.RunID, "error", err)
	}
	return removal, nil
}
