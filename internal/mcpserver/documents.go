package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

type listArguments struct {
	ProjectID string   `json:"project_id,omitempty" jsonschema:"The id or name of a project. Default: every project that the key covers"`
	Tags      []string `json:"tags,omitempty" jsonschema:"Only documents with one of these tags"`
	Status    string   `json:"status,omitempty" jsonschema:"Only documents with this status: pending, published, error or inactive"`
	Page      int      `json:"page,omitempty" jsonschema:"The page of the list, 0 = first"`
	Limit     int      `json:"limit,omitempty" jsonschema:"Documents on a page, up to 500. Default: 50"`
}

// listLimit is how many documents a page has by default: fewer than in the API, because
// a model reads them all.
const listLimit = 50

type documentList struct {
	Documents []document `json:"documents"`
	Page      int        `json:"page"`
	Limit     int        `json:"limit"`
	Total     int        `json:"total"`
}

// document is what a model needs to know of a document.
type document struct {
	ID         string           `json:"id"`
	ExternalID string           `json:"externalId"`
	Name       string           `json:"name"`
	MediaType  string           `json:"mediaType"`
	Status     knowledge.Status `json:"status"`
	Tags       []string         `json:"tags"`
	Language   string           `json:"language"`
	PageCount  int              `json:"pageCount"`
	ChunkCount int              `json:"chunkCount"`
	UpdatedAt  time.Time        `json:"updatedAt"`
}

type chunkArguments struct {
	ChunkID string `json:"chunk_id" jsonschema:"The id of the passage, as a source or a citation names it"`
	Quote   string `json:"quote,omitempty" jsonschema:"A quotation from the passage: the result is where it stands in it, with its boxes on the page"`
}

// addDocuments adds the tools that read documents.
func (t tools) addDocuments(s *mcp.Server) {
	mcp.AddTool(s, &mcp.Tool{
		Name: "list_documents", Title: "List documents", Annotations: readOnly(false),
		Description: "Lists the documents that can be searched, by page, with their ids, names and tags.",
	}, t.listDocuments)
	mcp.AddTool(s, &mcp.Tool{
		Name: "get_chunk", Title: "Read a passage", Annotations: readOnly(false), OutputSchema: chunkOutput,
		Description: "Reads the passage behind a citation: its text, its document, its page and the boxes of its lines.",
	}, t.chunk)
}

func (t tools) listDocuments(ctx context.Context, r *mcp.CallToolRequest, in listArguments) (*mcp.CallToolResult, documentList, error) {
	c, err := t.connect(ctx, r)
	if err != nil {
		return nil, documentList{}, err
	}
	if in.Limit == 0 {
		in.Limit = listLimit
	}
	got, err := c.Documents(ctx, client.DocumentQuery{Project: in.ProjectID, Tags: in.Tags, Status: in.Status, Page: in.Page, Limit: in.Limit})
	if err != nil {
		return nil, documentList{}, err
	}
	list := documentList{Documents: make([]document, 0, len(got.Documents)), Page: got.Page, Limit: got.Limit, Total: got.Total}
	for _, d := range got.Documents {
		tags := d.Tags
		if tags == nil {
			tags = []string{}
		}
		list.Documents = append(list.Documents, document{
			ID: d.ID, ExternalID: d.ExternalID, Name: d.Name, MediaType: d.MediaType, Status: d.Status, Tags: tags, Language: d.Language,
			PageCount: d.PageCount, ChunkCount: d.ChunkCount, UpdatedAt: d.UpdatedAt,
		})
	}
	return nil, list, nil
}

func (t tools) chunk(ctx context.Context, r *mcp.CallToolRequest, in chunkArguments) (*mcp.CallToolResult, any, error) {
	c, err := t.connect(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	data, err := c.Chunk(ctx, in.ChunkID, in.Quote)
	if err != nil || in.Quote != "" {
		return nil, data, err
	}
	var chunk struct {
		Text       string
		PageNumber *int `json:"page_number"`
		Metadata   struct{ Filename string }
	}
	if err := json.Unmarshal(data, &chunk); err != nil {
		return nil, nil, fmt.Errorf("decode chunk %s: %w", in.ChunkID, err)
	}
	from := chunk.Metadata.Filename
	if chunk.PageNumber != nil {
		from += fmt.Sprintf(", page %d", *chunk.PageNumber)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: chunk.Text + "\n\nFrom " + from}}}, data, nil
}
