package model_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

const whole = `{"id":7,"object":"chat.completion","created":"now","model":"m-1","choices":[{"index":"0","message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5.0,"completion_tokens":"2","total_tokens":null}}`

// TestWireVariants: answers as endpoints write them, which are all the same answer.
func TestWireVariants(t *testing.T) {
	t.Parallel()
	delta := func(fields string) string {
		return `{"choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}`
	}
	for name, body := range map[string]string{
		"content in parts":          say(delta(`"content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]`), stop, done),
		"one part":                  say(delta(`"content":{"type":"text","text":"Hello"}`), stop, done),
		"parts beside thoughts":     say(delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Hello"}]`), stop, done),
		"texts in a list":           say(delta(`"content":["Hel","lo"]`), stop, done),
		"numbers for other fields":  say(`{"id":12,"created":1700000000.123,"system_fingerprint":7,"service_tier":{},"choices":[{"index":0,"logprobs":[],"delta":{"content":"Hello","role":null,"annotations":5}}]}`, stop, done),
		"an index as text":          say(`{"choices":[{"index":"0","delta":{"content":"Hello"}}]}`, stop, done),
		"an index as a fraction":    say(`{"choices":[{"index":0.0,"delta":{"content":"Hello"}}]}`, stop, done),
		"no index":                  say(`{"choices":[{"delta":{"content":"Hello"}}]}`, stop, done),
		"choices that are null":     say(`{"choices":null}`, hello, lo, stop, done),
		"a delta that is null":      say(`{"choices":[{"index":0,"delta":null}]}`, hello, lo, stop, done),
		"usage of another form":     say(`{"choices":[],"usage":"none"}`, hello, lo, stop, done),
		"an error that is null":     say(`{"error":null,"choices":[{"index":0,"delta":{"content":"Hello"}}]}`, stop, done),
		"an error without words":    say(`{"error":{},"choices":[{"index":0,"delta":{"content":"Hello"}}]}`, stop, done),
		"empty data":                "data:\n\ndata: \n\n" + say(hello, "", lo, stop, done),
		"pings":                     "event: ping\ndata: {\"type\":\"ping\"}\n\n" + say(hello, lo, stop, done),
		"several lines of data":     "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"Hello\"}}]}\n\n" + say(stop, done),
		"a byte order mark":         "\ufeff" + say(hello, lo, stop, done),
		"line ends of Windows":      strings.ReplaceAll(say(hello, lo, stop, done), "\n", "\r\n"),
		"no empty lines":            strings.ReplaceAll(say(hello, lo, stop, done), "\n\n", "\n"),
		"no end of the last line":   strings.TrimRight(say(hello, lo, stop, done), "\n"),
		"no mark and no line end":   strings.TrimRight(say(hello, lo, stop), "\n"),
		"names of events":           "event: message\n" + say(hello) + "event: completion.chunk\n" + say(lo, stop, done),
		"a whole answer":            whole,
		"a whole answer, as events": say(whole, done),
		"a whole answer, indented":  "\n\n" + strings.ReplaceAll(whole, ",", ",\n  ") + "\n",
		"lines of JSON":             strings.Join([]string{hello, lo, stop}, "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
			text, got, err := collect(t.Context(), c, question)
			if err != nil || text != "Hello" || got.FinishReason != model.FinishStop {
				t.Fatalf("%q, %+v, %v", text, got, err)
			}
			if name == "a whole answer" && (got.Usage != model.Usage{PromptTokens: 5, CompletionTokens: 2} || got.Model != "m-1") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestErrorsInAStream: an error in mid stream is one, whatever its form.
func TestErrorsInAStream(t *testing.T) {
	t.Parallel()
	finish := func(reason string) string {
		return say(hello, `{"choices":[{"index":0,"delta":{},"finish_reason":"`+reason+`"}]}`, done)
	}
	for name, test := range map[string]struct{ body, code string }{
		"an event named error":           {say(hello) + "event: error\ndata: {\"message\":\"boom\",\"code\":500}\n\n" + say(done), model.CodeOverloaded},
		"one with words only":            {say(hello) + "event: error\ndata: boom\n\n" + say(done), model.CodeOverloaded},
		"an object of the type error":    {say(hello, `{"object":"error","message":"boom","type":"BadRequestError","code":400}`, done), model.CodeBadRequest},
		"an error as text":               {say(hello, `{"error":"boom"}`, done), model.CodeOverloaded},
		"an error of Google":             {say(hello, `{"error":{"code":429,"message":"boom","status":"RESOURCE_EXHAUSTED"}}`), model.CodeRateLimited},
		"a list with an error of Google": {`[{"error":{"code":400,"message":"boom","status":"INVALID_ARGUMENT"}}]`, model.CodeBadRequest},
		"a detail":                       {say(hello, `{"detail":"boom"}`, done), model.CodeOverloaded},
		"a message alone":                {say(hello, `{"message":"boom","code":"internal"}`, done), model.CodeOverloaded},
		"a finish reason":                {finish("error"), model.CodeOverloaded},
		"a finish reason and its error":  {say(hello, `{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":502,"message":"boom"}}]}`, done), model.CodeOverloaded},
		"an unknown finish reason":       {finish("gave_up"), model.CodeBadResponse},
		"a broken call":                  {finish("MALFORMED_FUNCTION_CALL"), model.CodeBadResponse},
		"an aborted answer":              {finish("abort"), model.CodeEnded},
		"no credit":                      {say(hello, `{"error":{"message":"boom","type":"insufficient_quota","code":"insufficient_quota"}}`), model.CodeRateLimited},
		"too many tokens":                {say(`{"error":{"message":"boom","type":"invalid_request_error","code":"context_length_exceeded"}}`), model.CodeContext},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.body) })
			_, _, err := collect(t.Context(), c, question)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Code != test.code {
				t.Fatalf("%v", err)
			}
			for _, word := range []string{"models.", "key", "http", "127.0.0.1", "boom", "endpoint"} {
				if strings.Contains(e.ForAsker(), word) {
					t.Errorf("whoever asks reads %q", e.ForAsker())
				}
			}
			if !strings.Contains(e.Detail(), "boom") && strings.Contains(test.body, "boom") {
				t.Errorf("operators read %q", e.Detail())
			}
			if strings.Contains(test.body, "boom") && !strings.Contains(e.Error(), "boom") || strings.Contains(e.Public().Message, "boom") {
				t.Errorf("the log has %q, clients read %q", e, e.Public().Message)
			}
		})
	}
	for reason, want := range map[string]string{
		"MAX_TOKENS": model.FinishLength, "SAFETY": model.FinishFiltered, "RECITATION": model.FinishFiltered, "STOP": model.FinishStop, "Length": model.FinishLength, "end_turn": model.FinishStop,
	} {
		c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, finish(reason)) })
		if _, got, err := collect(t.Context(), c, question); err != nil || got.FinishReason != want {
			t.Errorf("%s: %+v, %v", reason, got, err)
		}
	}
}

