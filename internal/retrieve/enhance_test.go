package retrieve_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

func TestEnhance(t *testing.T) {
	t.Parallel()
	history := []knowledge.Message{{Role: "user", Content: "How many days of leave are there in France?"}, {Role: "assistant", Content: "25 days."}}
	search := func(answer string) (retrieve.Result, *scripted, *scriptedChat) {
		x := &scripted{words: hits("a", 1.0)}
		chat := &scriptedChat{answers: map[string]string{"rewrite_question": answer}}
		r := ask(t, x, showing("a"), retrieve.Models{Chat: chat}, retrieve.Request{
			Query: "and in Germany?", Enhance: true, History: history, Config: knowledge.RetrievalConfig{Strategy: "bm25"},
		})
		return r, x, chat
	}
	r, x, chat := search(`{"question":"How many days of leave are there in Germany?"}`)
	want := "How many days of leave are there in Germany?"
	if beside := slices.DeleteFunc(slices.Clone(x.asked), func(q string) bool { return q == "and in Germany?" }); !slices.Equal(beside, []string{want}) || r.Choices.Question != want {
		t.Errorf("searched %q, chose %+v", x.asked, r.Choices)
	}
	if user := chat.calls[0].User; !strings.Contains(user, "in France?") || !strings.Contains(user, "assistant: 25 days.") || !strings.Contains(user, "and in Germany?") {
		t.Errorf("the model reads %s", user)
	}
	if r, x, _ = search(`{"question":"and in Germany?"}`); !r.Choices.IsZero() || len(x.asked) != 1 {
		t.Errorf("a question that stands alone is a choice: %+v", r.Choices)
	}
	if r, x, _ = search(`{"question":" "}`); r.Choices.Failures["enhanceQuery"] != retrieve.FailureModel || x.asked[0] != "and in Germany?" {
		t.Errorf("an answer without a question: searched %q, %+v", x.asked, r.Choices)
	}
}

// waiting is an index whose first search by words says that it has begun.
type waiting struct {
	*scripted
	begun chan struct{}
	once  sync.Once
}

func (w *waiting) BM25(ctx context.Context, q index.Query, text string) ([]knowledge.Hit, error) {
	w.once.Do(func() { close(w.begun) })
	return w.scripted.BM25(ctx, q, text)
}

// TestSearchAhead has the words of the question searched while the model rewrites it.
func TestSearchAhead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		question string // of the model
		want     []string
	}{
		"the same question is searched once": {"and in Germany?", []string{"and in Germany?"}},
		"another one is searched too":        {"Leave in Germany", []string{"and in Germany?", "Leave in Germany"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &waiting{scripted: &scripted{words: hits("a", 1.0)}, begun: make(chan struct{})}
			chat := &scriptedChat{reply: func(ctx context.Context, _ retrieve.Call) (string, error) {
				select {
				case <-x.begun:
				case <-ctx.Done():
					t.Error("the words are not searched while the model is asked")
				}
				return `{"question":"` + test.question + `"}`, nil
			}}
			r := ask(t, x, showing("a"), retrieve.Models{Chat: chat}, retrieve.Request{
				Query: "and in Germany?", Enhance: true, Config: knowledge.RetrievalConfig{Strategy: "bm25"},
			})
			if diff := cmp.Diff(test.want, x.asked); diff != "" || len(r.Contexts) != 1 || r.Retrieved != 1 {
				t.Errorf("found %v, %s", scored(r), diff)
			}
		})
	}
	t.Run("a model that other stages ask is not asked twice", func(t *testing.T) {
		t.Parallel()
		x := &scripted{words: hits("a", 1.0)}
		chat := &scriptedChat{answers: map[string]string{"rewrite_question": `{"question":"Other"}`, "rephrase_question": `{"phrasings":["Another"]}`}}
		ask(t, x, showing("a"), retrieve.Models{Chat: chat}, retrieve.Request{
			Query: "and?", Enhance: true, Config: knowledge.RetrievalConfig{Strategy: "bm25", Phrasings: 1},
		})
		if diff := cmp.Diff([]string{"Other", "Another"}, x.asked); diff != "" || len(chat.calls) != 2 {
			t.Errorf("%d calls, %s", len(chat.calls), diff)
		}
	})
}
