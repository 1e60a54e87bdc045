package answering

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// maxSummarized is the largest number of messages that are summed up in one call.
	maxSummarized = 200
	// maxSummarizedTokens bounds them together. Of more, the newest are summed up.
	maxSummarizedTokens = 24_000
)

// SummarizeInput names a question whose conversation is too long for its prompt.
type SummarizeInput struct {
	knowledge.RunRef
}

// SummarizeResult is what the summary cost.
type SummarizeResult struct {
	Usage knowledge.Usage `json:"usage"`
}

// SummarizeHistory sums up the beginning of a question's conversation, and stores the
// history with the request again: the summary, and the newest messages that fit into half
// of the limits. So the next questions need no summary for a while. The conversation has
// the summary too; a repetition finds it there, and asks no model.
func (a *Conversing) SummarizeHistory(ctx context.Context, in SummarizeInput) (SummarizeResult, error) {
	defer step.Heartbeat(ctx)()
	usage, err := a.summarizeHistory(ctx, in.RunRef)
	if err != nil {
		return SummarizeResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("sum up the conversation: %w", err))
	}
	return SummarizeResult{usage}, nil
}

func (a *Conversing) summarizeHistory(ctx context.Context, run knowledge.RunRef) (usage knowledge.Usage, err error) {
	request, err := record.ReadRequest(ctx, a.Blobs, run)
	if err != nil || !request.Overlong {
		return usage, err
	}
	h, err := a.Conversations.History(ctx, request.Principal, request.ConversationID, maxSummarized)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return usage, nil // its owner has deleted it meanwhile
	}
	if err != nil {
		return usage, err
	}
	older := beforeNewest(h.Messages, request.Config.AI.History)
	if len(older) > 0 {
		if h.Summary, usage, err = a.summary(ctx, request, h.Summary, older); err != nil {
			return usage, err
		}
		err := a.Conversations.SaveSummary(ctx, run.Workspace, request.ConversationID, older[len(older)-1].ID, h.Summary)
		if err != nil {
			return usage, fmt.Errorf("save the summary: %w", err)
		}
	}
	request.Overlong, request.History = false, nil
	if h.Summary != "" {
		request.History = append(request.History, prompt.Summarized(h.Summary))
	}
	request.History = append(request.History, record.WithWords(h.Messages[len(older):])...)
	_, err = a.Blobs.PutJSON(ctx, run.RequestKey(), request)
	return usage, err
}

// beforeNewest returns the messages before the newest ones that fit into half of the
// limits, and stay as they are.
func beforeNewest(messages []store.Message, limits knowledge.HistoryConfig) []store.Message {
	stays, tokens := len(messages), limits.Tokens/2
	for stays > 0 && len(messages)-stays < *limits.Messages/2 {
		if tokens -= knowledge.EstimateTokens(messages[stays-1].Text); tokens < 0 {
			break
		}
		stays--
	}
	for stays < len(messages) && messages[stays].Role != model.RoleUser {
		stays++ // no answer stands without its question
	}
	return messages[:stays]
}

// summary asks the model for a summary of what an earlier summary says and of the messages
// behind it.
func (a *Conversing) summary(ctx context.Context, request knowledge.Request, earlier string, older []store.Message) (string, knowledge.Usage, error) {
	system, user := prompt.Summary(earlier, prompt.History(record.WithWords(older), maxSummarizedTokens))
	said, done, err := a.chats.chatOnce(ctx, request.Config, model.ChatRequest{
		Messages: []model.Message{{Role: model.RoleSystem, Content: system}, {Role: model.RoleUser, Content: user}},
	})
	text := prompt.SummaryIn(said)
	if err == nil && text == "" {
		err = &model.Error{Code: model.CodeBadResponse, Cause: errors.New("the model wrote no summary")}
	}
	return text, step.NewCalled(done).Usage, err
}
