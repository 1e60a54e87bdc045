package model

import (
	"errors"
	"io"
	"strconv"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// assembly collects the parts of a stream other than its text.
type assembly struct {
	content bool // text or a tool call was received
	calls   []*fragment
	finish  string
	model   string
	usage   Usage
}

// Limits of the tool calls of one answer, and of the bytes of a tool's name.
// They are larger than any use and small enough to be searched for each
// fragment.
const (
	maxToolCalls = 128
	maxToolName  = 256
)

// fragment is a tool call that is still being received.
type fragment struct {
	index     int
	id, name  string
	arguments strings.Builder
}

// add adds one event and returns its text, without NULs, which PostgreSQL does not
// store.
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
	return strings.ReplaceAll(words.String(), "\x00", "")
}

// addCall joins a fragment to its call. Fragments with the same index belong
// together. Some endpoints leave the index out or send 0 for every call, and
// distinguish calls by id only.
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

// end returns nil if an answer that stopped with err is complete, and otherwise
// the error for the caller.
func (a *assembly) end(x *exchange, err error) error {
	closed := errors.Is(err, io.EOF) // the library also returns it at the done mark
	switch {
	case a.finish != "", closed && a.content && x.body.sawDone():
		return nil
	case closed && !a.content && x.caller.Err() == nil:
		return x.callError("chat", x.badAnswer(CodeBadResponse, "the stream was empty"))
	case closed:
		return x.callError("chat", x.badAnswer(CodeEnded, "the answer ended in mid stream, without a finish reason"))
	default:
		return x.callError("chat", err)
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

// finishReason maps the names that endpoints use to the Finish constants. It
// returns unknown names unchanged.
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
