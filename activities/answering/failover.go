package answering

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// candidate is a model that may answer a call.
type candidate = model.Candidate[step.Chat]

// chats asks the models that answer.
type chats struct {
	Chat        step.Chat
	Failover    []step.Chat
	Recognisers privacy.Recognisers
	Metrics     Metrics
	Log         *slog.Logger
}

// candidates returns the models that may answer a call of a request, in the order in which
// they are tried.
func (a *chats) candidates(ai knowledge.AIConfig) []candidate {
	return model.Candidates(append([]step.Chat{a.Chat}, a.Failover...), ai.Model, ai.Failover)
}

func newModelFailed(f model.Failed, attempt int) record.ModelFailed {
	return record.ModelFailed{Model: f.Model, Provider: f.Err.Provider, Code: f.Err.Code, Status: f.Err.Status, Attempt: attempt, Next: f.Next}
}

// firstThatAnswers asks the candidates, one after the other, until one answers. call makes
// the call of one. The words of a model that failed are dropped, unless the next one
// begins with the same words.
func (a *chats) firstThatAnswers(ctx context.Context, candidates []candidate, p *publisher, call func(candidate) (record.ModelCall, error)) (record.ModelCall, error) {
	names := map[*model.Error]string{}
	turn, err := model.First(ctx, candidates, func(f model.Failed) {
		names[f.Err] = f.Model
		step.LogFailed(ctx, a.Log.With("run", p.in.Run), f)
		// An only model that asks for a pause is shown below, with its end, or by the end of the run.
		if len(candidates) > 1 || f.Err.Code != model.CodeRateLimited || f.Err.RetryAfter == 0 {
			p.note(stream.TopicModelFailed, stream.Data(newModelFailed(f, p.attempt)))
		}
		if f.Next != "" {
			p.restart()
		}
	}, call)
	if e, ok := errors.AsType[*model.Error](err); ok && e.Code == model.CodeRateLimited && e.Retryable && e.RetryAfter > 0 && e.RetryAfter <= maxRetryAfter {
		waits := newModelFailed(model.Failed{Model: cmp.Or(names[e], candidates[0].Model()), Err: e}, p.attempt)
		waits.RetryAt = time.Now().Add(e.RetryAfter).UTC().Round(time.Millisecond)
		p.note(stream.TopicModelFailed, stream.Data(waits))
	}
	return turn, err
}

// chatOnce makes a model call whose words nobody reads while they come, at the first of the
// project's models that answers, and counts it.
func (a *chats) chatOnce(ctx context.Context, config knowledge.ProjectConfig, chat model.ChatRequest) (string, model.Completion, error) {
	return a.chatOnceNoting(ctx, config, chat, func(f model.Failed) { step.LogFailed(ctx, a.Log, f) })
}

// chatOnceNoting is chatOnce, which tells failed of each model that fails.
func (a *chats) chatOnceNoting(ctx context.Context, config knowledge.ProjectConfig, chat model.ChatRequest, failed func(model.Failed)) (string, model.Completion, error) {
	said, err := model.First(ctx, a.candidates(config.AI), failed, func(c candidate) (step.Said, error) {
		chat.Model = c.Name
		start, endpoint := time.Now(), c.Client.Endpoint()
		var text strings.Builder
		done, err := a.stream(ctx, a.protected(c.Client, config.Privacy), chat, listener{
			think: func(string) {}, restart: text.Reset,
			text: func(words string) error {
				if text.Len()+len(words) > maxAnswer {
					return &model.Error{Code: model.CodeBadResponse, Provider: endpoint.Provider, Cause: errors.New("the answer is longer than 1 MB")}
				}
				text.WriteString(words)
				return nil
			},
		})
		a.Metrics.ModelCall(endpoint.Provider, "chat", step.Outcome(err), time.Since(start).Seconds(), done.Usage.PromptTokens, done.Usage.CompletionTokens)
		return step.Said{Text: text.String(), Done: done}, err
	})
	return said.Text, said.Done, err
}

// note publishes an event before the next words, or at the end of the attempt. It is one of
// this attempt, so the log and the hub refuse it after a newer one has begun.
func (p *publisher) note(topic string, data json.RawMessage) {
	entry, err := stream.NewEntry(topic, stream.Event{Turn: p.in.Turn, Attempt: p.attempt, Data: data})
	if err != nil {
		return // a struct of strings and numbers can always be encoded
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, entry)
}
