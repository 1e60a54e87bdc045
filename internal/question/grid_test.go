package question_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
)

func TestGridCells(t *testing.T) {
	t.Parallel()
	cells, err := question.Grid{"retrieval.strategy": {"hybrid", "dense"}, "numberOfChunks": {5.0, 10.0}, "ai.model": {"m"}}.Cells()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cells {
		got = append(got, string(c.Override))
	}
	want := []string{
		`{"ai":{"model":"m","retrieval":{"numberOfChunks":5,"strategy":"hybrid"}}}`, `{"ai":{"model":"m","retrieval":{"numberOfChunks":5,"strategy":"dense"}}}`,
		`{"ai":{"model":"m","retrieval":{"numberOfChunks":10,"strategy":"hybrid"}}}`, `{"ai":{"model":"m","retrieval":{"numberOfChunks":10,"strategy":"dense"}}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"ai.model": "m", "ai.retrieval.numberOfChunks": 5.0, "ai.retrieval.strategy": "hybrid"}, cells[0].Values); diff != "" {
		t.Error(diff)
	}
}

func TestWrongGrids(t *testing.T) {
	t.Parallel()
	many := make([]any, question.MaxCells)
	for i := range many {
		many[i] = float64(i + 1)
	}
	for name, test := range map[string]struct {
		grid question.Grid
		says string
	}{
		"an unknown setting":       {question.Grid{"colour": {"red"}}, "colour"},
		"a path below a value":     {question.Grid{"ai.model.name": {"m"}}, "ai.model.name"},
		"no value":                 {question.Grid{"ai.model": {}}, "no value"},
		"null":                     {question.Grid{"ai.model": {nil}}, "null"},
		"one setting by two names": {question.Grid{"ai.model": {"a"}, "model": {"b"}}, "twice"},
		"a setting and its part":   {question.Grid{"ai.retrieval": {map[string]any{}}, "numberOfChunks": {5.0}}, "part"},
		"too many combinations":    {question.Grid{"numberOfChunks": many}, "31"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := test.grid.Cells(); !knowledge.IsCode(err, knowledge.CodeInvalid) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestSettingOf(t *testing.T) {
	t.Parallel()
	config := knowledge.ProjectConfig{AI: knowledge.AIConfig{Retrieval: knowledge.RetrievalConfig{NumberOfChunks: 7}}}
	for path, want := range map[string]any{"ai.retrieval.numberOfChunks": 7.0, "ai.model": nil, "tools.none.at.all": nil} {
		if got, err := question.SettingOf(config, path); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s is %v, %v", path, got, err)
		}
	}
}
