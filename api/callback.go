package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// callbackBody is where /query sends the answer.
type callbackBody struct {
	URL     string            `json:"url,omitempty" maxLength:"2000" doc:"http or https. Empty: the answer is not sent"`
	Headers map[string]string `json:"headers,omitempty" doc:"Additional headers of the request, at most 20"`
}

// callback returns the callback that a body asks for, with its headers sealed for the run
// of the caller; nil if it asks for none.
func (q *questionRoutes) callback(p knowledge.Principal, b *callbackBody) (*knowledge.Callback, error) {
	if b == nil || b.URL == "" {
		return nil, nil
	}
	if err := q.addresses.CheckURL(b.URL); err != nil {
		return nil, knowledge.Invalid("body.callback.url", "%s", knowledge.AsError(err).Message)
	}
	if wrong := knowledge.CallbackHeaderFields("body.callback.headers", b.Headers); wrong != nil {
		return nil, knowledge.InvalidFields(wrong)
	}
	c := &knowledge.Callback{URL: b.URL}
	if len(b.Headers) == 0 {
		return c, nil
	}
	encoded, err := json.Marshal(b.Headers)
	if err != nil {
		return nil, fmt.Errorf("encode the headers of a callback: %w", err)
	}
	if c.Headers, err = q.sealer.Seal(string(encoded), webhook.HeadersContext(p.Workspace())); err != nil {
		return nil, fmt.Errorf("seal the headers of a callback: %w", err)
	}
	return c, nil
}

// Answers renders the answers of runs for callbacks. It serves no request.
type Answers struct{ results *results }

// NewAnswers returns an Answers. It uses Store, Blobs, Access and Links of deps, and
// Clock.
func NewAnswers(cfg Config, deps Deps) *Answers {
	return &Answers{newResults(cfg, deps)}
}

// failedAnswer is the body of the callback of a run that has no answer.
type failedAnswer struct {
	MessageID      string             `json:"messageId"`
	ConversationID string             `json:"conversationId"`
	RunID          string             `json:"runId"`
	Error          *knowledge.Failure `json:"error"`
}

// Callback returns what the callback of a run is sent: the object that a waiting /query
// answers with, or the error of the run. Sources are shown that the asker may read now.
func (a *Answers) Callback(ctx context.Context, workspace, id string) ([]byte, error) {
	ref := knowledge.RunRef{Workspace: workspace, Run: id}
	request, err := record.ReadRequest(ctx, a.results.blobs, ref)
	if err != nil {
		return nil, err
	}
	run, err := a.results.store.Run(ctx, request.Principal, id)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	failed := failedAnswer{request.MessageID, request.ConversationID, run.ID, run.Error}
	if run.Error != nil {
		failed.Error = &knowledge.Failure{Code: run.Error.Code, Message: run.Error.Message, RetryAt: run.Error.RetryAt}
	}
	var body any = failed
	if run.Status == knowledge.RunCompleted {
		if body, err = a.answer(ctx, request.Principal, run); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // as in the answer that a waiting request gets
	if err := encoder.Encode(body); err != nil {
		return nil, fmt.Errorf("encode the answer of run %s: %w", id, err)
	}
	return out.Bytes(), nil
}

func (a *Answers) answer(ctx context.Context, p knowledge.Principal, run store.Run) (any, error) {
	return (&renderer{results: a.results, reading: &reading{principal: p, run: run, compact: true}}).answer(ctx, run.ResultKey)
}
