package chunk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// timeLimit is the time limit for a hostile text: in quadratic time it would
// take an hour, in linear time it takes seconds.
const timeLimit = 60 * time.Second

func TestHostileTextsAreCutInTimeOfTheirLength(t *testing.T) {
	t.Parallel()
	const size = 2_000_000
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for behaviour, text := range map[string]string{
		"white space after a full stop":     "End." + fill(" ") + "And so on",
		"line ends after a full stop":       "End." + fill("\n") + "And so on",
		"brackets after a full stop":        "End." + fill(")") + " And so on",
		"spaces and quotes after each stop": fill("End." + strings.Repeat(" \"", 50_000) + "So"),
		"zero width after a full stop":      "End." + fill("\u200b") + " And so on",
		"joiners after a full stop":         "End. " + fill("\u200d") + " And so on",
		"combining marks after a full stop": "End. " + fill("\u0301") + " And so on",
		"nothing but spaces":                fill(" ") + "x",
		"nothing but zero width":            fill("\u200b"),
		"combining marks":                   "a" + fill("\u0301"),
		"digits after full stops":           fill(". " + strings.Repeat("1", 10_000)),
		"full stops":                        fill("."),
		"full stops and spaces":             fill(". "),
		"abbreviations":                     fill("Dr. "),
		"one letter a line":                 fill("a\n"),
		"one letter a sentence":             fill("A! "),
		"no end of a sentence":              fill("word "),
		"no white space":                    fill("x"),
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			cut := func(kind knowledge.BlockKind, strategy, text string, maxTokens int) {
				in := chunk.Input{Layout: knowledge.Layout{Blocks: []knowledge.Block{{Kind: kind, Text: text}}}, Ref: ref, MaxTokens: maxTokens, Embed: embedWords}
				in.Splitter.Strategy = strategy
				var chunks []knowledge.Chunk
				within(t, func() (err error) {
					chunks, err = chunk.Split(t.Context(), in)
					return err
				})
				check(t, in, chunks)
			}
			cut(knowledge.BlockParagraph, knowledge.SplitStructure, text, 0)
			cut(knowledge.BlockCode, knowledge.SplitStructure, text, 0)
			for _, strategy := range strategies {
				cut(knowledge.BlockParagraph, strategy, strings.ToValidUTF8(text[:size/10], ""), 400)
			}
		})
	}
}

// within calls do and fails if that takes longer than the time limit.
func within(t *testing.T, do func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(timeLimit):
		t.Fatalf("no end after %s", timeLimit)
	}
}
