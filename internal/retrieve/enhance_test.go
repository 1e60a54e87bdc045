package retrieve_test

import (
	"slices"
	"strings"
	"testing"

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
	if want := []string{"How many days of leave are there in Germany?"}; !slices.Equal(x.asked, want) || r.Choices.Question != want[0] {
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
