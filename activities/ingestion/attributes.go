package ingestion

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
		StaleInIndex(ctx context.Context, limit int) ([]string, error)
		// LeaseStale makes this process the one that writes a document's attributes to
		// the index. leased is false if the index has them, or another process writes
		// them.
		LeaseStale(ctx context.Context, document string) (d store.StaleDocument, leased bool, err error)
		// InIndex ends the lease, unless the document has changed since.
		InIndex(ctx context.Context, d store.StaleDocument) (again bool, err error)
	}
	Index interface {
		SetAttributes(ctx context.Context, workspace, document string, version int, a index.Attributes) error
	}

	once sync.Once
	turn chan struct{} // held by one update of this process at a time; LeaseStale orders several processes
}

// UpdateIndex copies the attributes of a document from SQL to the index, if the
// index has older ones. With document "" it does so for all such documents, at most
// attributesLimit. It blocks while another update of this process runs. If another
// process writes the document, UpdateIndex leaves the newest change to it. It is
// idempotent.
func (a *Attributes) UpdateIndex(ctx context.Context, document string) error {
	if document != "" {
		return a.update(ctx, document)
	}
	stale, err := a.Store.StaleInIndex(ctx, attributesLimit)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range stale { // others have their turn between two documents
		errs = append(errs, a.update(ctx, id))
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
	for {
		d, leased, err := a.Store.LeaseStale(ctx, document)
		again := false
		if err == nil && leased {
			again, err = a.write(ctx, d)
		}
		if err != nil {
			return fmt.Errorf("bring document %s into the index: %w", document, err)
		}
		if !again {
			return nil
		}
	}
}

// write copies the attributes of a leased document. It reports whether they have changed
// meanwhile.
func (a *Attributes) write(ctx context.Context, d store.StaleDocument) (again bool, err error) {
	// A write that ends after the lease could replace newer attributes of another process.
	bounded, cancel := context.WithTimeout(ctx, d.Patience)
	defer cancel()
	err = a.Index.SetAttributes(bounded, d.Workspace, d.ID, d.PublishedVersion, index.Attributes{
		Tags: d.Tags, ACL: d.ACL(), Classification: d.Classification, Metadata: d.Metadata,
	})
	if err != nil {
		return false, err
	}
	return a.Store.InIndex(ctx, d)
}
