package retrieve_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/google/go-cmp/cmp"
)

// hits returns hits from pairs of id and score.
func hits(list ...any) []knowledge.Hit {
	var out []knowledge.Hit
	for i := 0; i < len(list); i += 2 {
		id := list[i].(string)
		out = append(out, knowledge.Hit{ChunkID: id, DocumentID: id, Version: 1, Score: list[i+1].(float64)})
	}
	return out
}

// showing returns a ChunkReader with a chunk of its own text for each id.
func showing(ids ...string) chunks {
	c := chunks{}
	for _, id := range ids {
		c.put(id, "passage "+strings.Repeat(id+" ", 10))
	}
	return c
}

func find(t *testing.T, x *scripted, c retrieve.ChunkReader, request retrieve.Request) retrieve.Result {
	t.Helper()
	request.Principal = asker
	if request.Query == "" {
		request.Query = "a question"
	}
	result, err := retrieve.New(x, c, &counting{}).Retrieve(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range result.Contexts {
		if c.Rank != i+1 {
			t.Errorf("context %d has rank %d", i, c.Rank)
		}
	}
	return result
}

// scored returns contexts as "id score", with three decimals.
func scored(r retrieve.Result) []string {
	var list []string
	for _, c := range r.Contexts {
		list = append(list, fmt.Sprintf("%s %.3f", c.ID, c.Score))
	}
	return list
}

func TestFusion(t *testing.T) {
	t.Parallel()
	dense := hits("a", .9, "b", .7, "c", .5)
	words := hits("d", 20.0, "b", 15.0, "a", 10.0)
	for _, test := range []struct {
		name         string
		dense, words []knowledge.Hit
		config       knowledge.RetrievalConfig
		want         []string
	}{
		{"weighted, on normalised scores", dense, words,
			knowledge.RetrievalConfig{Weights: &knowledge.Weights{Dense: .25, BM25: .75}}, []string{"d 0.750", "b 0.550", "a 0.325", "c 0.025"}},
		{"weights need not add up to one", dense, words,
			knowledge.RetrievalConfig{Weights: &knowledge.Weights{Dense: .1, BM25: .3}}, []string{"d 0.750", "b 0.550", "a 0.325", "c 0.025"}},
		{"reciprocal ranks", dense, words,
			knowledge.RetrievalConfig{Fusion: "rrf"}, []string{"a 0.984", "b 0.984", "d 0.500", "c 0.484"}},
		{"dense alone gives the cosine", dense, words,
			knowledge.RetrievalConfig{Strategy: "dense"}, []string{"a 0.900", "b 0.700", "c 0.500"}},
		{"words alone are relative to the best", dense, words,
			knowledge.RetrievalConfig{Strategy: "bm25"}, []string{"d 1.000", "b 0.750", "a 0.500"}},
		{"a leg that finds nothing leaves the other's order", nil, words,
			knowledge.RetrievalConfig{Weights: &knowledge.Weights{Dense: .5, BM25: .5}}, []string{"d 0.500", "b 0.275", "a 0.050"}},
		{"equal scores are in order of their ids", hits("z", 1.0, "y", 1.0, "x", 1.0), nil,
			knowledge.RetrievalConfig{Weights: &knowledge.Weights{Dense: 1, BM25: 0}}, []string{"x 1.000", "y 1.000", "z 1.000"}},
		{"nothing found", nil, nil, knowledge.RetrievalConfig{}, nil},
		{"a floor for the score", dense, words,
			knowledge.RetrievalConfig{Strategy: "dense", MinScore: .6}, []string{"a 0.900", "b 0.700"}},
		{"as many as asked for", dense, words,
			knowledge.RetrievalConfig{Strategy: "dense", NumberOfChunks: 1}, []string{"a 0.900"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			x := &scripted{dense: test.dense, words: test.words}
			got := scored(find(t, x, showing("a", "b", "c", "d", "x", "y", "z"), retrieve.Request{Config: test.config}))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecheck(t *testing.T) {
	t.Parallel()
	t.Run("drops chunks that SQL does not show", func(t *testing.T) {
		t.Parallel()
		x := &scripted{dense: hits("hidden", .9, "a", .8), words: hits("hidden", 9.0, "b", 8.0, "a", 7.0)}
		r := find(t, x, showing("a", "b"), retrieve.Request{})
		if got := len(r.Contexts); got != 2 || r.Retrieved != 3 {
			t.Errorf("kept %d of %d, want 2 of 3", got, r.Retrieved)
		}
	})
	t.Run("searches again if a version was published meanwhile", func(t *testing.T) {
		t.Parallel()
		x := &scripted{dense: hits("old", .9, "a", .8)}
		c := republished{chunks: showing("a", "new"), index: x}
		if got := scored(find(t, x, c, retrieve.Request{Config: knowledge.RetrievalConfig{Strategy: "dense"}})); !slices.Equal(got, []string{"new 0.900", "a 0.800"}) {
			t.Errorf("found %v, want new and a", got)
		}
	})
	t.Run("waits longer before each repetition, and gives up in the end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			x := &scripted{dense: hits("old", .9, "a", .8)}
			begin := time.Now()
			r := find(t, x, alwaysRepublished{showing("a")}, retrieve.Request{Config: knowledge.RetrievalConfig{Strategy: "dense"}})
			if took := time.Since(begin); len(x.queries) != 6 || took != 300*time.Millisecond || len(r.Contexts) != 1 {
				t.Errorf("%d queries in %v found %v, want 6 in 300ms", len(x.queries), took, scored(r))
			}
		})
	})
	t.Run("requests more candidates until enough are left, and embeds once", func(t *testing.T) {
		t.Parallel()
		x, c := &scripted{}, chunks{}
		for i := range 1000 {
			id := fmt.Sprintf("%04d", i)
			x.dense = append(x.dense, hits(id, 1-float64(i)/1000)...)
			if i >= 300 {
				c.put(id, "passage "+id)
			}
		}
		e := &counting{}
		r, err := retrieve.New(x, c, e).Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: "question",
			Config: knowledge.RetrievalConfig{Strategy: "dense", NumberOfChunks: 5, Candidates: 50}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Contexts) != 5 || r.Contexts[0].ID != "0300" {
			t.Errorf("found %v, want five from 0300 on", scored(r))
		}
		var limits []int
		for _, q := range x.queries {
			limits = append(limits, q.Limit)
		}
		if want := []int{50, 200, 800}; !slices.Equal(limits, want) {
			t.Errorf("asked for %v, want %v", limits, want)
		}
		if len(e.texts) != 1 {
			t.Errorf("embedded %d texts, want 1", len(e.texts))
		}
	})
	t.Run("does not search again when there are no more candidates", func(t *testing.T) {
		t.Parallel()
		x := &scripted{dense: hits("hidden", .9, "a", .8)}
		find(t, x, showing("a"), retrieve.Request{})
		if len(x.queries) != 2 {
			t.Errorf("%d queries, want one for each leg", len(x.queries))
		}
	})
	t.Run("returns nothing if SQL shows nothing", func(t *testing.T) {
		t.Parallel()
		x := &scripted{dense: hits("a", .9), words: hits("b", 9.0)}
		if r := find(t, x, chunks{}, retrieve.Request{}); len(r.Contexts) != 0 {
			t.Errorf("found %v", scored(r))
		}
	})
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	sentence := "The pump is checked every spring by the engineer on duty, who writes the pressure into the book of the plant. "
	long := strings.Repeat("Some other remark about the plant and its people that fills the page, number by number. ", 1)
	for name, test := range map[string]struct {
		first, second string
		want          int
	}{
		"the same text":                                       {sentence, sentence, 1},
		"the same but for case and spaces":                    {sentence, strings.ToUpper(strings.ReplaceAll(sentence, " ", "  ")), 1},
		"the same but for one word at the end of a long text": {strings.Repeat(sentence, 1) + long + "Alpha.", strings.Repeat(sentence, 1) + long + "Beta.", 1},
		"another figure":                                      {sentence + long + "It was 4.1 bar in 2024.", sentence + long + "It was 4.7 bar in 2025.", 2},
		"a part of a longer one":                              {sentence, sentence + long, 2},
		"another subject":                                     {sentence, long, 2},
		"the same in Chinese":                                 {"知识图谱与检索增强生成是两种不同的技术路线", "知识图谱与检索增强生成是两种不同的技术路线。", 1},
		"another in Chinese":                                  {"知识图谱与检索增强生成是两种不同的技术路线", "知识图谱与数据库系统不是同样的东西也无关", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := chunks{}
			c.put("a", test.first)
			c.put("b", test.second)
			r := find(t, &scripted{words: hits("a", 2.0, "b", 1.0)}, c, retrieve.Request{})
			if len(r.Contexts) != test.want || r.Contexts[0].ID != "a" {
				t.Errorf("kept %v, want %d, the better one first", scored(r), test.want)
			}
		})
	}
}