// thought is collect, which returns the reasoning too.
func thought(t *testing.T, c *model.Client, req model.ChatRequest) (text, reasoning string, done *model.Completion) {
	t.Helper()
	for delta, err := range c.Chat(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if delta.Restart {
			reasoning, text = reasoning+text, ""
		}
		text, reasoning, done = text+delta.Text, reasoning+delta.Reasoning, delta.Done
	}
	return text, reasoning, done
}

// streamed returns a stream whose deltas have so many bytes of a text each.
func streamed(text string, n int) string {
	var events []string
	runes := []rune(text)
	for len(runes) > 0 {
		events = append(events, `{"choices":[{"index":0,"delta":{"content":`+quote(string(runes[:min(n, len(runes))]))+`}}]}`)
		runes = runes[min(n, len(runes)):]
	}
	return say(append(events, stop, done)...)
}

func TestReasoning(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ said, text, reasoning string }{
		"a tag":                      {"<think>They ask [1].</think>\n\nThe answer.", "The answer.", "They ask [1]."},
		"white space before it":      {"\n <think>\nThey ask.\n</think>The answer.", "The answer.", "\nThey ask.\n"},
		"another tag":                {"<thought>hm</thought> The answer.", "The answer.", "hm"},
		"capitals":                   {"<Thinking>hm</THINKING>The answer.", "The answer.", "hm"},
		"reasoning":                  {"<reasoning>hm</reasoning>The answer.", "The answer.", "hm"},
		"Mistral's tags":             {"[THINK]They ask [1].[/THINK]The answer [1].", "The answer [1].", "They ask [1]."},
		"Seed's tags":                {"<seed:think>hm</seed:think>\nThe answer.", "The answer.", "hm"},
		"channels":                   {"<|channel|>analysis<|message|>They ask [1].<|end|><|start|>assistant<|channel|>final<|message|>The answer.", "The answer.", "They ask [1]."},
		"the channel of the answer":  {"<|channel|>final<|message|>The answer <|end", "The answer <|end", ""},
		"a channel in the answer":    {"[Think] of it:\n<|end|>\n[THI", "[Think] of it:\n<|end|>\n[THI", ""},
		"two in a row":               {"<think>a</think>\n<think>b</think>\nThe answer.", "The answer.", "ab"},
		"no end":                     {"<think>They ask </thi", "", "They ask </thi"},
		"no beginning":               {"They ask.\n</think>\n\nThe answer.", "The answer.", "They ask.\n"},
		"a tag in code":              {"Write:\n```\n</think>\n<think>\n```\nThat is all.", "Write:\n```\n</think>\n<think>\n```\nThat is all.", ""},
		"a tag within the answer":    {"The tag <think> begins, </think> ends.", "The tag <think> begins, </think> ends.", ""},
		"no reasoning":               {"<b>The</b> answer <3 </", "<b>The</b> answer <3 </", ""},
		"nothing but white space":    {"<think>a</think>\n\n", "", "a"},
		"a beginning that is no tag": {"<thin ice", "<thin ice", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n < 40; n += 1 + n/4 {
				c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, streamed(test.said, n)) })
				if text, reasoning, _ := thought(t, c, question); text != test.text || reasoning != test.reasoning {
					t.Fatalf("in pieces of %d: %q and %q", n, text, reasoning)
				}
			}
		})
	}
	for name, fields := range map[string]string{
		"reasoning_content": `"reasoning_content":"hm","content":""`, "reasoning": `"reasoning":"hm"`, "an object": `"reasoning":{"content":"hm"}`,
		"two fields": `"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]`, "a part": `"content":[{"type":"thinking","thinking":"hm"}]`,
	} {
		body := say(`{"choices":[{"index":0,"delta":{`+fields+`}}]}`, hello, lo, stop, done)
		c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		if text, reasoning, _ := thought(t, c, question); text != "Hello" || reasoning != "hm" {
			t.Errorf("%s: %q and %q", name, text, reasoning)
		}
	}
}

