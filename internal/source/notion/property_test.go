package notion_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// serves makes a fake answer the blocks in some blocks, and no others.
func (p *place) serves(blocks map[string][]any) {
	p.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		id, children := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v1/blocks/"), "/children")
		if !children || strings.Contains(id, "-0000-4000-8000-") {
			return false
		}
		if blocks[id] == nil {
			sourcetest.NotionError(w, http.StatusNotFound, "object_not_found")
			return true
		}
		sourcetest.NotionList(w, blocks[id])
		return true
	}
}

// properties are values of all types, in the shapes of Notion's reference.
func properties(int) map[string]any {
	ann := map[string]any{"object": "user", "id": "u", "name": "Ann"}
	values := map[string]any{}
	for name, p := range map[string]map[string]any{
		"Notes":    {"rich_text": sourcetest.NotionText("a <note>")},
		"Count":    {"number": 4.5},
		"None":     {"number": nil},
		"Colour":   {"select": map[string]any{"id": "x", "name": "green"}},
		"Empty":    {"select": nil},
		"State":    {"status": map[string]any{"name": "Lit"}},
		"Due":      {"date": map[string]any{"start": "2026-11-30", "end": "2026-12-01", "time_zone": nil}},
		"Keepers":  {"people": []any{ann, map[string]any{"object": "user", "id": "v", "name": "Bob"}}},
		"Lit":      {"checkbox": true},
		"Site":     {"url": "https://example.org/"},
		"Mail":     {"email": "ann@example.org"},
		"Phone":    {"phone_number": "+49 40"},
		"Made":     {"created_time": "2026-11-30T09:00:00.000Z"},
		"Author":   {"created_by": ann},
		"Sum":      {"formula": map[string]any{"type": "number", "number": 7}},
		"Label":    {"formula": map[string]any{"type": "string", "string": "seven"}},
		"Day":      {"formula": map[string]any{"type": "date", "date": map[string]any{"start": "2026-11-30"}}},
		"Is":       {"formula": map[string]any{"type": "boolean", "boolean": false}},
		"Names":    {"rollup": map[string]any{"type": "array", "function": "show_original", "array": []any{map[string]any{"type": "title", "title": sourcetest.NotionText("North")}, map[string]any{"type": "number", "number": 3}}}},
		"Number":   {"unique_id": map[string]any{"prefix": "LAMP", "number": 12}},
		"Piers":    {"relation": []any{map[string]any{"id": "x"}}},
		"Push":     {"button": map[string]any{}},
		"Unheard":  {"from_the_future": []any{1, 2}},
		"Hostiles": {"select": []any{"not", "an", "object"}},
	} {
		for kind := range p {
			p["type"], p["id"] = kind, name
			break
		}
		values[name] = p
	}
	return values
}

// propertyTexts are their names and texts.
func propertyTexts() []string {
	return []string{
		"Notes", "a &lt;note&gt;", "Count", "4.5", "Colour", "green", "State", "Lit", "Due", "2026-11-30 – 2026-12-01", "Keepers", "Ann, Bob", "Lit", "true",
		"Site", "https://example.org/", "Mail", "ann@example.org", "Phone", "+49 40", "Made", "2026-11-30T09:00:00.000Z", "Author", "Ann",
		"Sum", "7", "Label", "seven", "Day", "2026-11-30", "Is", "false", "Names", "North, 3", "Number", "LAMP-12", "Tags", "lights, rule",
	}
}

// TestProperties has a row with values of all types.
func TestProperties(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	row := p.World.Create(0, "North", false, "text 1")
	p.World.Label(row, "lights", "rule")
	p.Properties = properties
	text, _, err := p.read(p.mustList().objects[p.Key(row)])
	if err != nil {
		t.Fatal(err)
	}
	texts := propertyTexts()
	for n := 0; n < len(texts); n += 2 {
		if want := "<tr><th>" + texts[n] + "</th><td>" + texts[n+1] + "</td></tr>"; !strings.Contains(text, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if got := strings.Count(text, "<th>"); got != len(texts)/2 {
		t.Errorf("it has %d properties, want %d:\n%s", got, len(texts)/2, text)
	}
}

// TestTables has a table whose rows change: then it changes too.
func TestTables(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	keepers := p.World.Create(0, "Keepers", true, "Who keeps what")
	p.Tables = func(id int) bool { return id == keepers }
	for n := range 130 {
		p.World.Label(p.World.Create(keepers, fmt.Sprint("Ann ", n), false, "text"), "north")
	}
	o := p.mustList().objects[p.Key(keepers)]
	text, now, err := p.read(o)
	if err != nil || now.ETag != o.ETag || strings.Count(text, "<tr>") != 131 {
		t.Fatalf("it has %d rows, and the etag %q instead of %q: %v", strings.Count(text, "<tr>"), now.ETag, o.ETag, err)
	}
	if !strings.Contains(text, "<p>Who keeps what</p><table><thead><tr><th>Name</th><th>Tags</th></tr></thead><tbody><tr><td>Ann 0</td><td>north</td></tr>") {
		t.Errorf("it is %.300s", text)
	}
	p.World.Create(keepers, "Bob", false, "text")
	if again := p.mustList().objects[p.Key(keepers)]; again.ETag == o.ETag || again.ETag == "" {
		t.Errorf("with another row it has the etag %q", again.ETag)
	}
}
