package api

import (
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// previewLength is the length of a text_preview, in code points.
const previewLength = 200

// queryAnswer is what a waiting /query answers with.
type queryAnswer struct {
	MessageID      string            `json:"messageId"`
	ConversationID string            `json:"conversationId"`
	RunID          string            `json:"runId"`
	Answer         string            `json:"answer" doc:"The answer, with citations"`
	Sources        []source          `json:"sources" doc:"The sources of the answer"`
	ToolCalls      []calledTool      `json:"toolCalls"`
	Suggestions    []string          `json:"suggestions"`
	Blocks         []json.RawMessage `json:"blocks" doc:"Blocks from the queries webhook of the project, unchanged"`
	Usage          knowledge.Usage   `json:"usage"`
	Model          string            `json:"model"`
	FinishReason   string            `json:"finishReason,omitempty" doc:"Why the model stopped early: length (ai.maxTokens, or its own limit) or content_filter"`
	OperatorURL    string            `json:"operatorUrl"`

	Attachments []attachmentView `json:"attachments,omitempty" doc:"The attachments of the question, with their status"`

	Searches []retrieve.Choices `json:"searches,omitempty" doc:"Settings that the searches chose automatically (docs/retrieval.md)"`

	Notices []answerNotice `json:"notices,omitempty" doc:"What the reader should know of how the answer was made"`
}

// calledTool is a call of a tool in the answer of /query.
type calledTool struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
	Status    string `json:"status"`

	Files []runFile `json:"files,omitempty" doc:"Files that the call produced"`
}

// toolAnswer is the output of rag_search, in the seed's order.
type toolAnswer struct {
	Response    string        `json:"response" doc:"The answer, with citations"`
	Contexts    []toolContext `json:"contexts" doc:"The passages that the model got"`
	SourcesUsed []int         `json:"sources_used" doc:"The ranks that the response cites"`
	Model       string        `json:"model"`
	ExecutionID string        `json:"execution_id"`

	FinishReason string `json:"finish_reason,omitempty" doc:"Why the model stopped early: length or content_filter"`

	Searches []retrieve.Choices `json:"searches,omitempty" doc:"Settings that the searches chose automatically (docs/retrieval.md)"`

	Notices []answerNotice `json:"notices,omitempty" doc:"What the reader should know of how the answer was made"`
}

// toolContext is a passage in the output of rag_search.
type toolContext struct {
	Rank           int    `json:"rank"`
	ChunkID        string `json:"chunk_id"`
	DocumentID     string `json:"document_id"`
	TextPreview    string `json:"text_preview"`
	UsedInResponse bool   `json:"used_in_response"`
	Removed        bool   `json:"removed,omitempty" doc:"The document was removed, or the caller may no longer see it: the passage has no text"`
}

// answer is the object that a waiting /query answers with.
func (r *renderer) answer(ctx context.Context, key string) (any, error) {
	out, err := r.load(ctx, key)
	if err != nil {
		return nil, err
	}
	calls := make([]calledTool, 0, len(out.record.ToolCalls))
	for _, c := range out.record.ToolCalls {
		calls = append(calls, calledTool{ID: c.ID, Name: c.Name, Arguments: arguments(c.Arguments), Status: string(c.Status), Files: r.results.views.runFiles(r.principal, r.run, c.Files)})
	}
	attached, err := r.attachments(ctx, out.record.Attachments)
	if err != nil {
		return nil, err
	}
	notices, err := r.notices(ctx, out.record)
	if err != nil {
		return nil, err
	}
	return queryAnswer{
		MessageID: out.record.MessageID, ConversationID: out.record.ConversationID, RunID: r.run.ID, Answer: r.results.views.signFileLinks(r.principal, r.run, out.record.Answer),
		Sources: r.results.views.sources(r.principal, out), ToolCalls: calls, Suggestions: notNil(out.record.Suggestions), Blocks: notNil(out.record.Blocks), Usage: out.record.Usage, Model: out.record.Model, FinishReason: out.record.FinishReason,
		OperatorURL: r.results.views.links.OperatorURL(r.run.WorkflowID), Searches: out.record.Searches, Attachments: attached, Notices: notices,
	}, nil
}

// toolResult is the output object of rag_search or web_search.
func (r *renderer) toolResult(ctx context.Context, key string) (any, error) {
	out, err := r.load(ctx, key)
	if err != nil {
		return nil, err
	}
	if out.record.Web != nil {
		return r.webResult(ctx, out.record)
	}
	contexts := make([]toolContext, 0, len(out.record.Sources))
	for _, s := range out.record.Sources {
		chunk, there := out.chunks[s.ChunkID]
		contexts = append(contexts, toolContext{
			Rank: s.Rank, ChunkID: s.ChunkID, DocumentID: s.DocumentID, TextPreview: preview(chunk.Text),
			UsedInResponse: slices.Contains(out.record.Used, s.Rank), Removed: !there && s.Page == nil && s.Given == nil,
		})
	}
	notices, err := r.notices(ctx, out.record)
	if err != nil {
		return nil, err
	}
	return toolAnswer{
		Response: out.record.Answer, Contexts: contexts, SourcesUsed: notNil(out.record.Used),
		Model: out.record.Model, ExecutionID: out.record.ExecutionID, FinishReason: out.record.FinishReason, Searches: out.record.Searches, Notices: notices,
	}, nil
}

func preview(text string) string {
	if utf8.RuneCountInString(text) <= previewLength {
		return text
	}
	return string([]rune(text)[:previewLength-1]) + "…"
}
