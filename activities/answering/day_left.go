package answering

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// DayLimits knows what the accounts of a run have left of their day.
type DayLimits interface {
	// RunDayLeft returns what the accounts of a run have left. It does not know what the
	// run itself has used by now.
	RunDayLeft(ctx context.Context, workspace, run string) (store.DayLeft, error)
}

// withinDay holds a model call to what is left of the day of the run's key, user, project and
// workspace: it bounds the answer, or returns CodeLimitReached where nothing is left.
func (a *CallingModels) withinDay(ctx context.Context, in ModelCallInput, chat *model.ChatRequest) error {
	if a.Days == nil {
		return nil
	}
	left, err := a.Days.RunDayLeft(ctx, in.Workspace, in.Run)
	if err != nil || !left.HasTokens && !left.HasCost {
		return err
	}
	used, err := a.usedBefore(ctx, in)
	if err != nil {
		return err
	}
	return boundByDay(left, used, chat)
}

// usedBefore returns what the model calls of the run have used before this one.
func (a *CallingModels) usedBefore(ctx context.Context, in ModelCallInput) (knowledge.Usage, error) {
	var used knowledge.Usage
	for i, turn := range in.Loop.Turns {
		var call record.ModelCall
		if err := a.Blobs.GetJSON(ctx, turn.Key, &call); err != nil {
			return used, fmt.Errorf("read turn %d: %w", i+1, err)
		}
		used.Add(call.Usage)
	}
	return used, nil
}

// boundByDay bounds the tokens of a call by what is left beside those that the run has used and
// those that the call sends.
func boundByDay(left store.DayLeft, used knowledge.Usage, chat *model.ChatRequest) error {
	if left.HasCost && left.Cost-used.Cost <= 0 {
		return knowledge.Errorf(knowledge.CodeLimitReached, "the answer ends here: %s has used the cost that it may have in this day (limits.costPerDay)", left.What)
	}
	if !left.HasTokens {
		return nil
	}
	tokens := left.Tokens - int64(used.PromptTokens+used.CompletionTokens)
	for _, m := range chat.Messages {
		tokens -= int64(knowledge.EstimateTokens(m.Content))
	}
	if tokens <= 0 {
		return knowledge.Errorf(knowledge.CodeLimitReached, "the answer ends here: %s has used the tokens that it may have in this day (limits.tokensPerDay)", left.What)
	}
	if tokens < 1<<30 && (chat.MaxTokens == 0 || int64(chat.MaxTokens) > tokens) {
		chat.MaxTokens = int(tokens)
	}
	return nil
}
