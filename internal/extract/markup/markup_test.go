package markup_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestParse(t *testing.T) {
	t.Parallel()
	root, err := markup.Parse(strings.NewReader(
		`<?xml version="1.0"?><w:a xmlns:w="w" xmlns:r="http://x/relationships" id="1" r:id="rId2">one<w:b>two</w:b><c><w:b>three</w:b></c></w:a>`))
	if err != nil {
		t.Fatal(err)
	}
	if got := root.Content(); got != "onetwothree" {
		t.Errorf("content %q", got)
	}
	if root.Attr("id") != "1" || root.Reference("id") != "rId2" {
		t.Errorf("attributes %q and %q", root.Attr("id"), root.Reference("id"))
	}
	if got := root.Child("c", "b").Content(); got != "three" {
		t.Errorf("child %q", got)
	}
	var all []string
	root.All("b", func(n *markup.Node) { all = append(all, n.Content()) })
	if strings.Join(all, " ") != "two three" {
		t.Errorf("all %q", all)
	}
	if missing := root.Child("x", "y"); missing.Child("z") != nil || missing.Attr("a") != "" || missing.Content() != "" {
		t.Error("a missing element is not empty")
	}
}

func TestEachReadsPartByPart(t *testing.T) {
	t.Parallel()
	var got []string
	err := markup.Each(strings.NewReader("<d><s><p>1</p></s><p>2<s>3</s></p></d>"),
		func(n *markup.Node) bool { return n.Name == "d" || n.Name == "s" },
		func(n *markup.Node) error { got = append(got, n.Name+n.Content()); return nil })
	if err != nil || strings.Join(got, " ") != "p1 p23" {
		t.Errorf("%q, %v", got, err)
	}
	stop := errors.New("stop")
	if err := markup.Each(strings.NewReader("<d><p/><p/></d>"), func(n *markup.Node) bool { return n.Name == "d" }, func(*markup.Node) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>caf\xe9</a>",
		"\xff\xfe<\x00?\x00x\x00m\x00l\x00 \x00v\x00e\x00r\x00s\x00i\x00o\x00n\x00=\x00'\x001\x00.\x000\x00'\x00 \x00e\x00n\x00c\x00o\x00d\x00i\x00n\x00g\x00=\x00'\x00U\x00T\x00F\x00-\x001\x006\x00'\x00?\x00>\x00<\x00a\x00>\x00c\x00a\x00f\x00\xe9\x00<\x00/\x00a\x00>\x00",
	} {
		root, err := markup.Parse(strings.NewReader(s))
		if err != nil || root.Content() != "café" {
			t.Errorf("%q: %v", s[:10], err)
		}
	}
}

func TestHostileXML(t *testing.T) {
	t.Parallel()
	bomb := `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>`
	for _, tc := range []struct {
		behaviour, in string
		code          knowledge.Code
	}{
		{"entities that grow", bomb + "<a>&b;</a>", knowledge.CodeCorrupt},
		{"an entity that is a file", bomb + "<a>&c;</a>", knowledge.CodeCorrupt},
		{"elements nested deeply", strings.Repeat("<a>", 100_000), knowledge.CodeParseLimit},
		{"millions of elements", "<a>" + strings.Repeat("<b/>", 2_000_000), knowledge.CodeParseLimit},
		{"an end that is missing", "<a><b></b>", knowledge.CodeCorrupt},
		{"no XML", "PK\x03\x04", knowledge.CodeCorrupt},
		{"nothing", "", knowledge.CodeCorrupt},
		{"an unknown encoding", `<?xml version="1.0" encoding="klingon"?><a/>`, knowledge.CodeCorrupt},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if _, err := markup.Parse(strings.NewReader(tc.in)); !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want one with code %s", err, tc.code)
			}
		})
	}
}
