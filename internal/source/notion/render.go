package notion

import (
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// writer writes the blocks of a page as HTML.
type writer struct {
	strings.Builder
	lost map[string]int // blocks without text, by their types
}

func openDocument(b *strings.Builder, title string) {
	b.WriteString(`<!DOCTYPE html><html><head><meta charset="utf-8"><title>` + html.EscapeString(title) + "</title></head><body><main>")
}

func closeDocument(b *strings.Builder) { b.WriteString("</main></body></html>") }

// pageDocument returns a page as an HTML document: its properties and its blocks, and at the
// end what of it has no text here.
func pageDocument(page item, t *tree) string {
	w := &writer{lost: map[string]int{}}
	openDocument(&w.Builder, page.title())
	w.properties(page)
	w.blocks(t.blocks)
	if len(w.lost) > 0 {
		var types []string
		for _, name := range slices.Sorted(maps.Keys(w.lost)) {
			types = append(types, fmt.Sprintf("%d × %s", w.lost[name], name))
		}
		w.paragraph("Blocks of this page without text: " + strings.Join(types, ", "))
	}
	if t.cut {
		w.paragraph("This page has more blocks than those that are read.")
	}
	closeDocument(&w.Builder)
	return w.String()
}

// properties writes the properties of a row, other than its title.
func (w *writer) properties(page item) {
	var rows strings.Builder
	for _, name := range slices.Sorted(maps.Keys(page.Properties)) {
		if p := page.Properties[name]; p.Type != "title" {
			if text := p.text(); text != "" {
				rows.WriteString("<tr><th>" + html.EscapeString(name) + "</th><td>" + html.EscapeString(text) + "</td></tr>")
			}
		}
	}
	if rows.Len() > 0 {
		w.WriteString("<table><tbody>" + rows.String() + "</tbody></table>")
	}
}

// paragraph writes a paragraph of a text.
func (w *writer) paragraph(text string) {
	w.WriteString("<p>" + html.EscapeString(text) + "</p>")
}

// text writes an element with pieces of text and their links. Nothing is written for none.
func (w *writer) text(name string, list []richText) {
	if plain(list) == "" {
		return
	}
	w.WriteString("<" + name + ">")
	w.pieces(list)
	w.WriteString("</" + name + ">")
}

func (w *writer) pieces(list []richText) {
	for _, t := range list {
		text := strings.ReplaceAll(html.EscapeString(t.Plain), "\n", "<br>")
		if isLink(t.Link) {
			text = `<a href="` + html.EscapeString(t.Link) + `">` + text + "</a>"
		}
		w.WriteString(text)
	}
}

// isLink reports whether an address is one that a document may lead to.
func isLink(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto")
}

// link writes a paragraph with a link.
func (w *writer) link(address, text string) {
	if text == "" {
		text = address
	}
	w.WriteString("<p>")
	w.pieces([]richText{{Plain: text, Link: address}})
	w.WriteString("</p>")
}

// lists are the elements of the blocks that are items of lists.
func listOf(kind string) string {
	switch kind {
	case "bulleted_list_item", "to_do":
		return "ul"
	case "numbered_list_item":
		return "ol"
	}
	return ""
}

// blocks writes blocks one after the other. Items that follow each other are one list.
func (w *writer) blocks(all []*block) {
	open := ""
	for _, b := range all {
		if kind := listOf(b.Type); kind != open {
			if open != "" {
				w.WriteString("</" + open + ">")
			}
			if open = kind; open != "" {
				w.WriteString("<" + open + ">")
			}
		}
		if open != "" {
			w.item(b)
		} else {
			w.block(b)
		}
		if b.Lost {
			w.lost[b.Type]++
		}
	}
	if open != "" {
		w.WriteString("</" + open + ">")
	}
}

func (w *writer) item(b *block) {
	w.WriteString("<li>")
	if b.Type == "to_do" {
		w.WriteString(map[bool]string{true: "[x] ", false: "[ ] "}[b.content.Checked])
	}
	w.pieces(b.content.Text)
	w.blocks(b.children)
	w.WriteString("</li>")
}

// block writes a block with those in it.
func (w *writer) block(b *block) {
	c := b.content
	switch b.Type {
	case "paragraph", "toggle", "template":
		w.text("p", c.Text)
	case "heading_1", "heading_2", "heading_3", "heading_4":
		w.text("h"+string(b.Type[len(b.Type)-1]+1), c.Text) // the title of the page is above
	case "quote", "callout":
		w.text("blockquote", c.Text)
	case "code":
		w.WriteString("<pre><code>" + html.EscapeString(plain(c.Text)) + "</code></pre>")
		w.text("p", c.Caption)
	case "equation":
		w.paragraph(c.Expression)
	case "table":
		w.table(b)
		return
	case "child_page", "child_database":
		w.link(addressOf("", b.ID), plain(texts(c.Title)))
	case "link_to_page":
		w.link(addressOf("", c.Page+c.Database), "")
	case "bookmark", "embed", "link_preview":
		w.link(c.URL, plain(c.Caption))
	case "file", "pdf", "image", "video", "audio":
		w.file(b)
	case "divider", "breadcrumb", "table_of_contents", "column_list", "column", "synced_block", "tab": // are only places
	default:
		w.unknown(b)
	}
	w.blocks(b.children)
}

// file writes what stands for a file: the file itself is a document of its own, or elsewhere.
func (w *writer) file(b *block) {
	c := b.content
	if c.isHosted() {
		w.paragraph(b.attachment().Name)
		w.text("p", c.Caption)
		return
	}
	w.link(c.External.URL, plain(c.Caption))
}

// unknown writes the text of a block of a type that is not known, or counts it.
func (w *writer) unknown(b *block) {
	text := slices.Concat(b.content.Text, texts(b.content.Title), b.content.Caption)
	if plain(text) == "" && len(b.children) == 0 && !b.Lost {
		w.lost[b.Type]++
	}
	w.text("p", text)
}

// table writes a simple table, whose rows are the blocks in it.
func (w *writer) table(b *block) {
	w.WriteString("<table><tbody>")
	for n, row := range b.children {
		cell := "td"
		if n == 0 && b.content.Header {
			cell = "th"
		}
		w.WriteString("<tr>")
		for _, text := range row.content.Cells {
			w.WriteString("<" + cell + ">")
			w.pieces(text)
			w.WriteString("</" + cell + ">")
		}
		w.WriteString("</tr>")
	}
	w.WriteString("</tbody></table>")
}
