package paged_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/paged"
	"github.com/cairn-rag/cairn/internal/parsed"
)

// memory keeps blobs in memory.
type memory struct {
	mu    sync.Mutex
	blobs map[string][]byte
}

func (m *memory) GetJSON(_ context.Context, key string, v any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.blobs[key]
	if !ok {
		return blob.ErrNotFound
	}
	return json.Unmarshal(data, v)
}

func (m *memory) PutJSON(_ context.Context, key string, v any) (blob.Ref, error) {
	data, err := json.Marshal(v)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blobs[key] = data
	return blob.Ref{}, err
}

func (m *memory) PutReader(_ context.Context, key string, r io.Reader) (blob.Ref, error) {
	data, err := io.ReadAll(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blobs[key] = data
	return blob.Ref{}, err
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.blobs, key)
	return nil
}

// office makes a PDF with the lines, ten points high, on one page.
type office struct {
	lines []string
	err   error
	hold  chan struct{} // nil = it does not wait
	made  atomic.Int32
}

func (o *office) MakePages(_ context.Context, in extract.Input) (knowledge.Layout, error) {
	o.made.Add(1)
	if o.hold != nil {
		<-o.hold
	}
	if o.err != nil {
		return knowledge.Layout{}, o.err
	}
	original, err := os.ReadFile(in.Path)
	if err != nil {
		return knowledge.Layout{}, err
	}
	pdf := knowledge.Layout{Pages: []knowledge.PageSize{{Page: 1, Width: 600, Height: 800}}}
	for i, text := range o.lines {
		n, y := len([]rune(text)), float64(20*i)
		pdf.Blocks = append(pdf.Blocks, knowledge.Block{Text: text, Lines: knowledge.Lines{{End: n, Page: 1, Box: knowledge.Box{Y1: y, X2: float64(10 * n), Y2: y + 10}}}})
	}
	return pdf, os.WriteFile(filepath.Join(in.Folder, extract.PagesAsset), append([]byte("%PDF of "), original...), 0o600)
}

// world is a version whose text is two paragraphs, and a Maker.
type world struct {
	*memory
	*office
	maker  *paged.Maker
	source paged.Source
	now    time.Time
	isGone bool
}

func newWorld(t *testing.T, lines ...string) *world {
	t.Helper()
	w := &world{memory: &memory{blobs: map[string][]byte{}}, office: &office{lines: lines}, now: time.Unix(1e9, 0)}
	w.maker = paged.New(paged.Config{Blobs: w, Converter: w, TempDir: t.TempDir(), Clock: func() time.Time { return w.now }})
	w.source = paged.Source{
		Ref: knowledge.VersionRef{Workspace: "w", Project: "p", Document: "d", Version: 1}, Name: "a.docx", MediaType: extract.TypeDOCX,
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader([]byte("original"))), nil
		},
		IsThere: func(context.Context) bool { return !w.isGone },
	}
	layout := knowledge.Layout{Blocks: []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: "Tea is hot."}, {Kind: knowledge.BlockFooter, Text: "Company"}, {Kind: knowledge.BlockParagraph, Text: "Coffee is too."}}}
	if _, err := w.PutJSON(t.Context(), parsed.LayoutKey(w.source.Ref), layout); err != nil {
		t.Fatal(err)
	}
	return w
}

// passage returns a passage of the document with the lines that its pages give it.
func (w *world) passage(t *testing.T, text string, start int) knowledge.Chunk {
	t.Helper()
	pages, ok, err := w.maker.Known(t.Context(), w.source.Ref)
	if err != nil || !ok {
		t.Fatalf("the pages are known: %t, %v", ok, err)
	}
	c := knowledge.Chunk{Text: text, Span: knowledge.Span{Start: start, End: start + len(text)}}
	pages.Place(&c)
	return c
}

func TestPassagesAreOnThePagesThatWereMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "Tea is hot.", "Coffee is too.")
	if _, ok, err := w.maker.Known(t.Context(), w.source.Ref); ok || err != nil {
		t.Fatalf("pages are known before they are made: %v", err)
	}
	made, err := w.maker.Make(t.Context(), w.source)
	if err != nil || made.Failure != nil || len(made.Sizes) != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	if got := string(w.blobs[paged.PDFKey(w.source.Ref)]); got != "%PDF of original" {
		t.Errorf("the PDF is %q", got)
	}
	c := w.passage(t, "Coffee is too.", len("Tea is hot.\n\n"))
	if len(c.Lines) != 1 || c.Lines[0].Box.Y1 != 20 || c.Lines[0].End != len(c.Text) || len(c.Pages) != 1 {
		t.Errorf("the second paragraph is at %+v on %+v", c.Lines, c.Pages)
	}
	if _, err := w.maker.Make(t.Context(), w.source); err != nil || w.made.Load() != 1 {
		t.Errorf("they were made %d times, %v", w.made.Load(), err)
	}
}

func TestAPassageWhoseWordsAreMissingHasNoLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "Tea is hot.", "Something else.")
	if _, err := w.maker.Make(t.Context(), w.source); err != nil {
		t.Fatal(err)
	}
	if c := w.passage(t, "Coffee is too.", 13); len(c.Lines) > 0 {
		t.Errorf("lines %+v", c.Lines)
	}
	if c := w.passage(t, "Tea is hot.\n\nCoffee is too.", 0); len(c.Lines) > 0 { // less than 80 % of it
		t.Errorf("lines of both %+v", c.Lines)
	}
	if c := w.passage(t, "Tea is hot.", 0); len(c.Lines) != 1 {
		t.Errorf("lines of the first %+v", c.Lines)
	}
}

func TestPagesAreMadeOnceForAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "Tea is hot.", "Coffee is too.")
	w.hold = make(chan struct{})
	gone, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 8 {
		ctx := t.Context()
		if i == 0 {
			ctx = gone
		}
		all.Go(func() {
			made, err := w.maker.Make(ctx, w.source)
			if i == 0 && errors.Is(err, context.Canceled) {
				return
			}
			if err != nil || len(made.Sizes) != 1 {
				t.Errorf("%+v, %v", made, err)
			}
		})
	}
	leave() // the work goes on for the others
	close(w.hold)
	all.Wait()
	if n := w.made.Load(); n != 1 {
		t.Errorf("the pages were made %d times", n)
	}
}

func TestAFailureIsKeptForAnHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.err = knowledge.Errorf(knowledge.CodeParseLimit, "too slow")
	for range 2 {
		made, err := w.maker.Make(t.Context(), w.source)
		if err != nil || !knowledge.IsCode(made.Failure.Err(), knowledge.CodeParseLimit) {
			t.Fatalf("%+v, %v", made, err)
		}
	}
	if n := w.made.Load(); n != 1 {
		t.Errorf("it was tried %d times", n)
	}
	w.now, w.err, w.lines = w.now.Add(2*time.Hour), nil, []string{"Tea is hot."}
	if made, err := w.maker.Make(t.Context(), w.source); err != nil || made.Failure != nil || len(made.Sizes) != 1 {
		t.Errorf("after two hours: %+v, %v", made, err)
	}
}

func TestAMissingComponentIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.err = knowledge.Errorf(knowledge.CodeNeedsComponent, "install it")
	for range 2 {
		if _, err := w.maker.Make(t.Context(), w.source); !knowledge.IsCode(err, knowledge.CodeNeedsComponent) {
			t.Fatal(err)
		}
	}
	if n := w.made.Load(); n != 2 {
		t.Errorf("it was tried %d times", n)
	}
}

func TestNothingStaysOfARemovedVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "Tea is hot.")
	w.isGone = true
	if _, err := w.maker.Make(t.Context(), w.source); err != nil {
		t.Fatal(err)
	}
	delete(w.blobs, parsed.LayoutKey(w.source.Ref))
	if len(w.blobs) > 0 {
		t.Errorf("left is %v", w.blobs)
	}
}
