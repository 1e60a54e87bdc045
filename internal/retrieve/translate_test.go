package retrieve_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

func TestTranslate(t *testing.T) {
	t.Parallel()
	const question, german = "How many days of leave are there in the company for everyone?", "Wie viele Tage Urlaub gibt es?"
	facets := fixedFacets{Languages: map[string]int{"eng": 5, "deu": 9, "und": 7, "fra": 1, "spa": 2, "ita": 3}}
	x := &perQuestion{words: map[string][]knowledge.Hit{
		question: hits("both", 4.0, "english", 3.0, "far", 1.0), german: hits("german", 8.0, "both", 7.0, "other", 2.0),
	}}
	translate := func(t *testing.T, answer string, f retrieve.FacetReader) (retrieve.Result, *scriptedChat) {
		t.Helper()
		chat := &scriptedChat{answers: map[string]string{"translate_question": answer}}
		r, err := retrieve.New(x, showing("both", "german", "english", "far", "other"), &lengths{}).Using(retrieve.Models{Chat: chat, Facets: f}).
			Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: question, Config: knowledge.RetrievalConfig{Strategy: "bm25", Translate: true}})
		if err != nil {
			t.Fatal(err)
		}
		return r, chat
	}

	t.Run("a hit of the question and its translation has both scores", func(t *testing.T) {
		t.Parallel()
		r, chat := translate(t, `{"translations":[{"language":"deu","question":"`+german+`"},{"language":"jpn","question":"?"},{"language":"ita","question":" "}]}`, facets)
		if diff := cmp.Diff(retrieve.Choices{Translations: map[string]string{"deu": german}}, r.Choices); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"both 1.000", "german 0.533", "english 0.400", "far 0.133", "other 0.133"}, scored(r)); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(chat.calls[0].User, "<languages>deu, ita, spa</languages>") {
			t.Errorf("the model reads %s", chat.calls[0].User)
		}
	})
	t.Run("documents in the language of the question need none", func(t *testing.T) {
		t.Parallel()
		r, chat := translate(t, `{}`, fixedFacets{Languages: map[string]int{"eng": 5, "und": 7}})
		if !r.Choices.IsZero() || len(chat.calls) != 0 {
			t.Errorf("%+v after %d calls", r.Choices, len(chat.calls))
		}
	})
	t.Run("no translation is a failure, and an echo none", func(t *testing.T) {
		t.Parallel()
		if r, _ := translate(t, `{"translations":[]}`, facets); r.Choices.Failures["translate"] != retrieve.FailureModel || len(r.Contexts) != 3 {
			t.Errorf("%v %+v", scored(r), r.Choices)
		}
		if r, _ := translate(t, `{"translations":[{"language":"deu","question":"`+question+`"}]}`, facets); !r.Choices.IsZero() {
			t.Errorf("%+v", r.Choices)
		}
	})
}
