package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
)

// readWebhooks returns what the webhooks of a question answered, nil if they have not yet.
func readWebhooks(ctx context.Context, blobs RequestBlobs, run knowledge.RunRef) (*WebhookRecord, error) {
	var record WebhookRecord
	err := blobs.GetJSON(ctx, run.WebhooksKey(), &record)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the answers of webhooks of run %s: %w", run.Run, err)
	}
	return &record, nil
}

// apply changes a request as the webhooks answered.
func (r WebhookRecord) apply(request *knowledge.Request) {
	if r.Filters != nil {
		request.Filter = *r.Filters
	}
	if p := r.AIParameters; p != nil {
		ai := &request.Config.AI
		ai.Model = cmp.Or(p.Model, ai.Model)
		ai.MaxTokens = cmp.Or(p.MaxTokens, ai.MaxTokens)
		if p.Temperature != nil {
			ai.Temperature = p.Temperature
		}
	}
}

// wantsContext reports whether the prompt of a webhook has a place for passages.
func (r WebhookRecord) wantsContext() bool {
	return slices.ContainsFunc(r.Prompt, func(m knowledge.Message) bool { return m.Content != "" && prompt.WantsContext(m.Content) })
}

// givenPassages returns the passages that a webhook gave, whose record is under key.
func (a *Answering) givenPassages(ctx context.Context, key string) ([]Passage, error) {
	var record WebhookRecord
	if err := a.Blobs.GetJSON(ctx, key, &record); err != nil {
		return nil, fmt.Errorf("read the passages of a webhook: %w", err)
	}
	list := make([]Passage, 0, len(record.Chunks))
	for i, c := range record.Chunks {
		given := &GivenSource{Name: cmp.Or(c.Value.Name, c.Value.KnowledgeID, "webhook"), URL: c.Value.URL, Text: c.Value.Content}
		list = append(list, Passage{Rank: i + 1, ChunkID: knowledge.DerivedID("given chunk", key, strconv.Itoa(i)), DocumentID: c.Value.KnowledgeID, Score: 1, Given: given})
	}
	return list, nil
}

// webhookModel is the model of an answer that a webhook gave.
const webhookModel = "webhook"

// answerOfWebhook returns the answer that a webhook gave, with checked citations of passages.
func answerOfWebhook(answer string, passages []Passage) TurnRecord {
	contexts := make([]citation.Context, 0, len(passages))
	for _, p := range passages {
		contexts = append(contexts, citation.Context{Rank: p.Rank, ChunkID: p.ChunkID, DocumentID: p.DocumentID, DocumentName: p.Given.Name, Text: p.Given.Text})
	}
	rewriter := citation.NewRewriter(contexts)
	text := rewriter.Write(answer) + rewriter.Close()
	return TurnRecord{Raw: answer, Text: text, Used: rewriter.Used(), Model: webhookModel}
}

// completeFromWebhooks fills in what the webhooks of a question gave for its answer.
func (a *Answering) completeFromWebhooks(ctx context.Context, run knowledge.RunRef, request knowledge.Request, record *AnswerRecord) error {
	if len(request.Webhooks) == 0 {
		return nil
	}
	given, err := readWebhooks(ctx, a.Blobs, run)
	if err != nil || given == nil {
		return err
	}
	record.Blocks = given.Blocks
	// The citations of a report name the sources that were read, so these stay.
	if given.SearchResults != nil && (request.Kind != knowledge.KindResearch || given.Answer != nil) {
		record.Sources = given.sources()
		record.Used = slices.DeleteFunc(record.Used, func(rank int) bool { return rank > len(record.Sources) })
	}
	return nil
}

// sources returns the sources that a webhook shows in place of those of the answer.
func (r WebhookRecord) sources() []Source {
	list := make([]Source, 0, len(r.SearchResults))
	for i, s := range r.SearchResults {
		list = append(list, Source{Rank: i + 1, Given: &GivenSource{Name: s.Title, URL: s.URL, Text: s.Snippet}})
	}
	return list
}
