package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// The blobs that the steps of a version leave behind.
const (
	layoutBlob = "layout.json"
	chunksBlob = "chunks.json"
)

// ExtractResult says what was read out of a file.
type ExtractResult struct {
	Pages int `json:"pages"`
}

// quickExtract is how long a local activity may wait for a parser and its
// layout: the workflow's task waits for it.
const quickExtract = 2 * time.Second

// ExtractDocument turns the original into a layout, in a child process. As a
// local activity it gives up when that takes long, as IsSlow reports.
func (a *Ingestion) ExtractDocument(ctx context.Context, in StepInput) (ExtractResult, error) {
	defer heartbeat(ctx)()
	var result ExtractResult
	err := a.step(ctx, in, knowledge.StageExtract, func(v store.Version) error {
		reading := ctx
		if activity.GetInfo(ctx).IsLocalActivity {
			quick, cancel := context.WithTimeoutCause(ctx, quickExtract, errSlow)
			defer cancel()
			reading = quick
		}
		layout, err := a.layout(reading, v)
		if err != nil {
			return err
		}
		result = ExtractResult{Pages: len(layout.Pages)}
		return a.onItsWay(ctx, in.VersionRef, knowledge.StageEnrich, 0)
	})
	return result, err
}

// layout gives the stored layout of a version, or extracts and stores it.
func (a *Ingestion) layout(ctx context.Context, v store.Version) (knowledge.Layout, error) {
	key := blob.StepKey(v.VersionRef, layoutBlob)
	var layout knowledge.Layout
	err := a.Blobs.GetJSON(ctx, key, &layout)
	if err == nil || !errors.Is(err, blob.ErrNotFound) {
		return layout, err
	}
	path, remove, err := a.localCopy(ctx, v.SourceKey)
	if err != nil {
		return layout, err
	}
	defer remove()
	layout, err = a.Extractor.Extract(ctx, extract.Input{Name: v.Name, MediaType: v.MediaType, Path: path})
	if err != nil {
		return layout, err
	}
	if _, err := a.Blobs.PutJSON(ctx, key, layout); err != nil {
		return layout, fmt.Errorf("store layout: %w", err)
	}
	return layout, nil
}

// localCopy puts a blob into a file of its own, for the child process.
func (a *Ingestion) localCopy(ctx context.Context, key string) (path string, remove func(), err error) {
	r, _, err := a.Blobs.Open(ctx, key)
	if err != nil {
		return "", nil, fmt.Errorf("open original: %w", err)
	}
	defer r.Close()
	f, err := os.CreateTemp(a.Config.TempDir, "cairn-original-*")
	if err != nil {
		return "", nil, fmt.Errorf("make a local copy: %w", err)
	}
	remove = func() { _ = os.Remove(f.Name()) } // a leftover in the temporary folder harms nobody
	_, err = io.Copy(f, r)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("make a local copy: %w", err)
	}
	return f.Name(), remove, nil
}