// TestReasoningWithoutABeginning: once a model has ended its reasoning with a tag that it did not
// begin with, the next answers are known to begin with reasoning.
func TestReasoningWithoutABeginning(t *testing.T) {
	t.Parallel()
	answers := []string{"They ask.\n</think>\nOne.", "They ask again.\n</think>\nTwo.", "Three, without reasoning.", "Four."}
	c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, streamed(answers[0], 3))
		answers = answers[1:]
	})
	for i, want := range []string{"One.", "Two.", "Three, without reasoning.", "Four."} {
		var text string
		restarts := 0
		for delta, err := range c.Chat(t.Context(), question) {
			if err != nil {
				t.Fatal(err)
			}
			if delta.Restart {
				restarts++
				text = ""
			}
			text += delta.Text
		}
		if text != want || (restarts == 1) != (i == 0) {
			t.Errorf("answer %d is %q after %d restarts", i, text, restarts)
		}
	}
}

func TestCallsInText(t *testing.T) {
	t.Parallel()
	search, list := model.ToolCall{ID: "call_0", Name: "search", Arguments: `{"q": "a b"}`}, model.ToolCall{ID: "call_1", Name: "list", Arguments: `{}`}
	one := []model.ToolCall{search}
	for name, test := range map[string]struct {
		said, text string
		calls      []model.ToolCall
	}{
		"Qwen and Hermes":          {`<tool_call>` + "\n" + `{"name": "search", "arguments": {"q": "a b"}}` + "\n</tool_call>", "", one},
		"behind words":             {"Let me look.\n<tool_call>{\"name\":\"search\",\"arguments\":{\"q\": \"a b\"}}</tool_call>", "Let me look.\n", one},
		"two":                      {`<tool_call>{"name":"search","arguments":{"q": "a b"}}</tool_call><tool_call>{"name":"list","arguments":{}}</tool_call>`, "", []model.ToolCall{search, list}},
		"Mistral":                  {`[TOOL_CALLS][{"name": "search", "arguments": {"q": "a b"}}, {"name":"list","arguments":{}}]`, "", []model.ToolCall{search, list}},
		"Mistral, newer":           {`[TOOL_CALLS]search[ARGS]{"q": "a b"}`, "", one},
		"Llama":                    {`{"name": "search", "parameters": {"q": "a b"}}`, "", one},
		"Llama with a mark":        {`<|python_tag|>{"type": "function", "name": "search", "parameters": {"q": "a b"}}`, "", one},
		"Llama's function":         {`<function=search>{"q": "a b"}</function>`, "", one},
		"Qwen coder":               {"<tool_call>\n<function=search>\n<parameter=q>\na b\n</parameter>\n</function>\n</tool_call>", "", []model.ToolCall{{ID: "call_0", Name: "search", Arguments: `{"q":"a b"}`}}},
		"a text that is a number":  {"<tool_call>\n<function=list>\n<parameter=q>\n42\n</parameter>\n<parameter=n>\n42\n</parameter>\n</function>\n</tool_call>", "", []model.ToolCall{{ID: "call_0", Name: "list", Arguments: `{"n":42,"q":"42"}`}}},
		"GLM":                      {"<tool_call>list\n<arg_key>q</arg_key>\n<arg_value>a b</arg_value>\n<arg_key>n</arg_key>\n<arg_value>4</arg_value>\n</tool_call>", "", []model.ToolCall{{ID: "call_0", Name: "list", Arguments: `{"n":4,"q":"a b"}`}}},
		"GLM without arguments":    {"<tool_call>list\n</tool_call>", "", []model.ToolCall{{ID: "call_0", Name: "list", Arguments: `{}`}}},
		"gpt-oss":                  {`<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"q": "a b"}<|call|>`, "", one},
		"gpt-oss behind reasoning": {`<|channel|>analysis<|message|>reasoning<|end|><|start|>assistant<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"q": "a b"}`, "", one},
		"fenced":                   {"```json\n{\"name\": \"search\", \"arguments\": {\"q\": \"a b\"}}\n```", "", one},
		"a list":                   {`[{"name": "search", "arguments": {"q": "a b"}}]`, "", one},
		"in the form of OpenAI":    {`{"type":"function","function":{"name":"search","arguments":"{\"q\": \"a b\"}"}}`, "", one},
		"DeepSeek":                 {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{\"q\": \"a b\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "", one},
		"an unknown tool":          {`<tool_call>{"name":"fetch","arguments":{}}</tool_call>`, "", []model.ToolCall{{ID: "call_0", Name: "fetch", Arguments: "{}"}}},
		"JSON that is an answer":   {`{"name": "Ann", "age": 7}`, `{"name": "Ann", "age": 7}`, nil},
		"a list that is one":       {`[1, 2] and [a](b)`, `[1, 2] and [a](b)`, nil},
		"code that is one":         {"```json\n{\"a\": 1}\n```\nis it.", "```json\n{\"a\": 1}\n```\nis it.", nil},
		"other code":               {"```go\nx := map[string]int{}\n```", "```go\nx := map[string]int{}\n```", nil},
		"words with a brace":       {"The set {1} <tool> is small. [TOOL", "The set {1} <tool> is small. [TOOL", nil},
		"a mark that is no call":   {"Use <tool_call> tags.", "Use <tool_call> tags.", nil},
		"reasoning about a call":   {"<think>I could <tool_call>{}</tool_call></think>Done.", "Done.", nil},
		"a call behind reasoning":  {"<think>hm</think>\n<tool_call>{\"name\":\"search\",\"arguments\":{\"q\": \"a b\"}}</tool_call>", "", one},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n < 50; n += 1 + n/3 {
				c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, streamed(test.said, n)) })
				req := question
				req.Tools = []model.Tool{{Name: "search"}, {Name: "list", Parameters: json.RawMessage(`{"properties": {"q": {"type": "string"}, "n": {"type": "integer"}}}`)}}
				text, _, done := thought(t, c, req)
				if diff := cmp.Diff(test.calls, done.ToolCalls); text != test.text || diff != "" {
					t.Fatalf("in pieces of %d: %q %s", n, text, diff)
				}
				if text, _, done := thought(t, c, question); done.ToolCalls != nil || !strings.Contains(name, "reasoning") && text != test.said {
					t.Fatalf("without tools: %q %v", text, done.ToolCalls)
				}
			}
		})
	}
	t.Run("the arguments of a call that was forced", func(t *testing.T) {
		t.Parallel()
		for _, said := range []string{`{"q": "a b"}`, "Here it is:\n```json\n{\"q\": \"a b\"}\n```", `{"name":"search","arguments":{"q": "a b"}}`} {
			c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, streamed(said, 5)) })
			req := question
			req.Tools, req.ToolChoice = []model.Tool{{Name: "search"}}, "search"
			if text, _, done := thought(t, c, req); text != "" || !cmp.Equal(done.ToolCalls, one) {
				t.Errorf("%s: %q %v", said, text, done.ToolCalls)
			}
		}
	})
}

