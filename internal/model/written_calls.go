package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
)

// writtenCalls finds calls of tools that a model writes into its text, as models do whose server
// does not read them out of it. Text that may be such a call is held back, because it is no
// answer. The text may be cut anywhere.
type writtenCalls struct {
	offered map[string]bool // none = all text is answer
	tools   []Tool          // those
	forced  string          // the tool that the model must call, "" = none
	begun   bool            // text that is no call has come
	holding bool            // what is held begins a call
	held    string
}

// maxWritten bounds the text that is held back, in bytes. A longer one is answer.
const maxWritten = 256 << 10

// callMarks begin calls wherever they stand.
var callMarks = []string{
	"<tool_call>", "<|tool_call|>", "<|tool_call>", "<tool_calls>", "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<function=", "<function_call>", "<functioncall>",
	"<invoke name=", "<function_calls>", "[TOOL_CALLS]", "[TOOL_CALL]", "<|python_tag|>", "<|start|>assistant<|channel|>commentary", "<|channel|>commentary", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<|action_start|>",
}

// write returns the text that is answer for sure.
func (w *writtenCalls) write(text string) string {
	if len(w.offered) == 0 {
		return text
	}
	w.held += text
	if !w.holding && !w.begun {
		switch start := strings.TrimLeft(w.held, " \t\r\n"); {
		case start == "":
			return ""
		case w.forced != "", start[0] == '{', strings.HasPrefix(start, "[{"), strings.HasPrefix(start, "```json") || isBeginning(start, "```json"),
			start == "[":
			w.holding = true
		}
	}
	if w.holding {
		return w.hold()
	}
	for _, mark := range callMarks {
		if at := strings.Index(w.held, mark); at >= 0 {
			return w.release(at, true)
		}
	}
	for n := min(len(w.held), maxMark); n > 0; n-- { // what may become a mark
		end := w.held[len(w.held)-n:]
		for _, mark := range callMarks {
			if strings.HasPrefix(mark, end) {
				return w.release(len(w.held)-n, false)
			}
		}
	}
	return w.release(len(w.held), false)
}

// isBeginning reports whether whole begins with part.
func isBeginning(part, whole string) bool {
	return len(part) <= len(whole) && whole[:len(part)] == part
}

// maxMark is the length of the longest of callMarks, in bytes.
const maxMark = 40

// hold keeps what is held, unless it turned out to be no call.
func (w *writtenCalls) hold() string {
	start := strings.TrimLeft(w.held, " \t\r\n")
	listed := strings.HasPrefix(start, "[") && !strings.HasPrefix(start, "[TOOL_CALL") && !isBeginning(start, "[TOOL_CALLS]")
	switch {
	case len(w.held) > maxWritten,
		w.forced == "" && listed && len(start) > 1 && !strings.HasPrefix(start, "[{"),
		w.forced == "" && strings.HasPrefix(start, "```") && len(start) > len("```json\n") && !strings.ContainsAny(start[len("```json"):min(len(start), 20)], "{["):
		w.holding = false
		return w.release(len(w.held), false)
	}
	return ""
}

// release returns the first n bytes of what is held.
func (w *writtenCalls) release(n int, holds bool) string {
	text := w.held[:n]
	w.held, w.holding = w.held[n:], holds
	w.begun = w.begun || strings.TrimSpace(text) != ""
	return text
}

// restart drops what is held: it was no part of the answer.
func (w *writtenCalls) restart() { w.held, w.holding, w.begun = "", false, false }

// close returns the calls that the text held, or the text that was held back and is no call.
func (w *writtenCalls) close() (calls []ToolCall, text string) {
	text = w.held
	w.held = ""
	if !w.holding {
		return nil, text
	}
	if calls = w.read(text); len(calls) > 0 {
		return calls, ""
	}
	return nil, text
}

var (
	functionCall = regexp.MustCompile(`(?s)<function=["']?([\w.-]+)["']?\s*>(.*?)(?:</function>|$)`)
	invokedCall  = regexp.MustCompile(`(?s)<invoke name=["']([\w.-]+)["']\s*>(.*?)(?:</invoke>|$)`)
	parameterTag = regexp.MustCompile(`(?s)<parameter(?:=| name=)["']?([\w.-]+)["']?\s*>(.*?)</parameter>`)
	// keyedCall is a name before tags with the keys and the values of its arguments.
	keyedCall    = regexp.MustCompile(`(?s)<tool_call>\s*([A-Za-z_][\w.-]*)\s*((?:<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>\s*)*)</tool_call>`)
	parameterKey = regexp.MustCompile(`(?s)<arg_key>\s*(.*?)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>`)
	// namedCall is a name that stands between marks before its arguments.
	namedCall = regexp.MustCompile("(?s)(?:\\[TOOL_CALLS\\]|<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?|<\\|tool_call_begin\\|>|<tool_call>|<\\|channel\\|>commentary to=)\\s*(?:functions\\.)?([A-Za-z_][\\w.-]*?)(?::\\d+)?\\s*" +
		"(?:\\[CALL_ID\\]\\w*)?(?:<\\|constrain\\|>\\s*json\\s*)?(?:<\\|message\\|>|\\[ARGS\\]|<｜tool▁sep｜>|<\\|tool_call_argument_begin\\|>|\\n)?\\s*(?:```(?:json)?\\s*)?(\\{)")
)

