package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// perQuestion is an Index whose legs depend on what is asked: the hits of words by the
// text, and the hits of dense by the length of the text that was embedded.
type perQuestion struct {
	words map[string][]knowledge.Hit
	dense map[int][]knowledge.Hit
	near  []index.Query
}

func (x *perQuestion) BM25(_ context.Context, _ index.Query, text string) ([]knowledge.Hit, error) {
	return x.words[text], nil
}

func (x *perQuestion) Dense(_ context.Context, q index.Query, vector []float32) ([]knowledge.Hit, error) {
	x.near = append(x.near, q)
	return x.dense[int(vector[0])], nil
}

// lengths is an Embedder whose vectors are the lengths of the texts.
type lengths struct{ calls int }

func (l *lengths) Embed(_ context.Context, texts []string) ([][]float32, error) {
	l.calls++
	var vectors [][]float32
	for _, text := range texts {
		vectors = append(vectors, []float32{float32(len(text))})
	}
	return vectors, nil
}

func TestMultiStage(t *testing.T) {
	t.Parallel()
	c := showing("a", "b", "c", "d", "e")
	config := knowledge.RetrievalConfig{Weights: &knowledge.Weights{Dense: .4, BM25: .6}, Strategy: "multi_stage", NumberOfChunks: 1, Candidates: 50}
	x := &scripted{words: hits("a", 5.0, "b", 4.0, "c", 3.0, "d", 2.0), dense: hits("e", .99, "d", .9, "c", .8, "a", .2)}

	t.Run("vectors keep the nearest of what words found, and the nearest of all", func(t *testing.T) {
		t.Parallel()
		r := find(t, x, c, retrieve.Request{Config: config, Explain: true})
		if len(r.Contexts) != 1 || r.Contexts[0].ID != "c" {
			t.Error(scored(r))
		}
		var ranked []string
		for _, line := range explained(r.Trace, "a", "b", "c", "d", "e") {
			ranked = append(ranked, line[:1])
		}
		slices.Sort(ranked)
		if kept := slices.Compact(ranked); !slices.Equal(kept, []string{"c", "d", "e"}) {
			t.Errorf("ranked %q, want the two of words that are nearest and the one that is nearest of all", kept)
		}
	})
	t.Run("the reranker of the instance ranks them", func(t *testing.T) {
		t.Parallel()
		r := ask(t, x, c, rerankedBy(scriptedReranker(lastFirst)), retrieve.Request{Config: config})
		if diff := cmp.Diff([]string{"d 0.200"}, scored(r)); diff != "" || r.Reranking.Ranked != 3 {
			t.Errorf("%+v %s", r.Reranking, diff)
		}
		none := config
		none.Reranker = knowledge.RerankerNone
		if r := ask(t, x, c, rerankedBy(scriptedReranker(lastFirst)), retrieve.Request{Config: none}); r.Reranking != nil {
			t.Errorf("%+v", r.Reranking)
		}
	})
	t.Run("a question whose words stand nowhere is searched by vector", func(t *testing.T) {
		t.Parallel()
		if got := scored(find(t, &scripted{dense: x.dense}, c, retrieve.Request{Config: config})); len(got) != 1 || got[0] != "e 0.400" {
			t.Error(got)
		}
	})
	t.Run("more are kept where those that are near say the same", func(t *testing.T) {
		t.Parallel()
		c := chunks{}
		x := &scripted{}
		for i := range 40 { // the first 36 have one text
			id := fmt.Sprintf("%02d", i)
			c.put(id, "The reactor is cooled by water.")
			if i >= 36 {
				c.put(id, "The pump is checked in "+[]string{"spring", "summer", "autumn", "winter"}[i-36]+" by another engineer.")
			}
			x.words = append(x.words, hits(id, 1-float64(i)/100)...)
		}
		x.dense = x.words
		config := knowledge.RetrievalConfig{Strategy: "multi_stage", NumberOfChunks: 5, Candidates: 5}
		if got := find(t, x, c, retrieve.Request{Config: config}); len(got.Contexts) != 5 {
			t.Errorf("found %v, want 5", scored(got))
		}
	})
	t.Run("the filter looks at the documents that words found", func(t *testing.T) {
		t.Parallel()
		x := &perQuestion{words: map[string][]knowledge.Hit{"q": hits("b", 2.0, "a", 1.0)}, dense: map[int][]knowledge.Hit{1: hits("a", .5)}}
		r, err := retrieve.New(x, c, &lengths{}).Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: "q", Config: config})
		if err != nil || len(x.near) != 2 || len(x.near[1].Documents) != 0 || len(x.near[0].Documents) != 2 || x.near[0].Limit != index.MaxLimit || len(r.Contexts) != 1 {
			t.Errorf("%v %+v, %v", scored(r), x.near, err)
		}
	})
}

