package parsed

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// listMark is how a line of a list begins that has a mark of its own.
var listMark = regexp.MustCompile(`^\s*([-*+•◦▪–]|\(?[0-9A-Za-z]{1,3}[.)])\s`)

// Markdown returns a layout as Markdown, without furniture. A comment names each page
// where it begins.
func Markdown(layout knowledge.Layout) string {
	var out strings.Builder
	page := 0
	var before knowledge.Block
	for _, b := range layout.Blocks {
		if b.Kind.IsFurniture() || strings.TrimSpace(b.Text) == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString(separator(before, b))
		}
		if first := b.FirstPage(); first > page {
			page = first
			if continues(before, b) {
				out.WriteString("\n")
			}
			fmt.Fprintf(&out, "<!-- page %d -->\n\n", page)
		}
		out.WriteString(markdownOf(b))
		before = b
	}
	if out.Len() > 0 {
		out.WriteString("\n")
	}
	return out.String()
}

// separator stands between two blocks. The blocks of one long table are one in Markdown.
func separator(before, next knowledge.Block) string {
	if continues(before, next) {
		return "\n"
	}
	return "\n\n"
}

// continues reports whether a block has the next rows of the table before it.
func continues(before, next knowledge.Block) bool {
	return before.Kind == knowledge.BlockTable && next.Kind == knowledge.BlockTable && next.Header != "" &&
		next.Header == before.Header && !strings.HasPrefix(next.Text, next.Header)
}

func markdownOf(b knowledge.Block) string {
	text := strings.TrimRight(b.Text, "\n ")
	switch b.Kind {
	case knowledge.BlockTitle:
		return "# " + oneLine(text)
	case knowledge.BlockHeading:
		return strings.Repeat("#", min(max(b.Level, 1), 6)) + " " + oneLine(text)
	case knowledge.BlockList:
		return marked(text)
	case knowledge.BlockCode:
		return fenced(text)
	}
	return text
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// marked returns a list in which each item has a mark.
func marked(text string) string {
	if listMark.MatchString(text) {
		return text
	}
	return "- " + strings.ReplaceAll(text, "\n", "\n- ")
}

// fenced returns code between fences that are longer than any in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}
