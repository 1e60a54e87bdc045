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

// SeenKey returns the key of the layout that readers see, where it is another than that of
// LayoutKey: with what a model saw in the pictures and pages, or without personal data.
func SeenKey(v knowledge.VersionRef) string { return blob.StepKey(v, "layout-seen.json") }

// PrivacyKey returns the key of the report of the personal data of a document. It is there
// where the project has asked for one.
func PrivacyKey(v knowledge.VersionRef) string { return blob.StepKey(v, "privacy.json") }

// Blobs reads stored layouts.
type Blobs interface {
	// GetJSON decodes a blob into v. Its error is blob.ErrNotFound for one that is not there.
	GetJSON(ctx context.Context, key string, v any) error
}

// Stored returns the stored layout of a version as readers see it. Its error is
// blob.ErrNotFound if none is stored. redacted means that the layout of LayoutKey has what
// readers must not see.
func Stored(ctx context.Context, blobs Blobs, v knowledge.VersionRef, redacted bool) (layout knowledge.Layout, err error) {
	keys := []string{SeenKey(v), LayoutKey(v)}
	if redacted {
		keys = keys[:1]
	}
	for _, key := range keys {
		if err = blobs.GetJSON(ctx, key, &layout); !errors.Is(err, blob.ErrNotFound) {
			break
		}
	}
	if err != nil {
		return knowledge.Layout{}, fmt.Errorf("read the layout of version %d of document %s: %w", v.Version, v.Document, err)
	}
	return layout, nil
}
