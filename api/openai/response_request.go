package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
)

// ResponseRequest is the body of a request for a response: the fields that Cairn reads.
// All others are ignored.
type ResponseRequest struct {
	_                  struct{}          `json:"-" additionalProperties:"true"`
	Model              string            `json:"model,omitempty" doc:"project:<slug>, or with file_search the chat model of the instance"`
	Input              input             `json:"input" doc:"The question, or a conversation whose last message of the user is the question"`
	Instructions       string            `json:"instructions,omitempty" maxLength:"32000"`
	Tools              []ResponseTool    `json:"tools,omitempty" maxItems:"8"`
	Background         bool              `json:"background,omitempty" doc:"Respond at once; read the result with GET"`
	Stream             bool              `json:"stream,omitempty"`
	PreviousResponseID string            `json:"previous_response_id,omitempty" doc:"The response whose conversation this one continues"`
	Metadata           map[string]string `json:"metadata,omitempty"`
	Include            []string          `json:"include,omitempty" doc:"file_search_call.results: the passages that were found"`
	ToolChoice         any               `json:"tool_choice,omitempty" doc:"auto, none, required, file_search, or a function with the name of a tool of the project, {\"type\": \"function\", \"name\": …}"`
	Text               *TextOptions      `json:"text,omitempty"`
	Reasoning          *ReasoningOptions `json:"reasoning,omitempty"`
	Temperature        *float64          `json:"temperature,omitempty" minimum:"0" maximum:"2"`
	TopP               *float64          `json:"top_p,omitempty" minimum:"0" maximum:"1"`
	MaxOutputTokens    *int              `json:"max_output_tokens,omitempty" minimum:"1"`
	edge.ActingBody
}

// ResponseTool is a tool of a response.
type ResponseTool struct {
	_              struct{}        `json:"-" additionalProperties:"true"`
	Type           string          `json:"type" doc:"file_search"`
	VectorStoreIDs []string        `json:"vector_store_ids,omitempty" maxItems:"8" doc:"The id of one project"`
	MaxResults     *int            `json:"max_num_results,omitempty" minimum:"1" maximum:"100"`
	Filters        *SearchFilter   `json:"filters,omitempty"`
	Ranking        *RankingOptions `json:"ranking_options,omitempty"`
}

// TextOptions are the options of the text of a response.
type TextOptions struct {
	_         struct{}    `json:"-" additionalProperties:"true"`
	Format    *TextFormat `json:"format,omitempty"`
	Verbosity string      `json:"verbosity,omitempty" doc:"Not supported"`
}

// SearchFilter compares an attribute of documents, or combines such comparisons by and.
type SearchFilter struct {
	_       struct{}       `json:"-" additionalProperties:"true"`
	Type    string         `json:"type" enum:"eq,ne,gt,gte,lt,lte,in,nin,and" doc:"or is not supported"`
	Key     string         `json:"key,omitempty" doc:"A key of the document's metadata"`
	Value   any            `json:"value,omitempty"`
	Filters []SearchFilter `json:"filters,omitempty" doc:"The filters of and"`
}

// conditions returns the filter as the conditions of a search.
func (f *SearchFilter) conditions(location string) (knowledge.Filter, error) {
	if f == nil {
		return nil, nil
	}
	if f.Type != "and" {
		if f.Key == "" {
			return nil, knowledge.Invalid(location+".key", "must name a key of the metadata")
		}
		return knowledge.Filter{{Field: "metadata." + f.Key, Type: knowledge.Operator(f.Type), Value: f.Value}}, nil
	}
	var all knowledge.Filter
	for i, part := range f.Filters {
		some, err := part.conditions(fmt.Sprintf("%s.filters[%d]", location, i))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// input is the question, or the messages of a conversation.
type input []ChatMessage

// Schema implements huma.SchemaProvider.
func (input) Schema(huma.Registry) *huma.Schema {
	one := 1
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString, MinLength: &one},
		{Type: huma.TypeArray, MinItems: &one, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}, Description: "Messages; calls of a project's tools are ignored"},
	}}
}

// UnmarshalJSON implements json.Unmarshaler.
func (in *input) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		message := ChatMessage{Role: "user"}
		*in = input{message}
		return json.Unmarshal(data, &(*in)[0].Content.text)
	}
	var items []struct {
		Type string `json:"type"`
		ChatMessage
	}
	if err := json.Unmarshal(data, &items); err != nil {
		return err
	}
	for i, item := range items {
		switch {
		case item.Role != "" && (item.Type == "" || item.Type == "message"):
			*in = append(*in, item.ChatMessage)
		case !slices.Contains(outputItems, item.Type):
			return knowledge.Invalid(fmt.Sprintf("body.input[%d]", i), "has the type %s: a project reads messages, and knows nothing of a client's own tools", knowledge.Cut(item.Type, 50))
		}
	}
	return nil
}

// outputItems are the items of earlier answers that a client may send back. The messages
// beside them say what came of them.
var outputItems = []string{"file_search_call", "web_search_call", "code_interpreter_call", "image_generation_call", "reasoning"}

