package asciidoc

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// setStyle sets the style of the next block, and the source of a quotation.
func (r *reader) setStyle(style string) {
	r.style, r.quoted = strings.ToLower(style), ""
	name, source, _ := strings.Cut(style, ",")
	if name == "quote" || name == "verse" {
		var parts []string
		for part := range strings.SplitSeq(source, ",") {
			if part = strings.Trim(strings.TrimSpace(part), `"`); part != "" {
				parts = append(parts, part)
			}
		}
		r.quoted = r.inline(strings.Join(parts, ", "))
	}
}

// addSource adds the source of a quotation behind it.
func (r *reader) addSource() {
	if r.quoted != "" {
		r.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: "— " + r.quoted}, r.at-1)
	}
	r.quoted = ""
}

// quotation reads a line around a quotation. The lines of a verse stay apart.
func (r *reader) quotation(line string) {
	if r.style == "verse" || strings.HasPrefix(r.style, "verse,") {
		r.endList()
		first := r.at
		lines := r.until(line)
		for i := range lines {
			lines[i] = r.inline(lines[i])
		}
		r.style = ""
		r.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: strings.Trim(strings.Join(lines, "\n"), "\n")}, first)
		r.addSource()
		return
	}
	r.at++
	if r.inQuote = !r.inQuote; !r.inQuote {
		r.endList()
		r.addSource()
	}
}