func TestFragmentsOfCalls(t *testing.T) {
	t.Parallel()
	call := func(fields string) string {
		return `{"choices":[{"index":0,"delta":{"tool_calls":[` + fields + `]}}]}`
	}
	search, list := model.ToolCall{ID: "call_0", Name: "search", Arguments: `{"q":1}`}, model.ToolCall{ID: "call_1", Name: "list", Arguments: `{"n":2}`}
	both := []model.ToolCall{search, list}
	for name, test := range map[string]struct {
		body string
		want []model.ToolCall
	}{
		"one index and no ids":          {say(call(`{"index":0,"id":"","function":{"name":"search","arguments":"{\"q\":1}"}},{"index":0,"id":"","function":{"name":"list","arguments":"{\"n\":2}"}}`), stop, done), both},
		"in two events":                 {say(call(`{"index":0,"function":{"name":"search","arguments":"{\"q\":1}"}}`), call(`{"index":0,"function":{"name":"list","arguments":"{\"n\":2}"}}`), stop, done), both},
		"in fragments":                  {say(call(`{"index":0,"function":{"name":"search"}}`), call(`{"index":0,"function":{"arguments":"{\"q\""}}`), call(`{"index":0,"function":{"arguments":":1}"}}`), call(`{"index":0,"function":{"name":"list"}}`), call(`{"index":0,"function":{"arguments":"{\"n\":2}"}}`), stop, done), both},
		"the same tool twice":           {say(call(`{"function":{"name":"search","arguments":"{\"q\":1}"}}`), call(`{"function":{"name":"search","arguments":"{\"q\":2}"}}`), stop, done), []model.ToolCall{search, {ID: "call_1", Name: "search", Arguments: `{"q":2}`}}},
		"the first without arguments":   {say(call(`{"index":0,"function":{"name":"list"}}`), call(`{"index":0,"function":{"name":"search","arguments":"{\"q\":1}"}}`), stop, done), []model.ToolCall{{ID: "call_0", Name: "list", Arguments: "{}"}, {ID: "call_1", Name: "search", Arguments: `{"q":1}`}}},
		"a name with a namespace":       {say(call(`{"index":0,"function":{"name":"functions.search","arguments":"{\"q\":1}"}}`), stop, done), []model.ToolCall{search}},
		"arguments that are quoted":     {say(call(`{"index":0,"function":{"name":"search","arguments":"\"{\\\"q\\\":1}\""}}`), stop, done), []model.ToolCall{search}},
		"arguments as an object":        {say(call(`{"index":0,"id":"a","function":{"name":"search","arguments":{"q":1}}}`), stop, done), []model.ToolCall{{ID: "a", Name: "search", Arguments: `{"q":1}`}}},
		"an index as text, a number id": {say(call(`{"index":"1","id":7,"function":{"name":"search","arguments":"{\"q\":1}"}}`), stop, done), []model.ToolCall{{ID: "7", Name: "search", Arguments: `{"q":1}`}}},
		"one call that is no list":      {say(`{"choices":[{"delta":{"tool_calls":{"id":"a","function":{"name":"search","arguments":"{\"q\":1}"}}}}]}`, stop, done), []model.ToolCall{{ID: "a", Name: "search", Arguments: `{"q":1}`}}},
		"the older field":               {say(`{"choices":[{"delta":{"function_call":{"name":"search","arguments":"{\"q\":1}"}}}]}`, stop, done), one(search)},
		"a name in fragments":           {say(call(`{"index":0,"function":{"name":"sea"}}`), call(`{"index":0,"function":{"name":"rch"}}`), call(`{"index":0,"function":{"arguments":"{\"q\":1}"}}`), stop, done), one(search)},
		"the name in each fragment":     {say(call(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\""}}`), call(`{"index":0,"id":"a","function":{"name":"search","arguments":":1}"}}`), stop, done), []model.ToolCall{{ID: "a", Name: "search", Arguments: `{"q":1}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.body) })
			req := question
			req.Tools = []model.Tool{{Name: "search"}, {Name: "list"}}
			_, _, done := thought(t, c, req)
			if diff := cmp.Diff(test.want, done.ToolCalls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func one(call model.ToolCall) []model.ToolCall { return []model.ToolCall{call} }
