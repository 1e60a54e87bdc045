package model

import (
	"errors"
	"io"
	"strconv"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// assembly gathers what a stream says besides its text.
type assembly struct {
	content bool // text or a tool call has come
	calls   []*fragment
	finish  string
	model   string
	usage   Usage
}

// The most tool calls of an answer, and bytes of the name of one, that are kept:
// more than anybody runs, and little enough to go through for each fragment.
const (
	maxToolCalls = 128
	maxToolName  = 256
)

// fragment is a tool call that is still coming.
type fragment struct {
	index     int
	id, name  string
	arguments strings.Builder
}

// add takes one event and gives its text.
func (a *assembly) add(event openai.ChatCompletionStreamResponse) string {
	if event.Model != "" {
		a.model = event.Model
	}
	if event.Usage != nil {
		a.usage = Usage{PromptTokens: event.Usage.PromptTokens, CompletionTokens: event.Usage.CompletionTokens}
	}
	var words strings.Builder
	for _, choice := range event.Choices {
		if choice.Index != 0 {
			continue
		}
		words.WriteString(choice.Delta.Content)
		words.WriteString(choice.Delta.Refusal)
		for _, call := range choice.Delta.ToolCalls {
			a.addCall(call)
		}
		if choice.FinishReason != "" {
			a.finish = string(choice.FinishReason)
		}
	}
	a.content = a.content || words.Len() > 0 || len(a.calls) > 0
	return words.String()
}

// addCall joins a fragment to its call. Fragments belong together by index;
// some endpoints leave the index out, or give every call the index 0, and tell
// calls apart by id only.
func (a *assembly) addCall(wire openai.ToolCall) {
	f := a.find(wire)
	if f == nil && len(a.calls) == maxToolCalls {
		return
	}
	if f == nil {
		f = &fragment{index: len(a.calls)}
		if wire.Index != nil {
			f.index = *wire.Index
		}
		a.calls = append(a.calls, f)
	}
	if wire.ID != "" {
		f.id = wire.ID
	}
	if (f.name == "" || wire.Function.Name != f.name) && len(f.name) <= maxToolName {
		f.name += wire.Function.Name
	}
	f.arguments.WriteString(wire.Function.Arguments)
}

func (a *assembly) find(wire openai.ToolCall) *fragment {
	for i := len(a.calls) - 1; i >= 0; i-- {
		f := a.calls[i]
		if wire.Index != nil && f.index != *wire.Index {
			continue
		}
		if wire.ID != "" && f.id != "" && f.id != wire.ID {
			continue
		}
		return f
	}
	return nil
}

// end decides whether an answer that stopped with err is complete.
func (a *assembly) end(x *exchange, err error) error {
	closed := errors.Is(err, io.EOF) // also what the library says at the mark
	switch {
	case a.finish != "", closed && a.content && x.body.sawDone():
		return nil
	case closed && !a.content && x.caller.Err() == nil:
		return x.explain("chat", x.broken(CodeBadResponse, "the stream was empty"))
	case closed:
		return x.explain("chat", x.broken(CodeEnded, "the answer ended in mid stream, without a finish reason"))
	default:
		return x.explain("chat", err)
	}
}

func (a *assembly) completion() *Completion {
	done := &Completion{FinishReason: a.finishReason(), Model: a.model, Usage: a.usage}
	for i, f := range a.calls {
		call := ToolCall{ID: f.id, Name: f.name, Arguments: f.arguments.String()}
		if call.ID == "" {
			call.ID = "call_" + strconv.Itoa(i)
		}
		if call.Arguments == "" {
			call.Arguments = "{}"
		}
		done.ToolCalls = append(done.ToolCalls, call)
	}
	return done
}

// finishReason maps the many names that endpoints have for few things.
func (a *assembly) finishReason() string {
	switch a.finish {
	case "length", "max_tokens", "model_length":
		return FinishLength
	case "content_filter", "safety":
		return FinishFiltered
	case "", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls", "tool_use", "function_call":
		if len(a.calls) > 0 {
			return FinishToolCalls
		}
		return FinishStop
	default:
		return a.finish
	}
}
