package protocol

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Limits of a request.
const (
	MaxBodyBytes  = 32 << 20
	MaxInputs     = 2048
	maxToolsCount = 128
)

// ChatRequest is a request for a chat completion.
type ChatRequest struct {
	Model               string     `json:"model"`
	Messages            []Message  `json:"messages"`
	Tools               []Tool     `json:"tools"`
	ToolChoice          ToolChoice `json:"tool_choice"`
	Stream              bool       `json:"stream"`
	MaxTokens           int        `json:"max_tokens"`
	MaxCompletionTokens int        `json:"max_completion_tokens"`
	Temperature         *float64   `json:"temperature"`
	Seed                *int64     `json:"seed"`
	N                   *int       `json:"n"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// Limit returns the largest number of tokens of the answer, 0 = no limit.
func (r ChatRequest) Limit() int { return max(r.MaxTokens, r.MaxCompletionTokens) }

// Message is one message of a conversation. Pictures are the addresses of the pictures
// in its content.
type Message struct {
	Role       string     `json:"role"`
	Content    Content    `json:"content"`
	Pictures   []string   `json:"-"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Message) UnmarshalJSON(data []byte) error {
	type message Message
	if err := json.Unmarshal(data, (*message)(m)); err != nil {
		return err
	}
	var with struct{ Content json.RawMessage }
	if err := json.Unmarshal(data, &with); err != nil || len(with.Content) == 0 || with.Content[0] != '[' {
		return err
	}
	var parts []struct {
		Type    string
		Picture struct{ URL string } `json:"image_url"`
	}
	if err := json.Unmarshal(with.Content, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Type == "image_url" {
			m.Pictures = append(m.Pictures, p.Picture.URL)
		}
	}
	return nil
}

// Content is the text of a message. JSON may have a string or a list of parts.
type Content string

// UnmarshalJSON implements json.Unmarshaler. Parts other than texts and pictures are
// refused.
func (c *Content) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, (*string)(c))
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for _, p := range parts {
		switch p.Type {
		case "text":
			text.WriteString(p.Text)
		case "image_url":
		default:
			return invalid("messages", "content of type '"+p.Type+"' is not one of text, image_url")
		}
	}
	*c = Content(text.String())
	return nil
}

// RefusePictures returns the error of a model that reads text only, if a message has a
// picture.
func RefusePictures(messages []Message) error {
	if slices.ContainsFunc(messages, func(m Message) bool { return len(m.Pictures) > 0 }) {
		return invalid("messages", "this model reads text only, not content of type 'image_url'")
	}
	return nil
}

// Tool is a function that the model may call.
type Tool struct {
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function describes a tool; Parameters is its JSON schema.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// ToolCall is a call of a tool.
type ToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function CallFunction `json:"function"`
}

// CallFunction names a called function; Arguments is JSON in a string.
type CallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ToolChoice is "", "auto", "none", "required", or "function" with a name.
type ToolChoice struct{ Mode, Name string }

// UnmarshalJSON implements json.Unmarshaler.
func (t *ToolChoice) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if data[0] == '"' {
		return json.Unmarshal(data, &t.Mode)
	}
	var named struct {
		Type     string
		Function struct{ Name string }
	}
	if err := json.Unmarshal(data, &named); err != nil {
		return err
	}
	t.Mode, t.Name = named.Type, named.Function.Name
	return nil
}

// ReadBody reads a request's body, up to MaxBodyBytes. Errors are *Error.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limited := http.MaxBytesReader(w, r.Body, MaxBodyBytes)
	var body []byte
	var err error
	if n := r.ContentLength; n > 0 && n <= MaxBodyBytes {
		body = make([]byte, n)
		_, err = io.ReadFull(limited, body)
	} else {
		body, err = io.ReadAll(limited)
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Message: "the body is larger than " + strconv.Itoa(MaxBodyBytes) + " bytes"}
	}
	if err != nil {
		return nil, &Error{Status: http.StatusBadRequest, Message: "the body could not be read"}
	}
	return body, nil
}

// ParseChat decodes and checks a request for a chat completion. Errors are
// *Error.
func ParseChat(body []byte) (ChatRequest, error) {
	var req ChatRequest
	if err := parse(body, &req); err != nil {
		return req, err
	}
	switch {
	case req.Model == "":
		return req, invalid("model", "you must provide a model parameter")
	case len(req.Messages) == 0:
		return req, invalid("messages", "messages must hold at least one message")
	case req.Limit() < 0 || req.MaxTokens < 0 || req.MaxCompletionTokens < 0:
		return req, invalid("max_tokens", "max_tokens must not be negative")
	case req.Temperature != nil && (*req.Temperature < 0 || *req.Temperature > 2):
		return req, invalid("temperature", "temperature must be between 0 and 2")
	case req.N != nil && *req.N != 1:
		return req, invalid("n", "only n = 1 is supported")
	}
	if err := checkMessages(req.Messages); err != nil {
		return req, err
	}
	return req, checkTools(req)
}

func checkMessages(messages []Message) error {
	for i, m := range messages {
		at := "messages[" + strconv.Itoa(i) + "]"
		switch m.Role {
		case "system", "developer", "user", "assistant":
		case "tool":
			if m.ToolCallID == "" {
				return invalid(at+".tool_call_id", "a message of a tool needs tool_call_id")
			}
		default:
			return invalid(at+".role", "'"+m.Role+"' is not one of system, developer, user, assistant, tool")
		}
	}
	return nil
}

func checkTools(req ChatRequest) error {
	if len(req.Tools) > maxToolsCount {
		return invalid("tools", "at most "+strconv.Itoa(maxToolsCount)+" tools")
	}
	for i, t := range req.Tools {
		if t.Type != "function" || t.Function.Name == "" {
			return invalid("tools["+strconv.Itoa(i)+"]", "a tool needs the type 'function' and a function with a name")
		}
	}
	switch req.ToolChoice.Mode {
	case "", "auto", "none":
		return nil
	case "required":
		if len(req.Tools) == 0 {
			return invalid("tool_choice", "tool_choice needs tools")
		}
		return nil
	case "function":
		if !slices.ContainsFunc(req.Tools, func(t Tool) bool { return t.Function.Name == req.ToolChoice.Name }) {
			return invalid("tool_choice", "tool_choice names '"+req.ToolChoice.Name+"', which is not among the tools")
		}
		return nil
	default:
		return invalid("tool_choice", "tool_choice must be auto, none, required or name a function")
	}
}

// parse decodes JSON. The error for a value of a wrong type names its field.
func parse(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalid(e.Field, "invalid type for '"+e.Field+"': "+e.Value)
	}
	return invalid("", "the body is not valid JSON")
}
