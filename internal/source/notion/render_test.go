package notion_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// text returns the content of a block that is a text.
func text(s string) map[string]any { return map[string]any{"rich_text": sourcetest.NotionText(s)} }

// with returns a content with one more field.
func with(content map[string]any, name string, value any) map[string]any {
	content[name] = value
	return content
}

// TestBlocks has a block of each type, in the shapes of Notion's reference.
func TestBlocks(t *testing.T) {
	t.Parallel()
	linked := map[string]any{"type": "text", "plain_text": "a <link>", "href": "https://example.org/?a=1&b=2"}
	script := map[string]any{"type": "text", "plain_text": "a script", "href": "javascript:alert(1)"}
	external := map[string]any{"type": "external", "external": map[string]any{"url": "https://example.org/plan.png"}, "caption": sourcetest.NotionText("The plan")}
	for _, c := range []struct {
		kind    string
		content any
		want    string
	}{
		{"paragraph", text("one\ntwo"), "<p>one<br>two</p>"},
		{"paragraph", map[string]any{"rich_text": []any{linked, script}}, `<p><a href="https://example.org/?a=1&amp;b=2">a &lt;link&gt;</a>a script</p>`},
		{"heading_1", text("First"), "<h2>First</h2>"},
		{"heading_2", text("Second"), "<h3>Second</h3>"},
		{"heading_3", with(text("Third"), "is_toggleable", false), "<h4>Third</h4>"},
		{"heading_4", text("Fourth"), "<h5>Fourth</h5>"},
		{"bulleted_list_item", text("point"), "<ul><li>point</li></ul>"},
		{"numbered_list_item", text("first"), "<ol><li>first</li></ol>"},
		{"to_do", with(text("trim"), "checked", true), "<ul><li>[x] trim</li></ul>"},
		{"to_do", with(text("light"), "checked", false), "<ul><li>[ ] light</li></ul>"},
		{"toggle", text("more"), "<p>more</p>"},
		{"quote", text("said"), "<blockquote>said</blockquote>"},
		{"callout", with(text("mind"), "icon", map[string]any{"type": "emoji", "emoji": "⚠"}), "<blockquote>mind</blockquote>"},
		{"code", with(with(text("a < b"), "language", "go"), "caption", sourcetest.NotionText("compare")), "<pre><code>a &lt; b</code></pre><p>compare</p>"},
		{"equation", map[string]any{"expression": "e=mc^2"}, "<p>e=mc^2</p>"},
		{"divider", map[string]any{}, ""},
		{"table_of_contents", map[string]any{"color": "gray"}, ""},
		{"breadcrumb", map[string]any{}, ""},
		{"bookmark", map[string]any{"url": "https://example.org/", "caption": []any{}}, `<p><a href="https://example.org/">https://example.org/</a></p>`},
		{"embed", map[string]any{"url": "https://example.org/e", "caption": sourcetest.NotionText("A map")}, `<p><a href="https://example.org/e">A map</a></p>`},
		{"link_preview", map[string]any{"url": "https://example.org/l"}, `<p><a href="https://example.org/l">https://example.org/l</a></p>`},
		{"link_to_page", map[string]any{"type": "page_id", "page_id": "0000000a-0000-4000-8000-00000000000b"}, `<p><a href="https://www.notion.so/0000000a00004000800000000000000b">https://www.notion.so/0000000a00004000800000000000000b</a></p>`},
		{"image", external, `<p><a href="https://example.org/plan.png">The plan</a></p>`},
		{"template", text("a button"), "<p>a button</p>"},
		{"transcription", map[string]any{"title": sourcetest.NotionText("Meeting of the keepers")}, "<p>Meeting of the keepers</p>"},
		{"unsupported", map[string]any{}, "<p>Blocks of this page without text: 1 × unsupported</p>"},
		{"from_the_future", map[string]any{"rich_text": "another shape"}, "<p>Blocks of this page without text: 1 × from_the_future</p>"},
	} {
		if got := bodyWith(t, sourcetest.NotionBlock("b", c.kind, false, c.content)); got != c.want {
			t.Errorf("%s is\n%s\nwant\n%s", c.kind, got, c.want)
		}
	}
}