func TestInvisibleCharactersOfAQuestionAreRemoved(t *testing.T) {
	t.Parallel()
	x, e := &scripted{}, &counting{}
	_, err := retrieve.New(x, chunks{}, e).Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: "Öffnungs\u00adzeiten\u200b"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Öffnungszeiten"}
	if !slices.Equal(e.texts, want) || !slices.Equal(x.asked, want) {
		t.Errorf("the legs are asked for %q and %q", e.texts, x.asked)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	t.Run("a question without text is refused", func(t *testing.T) {
		t.Parallel()
		e := &counting{}
		_, err := retrieve.New(&scripted{}, chunks{}, e).Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: " \n"})
		if !knowledge.IsCode(err, knowledge.CodeInvalid) || len(e.texts) != 0 {
			t.Errorf("error %v after %d embeddings", err, len(e.texts))
		}
	})
	t.Run("a principal without tokens is refused before a model is called", func(t *testing.T) {
		t.Parallel()
		e := &counting{}
		_, err := retrieve.New(&scripted{}, chunks{}, e).Retrieve(t.Context(), retrieve.Request{Query: "question"})
		if !knowledge.IsCode(err, knowledge.CodeForbidden) || len(e.texts) != 0 {
			t.Errorf("error %v after %d embeddings", err, len(e.texts))
		}
	})
	broken := errors.New("broken")
	t.Run("a leg that fails stops the other, and its error is returned", func(t *testing.T) {
		t.Parallel()
		x := &scripted{denseErr: broken, wait: make(chan struct{})} // never closed, so only cancellation ends the word leg
		_, err := retrieve.New(x, chunks{}, &counting{}).Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: "question"})
		if !errors.Is(err, broken) {
			t.Errorf("error %v, want the error of the dense leg", err)
		}
	})
	t.Run("an embedder that fails is an error, unless the strategy is bm25", func(t *testing.T) {
		t.Parallel()
		x := &scripted{words: hits("a", 1.0)}
		r := retrieve.New(x, showing("a"), &counting{err: broken})
		request := retrieve.Request{Principal: asker, Query: "question"}
		if _, err := r.Retrieve(t.Context(), request); !errors.Is(err, broken) {
			t.Errorf("error %v, want the error of the embedder", err)
		}
		request.Config.Strategy = knowledge.StrategyBM25
		if result, err := r.Retrieve(t.Context(), request); err != nil || len(result.Contexts) != 1 {
			t.Errorf("words alone: %v, error %v", scored(result), err)
		}
	})
}

