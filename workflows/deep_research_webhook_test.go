package workflows_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/webhook"
	"github.com/cairn-rag/cairn/workflows"
)

// researchHook is a webhook of type queries in this process.
type researchHook struct {
	answer   string // JSON
	failure  string
	required bool
	asked    int
}

func (h *researchHook) WebhookOf(context.Context, store.WebhookQueue) (knowledge.Webhook, knowledge.Project, error) {
	return knowledge.Webhook{ID: "hook", URL: "https://asker.test/", Secret: "sealed", Required: h.required, Enabled: true}, knowledge.Project{ID: "handbook", Workspace: "acme"}, nil
}

func (*researchHook) Open(string, string) (string, error) { return "whsec_secret", nil }

func (h *researchHook) Ask(_ context.Context, _ webhook.Message, text func(string) error) (asked webhook.Asked, err error) {
	h.asked++
	if asked.Error = h.failure; h.failure != "" {
		return asked, text("Half an")
	}
	return asked, json.Unmarshal([]byte(h.answer), &asked.Answer)
}

// researchWith runs a research of a project with the webhook.
func researchWith(t *testing.T, h *researchHook, script ...modeltest.Reply) *researchTest {
	t.Helper()
	test := &researchTest{loopTest: newLoopTest(t)}
	test.env = newEnvironment()
	acts := test.activities(func(d *answering.Dependencies) {
		d.Workflows, d.Webhooks = logByID{env: test.env}, answering.QueryWebhooks{Hooks: h, Secrets: h, Sender: h}
	})
	test.env.RegisterActivity(acts.Activities)
	test.env.RegisterWorkflow(workflows.RunLog)
	test.env.RegisterWorkflow(workflows.ResearchQuestion)
	test.publish("pump", []string{"The HX-4 pump weighs 12 kg."})
	test.server.ScriptChat(script...)
	request := test.request("How heavy is the pump?", knowledge.ResearchConfig{Depth: 1})
	request.Webhooks = []string{"hook"}
	_, err := test.blobs.PutJSON(test.Context(), test.run.RequestKey(), request)
	test.must(err)
	test.env.ExecuteWorkflow(workflows.DeepResearch, workflows.NewResearchInput(record.NewAnswerInput(test.run, request)))
	test.must(test.env.GetWorkflowError())
	if h.asked != 1 {
		t.Errorf("the webhook was asked %d times", h.asked)
	}
	return test
}

func TestDeepResearchWithAWebhook(t *testing.T) {
	t.Parallel()
	script := func() []modeltest.Reply {
		return []modeltest.Reply{plan("How heavy is the HX-4 pump?"), notes("It is heavy."), outline("Weight"), modeltest.Text("It is heavy <source_1>.")}
	}

	t.Run("an answer ends the research", func(t *testing.T) {
		t.Parallel()
		test := researchWith(t, &researchHook{answer: `{"answer":"Directly <source_1>.","chunks":[{"value":{"content":"Given words.","name":"Ours"}}],"blocks":[{"slug":"b"}],` +
			`"searchResults":[{"title":"T","url":"https://example.com/t","snippet":"s"}]}`})
		run, answer, shown, updates := test.outcome()
		if run.Status != knowledge.RunCompleted || !strings.HasPrefix(shown, "Directly <citation ") || shown != answer.Answer || answer.Model != "webhook" || len(updates) != 0 {
			t.Errorf("%s, %+v: shown %q, stored %+v", run.Status, run.Error, shown, answer)
		}
		if len(answer.Sources) != 1 || answer.Sources[0].Given.Name != "T" || len(answer.Blocks) != 1 || test.server.Totals().Chats.Asked != 0 {
			t.Errorf("%d model calls, %+v", test.server.Totals().Chats.Asked, answer)
		}
	})

	t.Run("sub-questions read its chunks in place of the documents, and it sets parameters", func(t *testing.T) {
		t.Parallel()
		test := researchWith(t, &researchHook{answer: `{"chunks":[{"value":{"content":"The HX-4 weighs 99 tons.","knowledgeId":"k","name":"Ours"}}],"aiParameters":{"model":"other","temperature":0.3,"maxTokens":77},` +
			`"prompt":[{"role":"user","content":"Ignored."}],"searchResults":[{"title":"T","url":"https://example.com/t","snippet":"s"}],"blocks":[{"slug":"b"}]}`}, script()...)
		run, answer, shown, updates := test.outcome()
		if run.Status != knowledge.RunCompleted || shown != answer.Answer || !strings.Contains(shown, "It is heavy <citation ") {
			t.Fatalf("%s, %+v; shown:\n%s", run.Status, run.Error, shown)
		}
		if len(answer.Sources) != 1 || answer.Sources[0].Given == nil || answer.Sources[0].Given.Name != "Ours" || !strings.Contains(shown, answer.Sources[0].ChunkID) || len(answer.Blocks) != 1 {
			t.Errorf("the answer %+v", answer)
		}
		for _, u := range updates {
			if u.Phase == "search" {
				t.Errorf("it searches: %+v", u)
			}
		}
		requests := test.server.Requests()
		if read := messagesOf(requests[1].Messages); !strings.Contains(read, "99 tons") || strings.Contains(read, "12 kg") {
			t.Errorf("the model reads %s", read)
		}
		last := requests[len(requests)-1]
		if last.Model != "other" || last.Temperature == nil || *last.Temperature != 0.3 || last.MaxTokens != 77 {
			t.Errorf("the section is asked of %s with %v and %d", last.Model, last.Temperature, last.MaxTokens)
		}
		for _, r := range requests {
			if strings.Contains(messagesOf(r.Messages), "Ignored.") {
				t.Error("the prompt of the webhook is used")
			}
		}
	})

	t.Run("its filters hold for the search", func(t *testing.T) {
		t.Parallel()
		test := researchWith(t, &researchHook{answer: `{"filters":[{"field":"tags","type":"in","value":["none has this"]}]}`}, plan("How heavy is the HX-4 pump?"))
		run, answer, shown, _ := test.outcome()
		if run.Status != knowledge.RunCompleted || !strings.Contains(shown, "Nothing was found: How heavy") || len(answer.Sources) != 0 {
			t.Errorf("%s, %+v; shown:\n%s", run.Status, run.Error, shown)
		}
	})

	t.Run("one that fails is left out", func(t *testing.T) {
		t.Parallel()
		test := researchWith(t, &researchHook{failure: "the address answered 500"}, script()...)
		run, answer, shown, _ := test.outcome()
		if run.Status != knowledge.RunCompleted || shown != answer.Answer || !strings.Contains(shown, "It is heavy <citation ") || strings.Contains(shown, "Half an") {
			t.Errorf("%s, %+v; shown:\n%s", run.Status, run.Error, shown)
		}
	})

	t.Run("one that is required and fails ends the research", func(t *testing.T) {
		t.Parallel()
		test := researchWith(t, &researchHook{failure: "the address answered 500", required: true})
		run, _, shown, _ := test.outcome()
		if run.Status != knowledge.RunFailed || run.Error == nil || run.Error.Code != knowledge.CodeProviderFailed || shown != "" || test.server.Totals().Chats.Asked != 0 {
			t.Errorf("%s, %+v; shown %q", run.Status, run.Error, shown)
		}
	})
}

// messagesOf returns the words of the messages of a model call.
func messagesOf(messages any) string {
	text, err := json.Marshal(messages)
	if err != nil {
		panic(err)
	}
	return string(text)
}
