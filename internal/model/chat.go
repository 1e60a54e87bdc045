package model

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// Roles of a Message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Tool choices, beside a tool's name.
const (
	ToolChoiceAuto     = "auto"
	ToolChoiceNone     = "none"
	ToolChoiceRequired = "required"
)

// Finish reasons of a Completion. Unknown ones are passed on as received.
const (
	FinishStop      = "stop"
	FinishLength    = "length"
	FinishToolCalls = "tool_calls"
	FinishFiltered  = "content_filter"
)

// trailerTime bounds the wait for the usage that follows a finish reason.
const trailerTime = 5 * time.Second

// Message is one message of a conversation.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Pictures   []Picture  `json:"-"` // of a user's message, before its content
}

// Picture is a picture in a message.
type Picture struct {
	Label     string // text before it, "" = none
	MediaType string
	Data      []byte
}

// parts returns the content of a message with pictures in wire form.
func (m Message) parts() []openai.ChatMessagePart {
	var parts []openai.ChatMessagePart
	text := func(s string) {
		if s != "" {
			parts = append(parts, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: s})
		}
	}
	for _, p := range m.Pictures {
		text(p.Label)
		parts = append(parts, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{
			URL: "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(p.Data),
		}})
	}
	text(m.Content)
	return parts
}

// ToolCall is a call of a tool that a model requests. Arguments is the text
// that the model wrote; models promise JSON.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is a tool that the model may call. Parameters is a JSON schema.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// ChatRequest is a request for the next message.
type ChatRequest struct {
	Model       string // "" = the endpoint's
	Messages    []Message
	Tools       []Tool
	ToolChoice  string // "", auto, none, required, or a tool's name
	Temperature *float64
	MaxTokens   int // 0 = the endpoint's limit
	Seed        *int
}

// Delta is a piece of an answer: text, reasoning that is no part of it, or the completion.
type Delta struct {
	Text      string
	Reasoning string
	Done      *Completion // set in the last one
}

// Completion describes a complete answer. It contains the first 128 tool calls,
// with the endpoint's names and ids.
type Completion struct {
	ToolCalls    []ToolCall
	FinishReason string
	Model        string
	Usage        Usage
}

// Usage counts tokens as the endpoint reports them; zero = not reported.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Chat streams the next message: text deltas as they arrive and, last, one with
// Done. Every failure ends the sequence with an *Error, or with the cause of
// the caller's cancellation. An answer that stops before its finish reason is
// such a failure. If the caller leaves the loop, the request is closed.
func (c *Client) Chat(ctx context.Context, req ChatRequest) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		x := newExchange(ctx, c.endpoint)
		defer func() { x.close() }()
		body := c.chatBody(req)
		x.limit, x.model = maxStreamBytes, body.Model
		sent := time.Now()
		stream, err := c.api.CreateChatCompletionStream(x.ctx, body)
		if x.header != nil {
			c.pacer.observe(sent, time.Now(), x.status, x.header)
		}
		if body.StreamOptions != nil && refusedOption(err, "stream_options", "include_usage") {
			c.refused.streamOptions.Store(true)
			x.close()
			x = newExchange(ctx, c.endpoint)
			x.limit, x.model = maxStreamBytes, body.Model
			body.StreamOptions = nil
			stream, err = c.api.CreateChatCompletionStream(x.ctx, body)
		}
		if err != nil {
			yield(Delta{}, c.pacer.ended(x.callError("chat", err)))
			return
		}
		_ = c.pacer.ended(nil)                // returns its argument
		defer func() { _ = stream.Close() }() // the stream was only read
		x.relay(stream, yield)
	}
}

// relay yields the stream's deltas until it ends or the reader stops.
func (x *exchange) relay(stream *openai.ChatCompletionStream, yield func(Delta, error) bool) {
	var a assembly
	for {
		event, err := stream.Recv()
		if err != nil {
			if err := a.end(x, err); err != nil {
				yield(Delta{}, err)
				return
			}
			x.complete = true
			yield(Delta{Done: a.completion()}, nil)
			return
		}
		text := a.add(event)
		if a.finish != "" {
			x.wait = min(x.wait, trailerTime)
		}
		if text != "" && !yield(Delta{Text: text}, nil) {
			return
		}
	}
}

// chatBody returns the request in wire form.
func (c *Client) chatBody(req ChatRequest) openai.ChatCompletionRequest {
	body := openai.ChatCompletionRequest{Model: req.Model, Seed: req.Seed}
	// Many servers support only the older name of this limit.
	body.MaxTokens = req.MaxTokens //nolint:staticcheck // deprecated by OpenAI alone
	if body.Model == "" {
		body.Model = c.endpoint.Model
	}
	if req.Temperature != nil {
		body.Temperature = max(float32(*req.Temperature), math.SmallestNonzeroFloat32) // the library would leave 0 out
	}
	if isReasoningModel(body.Model) { // these models refuse the older name and any temperature
		body.MaxTokens, body.MaxCompletionTokens, body.Temperature = 0, req.MaxTokens, 0 //nolint:staticcheck // as above
	}
	if !c.refused.streamOptions.Load() {
		body.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	for _, m := range req.Messages {
		body.Messages = append(body.Messages, wireMessage(m))
	}
	for _, t := range req.Tools {
		body.Tools = append(body.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters,
		}})
	}
	if len(req.Tools) > 0 {
		body.ToolChoice = wireToolChoice(req.ToolChoice)
	}
	body.Model = c.endpoint.wireModel(body.Model)
	return body
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

// refusedOption reports whether err is a refused request whose text contains
// one of the words, so that the request can be repeated without that option.
func refusedOption(err error, words ...string) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	refused, ok := errors.AsType[*refusal](e.Cause)
	for _, word := range words {
		if ok && strings.Contains(refused.text, word) {
			return true
		}
	}
	return false
}
