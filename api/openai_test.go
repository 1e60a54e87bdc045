package api_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// openaiError fails the test unless the answer is an error of the OpenAI protocol, and
// returns the field that it names.
func (a answer) openaiError(status int, kind string, code knowledge.Code) (param any) {
	a.t.Helper()
	body := a.want(status)
	e, ok := body["error"].(map[string]any)
	if !ok || !cmp.Equal(keysOf(body), []string{"error"}) || a.header.Get("Content-Type") != "application/json" {
		a.t.Fatalf("%s: %s", a.header.Get("Content-Type"), a.body)
	}
	wantKeys(a.t, e, "message", "type", "param", "code")
	if e["type"] != kind || e["code"] != string(code) || e["message"] == "" {
		a.t.Errorf("%s: want %s, %s", a.body, kind, code)
	}
	return e["param"]
}

func TestOpenAIErrors(t *testing.T) {
	t.Parallel()
	e := open(t)
	const chat = "/v1/chat/completions"
	for name, c := range map[string]struct {
		method, path, key, body string
		status                  int
		kind                    string
		code                    knowledge.Code
		param                   any
	}{
		"no_key":               {"GET", "/v1/models", "", "", 401, "authentication_error", knowledge.CodeUnauthorized, nil},
		"a_wrong_key":          {"POST", chat, "nope", "{}", 401, "authentication_error", knowledge.CodeUnauthorized, nil},
		"no_route":             {"GET", "/v1/nope", e.reader, "", 404, "invalid_request_error", knowledge.CodeNotFound, nil},
		"the_root_itself":      {"GET", "/v1", e.reader, "", 404, "invalid_request_error", knowledge.CodeNotFound, nil},
		"no_method":            {"DELETE", chat, e.reader, "", 405, "invalid_request_error", knowledge.CodeMethodNotAllowed, nil},
		"not_JSON":             {"POST", chat, e.reader, "{", 400, "invalid_request_error", knowledge.CodeMalformed, nil},
		"no_body":              {"POST", chat, e.reader, "", 400, "invalid_request_error", knowledge.CodeMalformed, nil},
		"a_wrong_type":         {"POST", chat, e.reader, `{"model":"m","messages":[{"role":1}]}`, 422, "invalid_request_error", knowledge.CodeInvalid, "messages[0].role"},
		"no_messages":          {"POST", chat, e.reader, `{"model":"m"}`, 422, "invalid_request_error", knowledge.CodeInvalid, "body"},
		"an_unknown_model":     {"POST", chat, e.reader, `{"model":"m","messages":[{"role":"user","content":"a"}]}`, 404, "invalid_request_error", knowledge.CodeNotFound, "model"},
		"an_unknown_parameter": {"GET", "/v1/models?a=b", e.reader, "", 422, "invalid_request_error", knowledge.CodeInvalid, "a"},
		"another_workspace":    {"GET", "/workspaces/other/webhooks/v1/models", e.reader, "", 404, "invalid_request_error", knowledge.CodeNotFound, nil},
		"below_a_workspace":    {"GET", hooks + "/v1/nope", e.reader, "", 404, "invalid_request_error", knowledge.CodeNotFound, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := e.do(c.method, c.path, c.key, c.body)
			if param := got.openaiError(c.status, c.kind, c.code); param != c.param {
				t.Errorf("param %v, want %v: %s", param, c.param, got.body)
			}
			if c.status == 405 && got.header.Get("Allow") != "POST" {
				t.Errorf("Allow: %s", got.header)
			}
		})
	}
}