// TestHyDERanksWhatItFound keeps a passage first that the hypothetical answer found and the
// words of the question did not.
func TestHyDERanksWhatItFound(t *testing.T) {
	t.Parallel()
	x := &scripted{words: hits("a", 5.0, "b", 4.0, "c", 3.9, "d", 3.8), dense: hits("e", .9, "a", .7, "b", .69, "c", .68, "d", .2)}
	shown := []string{"a", "b", "c", "d", "e"}
	for i := range 50 { // not so few passages that the words count for little
		shown = append(shown, fmt.Sprintf("far%02d", i))
		x.dense = append(x.dense, hits(shown[len(shown)-1], .19)...)
	}
	chat := &scriptedChat{answers: map[string]string{"write_passage": `{"passage":"The valve opens at 4 bar."}`}}
	for _, hyde := range []bool{false, true} {
		r := ask(t, x, showing(shown...), retrieve.Models{Chat: chat}, retrieve.Request{Config: knowledge.RetrievalConfig{HyDE: hyde, NumberOfChunks: 3}})
		if first := r.Contexts[0].ID; (first == "e") != hyde {
			t.Errorf("with hyde %v: %v", hyde, scored(r))
		}
	}
}

func TestPhrasings(t *testing.T) {
	t.Parallel()
	x := &perQuestion{words: map[string][]knowledge.Hit{
		"Days of vacation?": hits("x", 9.0, "h", 1.0), "Holiday entitlement?": hits("h", 7.0, "y", 1.0), "Annual leave in days?": hits("h", 8.0),
	}}
	search := func(n int, answer string) (retrieve.Result, *scriptedChat) {
		chat := &scriptedChat{answers: map[string]string{"rephrase_question": answer}}
		r, err := retrieve.New(x, showing("x", "h", "y"), &lengths{}).Using(retrieve.Models{Chat: chat}).
			Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: "Days of vacation?", Config: knowledge.RetrievalConfig{Strategy: "bm25", Phrasings: n}})
		if err != nil {
			t.Fatal(err)
		}
		return r, chat
	}
	r, chat := search(2, `{"phrasings":["Holiday entitlement?"," annual leave in days? ","days of vacation?","Annual leave in days?"]}`)
	if diff := cmp.Diff(retrieve.Choices{Phrasings: []string{"Holiday entitlement?", "annual leave in days?"}}, r.Choices); diff != "" || !strings.Contains(chat.calls[0].User, "<phrasings>2<") {
		t.Error(diff)
	}
	if r, _ = search(2, `{"phrasings":["Holiday entitlement?","Annual leave in days?","One more"]}`); r.Contexts[0].ID != "h" || len(r.Choices.Phrasings) != 2 {
		t.Errorf("what two phrasings find is not first: %v, %+v", scored(r), r.Choices)
	}
	if r, _ = search(1, `{"phrasings":[]}`); r.Choices.Failures["phrasings"] != retrieve.FailureModel || r.Contexts[0].ID != "x" {
		t.Errorf("without phrasings: %v %+v", scored(r), r.Choices)
	}
	if r, chat = search(0, ""); len(chat.calls) != 0 || !r.Choices.IsZero() {
		t.Errorf("asked %+v", chat.calls)
	}
}

