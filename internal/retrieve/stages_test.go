package retrieve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// TestCranfieldStages measures the stages that ask a model on the Cranfield collection,
// with models that are right: a judge that knows the judgements, and a model that splits
// pairs of questions into what they were made of. So it shows what the stages make of a
// good answer, and not how good a model is. The result is in testdata/stages.golden.
func TestCranfieldStages(t *testing.T) {
	t.Parallel()
	c := readCranfield(t)
	plain := retrieve.New(newLegs(c.index(t)), c, embedder{localmodel.New(localmodel.Config{})})
	var table strings.Builder
	fmt.Fprintf(&table, "%-26s %8s %10s\n", "stage", "nDCG@10", "recall@10")
	measure := func(name string, c *collection, r *retrieve.Retriever, config knowledge.RetrievalConfig) quality {
		q := c.measure(t, r, config)
		fmt.Fprintf(&table, "%-26s %8.4f %10.4f\n", name, q.ndcg10, q.recall10)
		return q
	}
	judged := plain.Using(retrieve.Models{RerankerName: "judge of the collection", Reranker: scriptedReranker(c.judge)})
	defaults := measure("default", c, plain, knowledge.RetrievalConfig{})
	staged := measure("multi_stage", c, plain, knowledge.RetrievalConfig{Strategy: knowledge.StrategyMultiStage})
	reranked := measure("reranked", c, judged, knowledge.RetrievalConfig{Reranker: "judge of the collection"})
	both := measure("multi_stage, reranked", c, judged, knowledge.RetrievalConfig{Strategy: knowledge.StrategyMultiStage})

	pairs, splits := c.pairs()
	splitting := plain.Using(retrieve.Models{Chat: &scriptedChat{reply: splits}})
	whole := measure("pairs of questions", pairs, plain, knowledge.RetrievalConfig{})
	parts := measure("pairs, decomposed", pairs, splitting, knowledge.RetrievalConfig{Decompose: true})
	t.Logf("\n%s", table.String())

	for name, c := range map[string]struct{ higher, lower quality }{
		"a right judge": {reranked, defaults}, "a right judge of multi_stage": {both, staged}, "a right decomposition": {parts, whole},
	} {
		if c.higher.ndcg10 <= c.lower.ndcg10 {
			t.Errorf("nDCG@10 of %s is %.4f, without it %.4f", name, c.higher.ndcg10, c.lower.ndcg10)
		}
	}
	if staged.ndcg10 < .36 {
		t.Errorf("nDCG@10 of multi_stage is %.4f, below its floor of .36", staged.ndcg10)
	}
	golden(t, filepath.Join("testdata", "stages.golden"), table.String())
}

// judge scores the texts that answer a question with 1.
func (c *collection) judge(_ context.Context, question string, texts []string) ([]float64, error) {
	right := map[string]bool{}
	for i, q := range c.questions {
		if q == question {
			for id := range c.relevant[i+1] {
				right[c.chunks[id].Text] = true
			}
		}
	}
	scores := make([]float64, len(texts))
	for i, text := range texts {
		if right[text] {
			scores[i] = 1
		}
	}
	return scores, nil
}

// pairs returns the collection with questions of which each is two of its own, and the
// answers of a model that splits them again.
func (c *collection) pairs() (pairs *collection, split func(context.Context, retrieve.Call) (string, error)) {
	pairs = &collection{documents: c.documents, relevant: map[int]map[string]bool{}, chunks: c.chunks}
	of := map[string][]string{}
	for i := 0; i+1 < len(c.questions); i += 2 {
		a, b := strings.TrimSpace(c.questions[i]), strings.TrimSpace(c.questions[i+1])
		pair := a + " " + b
		pairs.questions = append(pairs.questions, pair)
		of[pair] = []string{a, b}
		both := map[string]bool{}
		for _, n := range []int{i + 1, i + 2} {
			for id := range c.relevant[n] {
				both[id] = true
			}
		}
		pairs.relevant[len(pairs.questions)] = both
	}
	return pairs, func(_ context.Context, call retrieve.Call) (string, error) {
		question := strings.TrimSuffix(strings.TrimPrefix(call.User, "<question>\n"), "\n</question>\n")
		answer, err := json.Marshal(map[string]any{"questions": of[question], "several": []int{}})
		return string(answer), err
	}
}
