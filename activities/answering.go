package activities

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// Answering holds the activities of AnswerQuery and RunTool.
type Answering struct {
	Blobs     Blobs
	Runs      RunEnds
	Retriever Retriever
	Passages  retrieve.PassageReader
	Chat      Chat
	Workflows Workflows
	Hub       Hub
	Metrics   Metrics
	Log       *slog.Logger
}

// Loop is where the tool loop of a question stands: keys of blobs and counts.
type Loop struct {
	Searches []string `json:"searches,omitempty"` // results of searches, in order; ranks count over all of them
	Turns    []Turn   `json:"turns,omitempty"`    // that ended in tool calls
	Answer   string   `json:"answer,omitempty"`   // the model call that gave the answer
	Usage    Usage    `json:"usage,omitzero"`
}

// Turn is one model call that called tools, and what these gave.
type Turn struct {
	Key     string       `json:"key"`
	Outputs []ToolOutput `json:"outputs"`
}

// Usage counts the tokens of a run.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	ModelCalls       int `json:"model_calls"`
}

// Add adds another count.
func (u *Usage) Add(o Usage) {
	u.PromptTokens += o.PromptTokens
	u.CompletionTokens += o.CompletionTokens
	u.ModelCalls += o.ModelCalls
}

// TurnRecord is the stored result of a model call.
type TurnRecord struct {
	Raw       string           `json:"raw"`  // as the model gave it
	Text      string           `json:"text"` // with checked citations: what readers see
	ToolCalls []model.ToolCall `json:"tool_calls,omitempty"`
	Used      []int            `json:"used,omitempty"` // ranks that Text cites
	Left      []int            `json:"left,omitempty"` // ranks of passages that the model was not given: they were gone
	Model     string           `json:"model"`
	Usage     Usage            `json:"usage"`
}

// patience is how long a question waits because its endpoint asked to be left
// alone: somebody sits before it.
const patience = time.Minute

func (a *Answering) fail(ctx context.Context, run knowledge.RunRef, err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok && e.RetryAfter > patience {
		hopeless := *e
		hopeless.Retryable = false
		err = &hopeless
	}
	return failure(ctx, a.Log.With("workspace", run.Workspace, "run", run.Run), err)
}
