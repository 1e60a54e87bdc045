package extract_test

import (
	"encoding/xml"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The least share of the line boxes of office documents that hold nine in ten of
// their words, and of the words of text that have a line.
const (
	leastBoxes = .99
	leastLined = .85
)

// slideNumber begins the heading of a slide, which does not show it.
var slideNumber = regexp.MustCompile(`^Slide \d+: `)

// TestOfficeBoxes compares the line boxes of office documents with the words that
// pdftotext finds in the PDF of their pages.
func TestOfficeBoxes(t *testing.T) {
	t.Parallel()
	tools := format.FindTools()
	if tools.LibreOffice == "" || tools.PDFToText == "" {
		skipOrFail(t, "LibreOffice or pdftotext is missing; apt-get install libreoffice-writer libreoffice-calc libreoffice-impress poppler-utils")
	}
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: tools})
	good, boxes, lined, all := 0, 0, 0, 0
	for _, path := range allFiles(t) {
		base := filepath.Base(path)
		if kind := filepath.Ext(base); filepath.Base(filepath.Dir(path)) != "office" || brokenFiles[base] || strings.HasPrefix(kind, ".xls") || kind == ".epub" {
			continue
		}
		folder := t.TempDir()
		result, err := pool.Extract(t.Context(), extract.Input{Name: base, Path: path, Folder: folder})
		if err != nil || len(result.Layout.Pages) == 0 {
			continue // TestEverySharedFileEndsAsStated says whether it must be so
		}
		pages := printedWords(t, tools, filepath.Join(folder, extract.PagesAsset))
		fileGood, fileBoxes := 0, 0
		for _, b := range result.Layout.Blocks {
			words := countWords(b.Text)
			all += words
			if len(b.Lines) > 0 {
				lined += words
			}
			runes := []rune(b.Text)
			for _, l := range b.Lines {
				fileBoxes++
				text := slideNumber.ReplaceAllString(string(runes[l.Start:l.End]), "")
				if holds(pages[l.Page], l.Box, text) {
					fileGood++
				} else {
					t.Logf("%s page %d %v: %q", base, l.Page, l.Box, text)
				}
			}
		}
		good, boxes = good+fileGood, boxes+fileBoxes
	}
	t.Logf("%d of %d boxes hold nine in ten of their words; %d of %d words have a line", good, boxes, lined, all)
	if float64(good) < leastBoxes*float64(boxes) {
		t.Errorf("only %d of %d boxes hold their words", good, boxes)
	}
	if float64(lined) < leastLined*float64(all) {
		t.Errorf("only %d of %d words have a line", lined, all)
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

// printedWords returns the words of a PDF by page.
func printedWords(t *testing.T, tools format.Tools, path string) map[int][]printedWord {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), tools.PDFToText, "-bbox", path, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Pages []struct {
			Words []printedWord `xml:"word"`
		} `xml:"body>doc>page"`
	}
	if err := xml.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	pages := map[int][]printedWord{}
	for i, p := range doc.Pages {
		pages[i+1] = p.Words
	}
	return pages
}

// holds reports whether nine in ten of the letters and digits of a text are in words
// whose middle is in a box, a point wider on each side.
func holds(words []printedWord, box knowledge.Box, text string) bool {
	inside := map[rune]int{}
	for _, w := range words {
		x, y := (w.XMin+w.XMax)/2, (w.YMin+w.YMax)/2
		if x > box.X1-1 && x < box.X2+1 && y > box.Y1-1 && y < box.Y2+1 {
			for _, r := range letters(w.Text) {
				inside[r]++
			}
		}
	}
	found, all := 0, 0
	for _, r := range letters(text) {
		if all++; inside[r] > 0 {
			inside[r]--
			found++
		}
	}
	return float64(found) >= .9*float64(all)
}

func letters(text string) string { return strings.Join(fieldsOf(text), "") }

func countWords(text string) int { return len(fieldsOf(text)) }
