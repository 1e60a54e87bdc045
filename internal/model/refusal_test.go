package model_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

// refusals are how endpoints refuse optional parameters, in the words that they use.
var refusals = []struct {
	endpoint, parameter string
	status              int
	body                string
}{
	{"OpenAI o-series", "max_tokens", 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`},
	{"OpenAI o-series", "temperature", 400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`},
	{"OpenAI, older", "stream_options", 400, `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error","param":null,"code":null}}`},
	{"Azure", "max_tokens", 400, `{"error":{"code":"unsupported_parameter","message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","type":"invalid_request_error"}}`},
	{"Azure, older version", "stream_options", 400, `{"error":{"code":"BadRequest","message":"Unrecognized request argument supplied: stream_options"}}`},
	{"Mistral", "seed", 422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted","input":1}]},"type":"invalid_request_error","param":null,"code":null}`},
	{"Mistral, older", "seed", 422, `{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted","input":1,"url":"https://errors.example.com/v/extra_forbidden"}]}`},
	{"Mistral", "stream_options", 422, `{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted","type":"value_error.extra"}]}`},
	{"Gemini", "seed", 400, `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"seed\": Cannot find field.","status":"INVALID_ARGUMENT","details":[{"fieldViolations":[{"description":"Invalid JSON payload received. Unknown name \"seed\": Cannot find field."}]}]}}]`},
	{"Groq", "tools", 400, `{"error":{"message":"` + "`tool calling`" + ` is not supported with this model","type":"invalid_request_error"}}`},
	{"Groq", "seed", 400, `{"error":{"message":"property 'seed' is unsupported","type":"invalid_request_error"}}`},
	{"Together", "tool_choice", 400, `{"error":{"message":"Invalid value for tool_choice: named function is not supported","type":"invalid_request_error","param":"tool_choice","code":null}}`},
	{"vLLM", "tools", 400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`},
	{"vLLM, older", "stream_options", 400, `{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {'include_usage': True}}]","type":"BadRequestError","param":null,"code":400}`},
	{"llama.cpp", "tools", 500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`},
	{"Ollama", "tools", 400, `{"error":{"message":"registry.example.com/library/gemma:2b does not support tools","type":"api_error","param":null,"code":null}}`},
	{"LM Studio", "tool_choice", 400, `{"error":"Invalid tool_choice type: 'object'. Supported string values: none, auto, required"}`},
	{"LiteLLM", "seed", 400, `{"error":{"message":"litellm.UnsupportedParamsError: bedrock does not support parameters: ['seed'], for model=claude. To drop these, set litellm.drop_params=True","type":"None","param":"None","code":"400"}}`},
	{"LiteLLM", "temperature", 400, `{"error":{"message":"litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't support temperature=0.2. Only temperature=1 is supported.","type":null,"param":null,"code":"400"}}`},
	{"SambaNova", "seed", 400, `{"error":{"code":null,"message":"seed: Extra inputs are not permitted","param":null,"type":"invalid_request_error"}}`},
	{"DeepSeek", "tool_choice", 400, `{"error":{"message":"deepseek-reasoner does not support this tool_choice","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`},
	{"Anthropic's compatible endpoint", "temperature", 400, `{"error":{"code":"invalid_request_error","message":"temperature: Extra inputs are not permitted","type":"invalid_request_error","param":null}}`},
	{"OpenAI, older", "response_format", 400, `{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the docs.","type":"invalid_request_error","param":null,"code":null}}`},
	{"OpenAI, oldest", "response_format", 400, `{"error":{"message":"Unrecognized request argument supplied: response_format","type":"invalid_request_error","param":null,"code":null}}`},
	{"Groq", "response_format", 400, `{"error":{"message":"This model does not support response format ` + "`json_schema`" + `. See supported models at the docs","type":"invalid_request_error","param":"response_format"}}`},
	{"DeepSeek", "response_format", 400, `{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`},
	{"LM Studio", "response_format", 400, `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`},
	{"LiteLLM", "response_format", 400, `{"error":{"message":"litellm.UnsupportedParamsError: bedrock does not support parameters: ['response_format'], for model=claude.","type":"None","param":"None","code":"400"}}`},
	{"xAI", "stop", 400, `{"code":"Client specified an invalid argument","error":{"message":"Argument not supported on this model: stop"}}`},
	{"OpenAI o-series", "stop", 400, `{"error":{"message":"Unsupported parameter: 'stop' is not supported with this model.","type":"invalid_request_error","param":"stop","code":"unsupported_parameter"}}`},
	{"OpenAI o-series", "top_p", 400, `{"error":{"message":"Unsupported parameter: 'top_p' is not supported with this model.","type":"invalid_request_error","param":"top_p","code":"unsupported_parameter"}}`},
	{"Anthropic on Bedrock", "top_p", 400, "{\"error\":{\"message\":\"`temperature` and `top_p` cannot both be specified for this model. Please use only one.\",\"type\":\"invalid_request_error\"}}"},
	{"OpenRouter", "tools", 404, `{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: https://example.com","code":404}}`},
}

// strict is an endpoint that refuses a parameter, and keeps the bodies of the requests.
func strict(t *testing.T, parameter string, status int, refusal string) (*model.Client, *[]map[string]any, *bytes.Buffer) {
	t.Helper()
	var bodies []map[string]any
	c := raw(t, func(w http.ResponseWriter, r *http.Request) {
		body := map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		bodies = append(bodies, body)
		if _, there := body[parameter]; there {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, refusal)
			return
		}
		_, _ = io.WriteString(w, say(hello, lo, stop, done))
	})
	var log bytes.Buffer
	return c.WithFailover(slog.New(slog.NewTextHandler(&log, nil))), &bodies, &log
}

// TestRefusedParameters: a parameter that an endpoint refuses by name is left out, remembered,
// and said once.
func TestRefusedParameters(t *testing.T) {
	t.Parallel()
	temperature, seed := 0.2, 1
	for _, refused := range refusals {
		t.Run(refused.endpoint+" "+refused.parameter, func(t *testing.T) {
			t.Parallel()
			c, bodies, log := strict(t, refused.parameter, refused.status, refused.body)
			req := question
			req.Temperature, req.Seed, req.MaxTokens = &temperature, &seed, 9
			req.TopP, req.Stop, req.Format = &temperature, []string{"\n\n\n"}, json.RawMessage(`{"type":"json_object"}`)
			req.Tools, req.ToolChoice = []model.Tool{{Name: "search", Parameters: json.RawMessage(`{}`)}}, "search"
			for range 2 {
				if text, _, err := collect(t.Context(), c, req); err != nil || text != "Hello" {
					t.Fatalf("%q, %v", text, err)
				}
			}
			first, last := (*bodies)[0], (*bodies)[len(*bodies)-1]
			missing := slices.DeleteFunc(slices.Sorted(maps.Keys(first)), func(name string) bool { return last[name] != nil })
			want := []string{refused.parameter}
			if refused.parameter == "tools" {
				want = []string{"tool_choice", "tools"}
			}
			if diff := cmp.Diff(want, missing); diff != "" || len(*bodies) > 4 || (*bodies)[len(*bodies)-2][refused.parameter] != nil {
				t.Errorf("%d requests; left out: %s", len(*bodies), diff)
			}
			messages := last["messages"].([]any)
			told := messages[len(messages)-1].(map[string]any)["content"].(string)
			if forced := strings.HasPrefix(refused.parameter, "tool"); forced != strings.Contains(told, "search") {
				t.Errorf("the model is told %q", told)
			}
			if newer := last["max_completion_tokens"]; (newer == 9.0) != (refused.parameter == "max_tokens") {
				t.Errorf("max_completion_tokens is %v", newer)
			}
			if n := strings.Count(log.String(), "parameter="+refused.parameter+"\n"); n != 1 {
				t.Errorf("said %d times: %s", n, log)
			}
		})
	}
}

// TestRefusalsThatNameNoParameter: a request is not repeated without a parameter that its refusal
// does not name, or only in words of the request.
func TestRefusalsThatNameNoParameter(t *testing.T) {
	t.Parallel()
	seed := 1
	for name, body := range map[string]string{
		"another mistake":           `{"error":{"message":"Invalid value: messages must not be empty","type":"invalid_request_error","param":"messages"}}`,
		"the words of the question": `{"error":{"message":"Invalid prompt: 'which seed is not supported by tools'","type":"invalid_request_error"}}`,
		"a filter":                  `{"error":{"message":"invalid prompt, seed","code":"content_filter"}}`,
		"no words":                  `{}`, "a page": `<html>seed is not supported</html>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, bodies, _ := strict(t, "messages", 400, body)
			req := model.ChatRequest{Messages: []model.Message{{Role: model.RoleUser, Content: "Say which seed is not supported by tools, please."}}, Seed: &seed}
			if _, _, err := collect(t.Context(), c, req); err == nil || len(*bodies) != 1 {
				t.Errorf("%d requests, %v", len(*bodies), err)
			}
		})
	}
}

func TestTooManyTokens(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		limit  int
	}{
		"OpenAI":      {400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 8192},
		"vLLM":        {400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages.","type":"BadRequestError","param":null,"code":400}`, 4096},
		"llama.cpp":   {400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":4096}}`, 0},
		"llama.cpp 2": {500, `{"error":{"code":500,"message":"the request exceeds the available context size, try increasing it","type":"server_error"}}`, 0},
		"Gemini":      {400, `[{"error":{"code":400,"message":"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, 1048576},
		"Mistral":     {400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","code":"3051"}`, 0},
		"Groq":        {400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 0},
		"Together":    {422, `{"error":{"message":"Input validation error: ` + "`inputs` tokens + `max_new_tokens` must be <= 8193" + `. Given: 9000 inputs tokens","type":"invalid_request_error"}}`, 8193},
		"Anthropic":   {400, `{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, 0},
		"LiteLLM":     {400, `{"error":{"message":"litellm.ContextWindowExceededError: maximum context length is 16385 tokens","type":null,"code":"400"}}`, 16385},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, bodies, _ := strict(t, "messages", test.status, test.body)
			_, _, err := collect(t.Context(), c, question)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Code != model.CodeContext || e.ContextTokens != test.limit || e.Retryable || len(*bodies) != 1 {
				t.Errorf("%d requests, limit %d: %v", len(*bodies), e.ContextTokens, err)
			}
		})
	}
}

// TestWhatOperatorsRead: the log has what the endpoint said, and neither keys nor words of the request.
func TestWhatOperatorsRead(t *testing.T) {
	t.Parallel()
	const prompt = "The salary of Ann is 4,200 a month, and nobody may know."
	for name, test := range map[string]struct {
		said  string
		has   []string
		lacks []string
	}{
		"the mistake":       {"Unsupported value: 'n' must be 1.", []string{"Unsupported value: 'n' must be 1.", "param n"}, nil},
		"a masked key":      {"Incorrect API key provided: sk-ab12**********wxyz. You can find it.", []string{"Incorrect API key provided", "You can find it"}, []string{"sk-ab", "wxyz"}},
		"the key":           {"The key topsecretkey is wrong.", []string{"The key […] is wrong."}, []string{"topsecret"}},
		"a token":           {"bad header Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", []string{"bad header"}, []string{"eyJ"}},
		"the question":      {"Invalid message: '" + prompt + "' is refused", []string{"Invalid message", "is refused"}, []string{"salary", "4,200"}},
		"a part of it":      {"cannot parse: Ann is 4,200 a month, and nobody", []string{"cannot parse"}, []string{"4,200", "nobody"}},
		"a short question":  {"cannot parse 'Who?'", []string{"cannot parse"}, []string{"Who?"}},
		"a very long thing": {strings.Repeat("word ", 500), []string{"word word"}, []string{strings.Repeat("word ", 110)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(400)
				_, _ = io.WriteString(w, `{"error":{"message":`+quote(test.said)+`,"param":"n"}}`)
			}, func(e *model.Endpoint) { e.APIKey = "topsecretkey" })
			_, _, err := collect(t.Context(), c, model.ChatRequest{Messages: []model.Message{{Role: model.RoleSystem, Content: prompt}, {Role: model.RoleUser, Content: "Who?"}}})
			for _, words := range test.has {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q lacks %q", err, words)
				}
			}
			for _, words := range test.lacks {
				if strings.Contains(err.Error(), words) {
					t.Errorf("%q has %q", err, words)
				}
			}
		})
	}
}
