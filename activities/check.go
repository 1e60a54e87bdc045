package activities

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// CheckResult says what a file is.
type CheckResult struct {
	MediaType string `json:"media_type"`
	Bytes     int64  `json:"bytes"`
	Small     bool   `json:"small"` // its steps end within milliseconds
}

// CheckDocument tells what kind of file the original is, by its content, its name
// and what was declared, and holds it to the limits.
func (a *Ingestion) CheckDocument(ctx context.Context, in StepInput) (CheckResult, error) {
	var result CheckResult
	err := a.step(ctx, in, knowledge.StageCheck, func(v store.Version) error {
		head, size, err := a.head(ctx, v.SourceKey)
		if err != nil {
			return err
		}
		mediaType, err := extract.Sniff(v.Name, v.MediaType, head)
		if err != nil {
			return err
		}
		isText := mediaType != extract.TypePDF
		switch {
		case size > a.Config.FileBytes:
			return tooLarge("file", a.Config.FileBytes)
		case isText && size > a.Config.TextBytes:
			return tooLarge("text", a.Config.TextBytes)
		}
		result = CheckResult{MediaType: mediaType, Bytes: size, Small: isText && size <= smallBytes}
		return a.stage(ctx, in.VersionRef, knowledge.StageExtract, store.Facts{MediaType: mediaType, Bytes: size})
	})
	return result, err
}

func (a *Ingestion) head(ctx context.Context, key string) ([]byte, int64, error) {
	r, size, err := a.Blobs.Open(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, 0, knowledge.Errorf(knowledge.CodeCorrupt, "the uploaded bytes are not there; upload the document again").WithCause(err)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open original: %w", err)
	}
	defer r.Close()
	head := make([]byte, extract.HeadBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("read original: %w", err)
	}
	return head[:n], size, nil
}
