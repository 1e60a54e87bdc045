package paged_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/paged"
	"github.com/cairn-rag/cairn/internal/parsed"
)

// childArg makes the test binary its own parser child.
const childArg = "be-a-parser-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childArg {
		if err := extract.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const officeFiles = "../../../shared/data/files/office"

// count is how many passages there are, how many of them have boxes, and how many lines have
// boxes without their words.
type count struct{ passages, placed, lines, wrong int }

func (c *count) add(o count) {
	c.passages, c.placed, c.lines, c.wrong = c.passages+o.passages, c.placed+o.placed, c.lines+o.lines, c.wrong+o.wrong
}

// TestPassagesOfOfficeFiles gives pages to every office file as if it had been read without
// LibreOffice, as spreadsheets are, and looks at the words under each box.
func TestPassagesOfOfficeFiles(t *testing.T) {
	t.Parallel()
	tools := format.FindTools()
	files, _ := filepath.Glob(officeFiles + "/*")
	if tools.LibreOffice == "" || tools.PDFToText == "" || len(files) == 0 {
		const lacking = "LibreOffice, pdftotext or the shared test files are missing; apt-get install libreoffice-writer libreoffice-calc libreoffice-impress poppler-utils"
		if os.Getenv("CI") != "" {
			t.Fatal(lacking)
		}
		t.Skip(lacking)
	}
	pool, err := extract.NewPool(extract.PoolConfig{Command: []string{os.Args[0], childArg}, Size: 1, Tools: tools, TempDir: t.TempDir(), CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	byKind, all := map[string]*count{}, count{}
	for _, path := range files {
		kind := filepath.Ext(path)
		if kind == ".epub" {
			continue
		}
		got := ofFile(t, pool, tools, path)
		if byKind[kind] == nil {
			byKind[kind] = &count{}
		}
		byKind[kind].add(got)
		all.add(got)
	}
	for kind, c := range byKind {
		t.Logf("%s: %d of %d passages have boxes; %d of %d lines are wrong", kind, c.placed, c.passages, c.wrong, c.lines)
	}
	t.Logf("all: %d of %d passages have boxes; %d of %d lines are wrong", all.placed, all.passages, all.wrong, all.lines)
	if all.wrong > 0 {
		t.Errorf("%d boxes do not hold their words", all.wrong)
	}
	if float64(all.placed) < leastPlaced*float64(all.passages) {
		t.Errorf("only %d of %d passages have boxes", all.placed, all.passages)
	}
}

// leastPlaced is the least share of passages that have boxes.
const leastPlaced = .7

// ofFile reads a file without its pages, makes its pages, and counts its passages.
func ofFile(t *testing.T, pool *extract.Pool, tools format.Tools, path string) (c count) {
	t.Helper()
	name := filepath.Base(path)
	result, err := pool.Extract(t.Context(), extract.Input{Name: name, Path: path, Folder: t.TempDir()})
	layout := result.Layout
	if err != nil || !extract.MakesPages(layout.MediaType) {
		return c
	}
	for i := range layout.Blocks {
		layout.Blocks[i].Lines = nil
	}
	blobs := &memory{blobs: map[string][]byte{}}
	ref := knowledge.VersionRef{Workspace: "w", Project: "p", Document: "d", Version: 1}
	_, err = blobs.PutJSON(t.Context(), parsed.LayoutKey(ref), layout)
	must(t, err)
	chunks, err := chunk.Split(t.Context(), chunk.Input{Layout: layout, Name: name, Ref: ref})
	must(t, err)
	began := time.Now()
	made, err := paged.New(paged.Config{Blobs: blobs, Converter: pool, TempDir: t.TempDir()}).Make(t.Context(), paged.Source{
		Ref: ref, Name: name, MediaType: layout.MediaType, Open: func(context.Context) (io.ReadCloser, error) { return os.Open(path) }, IsThere: func(context.Context) bool { return true },
	})
	must(t, err)
	c.passages = len(chunks)
	if made.Failure != nil {
		t.Logf("%s: %s", name, made.Failure.Message)
		return c
	}
	pdf := filepath.Join(t.TempDir(), "pages.pdf")
	must(t, os.WriteFile(pdf, blobs.blobs[paged.PDFKey(ref)], 0o600))
	pages := printedWords(t, tools, pdf)
	for i := range chunks {
		made.Place(&chunks[i])
		runes := []rune(chunks[i].Text)
		for _, l := range chunks[i].Lines {
			if c.lines++; !holds(pages[l.Page], l.Box, string(runes[l.Start:l.End])) {
				c.wrong++
				t.Logf("%s page %d %v: %q", name, l.Page, l.Box, string(runes[l.Start:l.End]))
			}
		}
		if len(chunks[i].Lines) > 0 {
			c.placed++
		}
	}
	t.Logf("%s: %d of %d passages, %d pages in %s", name, c.placed, c.passages, len(made.Sizes), time.Since(began).Round(time.Millisecond))
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// printedWord is a word with its box.
type printedWord struct {
	XMin float64 `xml:"xMin,attr"`
	YMin float64 `xml:"yMin,attr"`
	XMax float64 `xml:"xMax,attr"`
	YMax float64 `xml:"yMax,attr"`
	Text string  `xml:",chardata"`
}

// printedWords returns the words of a PDF by page, as another program finds them.
func printedWords(t *testing.T, tools format.Tools, path string) map[int][]printedWord {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), tools.PDFToText, "-bbox", path, "-").Output()
	must(t, err)
	var doc struct {
		Pages []struct {
			Words []printedWord `xml:"word"`
		} `xml:"body>doc>page"`
	}
	decoder := xml.NewDecoder(strings.NewReader(string(out)))
	decoder.Strict = false
	must(t, decoder.Decode(&doc))
	pages := map[int][]printedWord{}
	for i, p := range doc.Pages {
		pages[i+1] = p.Words
	}
	return pages
}

// slideNumber begins the heading of a slide, which does not show it.
const slideNumber = "Slide "

// holds reports whether nine in ten of the letters and digits of a text are in words whose
// middle is in a box, a point wider on each side.
func holds(words []printedWord, box knowledge.Box, text string) bool {
	if rest, ok := strings.CutPrefix(text, slideNumber); ok {
		if _, title, found := strings.Cut(rest, ": "); found {
			text = title
		}
	}
	inside := map[rune]int{}
	for _, w := range words {
		x, y := (w.XMin+w.XMax)/2, (w.YMin+w.YMax)/2
		if x > box.X1-1 && x < box.X2+1 && y > box.Y1-1 && y < box.Y2+1 {
			for _, r := range letters(w.Text) {
				inside[r]++
			}
		}
	}
	found, all := 0, letters(text)
	for _, r := range all {
		if inside[r] > 0 {
			inside[r]--
			found++
		}
	}
	return float64(found) >= .9*float64(len(all))
}

func letters(text string) []rune {
	return slices.DeleteFunc([]rune(strings.ToLower(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
