package paged

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
)

// Converter makes a PDF of an office document.
type Converter interface {
	// MakePages makes a PDF of the name extract.PagesAsset in the folder of the input, and
	// returns its layout. It blocks until there is a free process for it.
	MakePages(ctx context.Context, in extract.Input) (knowledge.Layout, error)
}

// Blobs keeps the pages.
type Blobs interface {
	// GetJSON decodes a blob into v; a missing one is blob.ErrNotFound.
	GetJSON(ctx context.Context, key string, v any) error
	PutJSON(ctx context.Context, key string, v any) (blob.Ref, error)
	PutReader(ctx context.Context, key string, r io.Reader) (blob.Ref, error)
	// Delete deletes a blob that may not be there.
	Delete(ctx context.Context, key string) error
}

// Config is what a Maker works with. All fields but TempDir and Clock are required.
type Config struct {
	Blobs     Blobs
	Converter Converter
	// TempDir holds the files of a conversion. Defaults to the system's folder.
	TempDir string
	// Clock tells the time. Defaults to time.Now.
	Clock func() time.Time
}

// Maker makes the pages of versions. It is safe for concurrent use: it makes the pages of a
// version once for all who ask at the same time.
type Maker struct {
	cfg  Config
	once singleflight.Group // by the key of the version
}

// New returns a Maker.
func New(cfg Config) *Maker {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	return &Maker{cfg: cfg}
}

// Source is a version whose pages are wanted.
type Source struct {
	Ref       knowledge.VersionRef
	Name      string
	MediaType string
	// Open opens the original.
	Open func(ctx context.Context) (io.ReadCloser, error)
	// IsThere reports whether the version is still there. What is made of one that was
	// removed meanwhile is deleted.
	IsThere func(ctx context.Context) bool
}

// The bounds of the work on one version.
const (
	longest    = 5 * time.Minute // it is done when nobody waits any more, too
	retryAfter = time.Hour       // a failure is tried again then
)

// Known returns the pages that were made of a version, or why they could not be; ok is false
// if nobody has asked for them yet.
func (m *Maker) Known(ctx context.Context, v knowledge.VersionRef) (pages Pages, ok bool, err error) {
	err = m.cfg.Blobs.GetJSON(ctx, placesKey(v), &pages)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return Pages{}, false, nil
	case err != nil:
		return Pages{}, false, fmt.Errorf("read the pages of document %s: %w", v.Document, err)
	}
	if f := pages.Failure; f != nil && m.cfg.Clock().Sub(f.At) > retryAfter {
		return Pages{}, false, nil
	}
	return pages, true, nil
}

// Make returns the pages of a version, and makes them if they are not there. Pages that
// cannot be made have a Failure. An error of ctx leaves the work to those who still wait.
func (m *Maker) Make(ctx context.Context, s Source) (Pages, error) {
	if pages, ok, err := m.Known(ctx, s.Ref); ok || err != nil {
		return pages, err
	}
	made := m.once.DoChan(placesKey(s.Ref), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
		defer cancel()
		return m.makeOnce(ctx, s)
	})
	select {
	case <-ctx.Done():
		return Pages{}, context.Cause(ctx)
	case result := <-made:
		if result.Err != nil {
			return Pages{}, result.Err
		}
		return result.Val.(Pages), nil
	}
}

// makeOnce makes the pages of a version that are not there, and stores them.
func (m *Maker) makeOnce(ctx context.Context, s Source) (Pages, error) {
	if pages, ok, err := m.Known(ctx, s.Ref); ok || err != nil { // the work before has ended meanwhile
		return pages, err
	}
	layout, err := parsed.Stored(ctx, m.cfg.Blobs, s.Ref, false)
	if errors.Is(err, blob.ErrNotFound) {
		return Pages{}, knowledge.Errorf(knowledge.CodeNotFound, "the text of document %q is not stored, so its places on pages cannot be found", s.Ref.Document).WithCause(err)
	}
	if err != nil {
		return Pages{}, err
	}
	folder, err := os.MkdirTemp(m.cfg.TempDir, "cairn-pages-*")
	if err != nil {
		return Pages{}, fmt.Errorf("make a folder for the pages of document %s: %w", s.Ref.Document, err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // a leftover in the temporary folder harms nobody
	pdf, err := m.convert(ctx, s, folder)
	if f := failureOf(err); f != nil {
		f.At = m.cfg.Clock().UTC()
		return Pages{Failure: f}, m.keep(ctx, s, Pages{Failure: f}, "")
	}
	if err != nil {
		return Pages{}, fmt.Errorf("make the pages of document %s: %w", s.Ref.Document, err)
	}
	pages := locate(layout, pdf, extract.IsWorkbook(s.MediaType))
	return pages, m.keep(ctx, s, pages, filepath.Join(folder, extract.PagesAsset))
}

// convert makes the PDF in a folder, and returns its layout.
func (m *Maker) convert(ctx context.Context, s Source, folder string) (knowledge.Layout, error) {
	original, err := s.Open(ctx)
	if err != nil {
		return knowledge.Layout{}, err
	}
	defer original.Close()
	path := filepath.Join(folder, "original")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = io.Copy(f, original)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return knowledge.Layout{}, fmt.Errorf("make a local copy: %w", err)
	}
	return m.cfg.Converter.MakePages(ctx, extract.Input{Name: s.Name, MediaType: s.MediaType, Path: path, Folder: folder})
}

// failureOf returns the failure that another try would not change, nil for other errors and
// for none.
func failureOf(err error) *Failure {
	for _, code := range []knowledge.Code{knowledge.CodeEncrypted, knowledge.CodeCorrupt, knowledge.CodeParseLimit, knowledge.CodeTooLarge, knowledge.CodeEmpty} {
		if knowledge.IsCode(err, code) {
			return &Failure{Code: code, Message: knowledge.AsError(err).Message}
		}
	}
	return nil
}

// keep stores pages, and the PDF before them; "" = there is none. It deletes both if the
// version was removed meanwhile, so that nothing of it stays.
func (m *Maker) keep(ctx context.Context, s Source, pages Pages, pdf string) error {
	if pdf != "" {
		f, err := os.Open(pdf)
		if err != nil {
			return fmt.Errorf("open the pages of document %s: %w", s.Ref.Document, err)
		}
		defer f.Close()
		if _, err := m.cfg.Blobs.PutReader(ctx, PDFKey(s.Ref), f); err != nil {
			return fmt.Errorf("store the pages of document %s: %w", s.Ref.Document, err)
		}
	}
	if _, err := m.cfg.Blobs.PutJSON(ctx, placesKey(s.Ref), pages); err != nil {
		return fmt.Errorf("store the places of document %s: %w", s.Ref.Document, err)
	}
	if s.IsThere(ctx) {
		return nil
	}
	return errors.Join(m.cfg.Blobs.Delete(ctx, placesKey(s.Ref)), m.cfg.Blobs.Delete(ctx, PDFKey(s.Ref)))
}
