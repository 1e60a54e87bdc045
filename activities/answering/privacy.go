package answering

import (
	"context"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// protected returns a chat model as a project asks it: with placeholders in the place of
// personal data, if the project wants that.
func (a *chats) protected(client step.Chat, p knowledge.PrivacyConfig) step.Chat {
	if !p.RedactsForProviders() {
		return client
	}
	return step.Protected{Model: client, Recognisers: a.Recognisers, Rules: p.Rules()}
}

// answering returns a chat model whose words readers see while they come, as a project asks
// it.
func (a *chats) answering(client step.Chat, p knowledge.PrivacyConfig) step.Chat {
	client = a.protected(client, p)
	if !p.RedactsAnswers() {
		return client
	}
	return step.Redacted{Model: client, Recognisers: a.Recognisers, Rules: p.Rules()}
}

// redacted returns words for readers that have come as a whole, with placeholders if the
// project wants them in its answers.
func (a *chats) redacted(ctx context.Context, p knowledge.PrivacyConfig, words string) (string, error) {
	if !p.RedactsAnswers() {
		return words, nil
	}
	return a.Recognisers.Redact(ctx, p.Rules(), words)
}
