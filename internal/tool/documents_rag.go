package tool

import (
	"context"
	"encoding/json"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// DocumentsRAG is the name of the tool that searches documents.
const DocumentsRAG = "documents_rag"

// MaxQuery bounds a tool's query, in bytes.
const MaxQuery = 8 << 10

// NewDocumentsRAG returns the tool that searches documents. search searches for a query
// and does not repeat a stored search.
func NewDocumentsRAG(search func(ctx context.Context, c Call, query string) (Output, error)) Tool {
	return Tool{
		Name:        DocumentsRAG,
		Description: "Search the documents for passages about a query. Use it when the passages at hand do not hold the answer, with other words than before.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string",` +
			`"description":"What to look for, in full words"}},"required":["query"],"additionalProperties":false}`),
		Run: func(ctx context.Context, c Call) (Output, error) {
			var given struct {
				Query string `json:"query"`
			}
			if err := json.Unmarshal([]byte(c.Arguments), &given); err != nil || given.Query == "" || len(given.Query) > MaxQuery {
				return Output{}, knowledge.Errorf(knowledge.CodeInvalid, `the arguments must be {"query": "…"} with a query of at most %d bytes`, MaxQuery)
			}
			return search(ctx, c, given.Query)
		},
	}
}
