package pipeline_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/pipeline"
)

func layout() knowledge.Layout {
	line := func(start, end, page int, y float64) knowledge.Line {
		return knowledge.Line{Start: start, End: end, Page: page, Box: knowledge.Box{X1: 10, Y1: y, X2: 100, Y2: y + 10}}
	}
	return knowledge.Layout{Blocks: []knowledge.Block{
		{Kind: knowledge.BlockHeading, Level: 1, Text: "Letter", Lines: knowledge.Lines{line(0, 6, 1, 10)}},
		{Kind: knowledge.BlockParagraph, Text: "Dear Ann and Bob", Lines: knowledge.Lines{line(0, 8, 1, 30), line(9, 16, 1, 45)}},
		{Kind: knowledge.BlockTable, Text: "| a |", Cells: []knowledge.Cell{{Text: "a"}}, Origin: knowledge.Origin{First: 3, Last: 3, LineByLine: true}},
	}}
}

// TestExtracted changes and drops blocks, and keeps the page and the box of a changed one.
func TestExtracted(t *testing.T) {
	t.Parallel()
	answer, err := pipeline.Decode[pipeline.ExtractedAnswer]([]byte(`{"blocks":[{"index":1,"text":"Dear all"},{"index":0,"drop":true},{"index":2,"text":"a"}],"tags":["letter"]}`))
	if err != nil {
		t.Fatal(err)
	}
	before := layout()
	got, pages, changed, err := answer.Apply(before)
	if err != nil || !changed {
		t.Fatalf("changed %t, %v", changed, err)
	}
	want := []knowledge.Block{
		{Kind: knowledge.BlockParagraph, Text: "Dear all", Lines: knowledge.Lines{{End: 8, Page: 1, Box: knowledge.Box{X1: 10, Y1: 30, X2: 100, Y2: 55}}}},
		{Kind: knowledge.BlockParagraph, Text: "a", Origin: knowledge.Origin{First: 3, Last: 3}},
	}
	if diff := cmp.Diff(want, got.Blocks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 0}, pages); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(layout(), before); diff != "" {
		t.Errorf("the layout before was changed:\n%s", diff)
	}
}

