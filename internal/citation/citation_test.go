package citation_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

var contexts = []citation.Context{{Rank: 1, ChunkID: "aaa"}, {Rank: 2, ChunkID: "bbb"}, {Rank: 12, ChunkID: "lll"}}

func cite(rank, id string) string { return `<citation id="` + id + `">[` + rank + `]</citation>` }

func rewrite(parts ...string) (string, []int) {
	r := citation.NewRewriter(contexts)
	out := ""
	for _, p := range parts {
		out += r.Write(p)
	}
	return out + r.Close(), r.Used()
}

func TestRewriter(t *testing.T) {
	t.Parallel()
	one, two, twelve := cite("1", "aaa"), cite("2", "bbb"), cite("12", "lll")
	for name, c := range map[string]struct {
		in, want string
		used     []int
	}{
		"a source tag":                     {"Leave is 30 days <source_1>.", "Leave is 30 days " + one + ".", []int{1}},
		"several in one tag":               {"x <source_1, source_12>", "x " + one + twelve, []int{1, 12}},
		"a number in brackets":             {"x [2], y[1]", "x " + two + ", y" + one, []int{1, 2}},
		"several in brackets":              {"x [1, 2]", "x " + one + two, []int{1, 2}},
		"a source in brackets":             {"x [source_12]", "x " + twelve, []int{12}},
		"two brackets in a row":            {"x [1][2].", "x " + one + two + ".", []int{1, 2}},
		"a finished citation":              {"x " + two, "x " + two, []int{2}},
		"a citation with another number":   {`x <citation id="bbb">[9]</citation>`, "x " + two, []int{2}},
		"an unknown rank goes":             {"x <source_9>. y [7], z", "x. y, z", []int{}},
		"an unknown id goes":               {`x <citation id="zzz">[1]</citation>.`, "x.", []int{}},
		"a known and an unknown rank":      {"x [1, 9]", "x " + one, []int{1}},
		"a closing tag goes":               {"<source_1>text</source_1>", one + "text", []int{1}},
		"links stay":                       {"[1](http://x) [2]: http://y [a][1]", "[1](http://x) [2]: http://y [a]" + one, []int{1}},
		"code stays":                       {"`a[1]` and ```\nb[2]\n``` [1]", "`a[1]` and ```\nb[2]\n``` " + one, []int{1}},
		"unclosed code ends with its line": {"a ` b\n[1]", "a ` b\n" + one, []int{1}},
		"other tags stay":                  {"a < b <b>c</b> [x] [", "a < b <b>c</b> [x] [", []int{}},
		"an unfinished mark stays":         {"a <source_", "a <source_", []int{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, used := rewrite(c.in)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if diff := cmp.Diff(c.used, used); diff != "" {
				t.Error(diff)
			}
		})
	}

	t.Run("what is certain is not held back", func(t *testing.T) {
		t.Parallel()
		r := citation.NewRewriter(contexts)
		if got := r.Write("Hello <source"); got != "Hello" {
			t.Errorf("gave %q", got)
		}
		if got := r.Write(" x"); got != " <source x" {
			t.Errorf("gave %q", got)
		}
		if got := r.Write(" [" + strings.Repeat("1,", 500)); len(got) < 500 {
			t.Errorf("a mark that never ends is held back: gave %d bytes", len(got))
		}
	})
}

// FuzzRewriterCuts checks that the output does not depend on how the input is
// cut, and that only known passages are cited.
func FuzzRewriterCuts(f *testing.F) {
	f.Add("x <source_1> y [2] `[1]` <citation id=\"bbb\">[2]</citation> [1](u) [3]", uint8(3), uint8(7))
	f.Add("[1][", uint8(1), uint8(2))
	f.Add(" <source_1, source_2>\n```[1]", uint8(5), uint8(1))
	f.Fuzz(func(t *testing.T, text string, a, b uint8) {
		whole, used := rewrite(text)
		var parts []string
		rest := text
		for i := 0; rest != ""; i++ {
			n := min(int(a%17)+1, len(rest))
			if i%2 == 1 {
				n = min(int(b%11)+1, len(rest))
			}
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		cut, cutUsed := rewrite(parts...)
		if cut != whole || !cmp.Equal(used, cutUsed) {
			t.Fatalf("cut   %q\nwhole %q", cut, whole)
		}
		for _, rank := range used {
			if rank != 1 && rank != 2 && rank != 12 {
				t.Fatalf("rank %d was cited", rank)
			}
		}
	})
}

func TestStrip(t *testing.T) {
	t.Parallel()
	if got := citation.Strip("Leave is 30 days " + cite("1", "a") + cite("2", "b") + "."); got != "Leave is 30 days." {
		t.Errorf("got %q", got)
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	c := knowledge.Chunk{
		Text: "The exam-\nple shows Größe.\nEnd",
		Lines: []knowledge.Line{
			{Start: 0, End: 9, Page: 1, Box: knowledge.Box{X1: 10, Y1: 10, X2: 100, Y2: 20}},
			{Start: 10, End: 26, Page: 2, Box: knowledge.Box{X1: 10, Y1: 30, X2: 170, Y2: 40}},
		},
	}
	p, ok := citation.Locate(c, "EXAMPLE  shows")
	if !ok || p.Start != 4 || p.End != 19 || len(p.Boxes) != 2 {
		t.Fatalf("found %v at %+v", ok, p)
	}
	want := []wantedBox{{1, 50, 100}, {2, 10, 100}}
	for i, b := range p.Boxes {
		if b.Page != want[i].page || math.Abs(b.Box.X1-want[i].x1) > .01 || math.Abs(b.Box.X2-want[i].x2) > .01 {
			t.Errorf("box %d is %+v, want %+v", i, b, want[i])
		}
	}
	if _, ok := citation.Locate(c, "nowhere"); ok {
		t.Error("found what is not there")
	}
	if _, ok := citation.Locate(c, "  "); ok {
		t.Error("found nothing at all")
	}
	if boxes := citation.Boxes(c); len(boxes) != 2 || boxes[0].Page != 1 {
		t.Errorf("boxes %+v", boxes)
	}
}

// wantedBox is what the test expects of a box.
type wantedBox struct {
	page   int
	x1, x2 float64
}
