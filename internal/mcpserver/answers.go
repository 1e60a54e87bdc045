package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-rag/cairn/internal/client"
)

// filter is one condition on documents, in the seed's form.
type filter struct {
	Field string `json:"field" jsonschema:"tags, documentId, name, language, createdAt, classification or metadata.KEY"`
	Type  string `json:"type" jsonschema:"eq, ne, in, nin, gt, gte, lt, lte, contains or exists"`
	Value any    `json:"value,omitempty"`
}

type ragSearchArguments struct {
	Query       string   `json:"query" jsonschema:"The question or search query, in full sentences"`
	DocumentIDs []string `json:"document_ids,omitempty" jsonschema:"Search only these documents"`
	ProjectID   string   `json:"project_id,omitempty" jsonschema:"The id or name of a project. Default: every project that the key covers"`
	SessionID   string   `json:"session_id,omitempty" jsonschema:"A conversation, whose attachments are searched too"`
	customer
	Filters []filter `json:"filters,omitempty" jsonschema:"Conditions that documents must meet"`
}

// customer is the end user for whom a key searches or asks, in its two spellings.
type customer struct {
	ExternalUser      string `json:"external_user_id,omitempty" jsonschema:"The end user for whom the key acts"`
	ExternalUserCamel string `json:"externalUserId,omitempty" jsonschema:"The same as external_user_id"`
}

// name returns the end user, "" if there is none.
func (c customer) name() (string, error) {
	if c.ExternalUser != "" && c.ExternalUserCamel != "" && c.ExternalUser != c.ExternalUserCamel {
		return "", errors.New("external_user_id and externalUserId name different users; send one of them")
	}
	return cmp.Or(c.ExternalUser, c.ExternalUserCamel), nil
}

type webSearchArguments struct {
	Query     string   `json:"query" jsonschema:"The search query; be specific"`
	TimeRange string   `json:"time_range,omitempty" jsonschema:"Only results of this time: day, month, year or none (the default)"`
	Domains   []string `json:"whitelisted_domains,omitempty" jsonschema:"Return results of these domains only"`
}

type askArguments struct {
	Question     string   `json:"question" jsonschema:"The question"`
	ProjectID    string   `json:"project_id,omitempty" jsonschema:"The id or name of the project to ask. Default: every project that the key covers"`
	Conversation string   `json:"conversation_id,omitempty" jsonschema:"The conversation to continue, as an earlier answer named it. Default: a new one"`
	DocumentIDs  []string `json:"document_ids,omitempty" jsonschema:"Use only these documents"`
	Tags         []string `json:"tags,omitempty" jsonschema:"Use only documents with one of these tags"`
	Filters      []filter `json:"filters,omitempty" jsonschema:"Conditions that documents must meet"`
	customer
}

// answer is what the readable content of a result is made of. It has the fields of all
// three tools that answer.
type answer struct {
	Answer   string         `json:"answer"`
	Response string         `json:"response"`
	Sources  []answerSource `json:"sources"`
	Contexts []answerSource `json:"contexts"`

	FinishReason     string `json:"finishReason"` // why the model stopped early, "" = it did not
	ToolFinishReason string `json:"finish_reason"`
}

type answerSource struct {
	Rank         int    `json:"rank"`
	ChunkID      string `json:"chunkId"`
	ContextChunk string `json:"chunk_id"`
	DocumentName string `json:"documentName"`
	PageNumber   *int   `json:"pageNumber"`
	Title        string `json:"title"`
	URL          string `json:"url"`
}

