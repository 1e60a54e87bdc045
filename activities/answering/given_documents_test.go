package answering_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// TestPassagesOfWebhooks: a passage that a webhook gives of a real document has its name, and is the
// chunk in which its words stand; documents that the asker may not read are unknown.
func TestPassagesOfWebhooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.AnswerWith(func(d *answering.Dependencies) { d.Library = f.Store })
	d := f.Upload("apples.txt", "Apples are picked\nin autumn.")
	f.Publish(d)
	id := knowledge.DocumentID("w", "p", "apples.txt")
	chunk := func(content, of string) (g webhook.GivenChunk) {
		g.Value.Content, g.Value.KnowledgeID = content, of
		return g
	}
	w := &askedWebhook{asked: webhook.Asked{Answer: webhook.QueryAnswer{Chunks: []webhook.GivenChunk{
		chunk("Apples are picked in autumn.", id), chunk("Pears are picked in May.", id), chunk("Plums are sweet.", "k"),
	}}}}
	run := knowledge.RunRef{Workspace: "w", Project: "p", Run: "run"}
	_, err := f.Blobs.PutJSON(f.Ctx, run.RequestKey(), knowledge.Request{Principal: activitytest.Manager(), Kind: knowledge.KindQuery, Question: "When?", MessageID: "m", Webhooks: []string{"hook"}})
	f.Must(err)
	f.AnswerWith(func(d *answering.Dependencies) { d.Webhooks = answering.QueryWebhooks{Hooks: w, Secrets: w, Sender: w} })
	_, err = do(f, f.Answering.AskWebhooks, answering.AskWebhooksInput{RunRef: run})
	f.Must(err)
	answers, err := record.ReadWebhooks(f.Ctx, f.Blobs, run)
	f.Must(err)
	want := map[int]record.KnownDocument{
		0: {ID: id, Name: "apples.txt", ChunkID: knowledge.ChunkID(id, 1, 0), Version: 1},
		1: {ID: id, Name: "apples.txt"},
	}
	if diff := cmp.Diff(want, answers.Known); diff != "" {
		t.Error(diff)
	}
}
