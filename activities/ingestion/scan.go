package ingestion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/clamd"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Scanner looks for malware in files.
type Scanner interface {
	// Scan returns what it found in a file. Its errors are clamd.ErrUnavailable,
	// clamd.ErrTooLarge, those of file, and the error of ctx.
	Scan(ctx context.Context, file io.Reader) (clamd.Verdict, error)
}

// Auditor keeps rows of the audit for what no request did.
type Auditor interface {
	// Append returns when the rows are kept. Of rows with one id it keeps one, as long as that
	// has no place in its chain.
	Append(ctx context.Context, rows []audit.Row) error
}

// scanning has originals scanned before they are parsed.
type scanning struct {
	Scanner Scanner // nil = nothing is scanned
	Audit   Auditor
	Blobs   step.Blobs
	Log     *slog.Logger
}

// The bounds of the pause before the next try while the scanner is away: a quarter of the time that
// the document waits.
const (
	minScanPause = 5 * time.Second
	maxScanPause = 10 * time.Minute
)

// rejectedBlob is the step of a version whose original was rejected: its Verdict.
const rejectedBlob = "rejected.json"

// version scans the original of a version, and a transcript that came with it. In the original of a
// version that was rejected nothing is left.
func (s *scanning) version(ctx context.Context, v store.Version) error {
	if s.Scanner == nil || v.SourceKey == "" {
		return nil
	}
	var earlier clamd.Verdict
	err := s.Blobs.GetJSON(ctx, blob.StepKey(v.VersionRef, rejectedBlob), &earlier)
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("read the verdict of the scanner: %w", err)
	}
	if err == nil { // the process died before it had deleted the original
		return s.drop(ctx, v, earlier)
	}
	found, err := s.stored(ctx, v.SourceKey, time.Since(v.CreatedAt))
	if err != nil || found.Signature == "" {
		return err
	}
	if _, err := s.Blobs.PutJSON(ctx, blob.StepKey(v.VersionRef, rejectedBlob), found); err != nil {
		return fmt.Errorf("store the verdict of the scanner: %w", err)
	}
	return s.drop(ctx, v, found)
}

// drop writes the verdict to the audit and deletes the original. It returns the failure of the version.
func (s *scanning) drop(ctx context.Context, v store.Version, found clamd.Verdict) error {
	err := s.note(ctx, v.Workspace, v.Document, fmt.Sprintf("scan/%s/%d", v.Document, v.Version), v.RunID)
	if err != nil {
		return err
	}
	if _, err := s.Blobs.DeletePrefix(ctx, blob.UploadFolder(v.SourceKey), nil); err != nil {
		return fmt.Errorf("delete a rejected original: %w", err)
	}
	return rejection(found)
}

// stored scans an original, and the transcript beside it. waited is how long the document waits.
func (s *scanning) stored(ctx context.Context, key string, waited time.Duration) (clamd.Verdict, error) {
	for _, one := range []string{key, blob.BesideUpload(key, blob.Transcript)} {
		r, _, err := s.Blobs.Open(ctx, one)
		if errors.Is(err, blob.ErrNotFound) {
			continue // the step that reads it says what that means
		}
		if err != nil {
			return clamd.Verdict{}, fmt.Errorf("open original: %w", err)
		}
		found, err := s.scan(ctx, r, waited)
		_ = r.Close() // it was only read
		if err != nil || found.Signature != "" {
			return found, err
		}
	}
	return clamd.Verdict{}, nil
}

// object scans an object of an import that is in memory, before anything of it is stored.
func (s *scanning) object(ctx context.Context, v store.NewVersion, data []byte, waited time.Duration) error {
	if s.Scanner == nil {
		return nil
	}
	found, err := s.scan(ctx, bytes.NewReader(data), waited)
	if err != nil || found.Signature == "" {
		return err
	}
	return s.refuse(ctx, v, found)
}

// large scans an object of an import that was stored, and deletes it if it is rejected.
func (s *scanning) large(ctx context.Context, v store.NewVersion, waited time.Duration) error {
	if s.Scanner == nil {
		return nil
	}
	found, err := s.stored(ctx, v.SourceKey, waited)
	if err == nil && found.Signature == "" {
		return nil
	}
	if _, failed := s.Blobs.DeletePrefix(context.WithoutCancel(ctx), blob.UploadFolder(v.SourceKey), nil); failed != nil {
		return errors.Join(err, fmt.Errorf("delete an original that was not accepted: %w", failed))
	}
	if err != nil {
		return err
	}
	return s.refuse(ctx, v, found)
}

// refuse writes the verdict on an object of an import to the audit, and returns its failure.
func (s *scanning) refuse(ctx context.Context, v store.NewVersion, found clamd.Verdict) error {
	if err := s.note(ctx, v.Workspace, v.DocumentID, "scan/"+v.DocumentID+"/"+v.RunID, v.RunID); err != nil {
		return err
	}
	return rejection(found)
}

// scan asks the scanner. A document waits for one that is away, and fails if it is too large for it.
func (s *scanning) scan(ctx context.Context, file io.Reader, waited time.Duration) (clamd.Verdict, error) {
	found, err := s.Scanner.Scan(ctx, file)
	switch {
	case errors.Is(err, clamd.ErrUnavailable):
		return found, &knowledge.Error{
			Code: knowledge.CodeUnavailable, Retryable: true, Waits: true, RetryAfter: min(max(waited/4, minScanPause), maxScanPause), Cause: err,
			Message: "the malware scanner does not answer, and nothing is read unscanned; the document waits for it (scan.clamd, cairn doctor)",
		}
	case errors.Is(err, clamd.ErrTooLarge):
		return found, &knowledge.Error{
			Code: knowledge.CodeTooLarge, Cause: err,
			Message: "the file is larger than the malware scanner looks at, and nothing is read unscanned: raise StreamMaxLength, MaxScanSize and MaxFileSize in clamd.conf, and retry",
		}
	}
	return found, err
}

// note keeps in the audit that an original was rejected.
func (s *scanning) note(ctx context.Context, workspace, document, id, run string) error {
	details, err := json.Marshal(audit.Details{Run: run})
	if err != nil {
		return err
	}
	row := audit.Row{ID: id, Workspace: workspace, Entry: audit.Entry{
		At: time.Now().UTC(), Actor: "scanner", Action: "reject-original", Object: document, Outcome: string(knowledge.CodeRejected), Details: details,
	}}
	if err := s.Audit.Append(ctx, []audit.Row{row}); err != nil {
		return fmt.Errorf("write the audit of a rejected original: %w", err)
	}
	return nil
}

// rejection returns the failure of a file in which something was found.
func rejection(found clamd.Verdict) error {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/", r) {
			return r
		}
		return -1
	}, found.Signature)
	return knowledge.Errorf(knowledge.CodeRejected, "the malware scanner found %s in the file: it was not read, and its original was deleted", name)
}