// addAnswers adds the tools that start a run and wait for its answer.
func (t tools) addAnswers(s *mcp.Server) {
	mcp.AddTool(s, &mcp.Tool{
		Name: "rag_search", Title: "Search documents", Annotations: readOnly(false), OutputSchema: ragSearchOutput,
		Description: "Searches the documents and answers the query from what was found, with citations. The result has the response and the contexts that it rests on.",
	}, func(ctx context.Context, r *mcp.CallToolRequest, in ragSearchArguments) (*mcp.CallToolResult, any, error) {
		user, err := in.name()
		if err != nil {
			return nil, nil, err
		}
		return t.callTool(ctx, r, user, in)
	})
	mcp.AddTool(s, &mcp.Tool{
		Name: "web_search", Title: "Search the web", Annotations: readOnly(true), OutputSchema: webSearchOutput,
		Description: "Searches the web and answers the query from the pages that were found, with citations. Use it for what is recent, or not in the documents.",
	}, func(ctx context.Context, r *mcp.CallToolRequest, in webSearchArguments) (*mcp.CallToolResult, any, error) {
		return t.callTool(ctx, r, "", in)
	})
	mcp.AddTool(s, &mcp.Tool{
		Name: "ask_project", Title: "Ask a project", Annotations: &mcp.ToolAnnotations{DestructiveHint: new(bool)}, OutputSchema: askOutput,
		Description: "Asks a project, which answers with its own instructions, model and tools, and keeps the conversation. The answer cites its sources.",
	}, func(ctx context.Context, r *mcp.CallToolRequest, in askArguments) (*mcp.CallToolResult, any, error) {
		user, err := in.name()
		if err != nil {
			return nil, nil, err
		}
		q := client.Question{Text: in.Question, Project: in.ProjectID, ConversationID: in.Conversation, Documents: in.DocumentIDs, Tags: in.Tags, User: user}
		if len(in.Filters) > 0 {
			q.Filters = in.Filters
		}
		return answered(t.follow(ctx, r, user, func(ctx context.Context, c *client.Client) iter.Seq2[client.Event, error] { return c.Ask(ctx, q) }))
	})
}

// callTool calls a tool of Cairn that has a route of its own.
func (t tools) callTool(ctx context.Context, r *mcp.CallToolRequest, user string, in any) (*mcp.CallToolResult, any, error) {
	encoded, err := json.Marshal(in)
	if err != nil {
		return nil, nil, fmt.Errorf("encode arguments: %w", err)
	}
	var arguments map[string]any
	if err := json.Unmarshal(encoded, &arguments); err != nil {
		return nil, nil, fmt.Errorf("encode arguments: %w", err)
	}
	return answered(t.follow(ctx, r, user, func(ctx context.Context, c *client.Client) iter.Seq2[client.Event, error] {
		return c.CallTool(ctx, r.Params.Name, arguments)
	}))
}

// answered returns an answer as the result of a tool: its words with a list of its
// sources for the model, and the whole of it for programs.
func answered(data json.RawMessage, err error) (*mcp.CallToolResult, any, error) {
	if err != nil {
		return nil, nil, err
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, nil, fmt.Errorf("decode the answer: %w", err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.text()}}}, data, nil
}

// citationTag is a tag around the number of a citation.
var citationTag = regexp.MustCompile(`</?(web_)?citation\b[^>]*>`)

func (a answer) text() string {
	var b strings.Builder
	b.WriteString(citationTag.ReplaceAllString(a.Answer+a.Response, ""))
	if reason := a.FinishReason + a.ToolFinishReason; reason != "" {
		fmt.Fprintf(&b, "\n\n[The answer is cut off: %s]", reason)
	}
	for i, s := range append(a.Sources, a.Contexts...) {
		if i == 0 {
			b.WriteString("\n\nSources:")
		}
		fmt.Fprintf(&b, "\n[%d]%s", s.Rank, s.text())
	}
	return b.String()
}

func (s answerSource) text() string {
	text := ""
	if name := s.DocumentName + s.Title; name != "" {
		text += " " + name
	}
	if s.PageNumber != nil {
		text += fmt.Sprintf(", page %d", *s.PageNumber)
	}
	if id := s.ChunkID + s.ContextChunk; id != "" {
		return text + " (chunk " + id + ")"
	}
	return text + " " + s.URL
}
