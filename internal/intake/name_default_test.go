package intake_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestNameIsOptional takes documents in that have no name.
func TestNameIsOptional(t *testing.T) {
	t.Parallel()
	f := open(t)
	for what, c := range map[string]struct {
		externalID string
		content    intake.Content
		want       string
	}{
		"nothing":                               {"", text("one"), "untitled"},
		"the last part of an external id":       {"reports/2024/q3.txt", text("one"), "q3.txt"},
		"the last part of an address":           {"", address("https://example.com/reports/q3.pdf?download=1"), "q3.pdf"},
		"the host of an address without a path": {"", address("https://example.com/"), "example.com"},
		"an address before an external id":      {"r-17", address("https://example.com/q3.pdf"), "q3.pdf"},
		"an external id that is no name":        {"../..", text("one"), "untitled"},
		"an external id of separators":          {"//", text("one"), "untitled"},
		"an address whose path is no name":      {"", address("https://example.com/a/%2e%2e%2f"), "example.com"},
		"a long external id":                    {strings.Repeat("x", 1000), text("one"), strings.Repeat("x", 512)},
	} {
		t.Run(what, func(t *testing.T) {
			d, err := f.take(intake.Document{Content: c.content, Attributes: intake.Attributes{ExternalID: c.externalID}})
			if err != nil || d.Name != c.want {
				t.Errorf("%q, %v; want %q", d.Name, err, c.want)
			}
		})
	}
	for given, want := range map[string]string{
		"TCP/IP guide": "TCP/IP guide", "Effects of A and/or B/": "Effects of A and/or B/", `C:\x and /`: `C:\x and /`, " a\r\nb\u202e ": "ab",
		"\u202e \t": "untitled", "..": "..", "/": "/",
	} {
		t.Run("a title keeps its slashes: "+want, func(t *testing.T) {
			d, err := f.take(intake.Document{Name: given, Content: text("one")})
			if err != nil || d.Name != want {
				t.Errorf("%q, %v; want %q", d.Name, err, want)
			}
		})
	}
	t.Run("a name that is given is checked", func(t *testing.T) {
		_, err := f.take(intake.Document{Name: strings.Repeat("x", 513), Content: text("one")})
		refused(t, err, knowledge.CodeInvalid, "body.name")
	})
}
