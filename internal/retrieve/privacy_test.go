package retrieve_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// heard is an Embedder that keeps what it is given.
type heard struct {
	lengths

	texts     []string
	inProcess bool
}

func (h *heard) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	h.texts = append(h.texts, texts...)
	return h.lengths.Embed(ctx, texts)
}

func (h *heard) InProcess() bool { return h.inProcess }

// TestModelsOfASearchGetNoPersonalData has each model of a search, the embedder, the reranker and
// the chat model, asked with placeholders, and searches with what they return.
func TestModelsOfASearchGetNoPersonalData(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		providers knowledge.PrivacyMode
		inProcess bool
		passage   string
		embedded  string
	}{
		"kept":                       {knowledge.PrivacyRedact, false, "<EMAIL_ADDRESS_1> and <EMAIL_ADDRESS_2>", "Who is <EMAIL_ADDRESS> of the mill?"},
		"kept from those elsewhere":  {knowledge.PrivacyRedact, true, "<EMAIL_ADDRESS_1> and <EMAIL_ADDRESS_2>", "Who is ann@example.org of the mill?"},
		"the control, which has all": {knowledge.PrivacyOff, false, "ann@example.org and bob@example.org", "Who is ann@example.org of the mill?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			embedder := &heard{inProcess: tt.inProcess}
			var query, passage string
			reranker := scriptedReranker(func(ctx context.Context, q string, texts []string) ([]float64, error) {
				query, passage = q, texts[0]
				return lastFirst(ctx, q, texts)
			})
			chat := &scriptedChat{reply: func(_ context.Context, c retrieve.Call) (string, error) {
				address := "ann@example.org"
				if tt.providers == knowledge.PrivacyRedact {
					address = "<EMAIL_ADDRESS_1>"
				}
				if !strings.Contains(c.User, address) || strings.Contains(c.User, "ann@") != (address == "ann@example.org") {
					t.Errorf("the chat model gets %s", c.User)
				}
				return `{"question":"Who is ` + address + ` of the mill?"}`, nil
			}}
			models := rerankedBy(reranker)
			models.Chat = chat
			c := chunks{}
			c.put("a", "ann@example.org and bob@example.org")
			x := &scripted{dense: hits("a", .9), words: hits("a", 1.0)}
			result, err := retrieve.New(x, c, embedder).Using(models).Retrieve(t.Context(), retrieve.Request{
				Principal: asker, Query: "and who is ann@example.org?", Enhance: true, History: []knowledge.Message{{Role: "user", Content: "Tell me of the mill."}},
				Config: knowledge.RetrievalConfig{Reranker: "bge"}, Privacy: knowledge.PrivacyConfig{Providers: tt.providers},
			})
			if err != nil || result.Choices.Question != "Who is ann@example.org of the mill?" {
				t.Fatalf("the question is %q, %v", result.Choices.Question, err)
			}
			if !strings.Contains(query, "<EMAIL_ADDRESS_1>") != (tt.providers == knowledge.PrivacyOff) || !strings.Contains(passage, tt.passage) {
				t.Errorf("the reranker gets %q and %q", query, passage)
			}
			if all := strings.Join(embedder.texts, "\n"); !strings.Contains(all, tt.embedded) || strings.Contains(all, "ann@") != strings.Contains(tt.embedded, "ann@") {
				t.Errorf("the embedder gets %q", all)
			}
			if !strings.Contains(strings.Join(x.asked, "\n"), "ann@example.org") {
				t.Errorf("the words that are searched are %q", x.asked)
			}
		})
	}
}
