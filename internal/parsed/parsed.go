// Package parsed shows a document as it was read: the layout of its original, as JSON
// and as Markdown.
package parsed

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// LayoutKey returns the key of the layout of an original. A small text has none: it takes
// less time to read it again.
func LayoutKey(v knowledge.VersionRef) string { return blob.StepKey(v, "layout.json") }

// SeenKey returns the key of the layout with what a model saw in the pictures and pages of
// a document. It is there only where a model was asked.
func SeenKey(v knowledge.VersionRef) string { return blob.StepKey(v, "layout-seen.json") }

// Blobs reads stored layouts.
type Blobs interface {
	// GetJSON decodes a blob into v. Its error is blob.ErrNotFound for one that is not there.
	GetJSON(ctx context.Context, key string, v any) error
}

// Stored returns the stored layout of a version, with what a model saw if it was asked. Its
// error is blob.ErrNotFound if none is stored.
func Stored(ctx context.Context, blobs Blobs, v knowledge.VersionRef) (layout knowledge.Layout, err error) {
	for _, key := range []string{SeenKey(v), LayoutKey(v)} {
		if err = blobs.GetJSON(ctx, key, &layout); !errors.Is(err, blob.ErrNotFound) {
			break
		}
	}
	if err != nil {
		return knowledge.Layout{}, fmt.Errorf("read the layout of version %d of document %s: %w", v.Version, v.Document, err)
	}
	return layout, nil
}