func TestDecompose(t *testing.T) {
	t.Parallel()
	x := &perQuestion{words: map[string][]knowledge.Hit{
		"A and B?": hits("ab", 9.0, "x", 1.0), "What is A?": hits("a", 7.0, "y", 1.0), "What is B?": hits("b", 8.0, "ab", 2.0),
	}}
	config := knowledge.RetrievalConfig{Strategy: "bm25", Decompose: new(true), NumberOfChunks: 3}
	decompose := func(answer string) (retrieve.Result, *scriptedChat) {
		chat := &scriptedChat{answers: map[string]string{"split_question": answer}}
		r, err := retrieve.New(x, showing("a", "b", "ab", "x", "y"), &lengths{}).Using(retrieve.Models{Chat: chat}).
			Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: "A and B?", Config: config})
		if err != nil {
			t.Fatal(err)
		}
		return r, chat
	}
	r, _ := decompose(`{"questions":["What is A?"," What is B? ","what is b?","A and B?",""]}`)
	if diff := cmp.Diff([]string{"a 1.000", "ab 1.000", "b 1.000"}, scored(r)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(retrieve.Choices{Questions: []string{"What is A?", "What is B?"}}, r.Choices); diff != "" || r.Retrieved != 5 || r.Usage.ModelCalls != 1 {
		t.Errorf("%d retrieved, %+v, %s", r.Retrieved, r.Usage, diff)
	}
	if r, _ = decompose(`{"questions":["The same in other words"]}`); !r.Choices.IsZero() || len(r.Contexts) != 2 {
		t.Errorf("one question is no decomposition: %+v", r.Choices)
	}
	if r, _ = decompose(`[]`); r.Choices.Failures["decompose"] != retrieve.FailureModel || len(r.Causes) != 1 || len(r.Contexts) != 2 {
		t.Errorf("a wrong answer leaves the question: %+v", r.Choices)
	}
}

// TestDecomposeAgain splits the parts that the model says ask for several things.
func TestDecomposeAgain(t *testing.T) {
	t.Parallel()
	decompose := func(m retrieve.Memory, reply func(question string) (string, error)) (retrieve.Result, int) {
		chat := &scriptedChat{reply: func(_ context.Context, c retrieve.Call) (string, error) {
			return reply(strings.TrimSuffix(strings.TrimPrefix(c.User, "<question>\n"), "\n</question>\n"))
		}}
		r := ask(t, &scripted{words: hits("a", 1.0)}, showing("a"), retrieve.Models{Chat: chat},
			retrieve.Request{Query: "Q", Memory: m, Config: knowledge.RetrievalConfig{Strategy: "bm25", Decompose: new(true)}})
		return r, len(chat.calls)
	}
	tree := map[string]string{
		"Q": `{"questions":["A","B","C"],"several":[1,3]}`, "A": `{"questions":["A1","A2","B"],"several":[2]}`,
		"C": `{"questions":[],"several":[]}`, "A2": `{"questions":["A21","A22"],"several":[1,2]}`,
	}
	kept := &memory{}
	for _, wantCalls := range []int{4, 0} {
		r, calls := decompose(kept, func(q string) (string, error) { return tree[q], nil })
		if diff := cmp.Diff(retrieve.Choices{Questions: []string{"A1", "A21", "A22", "B", "C"}}, r.Choices); diff != "" || calls != wantCalls {
			t.Errorf("%d calls, %s", calls, diff)
		}
	}
	r, calls := decompose(nil, func(q string) (string, error) {
		return strings.NewReplacer("?", q).Replace(`{"questions":["?1","?2","?3","?4","?5"],"several":[1,2,3,4,5]}`), nil
	})
	if len(r.Choices.Questions) != 8 || calls != 6 {
		t.Errorf("without an end: %d questions after %d calls", len(r.Choices.Questions), calls)
	}
	r, _ = decompose(nil, func(q string) (string, error) {
		if q != "Q" {
			return "", errors.New("overloaded")
		}
		return tree["Q"], nil
	})
	if diff := cmp.Diff(retrieve.Choices{Questions: []string{"A", "B", "C"}}, r.Choices); diff != "" {
		t.Errorf("a part that cannot be split stays whole: %s", diff)
	}
}

