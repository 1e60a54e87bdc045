package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// responsePrefix stands before the id of a run in the id of its response.
const responsePrefix = "resp_"

// Response is a run as a response.
type Response struct {
	ID                 string            `json:"id" doc:"resp_ and the id of the run"`
	Object             string            `json:"object" enum:"response"`
	CreatedAt          int64             `json:"created_at" doc:"Unix seconds"`
	Status             string            `json:"status" enum:"in_progress,completed,incomplete,failed,cancelled"`
	Background         bool              `json:"background"`
	Error              *ResponseError    `json:"error"`
	IncompleteDetails  *Incomplete       `json:"incomplete_details"`
	Instructions       *string           `json:"instructions"`
	MaxOutputTokens    *int              `json:"max_output_tokens"`
	Metadata           map[string]string `json:"metadata"`
	Model              string            `json:"model"`
	Output             []OutputItem      `json:"output"`
	ParallelToolCalls  bool              `json:"parallel_tool_calls"`
	PreviousResponseID *string           `json:"previous_response_id"`
	Store              bool              `json:"store"`
	Temperature        *float64          `json:"temperature"`
	ToolChoice         string            `json:"tool_choice"`
	Tools              []ResponseTool    `json:"tools"`
	TopP               *float64          `json:"top_p"`
	Text               *TextOptions      `json:"text,omitempty"`
	Usage              *ResponseUsage    `json:"usage"`

	ConversationID string     `json:"conversation_id,omitempty" doc:"Extension of Cairn"`
	Citations      []Citation `json:"citations,omitempty" doc:"Extension: the passages that the text cites"`

	Searches []retrieve.Choices `json:"searches,omitempty" doc:"Extension: settings that the searches chose automatically (docs/retrieval.md)"`
}

// ResponseError is why a response failed.
type ResponseError struct {
	Code    knowledge.Code `json:"code"`
	Message string         `json:"message"`
}

// Incomplete is why a response stopped early.
type Incomplete struct {
	Reason string `json:"reason" enum:"max_output_tokens,content_filter"`
}

// ResponseUsage counts tokens.
type ResponseUsage struct {
	InputTokens        int           `json:"input_tokens"`
	InputTokenDetails  cachedTokens  `json:"input_tokens_details"`
	OutputTokens       int           `json:"output_tokens"`
	OutputTokenDetails thoughtTokens `json:"output_tokens_details"`
	TotalTokens        int           `json:"total_tokens"`
}

type cachedTokens struct {
	Cached int `json:"cached_tokens"`
}

type thoughtTokens struct {
	Reasoning int `json:"reasoning_tokens"`
}

// OutputItem is a search, the reasoning in a stream, or the message.
type OutputItem struct {
	ID      string         `json:"id"`
	Type    string         `json:"type" enum:"file_search_call,reasoning,message"`
	Status  string         `json:"status" enum:"in_progress,completed,incomplete,failed"`
	Role    string         `json:"role,omitempty"`
	Content *[]OutputText  `json:"content,omitempty"`
	Queries *[]string      `json:"queries,omitempty"`
	Summary *[]SummaryText `json:"summary,omitempty"`
	Results []SearchResult `json:"results,omitempty"`
}

// SearchResult is a passage that a search found.
type SearchResult struct {
	FileID     string         `json:"file_id"`
	Filename   string         `json:"filename"`
	Score      float64        `json:"score"`
	Text       string         `json:"text"`
	Attributes map[string]any `json:"attributes"`
}

// OutputText is the text of a message.
type OutputText struct {
	Type        string           `json:"type" enum:"output_text"`
	Text        string           `json:"text"`
	Annotations []FileAnnotation `json:"annotations"`
	Logprobs    []struct{}       `json:"logprobs"`
}

// FileAnnotation is a citation: of a document, or of a web page.
type FileAnnotation struct {
	Type       string `json:"type" enum:"file_citation,url_citation"`
	Index      *int   `json:"index,omitempty" doc:"The position of the [n] in the text, in code points"`
	FileID     string `json:"file_id,omitempty"`
	Filename   string `json:"filename,omitempty"`
	StartIndex *int   `json:"start_index,omitempty"`
	EndIndex   *int   `json:"end_index,omitempty"`
	URL        string `json:"url,omitempty"`
	Title      string `json:"title,omitempty"`
	ChunkID    string `json:"chunk_id,omitempty" doc:"Extension: the id of the passage, for GET /chunks/{id}"`
	PageNumber *int   `json:"page_number,omitempty" doc:"Extension of Cairn"`
}

