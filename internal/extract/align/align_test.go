package align_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/align"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

// pdf returns the layout of a PDF with these lines, ten points high, one block each.
// "\f" begins a page, and "~" a footer.
func pdf(lines ...string) knowledge.Layout {
	layout := knowledge.Layout{Pages: []knowledge.PageSize{{Page: 1, Width: 600, Height: 800}}}
	y := 0.0
	for _, text := range lines {
		if rest, found := strings.CutPrefix(text, "\f"); found {
			text, y = rest, 0
			layout.Pages = append(layout.Pages, knowledge.PageSize{Page: len(layout.Pages) + 1, Width: 600, Height: 800})
		}
		kind := knowledge.BlockParagraph
		if rest, found := strings.CutPrefix(text, "~"); found {
			kind, text = knowledge.BlockFooter, rest
		}
		n := len([]rune(text))
		layout.Blocks = append(layout.Blocks, knowledge.Block{Kind: kind, Text: text, Lines: []knowledge.Line{
			{End: n, Page: len(layout.Pages), Box: knowledge.Box{X1: 0, Y1: y, X2: float64(10 * n), Y2: y + 10}},
		}})
		y += 20
	}
	return layout
}

// placed returns the text of each line of the blocks, with its page and height.
func placed(blocks []knowledge.Block) [][]string {
	var out [][]string
	for _, b := range blocks {
		var lines []string
		runes := []rune(b.Text)
		for _, l := range b.Lines {
			lines = append(lines, string(runes[l.Start:l.End])+" @"+string(rune('0'+l.Page))+":"+string(rune('a'+int(l.Box.Y1)/20)))
		}
		out = append(out, lines)
	}
	return out
}

func TestAlign(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		blocks    []string
		pdf       []string
		want      [][]string
	}{
		{"a paragraph over two lines", []string{"Tea is hot, and coffee is too."}, []string{"Tea is hot, and", "coffee is too."},
			[][]string{{"Tea is hot, and @1:a", "coffee is too. @1:b"}}},
		{"a paragraph over two pages, with a footer between", []string{"Tea is hot, and coffee is too."}, []string{"Tea is hot, and", "~Company, page 1", "\fcoffee is too."},
			[][]string{{"Tea is hot, and @1:a", "coffee is too. @2:a"}}},
		{"the same words again are another place", []string{"Tea", "Tea is hot.", "Tea"}, []string{"Tea", "Tea is hot.", "Tea"},
			[][]string{{"Tea @1:a"}, {"Tea is hot. @1:b"}, {"Tea @1:c"}}},
		{"a table has a line for each cell", []string{"| Drink | Price |\n| --- | --- |\n| tea | 2 |"}, []string{"Drink", "Price", "tea", "2"},
			[][]string{{"Drink @1:a", "Price @1:b", "tea @1:c", "2 @1:d"}}},
		{"a list with numbers that the page draws apart", []string{"1. one\n2. two things"}, []string{"1.", "one", "2.", "two things"},
			[][]string{{"1. @1:a", "one @1:b", "2. @1:c", "two things @1:d"}}},
		{"a list with bullets that are no words", []string{"- one\n- two"}, []string{"• one", "• two"}, [][]string{{"one @1:a", "two @1:b"}}},
		{"the number of a slide is not on it", []string{"Slide 3: Tea"}, []string{"Tea"}, [][]string{{"Slide 3: Tea @1:a"}}},
		{"a note is found below the text that follows it", []string{"Hot[^1] tea.", "[^1]: Very hot.", "More."}, []string{"Hot 1 tea.", "More.", "1 Very hot."},
			[][]string{{"Hot[^1] tea. @1:a"}, {"[^1]: Very hot. @1:c"}, {"More. @1:b"}}},
		{"what is not printed has no lines", []string{"Tea is hot.", "Comment by Ann: really?"}, []string{"Tea is hot."}, [][]string{{"Tea is hot. @1:a"}, nil}},
		{"a word that the page divides", []string{"Teapots are nice"}, []string{"Tea pots are", "nice"}, [][]string{{"Teapots are @1:a", "nice @1:b"}}},
		{"marks of notes that touch words", []string{"Tea is hot.[^1] Coffee too.[^2]", "[^1]: Very hot.", "[^2]: Mostly hot."}, []string{"Tea is hot.ⁱ Coffee too.ⁱⁱ", "iVery hot.", "iiMostly hot."},
			[][]string{{"Tea is hot.[^1] Coffee too.[^2] @1:a"}, nil, nil}},
		{"text without spaces", []string{"東京都は大きい"}, []string{"東京都は", "大きい"}, [][]string{{"東京都は @1:a", "大きい @1:b"}}},
		{"text that only a drawing has", []string{"Tea is hot.", "Coffee too."}, []string{"Tea is hot.", "East West", "100", "\fCoffee too.", "11/22/26"},
			[][]string{{"Tea is hot. @1:a"}, {"East West @1:b", "100 @1:c"}, {"Coffee too. @2:a"}}},
		{"text that is in the document on no line is not added", []string{"| a | b |\n| --- | --- |\n| one two | three four |"}, []string{"four one", "two three"}, [][]string{nil}},
		{"words that a narrow cell breaks are not added", []string{"| Account | Mail |\n| --- | --- |\n| DE89370400440532013000 | ann@example.org |"},
			[]string{"Account Mail", "DE89370 ann@exa", "40044053 mple.org", "2013000", "Chart of", "expenses"},
			[][]string{{"Chart of @1:e", "expenses @1:f"}, nil}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			var layout knowledge.Layout
			for _, text := range tc.blocks {
				kind := knowledge.BlockParagraph
				if strings.HasPrefix(text, "Slide") {
					kind = knowledge.BlockHeading
				}
				layout.Blocks = append(layout.Blocks, knowledge.Block{Kind: kind, Text: text})
			}
			align.Align(&layout, pdf(tc.pdf...))
			if diff := cmp.Diff(tc.want, placed(layout.Blocks)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPartOfALineHasAPartOfItsBox(t *testing.T) {
	t.Parallel()
	layout := knowledge.Layout{Blocks: []knowledge.Block{{Text: "left"}, {Text: "right side"}}}
	share := align.Align(&layout, pdf("left right side"))
	if share != 1 {
		t.Errorf("share %v", share)
	}
	a, b := layout.Blocks[0].Lines[0].Box, layout.Blocks[1].Lines[0].Box
	if a.X2 > b.X1 || a.X1 != 0 || b.X2 != 150 {
		t.Errorf("boxes %v and %v", a, b)
	}
}

func FuzzAlign(f *testing.F) {
	f.Add("Tea is hot.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |", "Tea is\nhot.\na\nb\n1 2")
	f.Add("- one\n- two", "two one\n- one")
	f.Fuzz(func(t *testing.T, text, printed string) {
		var layout knowledge.Layout
		for block := range strings.SplitSeq(strings.ToValidUTF8(text, ""), "\n\n") {
			layout.Blocks = append(layout.Blocks, knowledge.Block{Text: block})
		}
		align.Align(&layout, pdf(strings.Split(strings.ToValidUTF8(printed, ""), "\n")...))
		for _, b := range layout.Blocks {
			at := 0
			for _, l := range b.Lines {
				if l.Start < at || l.End <= l.Start || l.End > len([]rune(b.Text)) || l.Page < 1 {
					t.Fatalf("line %+v after %d of %q", l, at, b.Text)
				}
				at = l.End
			}
		}
	})
}
