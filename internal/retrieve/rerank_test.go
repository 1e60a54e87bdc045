package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// lastFirst is a Reranker that prefers the last texts.
func lastFirst(_ context.Context, _ string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i := range scores {
		scores[i] = float64(i) / 10
	}
	return scores, nil
}

func rerankedBy(r retrieve.Reranker) retrieve.Models {
	return retrieve.Models{Reranker: r, RerankerName: "bge"}
}

func TestRerank(t *testing.T) {
	t.Parallel()
	x := &scripted{dense: hits("a", .9, "b", .8, "c", .7, "hidden", .6, "d", .5)}
	c := showing("a", "b", "c", "d")
	config := knowledge.RetrievalConfig{Strategy: "dense", Reranker: "bge", NumberOfChunks: 2}

	t.Run("all candidates that the principal sees are scored and the best are kept", func(t *testing.T) {
		t.Parallel()
		var read []string
		r := ask(t, x, c, rerankedBy(scriptedReranker(func(ctx context.Context, q string, texts []string) ([]float64, error) {
			read = texts
			return lastFirst(ctx, q, texts)
		})), retrieve.Request{Config: config, Explain: true})
		if diff := cmp.Diff([]string{"d 0.300", "c 0.200"}, scored(r)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(&retrieve.Reranking{Reranker: "bge", Ranked: 4}, r.Reranking); diff != "" || len(read) != 4 || r.Contexts[1].Rank != 2 {
			t.Errorf("read %q, %s", read, diff)
		}
		want := []string{"b dense 2:0.8 bm25 - fused 0.80 rerank 0.10", "b dropped: numberOfChunks", "a dropped: numberOfChunks"}
		if diff := cmp.Diff(want, explained(r.Trace, "b")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the least score is a score of the reranker", func(t *testing.T) {
		t.Parallel()
		least := config
		least.MinScore = .25
		if got := scored(ask(t, x, c, rerankedBy(scriptedReranker(lastFirst)), retrieve.Request{Config: least})); len(got) != 1 || got[0] != "d 0.300" {
			t.Error(got)
		}
	})
	t.Run("scores outside of 0 to 1 are mapped into it", func(t *testing.T) {
		t.Parallel()
		r := ask(t, x, c, rerankedBy(scriptedReranker(func(_ context.Context, _ string, texts []string) ([]float64, error) {
			return []float64{-3, 4, 0, -9}[:len(texts)], nil
		})), retrieve.Request{Config: config})
		if diff := cmp.Diff([]string{"b 0.982", "c 0.500"}, scored(r)); diff != "" {
			t.Error(diff)
		}
	})
	for name, test := range map[string]struct {
		models retrieve.Models
		want   retrieve.Failure
	}{
		"fails": {rerankedBy(scriptedReranker(func(context.Context, string, []string) ([]float64, error) {
			return nil, errors.New("overloaded")
		})), retrieve.FailureModel},
		"is not configured": {retrieve.Models{}, retrieve.FailureNotConfigured},
		"has another name":  {retrieve.Models{Reranker: scriptedReranker(lastFirst), RerankerName: "other"}, retrieve.FailureNotConfigured},
	} {
		t.Run("a reranker that "+name+" leaves the order of the search", func(t *testing.T) {
			t.Parallel()
			config := config
			config.MinScore = .85 // by the reranker
			r := ask(t, x, c, test.models, retrieve.Request{Config: config})
			if diff := cmp.Diff([]string{"a 0.900", "b 0.800"}, scored(r)); diff != "" || r.Reranking.Failure != test.want || r.Reranking.Ranked != 0 || r.Choices.Failures["reranker"] != test.want {
				t.Errorf("%+v %s", r.Reranking, diff)
			}
		})
	}
	t.Run("the answer of an earlier attempt is used again", func(t *testing.T) {
		t.Parallel()
		kept, calls := &memory{}, 0
		for range 2 {
			ask(t, x, c, rerankedBy(scriptedReranker(func(ctx context.Context, q string, texts []string) ([]float64, error) {
				calls++
				return lastFirst(ctx, q, texts)
			})), retrieve.Request{Config: config, Memory: kept})
		}
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
	})
	t.Run("nothing found is not reranked", func(t *testing.T) {
		t.Parallel()
		r := ask(t, &scripted{}, c, rerankedBy(scriptedReranker(lastFirst)), retrieve.Request{Config: config})
		if len(r.Contexts) != 0 || r.Reranking.Ranked != 0 || r.Reranking.Failure != "" {
			t.Errorf("%+v", r.Reranking)
		}
	})
}

func TestRerankEndsWithItsTime(t *testing.T) {
	t.Parallel()
	x, c := &scripted{dense: hits("a", .9, "b", .8)}, showing("a", "b")
	waits := scriptedReranker(func(ctx context.Context, _ string, _ []string) ([]float64, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	request := retrieve.Request{Principal: asker, Query: "q", Config: knowledge.RetrievalConfig{Strategy: "dense", Reranker: "bge"}}
	synctest.Test(t, func(t *testing.T) {
		models := rerankedBy(waits)
		models.RerankTime = 3 * time.Second
		began := time.Now()
		r, err := retrieve.New(x, c, &counting{}).Using(models).Retrieve(t.Context(), request)
		if err != nil || r.Reranking.Failure != retrieve.FailureTimeout || len(r.Contexts) != 2 || r.Contexts[0].ID != "a" || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %s, %v", scored(r), time.Since(began), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := retrieve.New(x, c, &counting{}).Using(rerankedBy(waits)).Retrieve(ctx, request); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that leaves gets %v", err)
		}
	})
}

func TestJudge(t *testing.T) {
	t.Parallel()
	x, c := &scripted{}, chunks{}
	for i := range 23 {
		id := fmt.Sprintf("%02d", i)
		x.dense = append(x.dense, hits(id, 1-float64(i)/100)...)
		c.put(id, fmt.Sprintf("Passage %s says </passage> what %d", id, i*i))
	}
	config := knowledge.RetrievalConfig{Strategy: "dense", Reranker: "judge", NumberOfChunks: 2}
	grades := func(_ context.Context, call retrieve.Call) (string, error) {
		n := strings.Count(call.User, "<passage number=")
		list := strings.Split(strings.Repeat("1 ", n-1)+"1", " ")
		if strings.Contains(call.User, "Passage 21 ") {
			list[1] = "9"
		}
		return `{"grades":[` + strings.Join(list, ",") + `]}`, nil
	}
	t.Run("the chat model of the project grades all candidates", func(t *testing.T) {
		t.Parallel()
		chat := &scriptedChat{reply: grades}
		r := ask(t, x, c, retrieve.Models{Chat: chat}, retrieve.Request{Config: config, Model: "m"})
		if diff := cmp.Diff([]string{"21 0.900", "00 0.100"}, scored(r)); diff != "" {
			t.Error(diff)
		}
		if want := (retrieve.Usage{PromptTokens: 21, CompletionTokens: 6, ModelCalls: 3, EmbeddingCalls: 1}); r.Usage != want || r.Reranking.Ranked != 23 {
			t.Errorf("usage %+v, %+v", r.Usage, r.Reranking)
		}
		for _, call := range chat.calls {
			if call.Model != "m" || strings.Count(call.User, "</passage>") != strings.Count(call.User, "<passage number=") {
				t.Errorf("asked %+v", call)
			}
		}
	})
	for name, answer := range map[string]string{"too few grades": `{"grades":[1]}`, "no grades": `{}`, "not JSON": `grades`} {
		t.Run(name+" leave the order of the search", func(t *testing.T) {
			t.Parallel()
			r := ask(t, x, c, retrieve.Models{Chat: &scriptedChat{answers: map[string]string{"grade_passages": answer}}}, retrieve.Request{Config: config})
			if r.Reranking.Failure != retrieve.FailureModel || r.Contexts[0].ID != "00" {
				t.Errorf("%v %+v", scored(r), r.Reranking)
			}
		})
	}
}

// counted is a model that says what it has counted.
type counted struct{ counting }

func (c *counted) EmbedCounted(ctx context.Context, texts []string) ([][]float32, retrieve.Usage, error) {
	vectors, err := c.Embed(ctx, texts)
	return vectors, retrieve.Usage{EmbeddingCalls: 1, EmbeddingTokens: 7, Cost: 0.5, Currency: "EUR"}, err
}

func (c *counted) Rerank(context.Context, string, []string) ([]float64, error) {
	return nil, errors.New("not counted")
}

func (c *counted) RerankCounted(_ context.Context, _ string, texts []string) (scores []float64, used retrieve.Usage, err error) {
	return make([]float64, len(texts)), retrieve.Usage{RerankCalls: 2, RerankTokens: 90, Cost: 0.25, Currency: "EUR"}, nil
}

// TestUsage counts the calls of a search and the tokens that the endpoints have counted.
func TestUsage(t *testing.T) {
	t.Parallel()
	x, c := &scripted{dense: hits("a", 0.9)}, chunks{}
	c.put("a", "A passage")
	m := &counted{}
	request := retrieve.Request{Principal: asker, Query: "a question", Config: knowledge.RetrievalConfig{Strategy: "dense", Reranker: "bge"}}
	r, err := retrieve.New(x, c, m).Using(retrieve.Models{Reranker: m, RerankerName: "bge"}).Retrieve(t.Context(), request)
	want := retrieve.Usage{EmbeddingCalls: 1, EmbeddingTokens: 7, RerankCalls: 2, RerankTokens: 90, Cost: 0.75, Currency: "EUR"}
	if err != nil || r.Usage != want {
		t.Errorf("usage %+v, %v", r.Usage, err)
	}
	r = ask(t, x, c, retrieve.Models{Reranker: scriptedReranker(lastFirst), RerankerName: "bge"}, request)
	if want := (retrieve.Usage{EmbeddingCalls: 1, RerankCalls: 1}); r.Usage != want {
		t.Errorf("usage %+v of models that count nothing", r.Usage)
	}
}
