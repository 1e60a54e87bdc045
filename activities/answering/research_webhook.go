package answering

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ResearchWebhooksInput asks the webhooks about the question of a research.
type ResearchWebhooksInput struct {
	knowledge.RunRef
}

// AskResearchWebhooks asks the project's webhooks of type queries about the question of a
// research, as AskWebhooks does. It shows readers nothing: an answer is the whole report,
// and the workflow shows it with its other events. Their answers hold for every later step,
// because ReadRequest applies them.
func (a *AskingWebhooks) AskResearchWebhooks(ctx context.Context, in ResearchWebhooksInput) (AskWebhooksResult, error) {
	defer step.Heartbeat(ctx)()
	_, record, err := a.askOnce(ctx, in.RunRef, notShown{})
	var result AskWebhooksResult
	if err == nil {
		result, _, err = a.storeWebhooks(ctx, in.RunRef, record)
	}
	if err != nil {
		return AskWebhooksResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("ask webhooks: %w", err))
	}
	return result, nil
}

// notShown drops the words that a webhook streams.
type notShown struct{}

func (notShown) write(string) {}

func (notShown) restart() {}
