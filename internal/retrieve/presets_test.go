package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// TestPresets measures what the chat model reads with each preset, on the Cranfield
// collection and with the vectors of the offline model and of MiniLM. The result is in
// testdata/presets.golden. The reranker of "thorough" knows the judgements, so its row is
// the most that a reranker can reach; in the row below it the reranker fails.
func TestPresets(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	fmt.Fprintf(&table, "%-34s %8s %8s %8s %8s %11s\n", "preset", "passages", "tokens", "answered", "recall", "model calls")
	for _, embedding := range []struct {
		name  string
		model textEmbedder
	}{{"offline", embedder{localmodel.New(localmodel.Config{})}}, {"MiniLM", readMiniLM(t)}} {
		c := readCranfield(t)
		x := openEmbedded(t)
		c.write(t, x, embedding.model)
		r := retrieve.New(newLegs(x), c, embedding.model)
		whole := &scriptedChat{reply: func(context.Context, retrieve.Call) (string, error) { return `{"questions":[]}`, nil }}
		right := retrieve.Models{Chat: whole, RerankerName: "right", Reranker: scriptedReranker(c.judge)}
		failing := right
		failing.Reranker = scriptedReranker(func(context.Context, string, []string) ([]float64, error) { return nil, errors.New("it fails") })
		rows := []struct {
			name, preset string
			models       retrieve.Models
		}{{"fast", "fast", right}, {"balanced, no reranker", "balanced", retrieve.Models{Chat: whole}}, {"balanced", "balanced", right}, {"thorough", "thorough", right}, {"thorough, reranker fails", "thorough", failing}}
		recall := 0.0
		for _, row := range rows {
			read := c.reading(t, r.Using(row.models), knowledge.RetrievalConfig{Preset: row.preset})
			fmt.Fprintf(&table, "%-34s %8.1f %8.0f %8.4f %8.4f %11.1f\n", row.name+", "+embedding.name, read.passages, read.tokens, read.answered, read.recall, read.calls)
			if row.name != "thorough, reranker fails" && read.recall <= recall {
				t.Errorf("recall of %s is %.4f, not above the preset before it", row.name, read.recall)
			}
			recall = read.recall
		}
	}
	t.Logf("\n%s", table.String())
	golden(t, filepath.Join("testdata", "presets.golden"), table.String())
}

// reading is what the chat model reads, as means over the questions.
type reading struct {
	passages, tokens float64
	answered         float64 // share of the questions with a relevant passage
	recall           float64 // share of the relevant documents
	calls            float64 // of the chat model and of the reranker
}

func (c *collection) reading(t *testing.T, r *retrieve.Retriever, config knowledge.RetrievalConfig) reading {
	t.Helper()
	var sum reading
	for i, question := range c.questions {
		found, err := r.Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: question, Config: config})
		if err != nil {
			t.Fatal(err)
		}
		hits := 0
		for _, context := range found.Contexts {
			sum.tokens += float64(knowledge.EstimateTokens(context.Text))
			if c.relevant[i+1][context.DocumentID] {
				hits++
			}
		}
		sum.passages += float64(len(found.Contexts))
		sum.recall += float64(hits) / float64(len(c.relevant[i+1]))
		sum.calls += float64(found.Usage.ModelCalls + found.Usage.RerankCalls)
		if hits > 0 {
			sum.answered++
		}
	}
	n := float64(len(c.questions))
	return reading{sum.passages / n, sum.tokens / n, sum.answered / n, sum.recall / n, sum.calls / n}
}

func TestSettingsGoBeforeThePreset(t *testing.T) {
	t.Parallel()
	with := func(change string) knowledge.RetrievalConfig {
		config, err := knowledge.ProjectConfig{}.With([]byte(`{"ai":{"retrieval":` + change + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return config.WithDefaults().AI.Retrieval
	}
	type chosen struct {
		Passages, Candidates int
		Decompose            bool
		Reranker             string
	}
	for change, want := range map[string]chosen{
		`{}`:                    {10, 50, false, "instance's"},
		`{"preset":"fast"}`:     {5, 20, false, ""},
		`{"preset":"balanced"}`: {10, 50, false, "instance's"},
		`{"preset":"thorough"}`: {15, 100, true, "instance's"},
		`{"preset":"thorough","decompose":false,"reranker":"none","numberOfChunks":3}`: {3, 100, false, "none"},
		`{"preset":"thorough","reranker":"judge"}`:                                     {15, 100, true, "judge"},
		`{"preset":"fast","numberOfChunks":30}`:                                        {30, 30, false, ""},
		`{"strategy":"multi_stage"}`:                                                   {10, 50, false, "instance's"},
	} {
		c := with(change)
		if diff := cmp.Diff(want, chosen{c.NumberOfChunks, c.Candidates, c.Decomposes(), c.RerankedBy("instance's")}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", change, diff)
		}
	}
	if got := with(`{"preset":"thorough"}`).RerankedBy(""); got != knowledge.RerankerJudge {
		t.Errorf("without a reranker of the instance the passages are sorted by %q", got)
	}
}