// bodyWith returns what a page with some blocks has behind its first paragraph.
func bodyWith(t *testing.T, blocks ...any) string {
	t.Helper()
	p := newPlace(t)
	page := p.World.Create(0, "page", false, "text 1")
	p.Blocks = func(int) []any { return blocks }
	return p.bodyOf(page)
}

func (p *place) bodyOf(page int) string {
	p.Helper()
	text, _, err := p.read(p.mustList().objects[p.Key(page)])
	if err != nil {
		p.Fatal(err)
	}
	_, body, _ := strings.Cut(text, "<p>text 1</p>")
	body, _, _ = strings.Cut(body, "</main>")
	return body
}

// TestNestedBlocks has a table, a list in a list, and a block whose blocks Notion does not
// give.
func TestNestedBlocks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	page := p.World.Create(0, "page", false, "text 1")
	row := func(cells ...string) any {
		var list []any
		for _, c := range cells {
			list = append(list, sourcetest.NotionText(c))
		}
		return sourcetest.NotionBlock("row", "table_row", false, map[string]any{"cells": list})
	}
	p.Blocks = func(int) []any {
		return []any{
			sourcetest.NotionBlock("table", "table", true, map[string]any{"table_width": 2, "has_column_header": true}),
			sourcetest.NotionBlock("list", "bulleted_list_item", true, text("outer")),
			sourcetest.NotionBlock("other", "bulleted_list_item", false, text("next")),
			sourcetest.NotionBlock("lost", "synced_block", true, map[string]any{"synced_from": map[string]any{"block_id": "x"}}),
		}
	}
	p.serves(map[string][]any{
		"table": {row("Pier", "Colour"), row("northern", "green")},
		"list":  {sourcetest.NotionBlock("inner", "numbered_list_item", false, text("inner"))},
	})
	want := "<table><tbody><tr><th>Pier</th><th>Colour</th></tr><tr><td>northern</td><td>green</td></tr></tbody></table>" +
		"<ul><li>outer<ol><li>inner</li></ol></li><li>next</li></ul><p>Blocks of this page without text: 1 × synced_block</p>"
	if got := p.bodyOf(page); got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
}

// TestBounds has blocks that are nested without an end, and a page with more blocks than are
// read.
func TestBounds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	page := p.World.Create(0, "page", false, "text 1")
	deep := sourcetest.NotionBlock("deep", "toggle", true, text("again"))
	p.Blocks = func(int) []any { return []any{deep} }
	p.serves(map[string][]any{"deep": {deep}})
	if got := p.bodyOf(page); strings.Count(got, "again") > 60 || !strings.Contains(got, "more blocks than those that are read") {
		t.Errorf("it has %d levels: %.300s", strings.Count(got, "again"), got)
	}
	many := make([]any, 12_000)
	for n := range many {
		many[n] = sourcetest.NotionBlock(fmt.Sprint(n), "paragraph", false, text("more"))
	}
	p.Blocks = func(int) []any { return many }
	p.follow.Cursor = ""
	if got := p.bodyOf(page); strings.Count(got, "<p>more</p>") > 10_200 || !strings.Contains(got, "more blocks than those that are read") {
		t.Errorf("it has %d blocks", strings.Count(got, "<p>more</p>"))
	}
}

// TestHostileTitles has titles that are no names of files.
func TestHostileTitles(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"":                        "Untitled",
		"\u0020\n\t\u0020":        "Untitled",
		"a/b":                     "a_b",
		"../../etc/passwd":        ".._.._etc_passwd",
		"one\x00two\r\nthree":     "one two three",
		strings.Repeat("ä", 2000): strings.Repeat("ä", 200) + "…",
		"</title><script>x":       "<_title><script>x",
	} {
		p := newPlace(t)
		page := p.World.Create(0, title, false, "text 1")
		l := p.mustList()
		p.want(l, want)
		text, _, err := p.read(l.objects[p.Key(page)])
		if err != nil || strings.Contains(text, "<script>") {
			t.Errorf("%.20q: %v\n%.300s", title, err, text)
		}
	}
}
