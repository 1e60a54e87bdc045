package chunk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestChunksKeepToTheTokensOfTheModel(t *testing.T) {
	t.Parallel()
	t.Run("a chunk with many tokens is cut further, between sentences and rows", func(t *testing.T) {
		t.Parallel()
		layout := knowledge.Layout{Blocks: []knowledge.Block{
			heading(1, "Leave"), paragraph(prose("leave", 60)), table(60), paragraph(strings.Repeat("日本語の文章です。", 200)),
		}}
		for _, strategy := range strategies {
			in := chunk.Input{Layout: layout, Name: "handbook.pdf", Splitter: knowledge.Splitter{Strategy: strategy, ChunkSize: 2000}, MaxTokens: 256}
			free := in
			free.MaxTokens = 0
			chunks := splitInput(t, in)
			if len(chunks) <= len(splitInput(t, free)) {
				t.Errorf("%s: %d chunks", strategy, len(chunks))
			}
			for _, c := range chunks {
				text := strings.TrimSpace(c.Text)
				if strategy != "fixed" && !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "francs") && !strings.HasSuffix(text, "。") && text != "Leave" {
					t.Errorf("%s: chunk %d ends %q", strategy, c.Ordinal, text[len(text)-20:])
				}
			}
		}
	})
	t.Run("a limit that is far away changes nothing", func(t *testing.T) {
		t.Parallel()
		layout := knowledge.Layout{Title: "Leave", Blocks: []knowledge.Block{heading(1, "Leave"), paragraph(prose("leave", 60)), table(60)}}
		for _, strategy := range strategies {
			in := chunk.Input{Layout: layout, Splitter: knowledge.Splitter{Strategy: strategy}}
			want := splitInput(t, in)
			in.MaxTokens = 8191
			if diff := cmp.Diff(want, splitInput(t, in)); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("names, headings and headers of any length leave room for the text", func(t *testing.T) {
		t.Parallel()
		wide := strings.TrimSuffix(strings.Repeat("出典 | ", 1000), " | ")
		layout := knowledge.Layout{Title: strings.Repeat("題", 300), Blocks: []knowledge.Block{
			heading(1, strings.Repeat("章", 300)), heading(2, strings.Repeat("節", 300)), heading(3, strings.Repeat("\U0001f9ff", 300)),
			{Kind: knowledge.BlockTable, Header: wide, Text: wide + strings.Repeat("\nvalue | value | value", 300)},
		}}
		for _, strategy := range strategies {
			splitInput(t, chunk.Input{Layout: layout, Name: strings.Repeat("名", 512), Splitter: knowledge.Splitter{Strategy: strategy, ChunkSize: 8000}, MaxTokens: chunk.MinTokens})
		}
	})
	t.Run("a sentence of context is cut to the room that is left", func(t *testing.T) {
		t.Parallel()
		sentence := strings.Repeat("It stands in the chapter about leave. ", 20)
		for _, c := range splitInput(t, chunk.Input{Layout: knowledge.Layout{Blocks: []knowledge.Block{paragraph(prose("leave", 200))}}, MaxTokens: 256}) {
			with := chunk.WithContext(c, sentence, 256)
			if n := tokens(t, chunk.EmbeddingText(with)); n > 256 || !strings.HasPrefix(sentence, with.Context) {
				t.Errorf("%d tokens with the context %q", n, with.Context)
			}
			if with = chunk.WithContext(c, "Short.", 0); with.Context != "Short." || !strings.Contains(chunk.EmbeddingText(with), "\nShort.\n"+c.Text) {
				t.Errorf("embedded as %q", chunk.EmbeddingText(with))
			}
		}
	})
}

func TestTitle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ name, title, want string }{
		"the title follows the name":                {"report-24.pdf", "Annual  Report\n2024", "report-24.pdf\nAnnual Report 2024"},
		"without a title there is the name":         {"report-24.pdf", "", "report-24.pdf"},
		"a title that is the name is not repeated":  {"Annual Report", "annual report", "Annual Report"},
		"nor is one that is the name of the file":   {"Annual Report.pdf", "Annual Report", "Annual Report.pdf"},
		"nor one that is the heading above a chunk": {"report-24.pdf", "Chapter", "report-24.pdf"},
	} {
		layout := knowledge.Layout{Title: c.title, Blocks: []knowledge.Block{heading(1, "Chapter"), paragraph("Text.")}}
		chunks := splitInput(t, chunk.Input{Name: c.name, Layout: layout})
		if got := chunk.EmbeddingText(chunks[0]); got != c.want+"\nChapter\nChapter\n\nText." {
			t.Errorf("%s: %q", name, got)
		}
	}
	layout := knowledge.Layout{Title: strings.Repeat("é", 500), Blocks: []knowledge.Block{paragraph("Text.")}}
	if lines := strings.Split(split(t, layout, knowledge.Splitter{})[0].Title, "\n"); !slices.Equal([]string{strings.Repeat("é", 200)}, lines[1:]) {
		t.Errorf("a long title is %q", lines)
	}
}
