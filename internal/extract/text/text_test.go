package text_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/text"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

func texts(blocks []knowledge.Block) []string {
	var out []string
	for _, b := range blocks {
		out = append(out, b.Text)
	}
	return out
}

func TestPlainMakesParagraphs(t *testing.T) {
	t.Parallel()
	got := texts(text.Plain("\n\nOne line\nand another.  \n \n\t\nSecond\n\n"))
	if diff := cmp.Diff([]string{"One line\nand another.", "Second"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCodeKeepsLinesAndBreaksBetweenDeclarations(t *testing.T) {
	t.Parallel()
	got := text.Code("package a\n\nimport \"x\"\n\nfunc f() {\n\tg()\n\n\th()\n\n}\n\nfunc g() {}\n")
	want := []string{"package a", "import \"x\"", "func f() {\n\tg()\n\n\th()\n\n}", "func g() {}"}
	if diff := cmp.Diff(want, texts(got)); diff != "" {
		t.Error(diff)
	}
	for _, b := range got {
		if b.Kind != knowledge.BlockCode {
			t.Errorf("kind %s", b.Kind)
		}
	}
}

func TestJSONBecomesLinesWithPaths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, in string
		want          []string
	}{
		{"the order of the file is kept", `{"b": 1, "a": {"x": "y", "n": null, "t": true}}`, []string{"b: 1\na.x: y\na.t: true"}},
		{"numbers are kept as they are written", `{"big": 12345678901234567890.10}`, []string{"big: 12345678901234567890.10"}},
		{"lists are numbered", `{"l": ["a", {"b": "c"}]}`, []string{"l[0]: a\nl[1].b: c"}},
		{"elements of a top level list are blocks", `[{"a": 1}, {"a": 2}]`, []string{"[0].a: 1", "[1].a: 2"}},
		{"a single value", `"hello"`, []string{"hello"}},
		{"values may have lines", `{"a": "x\ny"}`, []string{"a: x\ny"}},
		{"control characters are removed", `{"a": "x\u0000\u0007y", "b\u0001": 1}`, []string{"a: xy\nb: 1"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			got, err := text.JSON(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, texts(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJSONMakesBlocksOfModerateSize(t *testing.T) {
	t.Parallel()
	got, err := text.JSON(`{"list": [` + strings.Repeat(`"some words that fill a line", `, 999) + `"end"]}`)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range got {
		if len(b.Text) > 2000 {
			t.Errorf("block %d has %d bytes", i, len(b.Text))
		}
	}
}

func TestLinesMakesABlockPerLine(t *testing.T) {
	t.Parallel()
	got, err := text.Lines("{\"a\": 1}\n\n{\"a\": 2, \"b\": [3]}\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a: 1", "a: 2\nb[0]: 3"}, texts(got)); diff != "" {
		t.Error(diff)
	}
}

func TestJSONErrorsHaveAPosition(t *testing.T) {
	t.Parallel()
	_, err := text.Lines("{\"a\": 1}\n{\"a\": \n")
	if !knowledge.IsCode(err, knowledge.CodeMalformed) || !strings.Contains(knowledge.AsError(err).Message, "line 2") {
		t.Errorf("error %v, want malformed in line 2", err)
	}
	_, err = text.JSON(`{"a": nonsense}`)
	if !knowledge.IsCode(err, knowledge.CodeMalformed) || !strings.Contains(knowledge.AsError(err).Message, "byte 6") {
		t.Errorf("error %v, want malformed at byte 6", err)
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	fromJSON := func(read func(string) ([]knowledge.Block, error)) func(string) []knowledge.Block {
		return func(s string) []knowledge.Block {
			blocks, err := read(s)
			if err != nil {
				t.Error(err)
			}
			return blocks
		}
	}
	each := func(first, last int) knowledge.Origin {
		return knowledge.Origin{First: first, Last: last, LineByLine: true}
	}
	for name, c := range map[string]struct {
		read func(string) []knowledge.Block
		in   string
		want []knowledge.Origin
	}{
		"plain":      {text.Plain, "\none\ntwo\n\n \t\nthree", []knowledge.Origin{each(2, 3), each(6, 6)}},
		"code":       {text.Code, "\nfunc a() {\n\n\tx\n}\n\n\nfunc b() {}\n\n", []knowledge.Origin{each(2, 5), each(8, 8)}},
		"JSON":       {fromJSON(text.JSON), "[\n{\"a\":1,\n\"b\":2\n},\n\n{\"a\":\n3}]\n", []knowledge.Origin{{First: 2, Last: 3}, {First: 7, Last: 7}}},
		"JSON lines": {fromJSON(text.Lines), "{\"a\":1}\n\n{\"a\":2,\"b\":3}\n", []knowledge.Origin{{First: 1, Last: 1}, {First: 3, Last: 3}}},
	} {
		var got []knowledge.Origin
		for _, b := range c.read(c.in) {
			got = append(got, b.Origin)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