func TestHyDE(t *testing.T) {
	t.Parallel()
	passage := "The valve opens at 4 bar."
	x := &perQuestion{
		words: map[string][]knowledge.Hit{"When?": hits("w", 1.0)},
		dense: map[int][]knowledge.Hit{len("When?\n" + passage): hits("h", .9), len("When?"): hits("p", .9)},
	}
	hyde := func(chat retrieve.Chat, m retrieve.Memory, strategy string) retrieve.Result {
		r, err := retrieve.New(x, showing("w", "h", "p"), &lengths{}).Using(retrieve.Models{Chat: chat}).
			Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: "When?", Memory: m, Config: knowledge.RetrievalConfig{Weights: &knowledge.Weights{Dense: .4, BM25: .6}, HyDE: true, Strategy: strategy}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	chat := &scriptedChat{answers: map[string]string{"write_passage": `{"passage":"` + passage + `"}`}}
	kept := &memory{}
	for range 2 {
		r := hyde(chat, kept, "hybrid")
		if diff := cmp.Diff([]string{"w 0.600", "h 0.400"}, scored(r)); diff != "" || r.Choices.Passage != passage {
			t.Errorf("%+v %s", r.Choices, diff)
		}
	}
	if len(chat.calls) != 1 || !strings.Contains(chat.calls[0].User, "When?") {
		t.Errorf("asked %+v", chat.calls)
	}
	if r := hyde(chat, nil, "bm25"); !r.Choices.IsZero() || len(chat.calls) != 1 {
		t.Errorf("a search by words alone needs no passage: %+v", r.Choices)
	}
	broken := &scriptedChat{reply: func(context.Context, retrieve.Call) (string, error) { return "", errors.New("overloaded") }}
	if r := hyde(broken, nil, "hybrid"); r.Contexts[1].ID != "p" || r.Choices.Failures["hyde"] != retrieve.FailureModel {
		t.Errorf("%v %+v", scored(r), r.Choices)
	}
	echo := &scriptedChat{reply: func(_ context.Context, c retrieve.Call) (string, error) { return `{"passage":"When?"}`, nil }}
	if r := hyde(echo, nil, "hybrid"); r.Choices.Passage != "" || r.Choices.Failures["hyde"] != retrieve.FailureModel {
		t.Errorf("an echo of the question: %+v", r.Choices)
	}
	if r := hyde(nil, nil, "dense"); r.Choices.Failures["hyde"] != retrieve.FailureNotConfigured {
		t.Errorf("%+v", r.Choices)
	}
}

func TestRoute(t *testing.T) {
	t.Parallel()
	chat := &scriptedChat{answers: map[string]string{"split_question": `{"questions":["a?","b?"]}`}}
	for question, want := range map[string]retrieve.Choices{
		"E-505":                                {Strategy: "bm25"},
		"what is getUserById?":                 {Strategy: "hybrid"},
		"error E-505?":                         {Strategy: "bm25"},
		"user_id v2.4.2":                       {Strategy: "bm25"},
		`"the exact phrase of the contract"`:   {Strategy: "bm25"},
		"How many days of leave are there?":    {Strategy: "hybrid"},
		"When was it built? And who built it?": {Strategy: "hybrid", Questions: []string{"a?", "b?"}},
	} {
		r := ask(t, &scripted{}, showing("a"), retrieve.Models{Chat: chat}, retrieve.Request{Query: question, Config: knowledge.RetrievalConfig{Route: true}})
		if diff := cmp.Diff(want, r.Choices); diff != "" {
			t.Errorf("%s: %s", question, diff)
		}
	}
}