func TestOpenAIModels(t *testing.T) {
	t.Parallel()
	e := open(t)
	made := e.do("POST", hooks+"/projects", e.admin, `{"name":"House","slug":"house"}`).want(200)
	ids := func(key string, headers ...string) (list []string) {
		for _, m := range e.do("GET", "/v1/models", key, nil, headers...).want(200)["data"].([]any) {
			list = append(list, m.(map[string]any)["id"].(string))
		}
		return list
	}
	for name, c := range map[string]struct{ got, want []string }{
		"of_all_projects":         {ids(e.reader), []string{modeltest.ModelName, "project:house", "project:default"}},
		"of_a_key_to_one_project": {ids(made["apiKey"].(string)), []string{modeltest.ModelName, "project:house"}},
		"of_another_workspace":    {ids(e.admin, "Cairn-Workspace", "other"), []string{modeltest.ModelName, "project:default"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	description := describedBy(e)
	for _, path := range []string{"/v1/models", "/v1/models/project:house", hooks + "/v1/models/" + modeltest.ModelName, "/v1/models/nope", "/v1/models/project:nope"} {
		got := e.do("GET", path, e.reader, nil)
		description.check(t, "GET", path, got)
		if strings.HasSuffix(path, "nope") {
			got.openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
		}
	}
}

func TestOpenAIEmbeddings(t *testing.T) {
	t.Parallel()
	e := open(t)
	description := describedBy(e)
	embed := func(body string) answer {
		got := e.do("POST", "/v1/embeddings", e.reader, body)
		description.check(t, "POST", "/v1/embeddings", got)
		return got
	}
	first := func(a answer) any { return a.want(200)["data"].([]any)[0].(map[string]any)["embedding"] }
	numbers := embed(`{"model":"stand-in","input":"one","user":null}`)
	vector := first(numbers).([]any)
	if usage := numbers.want(200)["usage"].(map[string]any); usage["prompt_tokens"] == 0.0 || usage["total_tokens"] != usage["prompt_tokens"] {
		t.Errorf("usage %v", usage)
	}
	raw, err := base64.StdEncoding.DecodeString(first(embed(`{"model":"stand-in","input":["one"],"encoding_format":"base64"}`)).(string))
	if err != nil || len(raw) != 4*len(vector) {
		t.Fatalf("%d bytes for %d numbers, %v", len(raw), len(vector), err)
	}
	for i, x := range vector {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])); math.Abs(float64(got)-x.(float64)) > 1e-6 {
			t.Fatalf("number %d is %v in base64, %v as a number", i, got, x)
		}
	}
	if short := first(embed(`{"model":"stand-in","input":"one","dimensions":64}`)).([]any); len(short) != 64 {
		t.Errorf("%d dimensions", len(short))
	}
	if list := embed(`{"model":"stand-in","input":["one","two","three"]}`).want(200)["data"].([]any); len(list) != 3 || list[2].(map[string]any)["index"] != 2.0 {
		t.Errorf("%v", list)
	}
	for name, c := range map[string]struct{ body, param string }{
		"tokens":            {`{"model":"stand-in","input":[1,2,3]}`, "input"},
		"arrays_of_tokens":  {`{"model":"stand-in","input":[[1,2],[3]]}`, "input"},
		"nothing":           {`{"model":"stand-in","input":[]}`, "input"},
		"an_empty_text":     {`{"model":"stand-in","input":[""]}`, "input"},
		"an_unknown_format": {`{"model":"stand-in","input":"a","encoding_format":"hex"}`, "encoding_format"},
	} {
		got := embed(c.body)
		if param := got.openaiError(422, "invalid_request_error", knowledge.CodeInvalid); param != c.param {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	if got := string(embed(`{"model":"stand-in","input":[[1]]}`).body); !strings.Contains(got, "tokens are not supported") {
		t.Error(got)
	}
	e.models.ScriptEmbeddings(modeltest.Fail(429, "Retry-After", "7"))
	embed(`{"model":"stand-in","input":"one"}`).openaiError(429, "rate_limit_error", knowledge.CodeRateLimited)
}

// streamed returns the data of the events of a stream.
func (a answer) streamed() (events []string) {
	a.t.Helper()
	if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		a.t.Fatalf("%d %s: %s", a.status, a.header, a.body)
	}
	for line := range strings.Lines(string(a.body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			events = append(events, strings.TrimSpace(data))
		}
	}
	return events
}

func TestOpenAIChatWithAModel(t *testing.T) {
	t.Parallel()
	e := open(t)
	chat := func(more string) answer {
		return e.do("POST", "/v1/chat/completions", e.reader, `{"model":"stand-in","messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Hello"}]}]`+more+`}`)
	}
	e.models.ScriptChat(modeltest.Text("Good day."))
	whole := chat(`,"max_completion_tokens":50,"logprobs":null,"unknown":{"a":1},"seed":7,"stop":["x"]`)
	describedBy(e).check(t, "POST", "/v1/chat/completions", whole)
	message := whole.want(200)["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)
	if message["content"] != "Good day." {
		t.Errorf("%s", whole.body)
	}
	if sent := e.models.Requests()[0]; sent.MaxCompletionTokens != 50 || *sent.Seed != 7 || sent.Messages[1].Content != "Hello" {
		t.Errorf("the endpoint received %+v", sent)
	}

	e.models.ScriptChat(modeltest.Text("Good day."))
	events := chat(`,"stream":true,"stream_options":{"include_usage":true}`).streamed()
	text, usage := "", false
	for _, event := range events[:len(events)-1] {
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
			Usage   *struct{}
		}
		if err := json.Unmarshal([]byte(event), &chunk); err != nil {
			t.Fatalf("%v: %s", err, event)
		}
		for _, choice := range chunk.Choices {
			text += choice.Delta.Content
		}
		usage = usage || chunk.Usage != nil
	}
	if text != "Good day." || !usage || events[len(events)-1] != "[DONE]" {
		t.Errorf("%q from %s", text, events)
	}

	e.models.ScriptChat(modeltest.Call(model.ToolCall{ID: "c", Name: "weather", Arguments: `{"city":"Rome"}`}))
	called := chat(`,"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}],"tool_choice":"required"`)
	if !strings.Contains(string(called.body), `"tool_calls"`) {
		t.Errorf("%s", called.body)
	}

	t.Run("failures_are_shown_without_the_words_of_the_endpoint", func(t *testing.T) {
		e.models.ScriptChat(modeltest.Fail(400))
		refused := chat("")
		refused.openaiError(422, "invalid_request_error", knowledge.CodeInvalid)
		e.models.ScriptChat(modeltest.Fail(500))
		chat(`,"stream":true`).openaiError(502, "server_error", knowledge.CodeProviderFailed)
		e.models.ScriptChat(modeltest.Garbage())
		chat("").openaiError(502, "server_error", knowledge.CodeProviderFailed)
		e.models.ScriptChat(modeltest.CutAfter(3))
		events := chat(`,"stream":true`).streamed()
		if last := events[len(events)-1]; !strings.Contains(last, `"code":"provider_failed"`) || len(events) < 2 {
			t.Errorf("a stream that breaks off ends with %s", last)
		}
	})
	t.Run("a_repeated_request_has_one_answer", func(t *testing.T) {
		before := len(e.models.Requests())
		for range 2 {
			got := e.do("POST", "/v1/chat/completions", e.reader, `{"model":"stand-in","messages":[{"role":"user","content":"again"}]}`, "Idempotency-Key", "k")
			got.want(http.StatusOK)
		}
		if n := len(e.models.Requests()) - before; n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
	})
	t.Run("the_limit_of_a_project_counts", func(t *testing.T) {
		made := e.do("POST", hooks+"/projects", e.admin, `{"name":"Limited","limits":{"queriesPerMinute":1}}`).want(200)
		ask := func() answer {
			return e.do("POST", "/v1/chat/completions", made["apiKey"].(string), `{"model":"stand-in","messages":[{"role":"user","content":"a"}]}`)
		}
		ask().want(200)
		second := ask()
		second.openaiError(429, "rate_limit_error", knowledge.CodeRateLimited)
		if second.header.Get("Retry-After") == "" || second.header.Get("RateLimit-Limit") != "1" {
			t.Errorf("%s", second.header)
		}
	})
}
