package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/store"
)

// attributesLimit bounds how many documents one call of UpdateIndex updates.
const attributesLimit = 1000

// Attributes brings changes of documents into the index: tags, metadata,
// classification and access. The store records which documents the index still has
// to catch up with, so a change survives the process that made it. Safe for
// concurrent use.
type Attributes struct {
	Store interface {
		StaleInIndex(ctx context.Context, document string, limit int) ([]store.StaleDocument, error)
		InIndex(ctx context.Context, d store.StaleDocument) error
	}
	Index interface {
		SetAttributes(ctx context.Context, workspace, document string, version int, a index.Attributes) error
	}

	once sync.Once
	turn chan struct{} // held by one update at a time, so that an older read is never written last
}

// UpdateIndex copies the attributes of a document from SQL to the index, if the
// index has older ones. With document "" it does so for all such documents, at most
// attributesLimit. It blocks while another update runs. It is idempotent.
func (a *Attributes) UpdateIndex(ctx context.Context, document string) error {
	if document != "" {
		return a.update(ctx, document)
	}
	stale, err := a.Store.StaleInIndex(ctx, "", attributesLimit)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range stale { // others have their turn between two documents
		errs = append(errs, a.update(ctx, d.ID))
	}
	return errors.Join(errs...)
}

// update copies the attributes of one document.
func (a *Attributes) update(ctx context.Context, document string) error {
	a.once.Do(func() { a.turn = make(chan struct{}, 1) })
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	stale, err := a.Store.StaleInIndex(ctx, document, attributesLimit)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range stale {
		err := a.Index.SetAttributes(ctx, d.Workspace, d.ID, d.PublishedVersion, index.Attributes{
			Tags: d.Tags, ACL: d.ACL(), Classification: d.Classification, Metadata: d.Metadata,
		})
		if err == nil {
			err = a.Store.InIndex(ctx, d)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("bring document %s into the index: %w", d.ID, err))
		}
	}
	return errors.Join(errs...)
}