// newAnnotation returns a citation as an annotation.
func (o Outcome) newAnnotation(m citation.Cited) FileAnnotation {
	if m.ChunkID == "" {
		return FileAnnotation{Type: "url_citation", StartIndex: &m.Start, EndIndex: &m.End, URL: m.URL, Title: m.Title}
	}
	a := FileAnnotation{Type: "file_citation", Index: &m.Start, ChunkID: m.ChunkID}
	if c := o.source(m); c != nil {
		a.FileID, a.Filename, a.PageNumber = fileOf(c.DocumentID, c.ExternalID), c.DocumentName, c.PageNumber
	}
	return a
}

// filePrefix stands before the id of a document in the id of its file.
const filePrefix = "file-"

func fileID(document string) string { return filePrefix + document }

// documentID returns the id of the document that a file is.
func documentID(file string) string { return strings.TrimPrefix(file, filePrefix) }

// newResponse returns a run that has not ended as a response.
func newResponse(run store.Run, door responseDoor) Response {
	r := Response{
		ID: responsePrefix + run.ID, Object: "response", CreatedAt: run.CreatedAt.Unix(), Status: "in_progress", Background: door.Background,
		MaxOutputTokens: door.MaxTokens, Metadata: door.Metadata, Model: door.Model, Output: []OutputItem{}, ParallelToolCalls: true, Store: true,
		Temperature: door.Temperature, TopP: door.TopP, Text: door.Text, ToolChoice: "auto", Tools: door.Tools, ConversationID: run.ConversationID,
	}
	if door.Instructions != "" {
		r.Instructions = &door.Instructions
	}
	if door.Previous != "" {
		r.PreviousResponseID = &door.Previous
	}
	if r.Metadata == nil {
		r.Metadata = map[string]string{}
	}
	if r.Tools == nil {
		r.Tools = []ResponseTool{}
	}
	return r
}

// complete returns the response with its answer.
func (r Response) complete(run store.Run, door responseDoor, out Outcome) Response {
	r.Status, r.IncompleteDetails = out.status()
	if r.Model == "" {
		r.Model = out.Model
	}
	for i := range out.Searches {
		r.Output = append(r.Output, searchItem(run, i, out, door.Results))
	}
	text, marks := plain(out.Text)
	r.Output = append(r.Output, messageItem(run, text, out, marks))
	r.Citations, r.Searches = out.citations(), out.Choices
	r.Usage = &ResponseUsage{InputTokens: out.Usage.PromptTokens, OutputTokens: out.Usage.CompletionTokens, TotalTokens: out.Usage.PromptTokens + out.Usage.CompletionTokens}
	return r
}

// status returns the status of a response with its answer.
func (o Outcome) status() (string, *Incomplete) {
	switch o.FinishReason {
	case "":
		return "completed", nil
	case model.FinishLength:
		return "incomplete", &Incomplete{"max_output_tokens"}
	default:
		return "incomplete", &Incomplete{o.FinishReason}
	}
}

// fail returns the response with the error with which its run ended.
func (r Response) fail(e *knowledge.Error) Response {
	r.Status, r.Error = "failed", &ResponseError{Code: e.Code, Message: e.Message}
	if e.Code == knowledge.CodeCanceled {
		r.Status, r.Error = "cancelled", nil
	}
	return r
}

// SearchesDocuments reports whether a tool searches documents.
func SearchesDocuments(name string) bool { return name == "documents_rag" || name == "file_search" }

// searchID returns the id of the item of a search, 0 = the first one.
func searchID(run store.Run, i int) string { return fmt.Sprintf("fs_%s_%d", run.ID, i) }

func messageID(run store.Run) string { return "msg_" + run.ID }

func messageItem(run store.Run, text string, out Outcome, marks []citation.Cited) OutputItem {
	annotations := []FileAnnotation{}
	for _, m := range marks {
		annotations = append(annotations, out.newAnnotation(m))
	}
	status, _ := out.status()
	return OutputItem{
		ID: messageID(run), Type: "message", Status: status, Role: "assistant",
		Content: &[]OutputText{{Type: "output_text", Text: text, Annotations: annotations, Logprobs: []struct{}{}}},
	}
}

// searchItem returns a search as an item. The passages of all searches stand in the first.
func searchItem(run store.Run, i int, out Outcome, results bool) OutputItem {
	item := OutputItem{ID: searchID(run, i), Type: "file_search_call", Status: "completed", Queries: &[]string{out.Searches[i]}}
	if i > 0 || !results {
		return item
	}
	for _, c := range out.Sources {
		item.Results = append(item.Results, SearchResult{FileID: fileOf(c.DocumentID, c.ExternalID), Filename: c.DocumentName, Score: c.Score, Text: c.Text, Attributes: map[string]any{}})
	}
	return item
}

// readDoor returns what a run keeps of its request.
func readDoor(request knowledge.Request) (door responseDoor) {
	if json.Unmarshal(request.Door, &door) != nil || door.Model == "" {
		door.Model = request.Config.AI.Model // a question that came by another door
	}
	return door
}
