package model

import (
	"cmp"
	"encoding/json"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// chatBody is a request in wire form.
type chatBody struct {
	Model               string                         `json:"model"`
	Messages            []openai.ChatCompletionMessage `json:"messages"`
	Tools               []openai.Tool                  `json:"tools,omitempty"`
	ToolChoice          any                            `json:"tool_choice,omitempty"`
	Stream              bool                           `json:"stream"`
	StreamOptions       *openai.StreamOptions          `json:"stream_options,omitempty"`
	Temperature         *float64                       `json:"temperature,omitempty"`
	TopP                *float64                       `json:"top_p,omitempty"`
	MaxTokens           int                            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int                            `json:"max_completion_tokens,omitempty"`
	Seed                *int                           `json:"seed,omitempty"`
	Stop                []string                       `json:"stop,omitempty"`
	ResponseFormat      json.RawMessage                `json:"response_format,omitempty"`
}

// chatBody returns the request in wire form, without the options that are left out.
func (c *Client) chatBody(req ChatRequest, left options) chatBody {
	body := chatBody{Model: cmp.Or(req.Model, c.endpoint.Model), Stream: true}
	if !left[optionSeed] {
		body.Seed = req.Seed
	}
	if !left[optionTemperature] {
		body.Temperature = req.Temperature
	}
	if !left[optionTopP] {
		body.TopP = req.TopP
	}
	if !left[optionStop] {
		body.Stop = req.Stop
	}
	if !left[optionResponseFormat] {
		body.ResponseFormat = req.Format
	}
	// Many servers support only the older name of this limit, and reasoning models of OpenAI only
	// the newer one, and neither temperature nor top_p nor stop.
	reasons := isReasoningModel(body.Model)
	if reasons {
		body.Temperature, body.TopP, body.Stop = nil, nil, nil
	}
	switch newer := reasons != left[optionMaxTokens]; {
	case left[optionMaxTokens] && left[optionMaxCompletionTokens]:
	case newer && !left[optionMaxCompletionTokens]:
		body.MaxCompletionTokens = req.MaxTokens
	default:
		body.MaxTokens = req.MaxTokens
	}
	if !left[optionStreamOptions] {
		body.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	for _, m := range req.Messages {
		body.Messages = append(body.Messages, wireMessage(m))
	}
	if len(req.Tools) > 0 && !left[optionTools] {
		for _, t := range req.Tools {
			body.Tools = append(body.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
				Name: t.Name, Description: t.Description, Parameters: t.Parameters,
			}})
		}
		if !left[optionToolChoice] {
			body.ToolChoice = wireToolChoice(req.ToolChoice)
		}
	}
	for _, words := range []string{instead(req, left), insteadOfFormat(req, left)} {
		if words != "" {
			body.Messages = append(body.Messages, openai.ChatCompletionMessage{Role: RoleUser, Content: words})
		}
	}
	body.Model = c.endpoint.wireModel(body.Model)
	return body
}

// instead returns what a model is told that must call a tool, where its endpoint refuses to be told
// so by a parameter.
func instead(req ChatRequest, left options) string {
	for _, t := range req.Tools {
		switch {
		case t.Name != req.ToolChoice:
		case left[optionTools]:
			return "Answer with one JSON object and nothing else. It is the arguments of " + t.Name + " (" + t.Description + ") and matches this JSON schema:\n" + string(t.Parameters)
		case left[optionToolChoice]:
			return "Call the tool " + t.Name + " now."
		}
	}
	return ""
}

// insteadOfFormat returns what a model is told that must answer in a format, where its endpoint
// refuses the parameter.
func insteadOfFormat(req ChatRequest, left options) string {
	if len(req.Format) == 0 || !left[optionResponseFormat] {
		return ""
	}
	var format struct {
		Schema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	words := "Answer with one JSON object and nothing else."
	if json.Unmarshal(req.Format, &format) == nil && len(format.Schema.Schema) > 0 {
		words += " It matches this JSON schema:\n" + string(format.Schema.Schema)
	}
	return words
}

// words returns the texts of the request, which are not logged.
func (r ChatRequest) words() []string {
	words := make([]string, 0, len(r.Messages))
	for _, m := range r.Messages {
		words = append(words, m.Content)
		for _, c := range m.ToolCalls {
			words = append(words, c.Arguments)
		}
	}
	return words
}

func wireMessage(m Message) openai.ChatCompletionMessage {
	wire := openai.ChatCompletionMessage{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID}
	if len(m.Pictures) > 0 {
		wire.Content, wire.MultiContent = "", m.parts()
		return wire
	}
	if m.Content == "" && len(m.ToolCalls) == 0 {
		wire.Content = " " // the library leaves out an empty content, and endpoints refuse a message without one
	}
	for _, call := range m.ToolCalls {
		wire.ToolCalls = append(wire.ToolCalls, openai.ToolCall{
			ID: call.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: call.Arguments},
		})
	}
	return wire
}

func wireToolChoice(choice string) any {
	switch choice {
	case "":
		return nil
	case ToolChoiceAuto, ToolChoiceNone, ToolChoiceRequired:
		return choice
	default:
		return openai.ToolChoice{Type: openai.ToolTypeFunction, Function: openai.ToolFunction{Name: choice}}
	}
}

// isReasoningModel reports whether this is one of OpenAI's reasoning models.
func isReasoningModel(model string) bool {
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}
