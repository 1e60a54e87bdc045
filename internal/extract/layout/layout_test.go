package layout_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const bodySize = 10

// at returns a line of body text at a point of page 1. A character is 5 points wide.
func at(x, y float64, text string) layout.Line {
	return layout.Line{
		Text: text, Page: 1, Size: bodySize, Box: knowledge.Box{X1: x, Y1: y, X2: x + 5*float64(len([]rune(text))), Y2: y + bodySize},
	}
}

// on returns a line moved to a page.
func on(page int, l layout.Line) layout.Line {
	l.Page = page
	return l
}

func pages(n int) []knowledge.PageSize {
	var list []knowledge.PageSize
	for i := range n {
		list = append(list, knowledge.PageSize{Page: i + 1, Width: 600, Height: 800})
	}
	return list
}

// outlineOf returns one line for each block: its kind and level, and its text.
func outlineOf(blocks []knowledge.Block) []string {
	var list []string
	for _, b := range blocks {
		kind := string(b.Kind)
		if b.Level > 0 {
			kind = fmt.Sprint(kind, b.Level)
		}
		list = append(list, kind+": "+b.Text)
	}
	return list
}

func wantBlocks(t *testing.T, d layout.Document, want ...string) []knowledge.Block {
	t.Helper()
	blocks := d.Blocks()
	if diff := cmp.Diff(want, outlineOf(blocks)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	for _, b := range blocks {
		end := 0
		for _, l := range b.Lines {
			if l.Start < end || l.End < l.Start || l.End > len([]rune(b.Text)) {
				t.Errorf("a line [%d,%d) behind %d in a text of %d code points", l.Start, l.End, end, len([]rune(b.Text)))
			}
			end = l.End
		}
	}
	return blocks
}

func TestColumns(t *testing.T) {
	t.Parallel()
	const n = 8
	word := func(side string, i int) string {
		return fmt.Sprintf("%s %s.", side, strings.Repeat(string(rune('a'+i)), 30))
	}
	column := func(side string) string {
		var words []string
		for i := range n {
			words = append(words, word(side, i))
		}
		return strings.Join(words, " ")
	}
	var across, down []layout.Line
	for i := range n {
		across = append(across, at(50, 100+12*float64(i), word("lefty", i)), at(320, 100+12*float64(i), word("right", i)))
	}
	for _, side := range []int{0, 1} {
		for i := range n {
			down = append(down, across[2*i+side])
		}
	}
	title := at(150, 60, "A Title over both of the columns")

	t.Run("columns drawn row by row are read one after the other", func(t *testing.T) {
		t.Parallel()
		wantBlocks(t, layout.Document{Lines: append([]layout.Line{title}, across...), Pages: pages(1)},
			"paragraph: "+title.Text, "paragraph: "+column("lefty"), "paragraph: "+column("right"))
	})
	t.Run("columns drawn one after the other stay so", func(t *testing.T) {
		t.Parallel()
		wantBlocks(t, layout.Document{Lines: down, Pages: pages(1)}, "paragraph: "+column("lefty"), "paragraph: "+column("right"))
	})
	t.Run("the cells of a table stay in rows", func(t *testing.T) {
		t.Parallel()
		var lines []layout.Line
		want := "table: | name | amount |\n| --- | --- |"
		lines = append(lines, at(50, 88, "name"), at(320, 88, "amount"))
		for i := range n {
			y := 100 + 12*float64(i)
			name := "item " + strings.Repeat("x", i)
			lines = append(lines, at(50, y, strings.TrimSpace(name)), at(320, y, fmt.Sprint(i)))
			want += fmt.Sprintf("\n| %s | %d |", strings.TrimSpace(name), i)
		}
		wantBlocks(t, layout.Document{Lines: lines, Pages: pages(1)}, want)
	})
	t.Run("a sentence continues in the next column", func(t *testing.T) {
		t.Parallel()
		wantBlocks(t, layout.Document{Pages: pages(1), Lines: []layout.Line{
			at(50, 700, "The sentence is not at its end"), at(320, 100, "but goes on in the next column."),
		}}, "paragraph: The sentence is not at its end but goes on in the next column.")
	})
}

func TestHeadersAndFooters(t *testing.T) {
	t.Parallel()
	text := []string{"One page of text stands here.", "Another page of text.", "A third page.", "And a fourth."}
	document := func(furniture func(page int) []layout.Line) layout.Document {
		d := layout.Document{Pages: pages(4)}
		for i, s := range text {
			for _, l := range furniture(i + 1) {
				d.Lines = append(d.Lines, on(i+1, l))
			}
			d.Lines = append(d.Lines, on(i+1, at(50, 300, s)))
		}
		return d
	}
	t.Run("texts that pages repeat in the margins are furniture, at their place", func(t *testing.T) {
		t.Parallel()
		d := document(func(page int) []layout.Line {
			return []layout.Line{at(50, 770, fmt.Sprintf("Page %d of 4", page)), at(50, 20, "Annual Report 2024")}
		})
		var want []string
		for i, s := range text {
			want = append(want, "header: Annual Report 2024", "paragraph: "+s, fmt.Sprintf("footer: Page %d of 4", i+1))
		}
		wantBlocks(t, d, want...)
	})
	t.Run("left and right pages may have their own", func(t *testing.T) {
		t.Parallel()
		d := layout.Document{Pages: pages(6)}
		var want []string
		for page := 1; page <= 6; page++ {
			name := []string{"The Book", "Chapter One"}[page%2]
			d.Lines = append(d.Lines, on(page, at(50, 20, name)), on(page, at(50, 300, "Text.")))
			want = append(want, "header: "+name, "paragraph: Text.")
		}
		wantBlocks(t, d, want...)
	})
	t.Run("a text on two pages, a larger one, and numbers of other things are text", func(t *testing.T) {
		t.Parallel()
		d := document(func(page int) []layout.Line {
			lines := []layout.Line{at(50, 40, fmt.Sprintf("Total %d", page*page*100))}
			if page < 3 {
				lines = append(lines, at(50, 770, "Confidential"))
			}
			large := at(50, 15, "Slide")
			large.Size = 20
			return append(lines, large)
		})
		for _, b := range d.Blocks() {
			if b.Kind.IsFurniture() {
				t.Errorf("%s %q", b.Kind, b.Text)
			}
		}
	})
	t.Run("the header of a table that continues on each page is text", func(t *testing.T) {
		t.Parallel()
		d := document(func(page int) []layout.Line {
			return []layout.Line{at(50, 40, "Date"), at(200, 40, "Amount"), at(50, 52, fmt.Sprintf("May %d", page)), at(200, 52, fmt.Sprint(page*page))}
		})
		for _, b := range d.Blocks() {
			if b.Kind.IsFurniture() {
				t.Errorf("%s %q", b.Kind, b.Text)
			}
		}
	})
}

func TestBookmarksNameHeadings(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	wantBlocks(t, layout.Document{
		Pages: pages(2),
		Lines: []layout.Line{
			at(50, 50, "1 Introduction"), at(50, 70, "The first part says what the second is about."),
			on(2, at(50, 50, "1.1 A heading that is so long that")), on(2, at(50, 62, "it needs two lines")), on(2, at(50, 74, "And its text, which has one.")),
			on(2, at(50, 200, "Summary")), on(2, at(50, 212, "Some text with the word.")), on(2, at(50, 400, "Summary")), on(2, at(50, 412, "The end.")),
		},
		Outline: []layout.Bookmark{
			{Title: "Introduction", Level: 1, Page: 1, Top: nan}, {Title: "A heading that is so long that it needs two lines", Level: 2, Page: 2, Top: nan},
			{Title: "SUMMARY", Level: 1, Page: 2, Top: 395}, {Title: "It is on no page", Level: 1, Page: 9, Top: nan},
		},
	},
		"heading1: 1 Introduction", "paragraph: The first part says what the second is about.",
		"heading2: 1.1 A heading that is so long that it needs two lines", "paragraph: And its text, which has one.",
		"paragraph: Summary Some text with the word.", "heading1: Summary", "paragraph: The end.")
}

func TestRoles(t *testing.T) {
	t.Parallel()
	role := func(l layout.Line, r layout.Role) layout.Line {
		l.Role = r
		return l
	}
	cell := func(row, column int, l layout.Line) layout.Line {
		return role(l, layout.Role{Table: 1, Row: row, Column: column, Header: row == 0})
	}
	large := at(50, 20, "Large, but no heading.")
	large.Size = 20
	blocks := wantBlocks(t, layout.Document{Pages: pages(1), Lines: []layout.Line{
		large,
		role(at(50, 50, "A heading"), layout.Role{Kind: knowledge.BlockHeading, Level: 3, Element: 1}),
		role(at(50, 62, "of two lines"), layout.Role{Kind: knowledge.BlockHeading, Level: 3, Element: 1}),
		role(at(50, 80, "an item"), layout.Role{Kind: knowledge.BlockList, Element: 2}),
		role(at(50, 92, "another"), layout.Role{Kind: knowledge.BlockList, Element: 3}),
		cell(0, 0, at(50, 120, "2023")), cell(0, 1, at(80, 120, "a|b")),
		cell(1, 0, at(50, 132, "a broken com-")), cell(1, 0, at(50, 144, "pound")), cell(1, 1, at(80, 132, "-")),
	}},
		"paragraph: Large, but no heading.", "heading3: A heading of two lines", "list: an item\nanother",
		"table: | 2023 | a\\|b |\n| --- | --- |\n| a broken compound | - |")
	table := blocks[len(blocks)-1]
	var found []string
	for _, l := range table.Lines {
		found = append(found, string([]rune(table.Text)[l.Start:l.End]))
	}
	if diff := cmp.Diff([]string{"2023", `a\|b`, "a broken com", "pound", "-"}, found); diff != "" {
		t.Errorf("lines of the table (-want +got):\n%s", diff)
	}
	want := []knowledge.Cell{{Text: "2023"}, {Column: 1, Text: "a|b"}, {Row: 1, Text: "a broken compound"}, {Row: 1, Column: 1, Text: "-"}}
	if diff := cmp.Diff(want, table.Cells); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestCaptions(t *testing.T) {
	t.Parallel()
	wantBlocks(t, layout.Document{Pages: pages(1), Lines: []layout.Line{
		at(50, 50, "Figure 3: The valve."), at(50, 100, "Figure 3 shows the valve."), at(50, 150, "Table 2-1. Prices."), at(50, 200, "Abb. 4: Das Ventil."),
	}}, "caption: Figure 3: The valve.", "paragraph: Figure 3 shows the valve.", "caption: Table 2-1. Prices.", "caption: Abb. 4: Das Ventil.")
}

func TestTheCaptionOfATable(t *testing.T) {
	t.Parallel()
	rows := []layout.Line{
		at(300, 200, "April 1, 2023"), at(420, 200, "April 2, 2022"), at(50, 212, "Net sales"), at(300, 212, "1,927"), at(420, 212, "2,175"),
	}
	const table = "table: |  | April 1, 2023 | April 2, 2022 |\n| --- | --- | --- |\n| Net sales | 1,927 | 2,175 |"
	below := func(lines ...layout.Line) layout.Document {
		return layout.Document{Pages: pages(1), Lines: append(lines, rows...)}
	}
	t.Run("a line below a sentence", func(t *testing.T) {
		t.Parallel()
		blocks := wantBlocks(t, below(at(50, 164, "The results of the quarter are below."), at(50, 176, "(in millions)"), at(50, 188, "13 Weeks Ended")),
			"paragraph: The results of the quarter are below.", "caption: (in millions) 13 Weeks Ended", table)
		if got, want := blocks[1].Lines[1].Box, at(50, 188, "13 Weeks Ended").Box; got != want {
			t.Errorf("the second line of the caption stands at %v, want %v", got, want)
		}
	})
	t.Run("a line in the middle below a text that breaks off", func(t *testing.T) {
		t.Parallel()
		wantBlocks(t, below(at(50, 176, "The results of the quarter that are not audited are as follows"), at(250, 188, "13 Weeks Ended")),
			"paragraph: The results of the quarter that are not audited are as follows", "caption: 13 Weeks Ended", table)
	})
	t.Run("the end of a sentence is not a caption", func(t *testing.T) {
		t.Parallel()
		wantBlocks(t, below(at(50, 164, "The results of the quarter that ended in"), at(50, 176, "April are as follows, and are not audited by"), at(50, 188, "Smith & Partners of Basel")),
			"paragraph: The results of the quarter that ended in April are as follows, and are not audited by Smith & Partners of Basel", table)
	})
	t.Run("a row over several columns", func(t *testing.T) {
		t.Parallel()
		d := layout.Document{Pages: pages(1), Lines: append([]layout.Line{at(300, 188, "13 Weeks Ended"), at(420, 188, "26 Weeks Ended")}, rows...)}
		d.Lines = append(d.Lines, at(50, 224, "Costs"), at(300, 224, "(1,200)"), at(420, 224, "(1,500)"))
		blocks := d.Blocks()
		if blocks[0].Kind != knowledge.BlockTable || !strings.Contains(blocks[0].Text, "|  | 13 Weeks Ended April 1, 2023 | 26 Weeks Ended April 2, 2022 |") {
			t.Errorf("blocks %q", outlineOf(blocks))
		}
	})
}

func TestInsert(t *testing.T) {
	t.Parallel()
	text := layout.Document{Pages: pages(2), Lines: []layout.Line{
		at(50, 50, "Left above."), at(50, 400, "Left below."), at(320, 50, "Right above."), on(2, at(50, 50, "The next page.")),
	}}.Blocks()
	figure := func(page int, box knowledge.Box) []knowledge.Block {
		return []knowledge.Block{{Kind: knowledge.BlockFigure, Text: "picture", Lines: []knowledge.Line{{End: 7, Page: page, Box: box}}}}
	}
	for _, tc := range []struct {
		behaviour string
		page      int
		box       knowledge.Box
		behind    string
	}{
		{"between the lines of its column", 1, knowledge.Box{X1: 50, Y1: 100, X2: 150, Y2: 300}, "Left above."},
		{"in the other column", 1, knowledge.Box{X1: 330, Y1: 100, X2: 350, Y2: 300}, "Right above."},
		{"above its column", 1, knowledge.Box{X1: 330, Y1: 10, X2: 350, Y2: 30}, "Left below."},
		{"beside everything", 1, knowledge.Box{X1: 500, Y1: 10, X2: 550, Y2: 30}, "Right above."},
		{"on a page without text", 3, knowledge.Box{X1: 50, Y1: 10, X2: 150, Y2: 30}, "The next page."},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			before := ""
			for _, b := range layout.Insert(append([]knowledge.Block(nil), text...), figure(tc.page, tc.box)) {
				if b.Kind == knowledge.BlockFigure && before != tc.behind {
					t.Errorf("the picture stands behind %q, want behind %q", before, tc.behind)
				}
				before = b.Text
			}
		})
	}
}

// TestSignsThatStandForNumbers has headers with the sign that once stood for numbers.
func TestSignsThatStandForNumbers(t *testing.T) {
	t.Parallel()
	for _, headers := range [][]string{
		{"Form 10-K # 1", "Form 10-K 7 1", "Form 10-K # 3"}, {"# 12", "12 #", "# 13"}, {"#", "1", "##"}, {"12#", "#34", "5 #"}, {"1234567890123", "#", "123456789#"}, {"＃ 1", "１ 1", "# 1"},
	} {
		var lines []layout.Line
		for i, header := range headers {
			lines = append(lines, on(i+1, at(50, 20, header)), on(i+1, at(50, 300, "The body of the page.")))
		}
		if d := (layout.Document{Pages: pages(len(headers)), Lines: lines}); len(d.Blocks()) == 0 {
			t.Errorf("%q: there are no blocks", headers)
		}
	}
}
