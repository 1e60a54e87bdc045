package chunk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestFurnitureIsNotText(t *testing.T) {
	t.Parallel()
	line := func(text string, page int) []knowledge.Line {
		return []knowledge.Line{{End: len([]rune(text)), Page: page, Box: knowledge.Box{X2: 10, Y2: 10}}}
	}
	block := func(kind knowledge.BlockKind, text string, page int) knowledge.Block {
		return knowledge.Block{Kind: kind, Text: text, Lines: line(text, page)}
	}
	layout := knowledge.Layout{
		Pages: []knowledge.PageSize{{Page: 1, Width: 9, Height: 9}, {Page: 2, Width: 9, Height: 9}},
		Blocks: []knowledge.Block{
			block(knowledge.BlockHeader, "Secret 1", 1), block(knowledge.BlockTitle, "The Title", 1), block(knowledge.BlockParagraph, "On page one.", 1),
			block(knowledge.BlockFooter, "Page 1", 1), block(knowledge.BlockParagraph, "", 1), block(knowledge.BlockFurniture, "Accept all cookies", 2), block(knowledge.BlockParagraph, "On page two.", 2),
		},
	}
	const want = "The Title\n\nOn page one.\n\nOn page two."
	if got := chunk.Text(layout); got != want {
		t.Errorf("the text is %q", got)
	}
	for _, strategy := range strategies {
		chunks := split(t, layout, knowledge.Splitter{Strategy: strategy})
		if len(chunks) != 1 || chunks[0].Text != want || len(chunks[0].HeadingPath) != 0 {
			t.Fatalf("%s: %+v", strategy, chunks)
		}
		var pages []int
		for _, l := range chunks[0].Lines {
			if text := want[l.Start:l.End]; !slices.Contains(strings.Split(want, "\n\n"), text) {
				t.Errorf("a line is %q", text)
			}
			pages = append(pages, l.Page)
		}
		if diff := cmp.Diff([]int{1, 1, 2}, pages); diff != "" {
			t.Error(diff)
		}
	}
}

