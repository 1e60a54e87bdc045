package pdf

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The programs that read a PDF, in knowledge.Layout.
const (
	readerPDFium  = "pdfium"
	readerPoppler = "poppler"
)

// ReadWithPoppler reads a PDF with the program pdftotext, which opens some damaged
// files that pdfium does not. It returns its blocks as poppler finds them.
func ReadWithPoppler(ctx context.Context, s format.Source) (format.Result, error) {
	out, err := s.Run(ctx, s.Tools.PDFToText, "-q", "-cropbox", "-bbox-layout", s.Path, "-")
	if err != nil {
		return format.Result{}, fmt.Errorf("read with poppler: %w", err)
	}
	d := parsePoppler(string(out))
	result := format.Result{Layout: knowledge.Layout{Reader: readerPoppler, Pages: d.Pages, Blocks: d.Blocks()}}
	if !hasText(result.Layout.Blocks) {
		return format.Result{}, knowledge.Errorf(knowledge.CodeEmpty, "there is no text in the PDF; send one with text in it")
	}
	return result, nil
}

var (
	popplerTag = regexp.MustCompile(`^\s*<(page|block|line|word)\b(.*?)>(?:(.*)</word>)?`)
	popplerBox = regexp.MustCompile(`(xMin|yMin|xMax|yMax|width|height)="(-?[\d.]+)"`)
)

// parsePoppler reads the lines from the output of pdftotext -bbox-layout, which has
// one element on each line.
func parsePoppler(out string) layout.Document {
	var d layout.Document
	element, fresh := 0, false // a line begins
	for row := range strings.Lines(out) {
		m := popplerTag.FindStringSubmatch(row)
		if m == nil {
			continue
		}
		at := map[string]float64{}
		for _, a := range popplerBox.FindAllStringSubmatch(m[2], -1) {
			at[a[1]], _ = strconv.ParseFloat(a[2], 64) // it matches a number
		}
		switch m[1] {
		case "page":
			d.Pages = append(d.Pages, knowledge.PageSize{Page: len(d.Pages) + 1, Width: at["width"], Height: at["height"]})
		case "block":
			element++
		case "line":
			fresh = true
		case "word":
			fresh = !addWord(&d, html.UnescapeString(m[3]), knowledge.Box{X1: at["xMin"], Y1: at["yMin"], X2: at["xMax"], Y2: at["yMax"]}, element, fresh) && fresh
		}
	}
	return d
}

// addWord adds a word to the last line, or to a new one. It reports whether the word
// has text and is on its page.
func addWord(d *layout.Document, text string, box knowledge.Box, element int, begins bool) bool {
	text = strings.Join(strings.Fields(charset.Clean(strings.ToValidUTF8(text, ""))), " ")
	if text == "" || len(d.Pages) == 0 {
		return false
	}
	page := d.Pages[len(d.Pages)-1]
	box, on := frame{right: page.Width, top: page.Height}.clip(box)
	if !on {
		return false
	}
	if begins || len(d.Lines) == 0 {
		d.Lines = append(d.Lines, layout.Line{Text: text, Page: page.Page, Box: box, Role: layout.Role{Element: element}})
		return true
	}
	last := &d.Lines[len(d.Lines)-1]
	last.Text += " " + text
	last.Box = last.Box.Union(box)
	return true
}
