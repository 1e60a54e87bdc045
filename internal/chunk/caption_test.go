package chunk_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestEveryPartOfATableHasItsCaption(t *testing.T) {
	t.Parallel()
	captionOf := func(text string) knowledge.Block {
		return knowledge.Block{Kind: knowledge.BlockCaption, Text: text, Lines: knowledge.Lines{{End: utf8.RuneCountInString(text), Page: 1, Box: knowledge.Box{X1: 250, Y1: 80, X2: 350, Y2: 90}}}}
	}
	period := captionOf("13 Weeks Ended")
	long := table(60)
	more := table(60)
	more.Text = strings.TrimPrefix(more.Text, more.Header+"\n")

	t.Run("with every strategy", func(t *testing.T) {
		t.Parallel()
		layout := knowledge.Layout{Blocks: []knowledge.Block{paragraph(prose("sales", 20)), period, long, more, paragraph(prose("costs", 20))}}
		for _, strategy := range strategies {
			for _, c := range split(t, layout, knowledge.Splitter{Strategy: strategy, ChunkSize: 600, ChunkOverlap: new(0)}) {
				embedded := chunk.EmbeddingText(c)
				if strings.HasPrefix(c.Text, "item number") && strings.Count(embedded, period.Text) != 1 {
					t.Errorf("%s: a part of the table is embedded as %q", strategy, embedded)
				}
				if strings.HasPrefix(c.Text, "All of costs") && c.Header != "" {
					t.Errorf("%s: the text behind the table has the header %q", strategy, c.Header)
				}
				if strategy != "fixed" && strings.Contains(c.Text, period.Text) && !strings.Contains(c.Text, "item") {
					t.Errorf("%s: the caption is without its table: %q", strategy, c.Text)
				}
			}
		}
	})

	t.Run("captions in several blocks, once in each part, with the header below them", func(t *testing.T) {
		t.Parallel()
		layout := knowledge.Layout{Blocks: []knowledge.Block{captionOf("Statements of Operations"), captionOf("(in millions)"), period, long}}
		chunks := split(t, layout, knowledge.Splitter{ChunkSize: 600})
		if !strings.HasPrefix(chunks[0].Text, "Statements of Operations\n\n(in millions)\n\n13 Weeks Ended\n\nitem | price") || chunks[0].Header != "" {
			t.Errorf("the first part is %q with the header %q", chunks[0].Text, chunks[0].Header)
		}
		for _, c := range chunks[1:] {
			if c.Header != "Statements of Operations\n(in millions)\n13 Weeks Ended\nitem | price" {
				t.Errorf("header %q", c.Header)
			}
		}
	})

	t.Run("the caption in the first part has its own box", func(t *testing.T) {
		t.Parallel()
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{period, long}}, knowledge.Splitter{ChunkSize: 600})
		want := knowledge.Lines{{End: 14, Page: 1, Box: period.Lines[0].Box}}
		if diff := cmp.Diff(want, chunks[0].Lines); diff != "" {
			t.Error(diff)
		}
		for _, c := range chunks[1:] {
			if len(c.Lines) > 0 {
				t.Errorf("a part without the caption has lines %v", c.Lines)
			}
		}
	})

	t.Run("a caption below the table is in the parts before it, and another table has none", func(t *testing.T) {
		t.Parallel()
		other := knowledge.Block{Kind: knowledge.BlockTable, Header: "name | city", Text: "name | city" + strings.Repeat("\nann of the north | basel on the rhine", 40)}
		label := captionOf("Table 3: Prices in francs")
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{other, long, label, paragraph(prose("costs", 20))}}, knowledge.Splitter{ChunkSize: 600})
		for _, c := range chunks {
			has := strings.Contains(chunk.EmbeddingText(c), label.Text)
			if want := strings.Contains(c.Text, "item"); has != want {
				t.Errorf("the caption is in %q: %v", chunk.EmbeddingText(c), has)
			}
		}
	})

	t.Run("a long caption leaves room for the header", func(t *testing.T) {
		t.Parallel()
		for size := range 10 {
			in := chunk.Input{Layout: knowledge.Layout{Blocks: []knowledge.Block{captionOf(strings.Repeat(fmt.Sprint("wide ", size), 300)), long}}, MaxTokens: chunk.MinTokens}
			in.Splitter = knowledge.Splitter{ChunkSize: 400 + 300*size}
			for _, c := range splitInput(t, in) {
				if n := utf8.RuneCountInString(c.Header); n > in.Splitter.ChunkSize/4 {
					t.Errorf("a header of %d characters for a chunk of %d", n, in.Splitter.ChunkSize)
				}
			}
		}
	})
}
