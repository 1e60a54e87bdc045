package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
)

// ChatRequest is the body of a request for a chat completion: the fields that Cairn reads.
// All others go to the endpoint of a model as they are.
type ChatRequest struct {
	_                   struct{}       `json:"-" additionalProperties:"true"`
	Model               string         `json:"model" minLength:"1" doc:"A chat model of the instance: the request is forwarded to its endpoint, without documents. project:<slug>: the project answers, with citations"`
	Messages            []ChatMessage  `json:"messages" minItems:"1" maxItems:"10000"`
	Stream              bool           `json:"stream,omitempty"`
	StreamOptions       *StreamOptions `json:"stream_options,omitempty"`
	Temperature         *float64       `json:"temperature,omitempty" minimum:"0" maximum:"2"`
	MaxTokens           *int           `json:"max_tokens,omitempty" minimum:"1"`
	MaxCompletionTokens *int           `json:"max_completion_tokens,omitempty" minimum:"1"`
	N                   *int           `json:"n,omitempty" minimum:"1" maximum:"128" doc:"Must be 1 with a project"`
	Tools               []any          `json:"tools,omitempty" maxItems:"128" doc:"Not allowed with a project, which has its own tools"`
	ToolChoice          any            `json:"tool_choice,omitempty" doc:"With a project: auto, none, required, or a function with the name of one of its tools, {\"type\": \"function\", \"function\": {\"name\": …}}"`
	TopP                *float64       `json:"top_p,omitempty" minimum:"0" maximum:"1"`
	Stop                any            `json:"stop,omitempty" doc:"A text at which the answer ends, or up to 4 of them"`
	ResponseFormat      *Format        `json:"response_format,omitempty" doc:"With a project: text, json_object or json_schema"`
	edge.ActingBody
}

// StreamOptions are the options of a stream.
type StreamOptions struct {
	_            struct{} `json:"-" additionalProperties:"true"`
	IncludeUsage bool     `json:"include_usage,omitempty" doc:"Send the usage in the last chunk"`
}

// ChatMessage is a message of a conversation.
type ChatMessage struct {
	_       struct{} `json:"-" additionalProperties:"true"`
	Role    string   `json:"role" enum:"system,developer,user,assistant,tool,function"`
	Content content  `json:"content,omitempty"`
}

// content is the text of a message. JSON may have a list of parts instead; others says
// what kinds of parts beside texts there are.
type content struct {
	text   string
	others []string
	files  []filePart // of which a chat takes image_url, and a response the others
}

// Schema implements huma.SchemaProvider.
func (content) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString},
		{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}, Description: "Content parts. A project reads text parts, and image_url parts of messages of the user"},
	}}
}

// contentPart is a part of a message.
type contentPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, &c.text)
	}
	var parts []contentPart
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var texts []string
	isFile := func(kind string) bool { return kind == "input_file" || kind == "input_image" || kind == partImage }
	for _, part := range parts {
		switch {
		case slices.Contains([]string{"text", "input_text", "output_text", "refusal"}, part.Type):
			texts = append(texts, part.Text+part.Refusal)
		case !isFile(part.Type) && !slices.Contains(c.others, part.Type):
			c.others = append(c.others, part.Type)
		}
	}
	if slices.ContainsFunc(parts, func(part contentPart) bool { return isFile(part.Type) }) {
		if err := json.Unmarshal(data, &c.files); err != nil {
			return err
		}
		c.files = slices.DeleteFunc(c.files, func(f filePart) bool { return !isFile(f.Type) })
	}
	c.text = strings.Join(texts, "\n")
	return nil
}

// forwardedBody returns the body for the endpoint of a model: the client's body without
// the fields that only Cairn has.
func forwardedBody(body []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("decode the request: %w", err)
	}
	for _, name := range edge.ActingNames() {
		delete(fields, name)
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return rest, nil
}
