package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
)

const (
	memoryPages = 8192 // of 64 KiB: pdfium may have 512 MiB
	maxPages    = 10_000
	maxLines    = 1_000_000
)

// Config says how pdfium is run.
type Config struct {
	// CacheDir keeps the compiled WebAssembly between processes. Defaults to no
	// cache: compiling takes some seconds.
	CacheDir string
}

// Reader reads one PDF after the other. It is not safe for concurrent use. It
// cannot be interrupted: who needs a deadline ends the process.
type Reader struct {
	pool     pdfium.Pool
	cache    wazero.CompilationCache
	instance pdfium.Pdfium // nil before the first document and after a failure
}

// New compiles pdfium, or loads it from the cache.
func New(ctx context.Context, cfg Config) (*Reader, error) {
	r := &Reader{}
	runtime := wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryPages)
	if cfg.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cfg.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("open compilation cache: %w", err)
		}
		r.cache = cache
		runtime = runtime.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context: ctx, MinIdle: 0, MaxIdle: 1, MaxTotal: 1,
		FSConfig:      wazero.NewFSConfig(), // no file system; the default mounts all of it
		RuntimeConfig: runtime,
		Stdout:        io.Discard, Stderr: io.Discard,
		ReuseWorkers: true,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile pdfium: %w", err), r.closeCache(ctx))
	}
	r.pool = pool
	return r, nil
}

// Close frees pdfium.
func (r *Reader) Close(ctx context.Context) error {
	if r.instance != nil {
		r.kill()
	}
	return errors.Join(r.pool.Close(), r.closeCache(ctx))
}

func (r *Reader) closeCache(ctx context.Context) error {
	if r.cache == nil {
		return nil
	}
	return r.cache.Close(ctx)
}

// kill drops the instance with all that is in its memory.
func (r *Reader) kill() {
	// Whether it could be closed does not matter: it is not used again.
	_ = r.instance.Kill()
	r.instance = nil
}

// Read extracts a PDF. Its errors are *knowledge.Error: encrypted, corrupt,
// empty, parse_limit or too_large; others are failures of pdfium itself.
func (r *Reader) Read(ctx context.Context, data []byte) (knowledge.Layout, error) {
	if r.instance == nil {
		instance, err := r.pool.GetInstance(time.Minute)
		if err != nil {
			return knowledge.Layout{}, fmt.Errorf("start pdfium: %w", err)
		}
		r.instance = instance
	}
	layout, err := r.read(ctx, data)
	if err != nil && broken(err) {
		r.kill()
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeCorrupt, corrupt).WithCause(err)
	}
	return layout, err
}

const corrupt = "the PDF is damaged and cannot be parsed; open it in a viewer, save it again and send the new file"

// broken reports whether pdfium trapped, so that its memory is not to be trusted.
func broken(err error) bool {
	if _, ok := errors.AsType[*knowledge.Error](err); ok {
		return false
	}
	s := err.Error()
	return strings.Contains(s, "wasm error") || strings.Contains(s, "panic occurred") || strings.Contains(s, "exit_code")
}

func (r *Reader) read(ctx context.Context, data []byte) (knowledge.Layout, error) {
	doc, err := r.open(data)
	if err != nil {
		return knowledge.Layout{}, err
	}
	layout, err := r.pages(ctx, doc)
	if err != nil && broken(err) {
		return knowledge.Layout{}, err
	}
	if _, closeErr := r.instance.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: doc}); closeErr != nil {
		r.kill() // what is left of the document must not meet the next one
	}
	return layout, err
}

func (r *Reader) open(data []byte) (references.FPDF_DOCUMENT, error) {
	resp, err := r.instance.OpenDocument(&requests.OpenDocument{
		FileReader: bytes.NewReader(data), FileReaderSize: int64(len(data)),
	})
	switch {
	case err == nil:
		return resp.Document, nil
	case errors.Is(err, pdfiumerrors.ErrPassword), errors.Is(err, pdfiumerrors.ErrSecurity):
		return "", knowledge.Errorf(knowledge.CodeEncrypted, "the PDF asks for a password; remove it and send the file again").WithCause(err)
	case broken(err):
		return "", err
	default:
		return "", knowledge.Errorf(knowledge.CodeCorrupt, corrupt).WithCause(err)
	}
}

// pages reads all pages. A page that cannot be loaded counts as empty; if no
// page can be loaded the document is corrupt.
func (r *Reader) pages(ctx context.Context, doc references.FPDF_DOCUMENT) (knowledge.Layout, error) {
	resp, err := r.instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc})
	if err != nil {
		return knowledge.Layout{}, fmt.Errorf("count pages: %w", err)
	}
	switch n := resp.PageCount; {
	case n == 0:
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeCorrupt, corrupt)
	case n > maxPages:
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeParseLimit, "the PDF has %d pages and %d is the limit; split it", n, maxPages)
	}
	var layout knowledge.Layout
	var lines []line
	size := 0
	for i := range resp.PageCount {
		if err := ctx.Err(); err != nil {
			return knowledge.Layout{}, err
		}
		p, err := r.page(doc, i)
		if err != nil {
			if broken(err) {
				return knowledge.Layout{}, err
			}
			continue
		}
		layout.Pages = append(layout.Pages, p.size)
		for _, l := range p.lines {
			size += len(l.text)
		}
		lines = append(lines, p.lines...)
		if size > charset.MaxText || len(lines) > maxLines {
			return knowledge.Layout{}, charset.TooLong()
		}
	}
	layout.Blocks = blocks(lines)
	return r.finish(doc, layout)
}

func (r *Reader) finish(doc references.FPDF_DOCUMENT, layout knowledge.Layout) (knowledge.Layout, error) {
	switch {
	case len(layout.Pages) == 0:
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeCorrupt, corrupt)
	case len(layout.Blocks) == 0:
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeEmpty,
			"there is no text in the PDF: its pages are pictures, and text recognition (OCR) is not available yet; send a PDF with text")
	}
	layout.Title = r.title(doc, layout.Blocks)
	return layout, nil
}

// title is the first heading of level 1 on the first page, else what the file
// says of itself.
func (r *Reader) title(doc references.FPDF_DOCUMENT, blocks []knowledge.Block) string {
	for _, b := range blocks {
		if len(b.Lines) == 0 || b.Lines[0].Page > 1 {
			break
		}
		if b.Kind == knowledge.BlockHeading && b.Level == 1 {
			return strings.Join(strings.Fields(b.Text), " ")
		}
	}
	resp, err := r.instance.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: doc, Tag: "Title"})
	if err != nil {
		return "" // most files have none
	}
	return strings.Join(strings.Fields(charset.Clean(resp.Value)), " ")
}