func TestCaptionsStayWithTheirFigure(t *testing.T) {
	t.Parallel()
	text := func(kind knowledge.BlockKind, word string, size int) knowledge.Block {
		return knowledge.Block{Kind: kind, Text: strings.TrimSpace(strings.Repeat(word+" ", size/(len(word)+1)))}
	}
	rows := func(n int) knowledge.Block { b := table(n); b.Header = ""; return b }
	before, after := text(knowledge.BlockParagraph, "before", 700), text(knowledge.BlockParagraph, "after", 700)
	caption, figure := text(knowledge.BlockCaption, "caption", 200), text(knowledge.BlockFigure, "figure", 200)
	for name, c := range map[string]struct {
		blocks []knowledge.Block
		want   []string // the words of each chunk
	}{
		"a caption above a table goes with it":     {[]knowledge.Block{before, caption, rows(10), after}, []string{"before", "caption item", "after"}},
		"a caption below a table goes with it":     {[]knowledge.Block{before, rows(5), caption, after}, []string{"before", "item caption", "after"}},
		"a caption below a figure goes with it":    {[]knowledge.Block{before, figure, caption, after}, []string{"before", "figure caption", "after"}},
		"a caption between belongs to the figure":  {[]knowledge.Block{before, figure, caption, rows(20), after}, []string{"before", "figure caption", "item", "after"}},
		"a caption between belongs to the 2nd one": {[]knowledge.Block{before, rows(5), caption, rows(18), after}, []string{"before item", "caption item", "after"}},
		"a caption above a long table begins it":   {[]knowledge.Block{before, caption, rows(30), after}, []string{"before", "caption item", "item", "after"}},
		"a caption below a long table ends it":     {[]knowledge.Block{before, rows(21), caption, after}, []string{"before", "item", "item caption", "after"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range split(t, knowledge.Layout{Blocks: c.blocks}, knowledge.Splitter{}) {
				var words []string
				for word := range strings.FieldsSeq(c.Text) {
					if (len(words) == 0 || words[len(words)-1] != word) && slices.Contains([]string{"before", "caption", "item", "figure", "after"}, word) {
						words = append(words, word)
					}
				}
				got = append(got, strings.Join(words, " "))
			}
			for i, words := range got {
				got[i] = strings.ReplaceAll(words, "item item", "item")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlaceInASpreadsheet(t *testing.T) {
	t.Parallel()
	sheet := func(name string, columns, first, rows int) knowledge.Block {
		b := knowledge.Block{Kind: knowledge.BlockTable, Header: "Item | Price", Sheet: knowledge.Sheet{Name: name, Columns: columns}}
		lines := []string{}
		for row := first; row < first+rows; row++ {
			line := fmt.Sprintf("item of the row %d | %d francs", row, row)
			if row == 1 {
				line = b.Header
			}
			lines, b.Sheet.Rows = append(lines, line), append(b.Sheet.Rows, row)
		}
		b.Text = strings.Join(lines, "\n")
		return b
	}
	places := func(size int, blocks ...knowledge.Block) (list []string) {
		for _, c := range split(t, knowledge.Layout{Blocks: blocks}, knowledge.Splitter{ChunkSize: size, ChunkOverlap: new(0)}) {
			list = append(list, c.Place+" "+c.Header)
		}
		return list
	}
	for name, c := range map[string]struct{ got, want []string }{
		"a sheet in several chunks, with its header": {places(200, sheet("Sales", 4, 1, 12)), []string{"Sales!A1:D7 ", "Sales!A8:D12 Item | Price"}},
		"a sheet of several blocks":                  {places(1500, sheet("Sales", 30, 1, 40), sheet("Sales", 30, 41, 10)), []string{"Sales!A1:AD40 ", "Sales!A41:AD50 Item | Price"}},
		"blocks that share a chunk":                  {places(1000, sheet("Sales", 2, 1, 4), sheet("Sales", 3, 6, 4)), []string{"Sales!A1:C9 "}},
		"two sheets that share a chunk":              {places(1000, sheet("Q1 '24", 2, 1, 2), sheet("2024", 2, 1, 2)), []string{"'Q1 ''24'!A1:B2, '2024'!A1:B2 "}},
		"text beside a sheet":                        {places(1000, paragraph("Text."), sheet("Übersicht", 1, 1, 2)), []string{"Übersicht!A1:A2 "}},
		"fewer rows than lines":                      {places(1000, func() knowledge.Block { b := sheet("S", 1, 5, 3); b.Sheet.Rows = b.Sheet.Rows[:1]; return b }()), []string{"S!A5:A5 Item | Price"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTimeOfSpeech(t *testing.T) {
	t.Parallel()
	var blocks []knowledge.Block
	for i := range 20 {
		b := paragraph(fmt.Sprintf("The speaker says sentence %02d in one and a half seconds.", i))
		b.Time = knowledge.Seconds{Start: 1.5 * float64(i), End: 1.5 * float64(i+1)}
		blocks = append(blocks, b)
	}
	chunks := split(t, knowledge.Layout{Modality: knowledge.ModalityAudio, Blocks: blocks}, knowledge.Splitter{ChunkSize: 580, ChunkOverlap: new(0)})
	want := []knowledge.Seconds{{Start: 0, End: 15}, {Start: 15, End: 30}}
	var got []knowledge.Seconds
	for _, c := range chunks {
		got = append(got, c.Time)
		if c.Modality != knowledge.ModalityAudio {
			t.Errorf("modality %q", c.Modality)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFiguresOfAChunk(t *testing.T) {
	t.Parallel()
	figure := func(name, text string) knowledge.Block {
		return knowledge.Block{Kind: knowledge.BlockFigure, Figure: name, Text: text}
	}
	caption := knowledge.Block{Kind: knowledge.BlockCaption, Text: "Figure 3: sales by quarter and by region, in millions of francs"}
	long := paragraph(strings.TrimSpace(strings.Repeat("word ", 150)))
	for name, c := range map[string]struct {
		blocks []knowledge.Block
		want   []string // figures and modality of each chunk
	}{
		"one with a description":                           {[]knowledge.Block{figure("f1", "A bar chart.")}, []string{"[f1] image"}},
		"one with a description and a caption":             {[]knowledge.Block{figure("f1", "A bar chart."), caption}, []string{"[f1] image"}},
		"one beside text":                                  {[]knowledge.Block{paragraph("Text."), figure("f1", "A bar chart.")}, []string{"[f1] "}},
		"without text, it goes with its caption":           {[]knowledge.Block{long, figure("f1", ""), caption, paragraph("Text.")}, []string{"[] ", "[f1] "}},
		"without text and caption, with the text before":   {[]knowledge.Block{long, figure("f1", ""), figure("f2", ""), long}, []string{"[f1 f2] ", "[] "}},
		"without text at the beginning, with the next one": {[]knowledge.Block{figure("f1", ""), long, long, figure("f2", "")}, []string{"[f1] ", "[f2] "}},
		"a figure that is furniture":                       {[]knowledge.Block{{Kind: knowledge.BlockFurniture, Figure: "f1"}, long}, []string{"[] "}},
	} {
		var got []string
		for _, c := range split(t, knowledge.Layout{Blocks: c.blocks}, knowledge.Splitter{ChunkSize: 800}) {
			got = append(got, fmt.Sprint(c.Figures, " ", c.Modality))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestADescribedFigureIsAChunk(t *testing.T) {
	t.Parallel()
	box := knowledge.Box{X1: 1, Y1: 2, X2: 3, Y2: 4}
	layout := knowledge.Layout{
		Pages: []knowledge.PageSize{{Page: 1, Width: 9, Height: 9}},
		Blocks: []knowledge.Block{
			{Kind: knowledge.BlockParagraph, Text: "Before."},
			{Kind: knowledge.BlockHeading, Level: 1, Text: "Revenue"},
			{Kind: knowledge.BlockFigure, Text: "A chart of the revenue.", Figure: "a.png", Described: true, Lines: []knowledge.Line{{End: 23, Page: 1, Box: box}}},
			{Kind: knowledge.BlockCaption, Text: "Figure 1"},
			{Kind: knowledge.BlockParagraph, Text: "After."},
			{Kind: knowledge.BlockFigure, Text: "A logo.", Figure: "b.png"},
		},
	}
	for _, strategy := range strategies {
		chunks := split(t, layout, knowledge.Splitter{Strategy: strategy})
		if len(chunks) != 3 || chunks[0].Text != "Before." || chunks[2].Text != "After.\n\nA logo." {
			t.Fatalf("%s: %+v", strategy, chunks)
		}
		c := chunks[1]
		if c.Text != "Revenue\n\nA chart of the revenue.\n\nFigure 1" || c.Modality != knowledge.ModalityImage || !slices.Equal(c.Figures, []string{"a.png"}) {
			t.Errorf("%s: %+v", strategy, c)
		}
		if len(c.Lines) != 1 || c.Lines[0].Box != box {
			t.Errorf("%s: lines %+v", strategy, c.Lines)
		}
	}
}

// TestTimeOfAPartOfAPassage: a chunk that holds a part of what is said has the time of the
// segments in it, and each of them by its characters.
func TestTimeOfAPartOfAPassage(t *testing.T) {
	t.Parallel()
	b := knowledge.Block{Kind: knowledge.BlockParagraph, Time: knowledge.Seconds{Start: 0, End: 80}}
	for i := range 40 {
		sentence := fmt.Sprintf("Sentence %02d is here.", i)
		start := len(b.Text)
		if i > 0 {
			b.Text += " "
			start++
		}
		b.Text += sentence
		b.Speech = append(b.Speech, knowledge.Segment{Start: start, End: len(b.Text), Time: knowledge.Seconds{Start: 2 * float64(i), End: 2 * float64(i+1)}})
	}
	layout := knowledge.Layout{Modality: knowledge.ModalityAudio, Blocks: []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: "A first passage."}, b}}
	for _, strategy := range strategies {
		chunks := split(t, layout, knowledge.Splitter{Strategy: strategy, ChunkSize: 200})
		if len(chunks) < 3 {
			t.Fatalf("%s: %d chunks", strategy, len(chunks))
		}
		for _, c := range chunks {
			n := len(c.Speech)
			if c.Text == "A first passage." { // whose time is not known
				continue
			}
			if n == 0 || c.Time != (knowledge.Seconds{Start: c.Speech[0].Time.Start, End: c.Speech[n-1].Time.End}) {
				t.Errorf("%s: %v is the time of %q with %d segments", strategy, c.Time, c.Text, n)
			}
			for _, s := range c.Speech {
				said := c.Text[s.Start:s.End]
				if full := fmt.Sprintf("Sentence %02d is here.", int(s.Time.Start/2)); !strings.Contains(full, said) {
					t.Errorf("%s: %q is said at %v", strategy, said, s.Time)
				}
			}
		}
	}
}
