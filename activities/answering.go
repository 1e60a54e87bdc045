package activities

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/tool"
)

// Answering holds the activities of AnswerQuery and RunTool.
type Answering struct {
	Blobs         Blobs
	Runs          RunEnds
	Retriever     Retriever
	Passages      retrieve.PassageReader
	Conversations Conversations
	Library       Library // nil = no tools that read documents
	Chat          Chat
	Failover      []Chat        // endpoints that are asked where Chat fails, in their order
	Tools         tool.Set      // beside documents_rag and web_search
	Sources       []tool.Source // of tools that depend on the question
	Agents        Agents        // nil = no project asks another
	Webhooks      QueryWebhooks
	Web           Web        // nil = the instance searches no web
	Pages         PageReader // nil = pages are not read
	Workflows     Workflows
	Hub           Hub
	Metrics       Metrics
	Log           *slog.Logger
}

// Loop is the state of a question's tool loop: ids, keys of blobs and counts.
type Loop struct {
	Found       *SearchRecord   `json:"found,omitempty"`       // by the first search, if it is in no blob
	Asked       bool            `json:"asked,omitempty"`       // the webhooks of the question were asked
	Given       string          `json:"given,omitempty"`       // blob of the passages that a webhook gave
	Searches    []string        `json:"searches,omitempty"`    // blobs of the other searches, in order; ranks count over all of them
	Turns       []Turn          `json:"turns,omitempty"`       // turns that ended in tool calls
	Answer      string          `json:"answer,omitempty"`      // blob of the model call that returned the answer, if Record is nil
	Record      *TurnRecord     `json:"record,omitempty"`      // of that model call
	Suggestions string          `json:"suggestions,omitempty"` // blob of the questions that may come next
	Usage       knowledge.Usage `json:"usage,omitzero"`

	Attachments []knowledge.AttachedDocument `json:"attachments,omitempty"` // of the question, when it had waited for them
}

// Turn is one model call that called tools, and the outputs of these.
type Turn struct {
	Key     string       `json:"key"`
	Outputs []ToolOutput `json:"outputs"`
}

// TurnRecord is the stored result of a model call.
type TurnRecord struct {
	Raw       string           `json:"raw"`              // the model's own words
	Text      string           `json:"text"`             // the words that readers see, with checked citations
	Marked    string           `json:"marked,omitempty"` // of a search of the web: the words as they stream, with marks for citations
	ToolCalls []model.ToolCall `json:"tool_calls,omitempty"`
	Used      []int            `json:"used,omitempty"`  // ranks that Text cites
	Order     []int            `json:"order,omitempty"` // of a report: the ranks in the order of the numbers that Text has for them; none = they are the numbers
	LeftOut   []int            `json:"left,omitempty"`  // ranks of passages that the model did not receive, because they were gone
	Model     string           `json:"model"`
	// FinishReason is why the model stopped early: length or content_filter; "" = it did not.
	FinishReason string          `json:"finish_reason,omitempty"`
	Usage        knowledge.Usage `json:"usage"`
}

// streamed returns the words that readers get while they stream.
func (r TurnRecord) streamed() string { return cmp.Or(r.Marked, r.Text) }

// maxRetryAfter is the longest pause that a question grants a provider, because a
// reader waits for its answer.
const maxRetryAfter = time.Minute

// fail is failure for the activities of a run that somebody waits for. A model that limits
// requests is CodeRateLimited.
func (a *Answering) fail(ctx context.Context, run knowledge.RunRef, err error) error {
	log := a.Log.With("workspace", run.Workspace, "run", run.Run)
	e, ok := errors.AsType[*model.Error](err)
	if !ok || ctx.Err() != nil {
		return failure(ctx, log, err)
	}
	final := *e
	final.Retryable = e.Retryable && e.RetryAfter <= maxRetryAfter
	return modelFailure(ctx, log, err, &final, final.Public().Code)
}
