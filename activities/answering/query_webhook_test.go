package answering_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// askedWebhook is a webhook of type queries in this process.
type askedWebhook struct {
	required bool
	says     []string // streamed
	asked    webhook.Asked
	requests []webhook.Message
}

func (w *askedWebhook) WebhookOf(context.Context, store.WebhookQueue) (knowledge.Webhook, knowledge.Project, error) {
	return knowledge.Webhook{ID: "hook", URL: "https://asker.test/", Secret: "sealed", Required: w.required, Enabled: true}, knowledge.Project{ID: "p", Workspace: "w"}, nil
}

func (w *askedWebhook) Open(string, string) (string, error) { return "whsec_secret", nil }

func (w *askedWebhook) Ask(_ context.Context, m webhook.Message, text func(string) error) (webhook.Asked, error) {
	w.requests = append(w.requests, m)
	for _, piece := range w.says {
		if err := text(piece); err != nil {
			return webhook.Asked{}, err
		}
	}
	return w.asked, nil
}

func TestAskWebhooks(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, w *askedWebhook) (*fixture, answering.AskWebhooksResult, error) {
		t.Helper()
		f := newFixture(t)
		run := knowledge.RunRef{Workspace: "w", Project: "p", Run: "run"}
		_, err := f.Blobs.PutJSON(f.Ctx, run.RequestKey(), knowledge.Request{Principal: activitytest.Manager(), Kind: knowledge.KindQuery, Question: "Who?", MessageID: "m", Webhooks: []string{"hook"}})
		f.Must(err)
		f.AnswerWith(func(d *answering.Dependencies) { d.Webhooks = answering.QueryWebhooks{Hooks: w, Secrets: w, Sender: w} })
		var result answering.AskWebhooksResult
		for before := range 2 { // a repeated activity asks nobody again
			result, err = do(f, f.Answering.AskWebhooks, answering.AskWebhooksInput{RunRef: run, Before: before})
		}
		return f, result, err
	}
	words := func(text string) webhook.QueryAnswer { return webhook.QueryAnswer{Answer: &text} }

	t.Run("an answer that is streamed is published once", func(t *testing.T) {
		t.Parallel()
		w := &askedWebhook{says: []string{"One ", "two <source_1>."}, asked: webhook.Asked{Answer: words("One two <source_1>.")}}
		f, result, err := ask(t, w)
		f.Must(err)
		got, resets := activitytest.ReadAnswer(t, f.Workflows.Items())
		if got+result.Tail != "One two." || resets != 0 || result.Answer == "" || len(w.requests) != 1 {
			t.Errorf("readers have %q and %q after %d resets and %d requests: %+v", got, result.Tail, resets, len(w.requests), result)
		}
	})
	t.Run("words before a failure are dropped", func(t *testing.T) {
		t.Parallel()
		w := &askedWebhook{says: []string{"One "}, asked: webhook.Asked{Error: "the address answered 500"}}
		f, result, err := ask(t, w)
		f.Must(err)
		if got, _ := activitytest.ReadAnswer(t, f.Workflows.Items()); got+result.Tail != "" || result.Answer != "" || !result.Search {
			t.Errorf("readers have %q and %q: %+v", got, result.Tail, result)
		}
		result.Calls[0].Seconds = 0
		want := []record.WebhookCall{{ID: "hook", Status: knowledge.RunFailed, Fields: []string{}, Message: "the address answered 500"}}
		if diff := cmp.Diff(want, result.Calls); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a required webhook that fails ends the question", func(t *testing.T) {
		t.Parallel()
		_, _, err := ask(t, &askedWebhook{required: true, asked: webhook.Asked{Error: "the address answered 500"}})
		if err == nil || !strings.Contains(err.Error(), "requires failed") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("chunks take the place of the search", func(t *testing.T) {
		t.Parallel()
		var answer webhook.QueryAnswer
		answer.Chunks = make([]webhook.GivenChunk, 1)
		_, result, err := ask(t, &askedWebhook{asked: webhook.Asked{Answer: answer}})
		if err != nil || result.Search || result.Chunks == "" {
			t.Errorf("%+v, %v", result, err)
		}
	})
}