// TestBeforeEmbedding embeds another text and leaves a chunk out.
func TestBeforeEmbedding(t *testing.T) {
	t.Parallel()
	ref := knowledge.VersionRef{Document: "d", Version: 2}
	chunks := []knowledge.Chunk{{Ordinal: 0, Text: "one"}, {Ordinal: 1, Text: "two"}, {Ordinal: 2, Text: "three"}}
	answer, err := pipeline.Decode[pipeline.BeforeEmbeddingAnswer]([]byte(`{"chunks":[{"index":0,"drop":true},{"index":2,"embed":"drei"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got, changed, err := answer.Apply(chunks, func(text string) bool { return len(text) < 10 })
	if err != nil || !changed {
		t.Fatalf("changed %t, %v", changed, err)
	}
	pipeline.Renumber(ref, got)
	want := []knowledge.Chunk{{ID: knowledge.ChunkID("d", 2, 0), Text: "two"}, {ID: knowledge.ChunkID("d", 2, 1), Ordinal: 1, Text: "three", Embedded: "drei"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if chunks[2].Embedded != "" {
		t.Error("the chunks before were changed")
	}
}

// TestBeforePrompt chooses passages by their ids.
func TestBeforePrompt(t *testing.T) {
	t.Parallel()
	found := []pipeline.Passage{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	for answer, want := range map[string][]int{`{"passages":["c","a"]}`: {2, 0}, `{"passages":[]}`: nil, `{"question":"what?"}`: nil} {
		given, err := pipeline.Decode[pipeline.BeforePromptAnswer]([]byte(answer))
		if err != nil {
			t.Fatal(err)
		}
		places, chosen, err := given.Choose(found)
		if err != nil || chosen != (given.Passages != nil) {
			t.Errorf("%s: chosen %t, %v", answer, chosen, err)
		}
		if diff := cmp.Diff(want, places); diff != "" {
			t.Errorf("%s: %s", answer, diff)
		}
	}
}

// TestWrongAnswers are failures of the step that say what is wrong.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	extracted := func(text string) error {
		a, err := pipeline.Decode[pipeline.ExtractedAnswer]([]byte(text))
		if err == nil {
			_, _, _, err = a.Apply(layout())
		}
		return err
	}
	embedding := func(text string) error {
		a, err := pipeline.Decode[pipeline.BeforeEmbeddingAnswer]([]byte(text))
		if err == nil {
			_, _, err = a.Apply([]knowledge.Chunk{{Text: "one"}}, func(text string) bool { return len(text) < 10 })
		}
		return err
	}
	prompt := func(text string) error {
		a, err := pipeline.Decode[pipeline.BeforePromptAnswer]([]byte(text))
		if err == nil {
			_, _, err = a.Choose([]pipeline.Passage{{ID: "a"}})
		}
		return err
	}
	answered := func(text string) error {
		a, err := pipeline.Decode[pipeline.AfterAnswerAnswer]([]byte(text))
		if err == nil {
			err = a.Check()
		}
		return err
	}
	for name, tt := range map[string]struct {
		err  error
		code knowledge.Code
		says string
	}{
		"no JSON":                   {extracted(`<html>`), knowledge.CodeStepFailed, "other than JSON"},
		"two values":                {extracted(`{}{}`), knowledge.CodeStepFailed, "more than one"},
		"an unknown field":          {extracted(`{"block":[]}`), knowledge.CodeStepFailed, "unknown field"},
		"a wrong type":              {extracted(`{"tags":"a"}`), knowledge.CodeStepFailed, "another form"},
		"a block that is not there": {extracted(`{"blocks":[{"index":3,"text":"a"}]}`), knowledge.CodeStepFailed, "block 3"},
		"a block twice":             {extracted(`{"blocks":[{"index":0,"text":"a"},{"index":0,"drop":true}]}`), knowledge.CodeStepFailed, "block 0"},
		"a block with nothing":      {extracted(`{"blocks":[{"index":0}]}`), knowledge.CodeStepFailed, "either a text or drop"},
		"an empty tag":              {extracted(`{"tags":[""]}`), knowledge.CodeStepFailed, "tags[0]"},
		"a refusal":                 {extracted(`{"reject":{"reason":"it is a draft"}}`), knowledge.CodeStepRejected, "it is a draft"},
		"a refusal without reason":  {extracted(`{"reject":{}}`), knowledge.CodeStepFailed, "reason"},
		"a long text to embed":      {embedding(`{"chunks":[{"index":0,"embed":"0123456789"}]}`), knowledge.CodeStepFailed, "longer"},
		"an empty text to embed":    {embedding(`{"chunks":[{"index":0,"embed":" "}]}`), knowledge.CodeStepFailed, "empty"},
		"an invented passage":       {prompt(`{"passages":["b"]}`), knowledge.CodeStepFailed, `"b"`},
		"a passage twice":           {prompt(`{"passages":["a","a"]}`), knowledge.CodeStepFailed, `"a"`},
		"an empty answer":           {answered(`{"answer":" "}`), knowledge.CodeStepFailed, "1 to"},
		"a refused answer":          {answered(`{"reject":{"reason":"no advice"}}`), knowledge.CodeStepRejected, "no advice"},
	} {
		if !knowledge.IsCode(tt.err, tt.code) || !strings.Contains(knowledge.AsError(tt.err).Message, tt.says) {
			t.Errorf("%s: %v, want %s with %q", name, tt.err, tt.code, tt.says)
		}
	}
	for name, err := range map[string]error{"nothing": extracted(""), "an empty object": extracted("{}"), "no passages": prompt(""), "no answer": answered("{}")} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
