package citation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestLocate(t *testing.T) {
	t.Parallel()
	box := func(x1, y1, x2, y2 float64) knowledge.Box { return knowledge.Box{X1: x1, Y1: y1, X2: x2, Y2: y2} }
	// Each character is 10 points wide.
	c := knowledge.Chunk{
		Text: "The exam-\nple shows Größe.\nA well-\nknown -5 °C",
		Lines: []knowledge.Line{
			{Start: 0, End: 9, Page: 1, Box: box(10, 10, 100, 20)},
			{Start: 10, End: 26, Page: 2, Box: box(10, 30, 170, 40)},
			{Start: 27, End: 34, Page: 2, Box: box(10, 50, 80, 60)},
			{Start: 35, End: 46, Page: 2, Box: box(10, 70, 120, 80)},
		},
	}
	for name, want := range map[string]struct {
		quote      string
		start, end int
		boxes      []citation.PageBox
	}{
		"a word that a line end breaks, over two pages": {"EXAMPLE  shows", 4, 19, []citation.PageBox{{Page: 1, Box: box(50, 10, 100, 20)}, {Page: 2, Box: box(10, 30, 100, 40)}}},
		"a quotation with the break in it":              {"exam-\nple", 4, 13, []citation.PageBox{{Page: 1, Box: box(50, 10, 100, 20)}, {Page: 2, Box: box(10, 30, 40, 40)}}},
		"a word with a hyphen of its own":               {"well-known", 29, 40, []citation.PageBox{{Page: 2, Box: box(30, 50, 80, 60)}, {Page: 2, Box: box(10, 70, 60, 80)}}},
		"characters that nobody sees":                   {"Grö\u00adße\u200b.", 20, 26, []citation.PageBox{{Page: 2, Box: box(110, 30, 170, 40)}}},
		"letters beyond ASCII, with space around":       {"\n größe. ", 20, 26, []citation.PageBox{{Page: 2, Box: box(110, 30, 170, 40)}}},
		"a negative number":                             {"-5", 41, 43, []citation.PageBox{{Page: 2, Box: box(70, 70, 90, 80)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, found := citation.Locate(c, want.quote)
			if !found {
				t.Fatal("not found")
			}
			if diff := cmp.Diff(citation.Passage{Start: want.start, End: want.end, Boxes: want.boxes}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name, quote := range map[string]string{"other words": "nowhere", "only white space": " \n", "a number with another sign": "known 5", "nothing": "", "more than there is": c.Text + "x"} {
		t.Run(name+" is not found", func(t *testing.T) {
			t.Parallel()
			if p, found := citation.Locate(c, quote); found {
				t.Errorf("found %+v", p)
			}
		})
	}

	t.Run("a chunk without lines gives offsets and no boxes", func(t *testing.T) {
		t.Parallel()
		got, found := citation.Locate(knowledge.Chunk{Text: "a b"}, "B")
		if diff := cmp.Diff(citation.Passage{Start: 2, End: 3, Boxes: []citation.PageBox{}}, got); !found || diff != "" {
			t.Error(found, diff)
		}
	})
}

func TestBoxes(t *testing.T) {
	t.Parallel()
	line := func(page int, x1, x2 float64) knowledge.Line {
		return knowledge.Line{Page: page, Box: knowledge.Box{X1: x1, Y1: 1, X2: x2, Y2: 2}}
	}
	got := citation.Boxes(knowledge.Chunk{Lines: []knowledge.Line{line(2, 5, 6), line(1, 1, 2), line(2, 3, 4)}})
	want := []citation.PageBox{{Page: 1, Box: line(1, 1, 2).Box}, {Page: 2, Box: line(2, 3, 6).Box}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := citation.Boxes(knowledge.Chunk{}); got == nil || len(got) != 0 {
		t.Errorf("no lines give %v", got)
	}
}