// read returns the calls that a text consists of.
func (w *writtenCalls) read(text string) []ToolCall {
	var calls []ToolCall
	for _, form := range []*regexp.Regexp{functionCall, invokedCall} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			calls = append(calls, ToolCall{Name: m[1], Arguments: w.taggedArguments(m[1], m[2])})
		}
	}
	for _, m := range keyedCall.FindAllStringSubmatch(text, -1) {
		if m[2] != "" || w.offered[m[1]] {
			calls = append(calls, ToolCall{Name: m[1], Arguments: w.taggedArguments(m[1], m[2])})
		}
	}
	if len(calls) > 0 {
		return calls
	}
	for _, at := range namedCall.FindAllStringSubmatchIndex(text, -1) {
		if arguments, _ := firstJSON(text[at[4]:]); arguments != nil {
			calls = append(calls, ToolCall{Name: text[at[2]:at[3]], Arguments: string(arguments)})
		}
	}
	if len(calls) > 0 {
		return calls
	}
	marked := !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n`jsonJSON"), "{") && !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n`jsonJSON"), "[{")
	for rest := text; ; {
		value, end := firstJSON(rest)
		if value == nil {
			break
		}
		calls = append(calls, w.objects(value, marked)...)
		rest = rest[end:]
	}
	return calls
}

// objects returns the calls that a JSON text holds: an object or a list of them. marked reports that
// marks stand around it, so that it is a call whatever its name is.
func (w *writtenCalls) objects(value json.RawMessage, marked bool) []ToolCall {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		list = []json.RawMessage{value}
	}
	var calls []ToolCall
	for _, one := range list {
		var call struct {
			wireFunction

			ToolName   anyText      `json:"tool_name"`
			Tool       anyText      `json:"tool"`
			Parameters anyArguments `json:"parameters"`
			Args       anyArguments `json:"args"`
			Function   json.RawMessage
		}
		if json.Unmarshal(one, &call) != nil {
			continue
		}
		var inner wireFunction
		if json.Unmarshal(call.Function, &inner) == nil && inner.Name != "" {
			call.wireFunction = inner
		} else if name := ""; call.Name == "" && json.Unmarshal(call.Function, &name) == nil {
			call.Name = anyText(name)
		}
		name := cmp.Or(string(call.Name), string(call.ToolName), string(call.Tool))
		arguments := cmp.Or(string(call.Arguments), string(call.Parameters), string(call.Args))
		switch {
		case name != "" && (marked || w.offered[name]):
			calls = append(calls, ToolCall{Name: name, Arguments: cmp.Or(arguments, "{}")})
		case w.forced != "" && !w.offered[name]: // the arguments alone
			calls = append(calls, ToolCall{Name: w.forced, Arguments: string(one)})
		}
	}
	return calls
}

// firstJSON returns the first JSON object or list in a text, and where it ends; nil if there is none.
func firstJSON(text string) (value json.RawMessage, end int) {
	for from := 0; ; from++ {
		at := strings.IndexAny(text[from:], "{[")
		if at < 0 {
			return nil, 0
		}
		from += at
		decoder := json.NewDecoder(strings.NewReader(text[from:]))
		if decoder.Decode(&value) == nil {
			return bytes.TrimSpace(value), from + int(decoder.InputOffset())
		}
	}
}

// taggedArguments returns the arguments between the tags of a call: JSON, or a tag for each.
func (w *writtenCalls) taggedArguments(tool, text string) string {
	if value, _ := firstJSON(text); value != nil && strings.HasPrefix(strings.TrimSpace(text), "{") {
		return string(value)
	}
	arguments := map[string]json.RawMessage{}
	for _, m := range append(parameterTag.FindAllStringSubmatch(text, -1), parameterKey.FindAllStringSubmatch(text, -1)...) {
		value := strings.TrimSpace(m[2])
		if json.Valid([]byte(value)) && value != "" && !strings.HasPrefix(value, `"`) && !w.isText(tool, m[1]) {
			arguments[m[1]] = json.RawMessage(value)
		} else {
			arguments[m[1]] = quoted(strings.Trim(m[2], "\r\n"))
		}
	}
	encoded, err := json.Marshal(arguments)
	if err != nil {
		return "{}" // what was read from JSON always has a JSON form
	}
	return string(encoded)
}

// isText reports whether an argument of a tool is a text, so that 42 is one too.
func (w *writtenCalls) isText(tool, argument string) bool {
	for _, t := range w.tools {
		var schema struct {
			Properties map[string]struct{ Type any }
		}
		if t.Name == tool && json.Unmarshal(t.Parameters, &schema) == nil {
			return schema.Properties[argument].Type == "string"
		}
	}
	return false
}
