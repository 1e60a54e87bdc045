package api_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestFileLinks: links to files of the run are signed in the words of its answer, wherever these
// are cut, and no others are.
func TestFileLinks(t *testing.T) {
	t.Parallel()
	e := open(t)
	p := e.principal(e.reader)
	for name, test := range map[string]struct {
		public, text string
		links        []string // what is signed
	}{
		"a picture":              {"", "See ![a plot](/runs/r1/files/plot.png).", []string{"(/runs/r1/files/plot.png?token="}},
		"two, and one at an end": {"", "/runs/r1/files/a%20b.csv and /runs/r1/files/c", []string{"/runs/r1/files/a%20b.csv?token=", "/runs/r1/files/c?token="}},
		"with an address":        {"https://cairn.test/", "![p](/runs/r1/files/p.png)", []string{"(https://cairn.test/runs/r1/files/p.png?token="}},
		"that has one":           {"https://cairn.test", "https://cairn.test/runs/r1/files/p.png", []string{"https://cairn.test/runs/r1/files/p.png?token="}},
		"of another run":         {"", "[x](/runs/r2/files/plot.png)", nil},
		"signed already":         {"", "[x](/runs/r1/files/p.png?token=abc)", nil},
		"no link":                {"", "/runs/r1/files/ and /runs/r1/fil", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := api.SignFileLinks(e.access, test.public, p, "r1", test.text)
			for _, link := range test.links {
				if !strings.Contains(whole, link) {
					t.Errorf("%q lacks %q", whole, link)
				}
			}
			if test.links == nil && whole != test.text {
				t.Errorf("%q", whole)
			}
			for n := 1; n < 9; n++ {
				var parts []string
				for rest := test.text; rest != ""; {
					parts = append(parts, rest[:min(n, len(rest))])
					rest = rest[min(n, len(rest)):]
				}
				if got := api.SignFileLinks(e.access, test.public, p, "r1", parts...); got != whole {
					t.Errorf("cut in pieces of %d: %q, whole %q", n, got, whole)
				}
			}
		})
	}
	if got, rest := api.SignExpected(e.access, p, "r1", knowledge.RunFile{Name: "p.png"}, "see /runs/r1/files/p.png"), ""; !strings.Contains(got, "?token=") {
		t.Errorf("the link of a known file is held back: %q%q", got, rest)
	}
}
