package model

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// assembly collects the parts of a stream and tells its text from the reasoning and from calls
// that are written as text.
type assembly struct {
	content  bool // text, reasoning or a tool call was received
	calls    []*fragment
	finish   string
	model    string
	usage    Usage
	offered  map[string]bool // names of the tools
	thinking thinking
	written  writtenCalls
}

func newAssembly(req ChatRequest, thinksAtOnce bool) *assembly {
	a := &assembly{offered: map[string]bool{}, thinking: thinking{inside: thinksAtOnce, unopened: thinksAtOnce}}
	if req.ToolChoice != ToolChoiceNone {
		for _, t := range req.Tools {
			a.offered[t.Name] = true
		}
	}
	a.written.offered, a.written.tools = a.offered, req.Tools
	if a.offered[req.ToolChoice] {
		a.written.forced = req.ToolChoice
	}
	return a
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

// add adds one event and returns what readers get of it. NULs are left out, which PostgreSQL does
// not store.
func (a *assembly) add(event chatEvent) []Delta {
	if event.Model != "" {
		a.model = string(event.Model)
	}
	if u := event.Usage; u != nil && u.PromptTokens.or(0)+u.CompletionTokens.or(0) > 0 {
		a.usage = Usage{PromptTokens: u.PromptTokens.or(0), CompletionTokens: u.CompletionTokens.or(0)}
	}
	var deltas []Delta
	for _, choice := range event.Choices {
		if choice.Index.or(0) != 0 {
			continue
		}
		for _, m := range []*saidMessage{choice.Delta, choice.Message} {
			if m == nil {
				continue
			}
			words, thoughts := strings.ReplaceAll(m.words(), "\x00", ""), strings.ReplaceAll(m.thoughts(), "\x00", "")
			a.content = a.content || words != "" || thoughts != ""
			if thoughts != "" {
				deltas = append(deltas, Delta{Reasoning: thoughts})
			}
			deltas = append(deltas, a.say(a.thinking.write(words))...)
			for _, call := range m.calls() {
				a.addCall(call)
			}
		}
		if choice.FinishReason != "" {
			a.finish = string(choice.FinishReason)
		}
	}
	a.content = a.content || len(a.calls) > 0
	return deltas
}

// say holds back the text of deltas that may be calls of tools.
func (a *assembly) say(deltas []Delta) []Delta {
	said := deltas[:0]
	for _, d := range deltas {
		if d.Restart {
			a.written.restart()
		}
		if d.Text != "" {
			d.Text = a.written.write(d.Text)
		}
		if d.Text != "" || d.Reasoning != "" || d.Restart {
			said = append(said, d)
		}
	}
	return said
}

// close ends the text of an answer that is complete, and returns what was held back of it.
func (a *assembly) close() []Delta {
	deltas := a.say(a.thinking.close())
	calls, text := a.written.close()
	if len(a.calls) == 0 {
		for i, call := range calls {
			f := &fragment{index: i, id: call.ID, name: call.Name}
			f.arguments.WriteString(call.Arguments)
			a.calls = append(a.calls, f)
		}
	}
	if text != "" {
		deltas = append(deltas, Delta{Text: text})
	}
	return deltas
}

// addCall joins a fragment to its call. Fragments with the same index belong together. Some
// endpoints leave the index out or send 0 for every call, and distinguish calls by id only; others
// have no ids either, and a name begins the next call.
func (a *assembly) addCall(wire wireCall) {
	f := a.find(wire)
	if f == nil && len(a.calls) == maxToolCalls {
		return
	}
	if f == nil {
		f = &fragment{index: wire.Index.or(len(a.calls))}
		a.calls = append(a.calls, f)
	}
	name := string(wire.Function.Name)
	if wire.ID != "" {
		f.id = string(wire.ID)
	}
	if (f.name == "" || name != f.name) && len(f.name) <= maxToolName {
		f.name += name
	}
	f.arguments.WriteString(string(wire.Function.Arguments))
}

func (a *assembly) find(wire wireCall) *fragment {
	for i := len(a.calls) - 1; i >= 0; i-- {
		f := a.calls[i]
		if wire.Index.value != nil && f.index != *wire.Index.value {
			continue
		}
		if wire.ID != "" && f.id != "" && f.id != string(wire.ID) {
			continue
		}
		if a.begins(wire, f) {
			return nil
		}
		return f
	}
	return nil
}

// begins reports whether a fragment without an id of its own begins another call than f: f has a
// whole name and arguments, or a whole name that the fragment's name does not continue.
func (a *assembly) begins(wire wireCall, f *fragment) bool {
	name := string(wire.Function.Name)
	if name == "" || wire.ID != "" && string(wire.ID) == f.id {
		return false
	}
	whole := json.Valid([]byte(f.arguments.String()))
	return f.name != "" && (whole || a.offered[f.name] && a.offered[name] && f.arguments.Len() == 0)
}

// end returns nil if an answer that stopped with err is complete, and otherwise
// the error for the caller.
func (a *assembly) end(x *exchange, events *eventReader, err error) error {
	closed := errors.Is(err, io.EOF) || errors.Is(err, errDone)
	_, known := a.finishReason()
	switch {
	case x.caller.Err() != nil:
		return x.callError("chat", err)
	case a.finish != "" && !known:
		return x.callError("chat", x.badFinish(a.finish))
	case a.finish != "" && (closed || a.content), errors.Is(err, errDone) && a.content, closed && a.content && events.whole():
		return nil
	case closed && !a.content:
		return x.callError("chat", x.badAnswer(CodeBadResponse, "the stream was empty"))
	case closed:
		return x.callError("chat", x.badAnswer(CodeEnded, "the answer ended in mid stream, without a finish reason"))
	default:
		return x.callError("chat", err)
	}
}

// badFinish returns the error for an answer that ended for a reason which is no success.
func (x *exchange) badFinish(reason string) *Error {
	code := CodeBadResponse
	switch strings.ToLower(reason) {
	case "abort", "aborted", "cancelled", "canceled", "insufficient_system_resource", "timeout":
		code = CodeEnded
	}
	if !errorName.MatchString(reason) {
		reason = "of another form"
	}
	return x.badAnswer(code, "the answer ended with the finish reason "+reason)
}

func (a *assembly) completion() *Completion {
	reason, _ := a.finishReason()
	done := &Completion{FinishReason: reason, Model: a.model, Usage: a.usage}
	for i, f := range a.calls {
		call := ToolCall{ID: f.id, Name: f.name, Arguments: unquoted(f.arguments.String())}
		if at := strings.LastIndexByte(f.name, '.'); !a.offered[f.name] && a.offered[f.name[at+1:]] { // functions.search
			call.Name = f.name[at+1:]
		}
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

// unquoted returns the arguments of a call without a second encoding as JSON.
func unquoted(arguments string) string {
	var inner string
	if json.Unmarshal([]byte(arguments), &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") && json.Valid([]byte(inner)) {
		return inner
	}
	return arguments
}

// stopped describes an answer that ends at a stop. Calls behind it are not part of it.
func (a *assembly) stopped() *Completion {
	return &Completion{FinishReason: FinishStop, Model: a.model, Usage: a.usage}
}

// finishReason maps the names that endpoints use to the Finish constants. known reports that it
// is a reason with which an answer can be used.
func (a *assembly) finishReason() (reason string, known bool) {
	switch strings.ToLower(a.finish) {
	case "length", "max_tokens", "model_length", "max_output_tokens", "max_length", "token_limit":
		return FinishLength, true
	case "content_filter", "content_filtered", "safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety", "language", "guardrail_intervened", "refusal", "sensitive":
		return FinishFiltered, true
	case "", "stop", "eos", "eos_token", "eos_found", "end_turn", "end", "stop_sequence", "stop_str", "stop_token", "completed", "complete", "done", "finished", "finish", "null", "none",
		"tool_calls", "tool_call", "tool_use", "function_call":
		if len(a.calls) > 0 {
			return FinishToolCalls, true
		}
		return FinishStop, true
	}
	return a.finish, false
}
