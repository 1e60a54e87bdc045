package asciidoc

import (
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/latex"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

var tag = regexp.MustCompile(`<[^<>]*>`)

// delimited reads a block between two lines that are the same, or such a line: what
// examples, sidebars and quotes hold is read as any other text.
func (r *reader) delimited() {
	line, first := r.lines[r.at], r.at
	switch {
	case strings.HasSuffix(line, "==="), strings.HasPrefix(line, "|="):
		if strings.ContainsAny(line[:1], "|,:!") {
			r.table()
			return
		}
		r.at++
	case strings.HasPrefix(line, "----"), strings.HasPrefix(line, "...."), strings.HasPrefix(line, "```"):
		r.verbatim(r.until(strings.TrimRight(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")), first)
	case strings.HasPrefix(line, "////"):
		r.until(line)
	case strings.HasPrefix(line, "++++"):
		text := strings.Join(r.until(line), "\n")
		if !strings.HasPrefix(r.style, "stem") && !strings.HasSuffix(r.style, "math") {
			text = tag.ReplaceAllString(text, "")
		} else if strings.Contains(text, `\`) {
			text = latex.Formula(text)
		}
		r.style = ""
		r.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: strings.TrimSpace(text)}, first)
	case strings.HasPrefix(line, "____"):
		r.quotation(line)
	case line == "--" && isVerbatim(r.style):
		r.verbatim(r.until(line), first)
	default:
		r.at++
	}
}

// until returns the lines up to a line, or to the end of the text.
func (r *reader) until(end string) []string {
	r.at++
	start := r.at
	for ; r.at < len(r.lines); r.at++ {
		if r.lines[r.at] == end {
			r.at++
			return r.lines[start : r.at-1]
		}
	}
	return r.lines[start:]
}

// literal reads a paragraph that is indented.
func (r *reader) literal() {
	first := r.at
	var lines []string
	for ; r.at < len(r.lines) && r.lines[r.at] != "" && r.lines[r.at] != "+"; r.at++ {
		lines = append(lines, r.lines[r.at])
	}
	r.verbatim(lines, first)
}

// verbatim adds a listing, to the item of a list if it continues one.
func (r *reader) verbatim(lines []string, first int) {
	r.style = ""
	if r.joined && len(r.list) > 0 {
		r.joined = false
		for _, line := range lines {
			r.list = append(r.list, indent(len(r.marks))+line)
		}
		return
	}
	r.endList()
	r.add(knowledge.Block{Kind: knowledge.BlockCode, Text: strings.TrimRight(strings.Join(lines, "\n"), "\n")}, first)
}