func TestRequest(t *testing.T) {
	t.Parallel()
	t.Run("restrictions reach both legs", func(t *testing.T) {
		t.Parallel()
		x := &scripted{}
		filter := knowledge.Filter{{Field: "tags", Type: "eq", Value: "x"}}
		find(t, x, chunks{}, retrieve.Request{Projects: []string{"p"}, Documents: []string{"d"}, Filter: filter})
		if len(x.queries) != 2 {
			t.Fatalf("%d queries", len(x.queries))
		}
		for _, q := range x.queries {
			if q.Principal.Workspace() != "cranfield" || q.Projects[0] != "p" || q.Documents[0] != "d" || len(q.Filter) != 1 || q.Limit != 50 {
				t.Errorf("query %+v", q)
			}
		}
	})
	t.Run("a long question is cut before it is embedded", func(t *testing.T) {
		t.Parallel()
		e := &counting{}
		_, err := retrieve.New(&scripted{}, chunks{}, e).Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: strings.Repeat("é", 100_000)})
		if err != nil || len(e.texts) != 1 || e.texts[0] != strings.Repeat("é", 8000) {
			t.Errorf("error %v, %d texts", err, len(e.texts))
		}
	})
	t.Run("timings are of the stages that ran", func(t *testing.T) {
		t.Parallel()
		r := find(t, &scripted{words: hits("a", 1.0)}, showing("a"), retrieve.Request{Config: knowledge.RetrievalConfig{Strategy: "bm25"}})
		for _, stage := range []string{"bm25", "recheck", "total"} {
			if _, ok := r.Timings[stage]; !ok {
				t.Errorf("no timing of %s in %v", stage, r.Timings)
			}
		}
		if _, ok := r.Timings["embed"]; ok || math.Abs(r.Contexts[0].Score-1) > 0 {
			t.Errorf("a search by words embedded: %v", r.Timings)
		}
	})
}
