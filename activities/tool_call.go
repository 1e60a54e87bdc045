package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// DocumentsRAG is the name of the tool that searches documents.
const DocumentsRAG = "documents_rag"

// ToolCallInput names one tool call of a turn. Its arguments are in the turn's blob.
type ToolCallInput struct {
	knowledge.RunRef
	Turn int    `json:"turn"`
	Call int    `json:"call"`
	Key  string `json:"key"`
}

// ToolOutput is the output of a tool: a search, or a failure in words for the model.
type ToolOutput struct {
	Search  string `json:"search,omitempty"`
	Kept    int    `json:"kept,omitempty"`
	Failure string `json:"failure,omitempty"`
	Chosen  bool   `json:"chosen,omitempty"` // the record of the search has Choices
	Usage   Usage  `json:"usage,omitzero"`   // of chat models that the tool asked
}

// tools returns the tools that a model may call.
func tools() []model.Tool {
	return []model.Tool{{
		Name:        DocumentsRAG,
		Description: "Search the documents for passages about a query. Use it when the passages at hand do not hold the answer, with other words than before.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string",` +
			`"description":"What to look for, in full words"}},"required":["query"],"additionalProperties":false}`),
	}}
}

// maxQuery bounds a tool's query, in bytes.
const maxQuery = 8 << 10

// CallTool runs one tool call of a turn. It does not repeat a stored search.
func (a *Answering) CallTool(ctx context.Context, in ToolCallInput) (ToolOutput, error) {
	defer heartbeat(ctx)()
	output, err := a.callTool(ctx, in)
	if err != nil {
		return output, a.fail(ctx, in.RunRef, err)
	}
	return output, nil
}

func (a *Answering) callTool(ctx context.Context, in ToolCallInput) (ToolOutput, error) {
	var record TurnRecord
	if err := a.Blobs.GetJSON(ctx, in.Key, &record); err != nil {
		return ToolOutput{}, fmt.Errorf("read turn %d: %w", in.Turn, err)
	}
	if in.Call >= len(record.ToolCalls) {
		return ToolOutput{}, fmt.Errorf("turn %d has %d tool calls", in.Turn, len(record.ToolCalls))
	}
	if in.Call >= MaxCalls {
		return ToolOutput{}, knowledge.Errorf(knowledge.CodeInvalid,
			"at most %d calls of a turn are run; this one and all after it were not: call again for what is still needed", MaxCalls)
	}
	call := record.ToolCalls[in.Call]
	if call.Name != DocumentsRAG {
		return ToolOutput{}, knowledge.Errorf(knowledge.CodeInvalid, "there is no such tool; the only one is %s", DocumentsRAG)
	}
	var arguments struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal([]byte(call.Arguments), &arguments); err != nil || arguments.Query == "" || len(arguments.Query) > maxQuery {
		return ToolOutput{}, knowledge.Errorf(knowledge.CodeInvalid, `the arguments must be {"query": "…"} with a query of at most %d bytes`, maxQuery)
	}
	request, err := ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return ToolOutput{}, err
	}
	found, err := a.find(ctx, in.SearchKey(in.Turn, in.Call), request, arguments.Query)
	return ToolOutput{Search: found.Key, Kept: found.Kept, Chosen: found.Chosen, Usage: found.Usage}, err
}
