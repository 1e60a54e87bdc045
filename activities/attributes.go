package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/store"
)

// attributesLimit is how many documents are brought into the index at a time.
const attributesLimit = 1000

// Attributes brings what somebody changed in documents into the index: tags,
// metadata, classification and access. SQL remembers which documents it does not
// say that of yet, so that a change outlives the process that made it. Safe for
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
	turn chan struct{} // one at a time: a change that was read earlier is not written later
}

// Follow tells the index what SQL says of a document now, or, without one, of all
// that it does not follow yet. Doing it twice changes nothing.
func (a *Attributes) Follow(ctx context.Context, document string) error {
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
