package step

import (
	"context"
	"errors"
	"log/slog"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// Outcome returns how a call ended, as metrics count it.
func Outcome(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

// LogFailed logs a model that failed where another one is asked.
func LogFailed(ctx context.Context, log *slog.Logger, f model.Failed) {
	if f.Next != "" {
		log.WarnContext(ctx, "a model failed; the next one is asked", "model", f.Model, "next", f.Next, "error", f.Err)
	}
}

// Said is a whole answer of a model, with what it cost.
type Said struct {
	Text string
	Done model.Completion
}

// IsRefusal reports whether the model refused a picture, as it would again.
func IsRefusal(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && !e.Retryable && e.Code != model.CodeUnauthorized
}

// Called is what a stored model call cost.
type Called struct {
	Model string          `json:"model,omitempty"`
	Usage knowledge.Usage `json:"usage,omitzero"`
}

// NewCalled returns what a model call cost.
func NewCalled(done model.Completion) Called {
	return Called{Model: done.Model, Usage: ChatUsage(done.Usage)}
}

// ChatUsage returns what one call of a chat model used.
func ChatUsage(used model.Usage) knowledge.Usage {
	return knowledge.Usage{PromptTokens: used.PromptTokens, CompletionTokens: used.CompletionTokens, ModelCalls: 1, Cost: used.Cost, Currency: used.Currency}
}

// EmbeddingUsage returns what one call of an embedding model used.
func EmbeddingUsage(used model.Usage) knowledge.Usage {
	return knowledge.Usage{EmbeddingCalls: 1, EmbeddingTokens: used.PromptTokens, Cost: used.Cost, Currency: used.Currency}
}
