package answering

import (
	"context"
	"slices"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// webhookModel is the model of an answer that a webhook gave.
const webhookModel = "webhook"

// answerOfWebhook returns the answer that a webhook gave, with checked citations of passages.
func answerOfWebhook(answer string, passages []record.Passage) record.ModelCall {
	contexts := make([]citation.Context, 0, len(passages))
	for _, p := range passages {
		one := citation.Context{Rank: p.Rank, ChunkID: p.ChunkID, DocumentID: p.DocumentID}
		if p.Given != nil {
			one.DocumentName, one.Text = p.Given.Name, p.Given.Text
		}
		contexts = append(contexts, one)
	}
	rewriter := citation.NewRewriter(contexts)
	text := rewriter.Write(answer) + rewriter.Close()
	return record.ModelCall{Raw: answer, Text: text, Used: rewriter.Used(), Model: webhookModel}
}

// completeFromWebhooks fills in what the webhooks of a question gave for its answer.
func (a *Finishing) completeFromWebhooks(ctx context.Context, run knowledge.RunRef, request knowledge.Request, result *record.Answer) error {
	if len(request.Webhooks) == 0 {
		return nil
	}
	given, err := record.ReadWebhooks(ctx, a.Blobs, run)
	if err != nil || given == nil {
		return err
	}
	result.Blocks = given.Blocks
	// The citations of a report name the sources that were read, so these stay.
	if given.SearchResults != nil && (request.Kind != knowledge.KindResearch || given.Answer != nil) {
		result.Sources = given.Sources()
		result.Used = slices.DeleteFunc(result.Used, func(rank int) bool { return rank > len(result.Sources) })
	}
	return nil
}
