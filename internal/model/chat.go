package model

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
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

// Finish reasons of a Completion.
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
	TopP        *float64
	MaxTokens   int // 0 = the endpoint's limit
	Seed        *int
	// Stop are texts at the first of which the answer ends. The endpoint need not know them.
	Stop []string
	// Format is the response_format of OpenAI, a JSON object; nil = text. A model whose endpoint
	// refuses it is told to answer in that form.
	Format json.RawMessage
}

// Delta is a piece of an answer: text, reasoning that is no part of it, or the completion. With
// Restart all text before it was reasoning and is no part of the answer: some models end their
// reasoning with a mark that they did not begin with.
type Delta struct {
	Text      string
	Reasoning string
	Restart   bool
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
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	Cost             float64 `json:"cost,omitempty"` // of the tokens, where Endpoint.Prices has the model
	Currency         string  `json:"currency,omitempty"`
}

// Chat streams the next message: deltas as they arrive and, last, one with Done. Every failure
// ends the sequence with an *Error, or with the cause of the caller's cancellation. An answer
// that stops before its finish reason, or for a reason that is no success, is such a failure. If
// the caller leaves the loop, the request is closed.
func (c *Client) Chat(ctx context.Context, req ChatRequest) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		name := cmp.Or(req.Model, c.endpoint.Model)
		left := c.options.of(name)
		for {
			x := newExchange(ctx, c.endpoint)
			x.limit, x.model, x.words = maxStreamBytes, name, req.words
			sent := c.pacer.send()
			res, err := c.sendChat(x, c.chatBody(req, left), sent) //nolint:bodyclose // relay closes it
			if err == nil {
				c.options.learn(ctx, c.log, c.endpoint, name, left)
				_ = c.pacer.ended(sent, nil) // returns its argument
				c.relay(x, res, req, func(d Delta, err error) bool {
					if d.Done != nil {
						d.Done.Usage = c.endpoint.Prices.of(name, d.Done.Usage)
					}
					return yield(d, err)
				})
				x.close()
				return
			}
			err = x.callError("chat", err)
			x.close()
			option := refusedOption(err, c.chatBody(req, left))
			if option == "" {
				yield(Delta{}, c.pacer.ended(sent, err))
				return
			}
			left = left.with(option)
		}
	}
}

// sendChat sends a request and returns the answer once it begins.
func (c *Client) sendChat(x *exchange, body chatBody, sent *sending) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	res, err := c.postTo(x, c.endpoint.chatAddress(body.Model), data)
	if x.header != nil {
		c.pacer.observe(sent, time.Now(), x.status, x.header)
	}
	return res, err
}

// relay yields the stream's deltas until it ends or the reader stops.
func (c *Client) relay(x *exchange, res *http.Response, req ChatRequest, yield func(Delta, error) bool) {
	defer func() { _ = res.Body.Close() }() // it was only read
	events := newEventReader(res.Body)
	a := newAssembly(req, c.thinks.has(x.model))
	ends := stops{texts: req.Stop}
	for {
		var event chatEvent
		name, err := events.next(&event)
		if err == nil {
			if reported, failed := event.failure(name); failed {
				err = x.reported(reported)
			}
		}
		if err != nil {
			x.finish(c, events, a, &ends, err, yield)
			return
		}
		deltas, stopped := ends.cut(a.add(event))
		for _, delta := range deltas {
			if !yield(delta, nil) {
				return
			}
		}
		if stopped {
			x.complete = true
			yield(Delta{Done: a.stopped()}, nil)
			return
		}
		if a.finish != "" {
			x.wait = min(x.wait, trailerTime)
		}
	}
}

// finish yields what is left of an answer that stopped with err, and its completion or failure.
func (x *exchange) finish(c *Client, events *eventReader, a *assembly, ends *stops, err error, yield func(Delta, error) bool) {
	if err := a.end(x, events, err); err != nil {
		yield(Delta{}, err)
		return
	}
	x.complete = true
	deltas, stopped := ends.cut(a.close())
	if rest := ends.close(); rest != "" {
		deltas = append(deltas, Delta{Text: rest})
	}
	for _, delta := range deltas {
		if !yield(delta, nil) {
			return
		}
	}
	c.thinks.note(x.model, a.thinking.unopened)
	if stopped {
		yield(Delta{Done: a.stopped()}, nil)
		return
	}
	yield(Delta{Done: a.completion()}, nil)
}