// responseDoor is what a response shows of its request.
type responseDoor struct {
	Model        string            `json:"model"`
	Background   bool              `json:"background,omitempty"`
	Previous     string            `json:"previous,omitempty"`
	Instructions string            `json:"instructions,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	Tools        []ResponseTool    `json:"tools,omitempty"`
	Results      bool              `json:"results,omitempty"`   // show the passages that were found
	Reasoning    bool              `json:"reasoning,omitempty"` // show how the model reasons
	Temperature  *float64          `json:"temperature,omitempty"`
	TopP         *float64          `json:"top_p,omitempty"`
	Text         *TextOptions      `json:"text,omitempty"`
	MaxTokens    *int              `json:"max_tokens,omitempty"`
}

func (b ResponseRequest) door() responseDoor {
	return responseDoor{
		Model: b.Model, Background: b.Background, Previous: b.PreviousResponseID, Instructions: b.Instructions, Metadata: b.Metadata, Tools: b.Tools,
		Results: slices.Contains(b.Include, includeResults), Reasoning: b.Reasoning != nil && b.Reasoning.Summary != "", Temperature: b.Temperature, TopP: b.TopP, Text: b.Text, MaxTokens: b.MaxOutputTokens,
	}
}

// project returns the project that answers, and the model if it is to be another one than
// the project's.
func (s *Server) projectOf(b ResponseRequest) (project, chat string, err error) {
	search, err := b.fileSearch()
	if err != nil {
		return "", "", err
	}
	slug, isProject := strings.CutPrefix(b.Model, projectPrefix)
	switch {
	case isProject && search != nil && len(search.VectorStoreIDs) > 0 && search.VectorStoreIDs[0] != slug:
		return "", "", knowledge.Invalid("body.tools[0].vector_store_ids[0]", "must be the project of the model")
	case isProject:
		return slug, "", nil
	case b.Model != "" && b.Model != s.deps.Models.Chat.Endpoint().Model:
		return "", "", unknownModel(b.Model, nil)
	case search == nil || len(search.VectorStoreIDs) == 0:
		return "", "", knowledge.Invalid("body.model", "must be project:<slug>, or tools must have file_search with vector_store_ids: a response is the answer of a project; for a model alone use /v1/chat/completions")
	}
	return search.VectorStoreIDs[0], b.Model, nil
}

// fileSearch returns the file_search among the tools, nil if there is none.
func (b ResponseRequest) fileSearch() (*ResponseTool, error) {
	var search *ResponseTool
	for i, tool := range b.Tools {
		location := fmt.Sprintf("body.tools[%d]", i)
		switch {
		case tool.Type != "file_search":
			return nil, knowledge.Invalid(location+".type", "must be file_search: a project answers with its own other tools")
		case search != nil:
			return nil, knowledge.Invalid(location, "must be left out: there is one file_search already")
		case len(tool.VectorStoreIDs) > 1:
			return nil, knowledge.Invalid(location+".vector_store_ids", "must have one project; a request searches one")
		}
		search = &b.Tools[i]
	}
	return search, nil
}

// question returns the request as a question. conversation is the one that it continues,
// "" = a new one.
func (s *Server) responseQuestion(b ResponseRequest, conversation string) (question.Request, error) {
	project, chat, err := s.projectOf(b)
	if err == nil {
		err = b.checkOutput()
	}
	if err == nil {
		_, err = toolChoice(b.ToolChoice)
	}
	var form knowledge.AnswerForm
	if err == nil {
		form, err = b.form()
	}
	if err != nil {
		return question.Request{}, err
	}
	messages := []ChatMessage(b.Input)
	if b.Instructions != "" {
		messages = append([]ChatMessage{{Role: "system", Content: content{text: b.Instructions}}}, messages...)
	}
	limit := b.MaxOutputTokens
	request, err := ChatRequest{Messages: messages, Temperature: b.Temperature, MaxTokens: limit, ToolChoice: b.ToolChoice}.question(project)
	if err != nil {
		return request, inInput(err)
	}
	request.TextField, request.Converse, request.Conversation = "body.input", true, conversation
	request.Form, request.FormField = form, "body.text.format"
	request.Override = override(chat, b.Temperature, limit)
	if search, _ := b.fileSearch(); search != nil { // projectOf has refused a wrong one
		if request.Filter, err = search.Filters.conditions("body.tools[0].filters"); err != nil {
			return request, err
		}
		if err := search.Ranking.check("body.tools[0].ranking_options"); err != nil {
			return request, err
		}
		request.Override = withSearch(request.Override, *search)
	}
	request.Door, err = json.Marshal(b.door())
	return request, err
}

// inInput names the field of a response in an error about the messages of a chat.
func inInput(err error) error {
	e := knowledge.AsError(err)
	if len(e.Fields) == 0 {
		return err
	}
	return knowledge.Invalid("body.input", "%s", e.Fields[0].Message)
}

// checkOutput refuses forms of a response that a project does not give.
func (b ResponseRequest) checkOutput() error {
	for i, one := range b.Include {
		if one != includeResults && one != "reasoning.encrypted_content" { // of which there is none to include
			return knowledge.Invalid(fmt.Sprintf("body.include[%d]", i), "must be %s", includeResults)
		}
	}
	switch {
	case b.Text == nil:
		return nil
	case b.Text.Verbosity != "":
		return knowledge.Invalid("body.text.verbosity", "must be left out: %s", ownModel)
	}
	return nil
}

// includeResults asks for the passages that were found.
const includeResults = "file_search_call.results"

// withSearch adds what a file_search chooses of the retrieval to an override.
func withSearch(settings json.RawMessage, search ResponseTool) json.RawMessage {
	retrieval := map[string]any{}
	if search.MaxResults != nil {
		retrieval["numberOfChunks"] = *search.MaxResults
	}
	if search.Ranking != nil && search.Ranking.Threshold > 0 {
		retrieval["minScore"] = search.Ranking.Threshold
	}
	if len(retrieval) == 0 {
		return settings
	}
	var all struct {
		AI map[string]any `json:"ai"`
	}
	if settings != nil {
		_ = json.Unmarshal(settings, &all) // it was made by override
	}
	if all.AI == nil {
		all.AI = map[string]any{}
	}
	all.AI["retrieval"] = retrieval
	data, err := json.Marshal(all)
	if err != nil {
		return settings
	}
	return data
}
