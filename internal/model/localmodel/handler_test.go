package localmodel_test

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

// post sends a body and returns status and answer.
func post(t testing.TB, cfg localmodel.Config, path, body string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	localmodel.New(cfg).Handler().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	chat := func(fields string) string {
		return `{"model":"cairn-offline","messages":[{"role":"user","content":"x"}]` + fields + `}`
	}
	for name, test := range map[string]struct {
		path, body string
		status     int
		param      string
	}{
		"not JSON":                     {"chat/completions", `{"model"`, 400, ""},
		"an empty body":                {"chat/completions", ``, 400, ""},
		"no model":                     {"chat/completions", `{"messages":[{"role":"user","content":"x"}]}`, 400, "model"},
		"another model":                {"chat/completions", `{"model":"gpt-9","messages":[{"role":"user","content":"x"}]}`, 404, "model"},
		"no messages":                  {"chat/completions", `{"model":"cairn-offline","messages":[]}`, 400, "messages"},
		"a wrong type":                 {"chat/completions", `{"model":"cairn-offline","messages":"x"}`, 400, "messages"},
		"an unknown role":              {"chat/completions", `{"model":"cairn-offline","messages":[{"role":"boss","content":"x"}]}`, 400, "messages[0].role"},
		"a picture":                    {"chat/completions", `{"model":"cairn-offline","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "messages"},
		"a tool result without a call": {"chat/completions", `{"model":"cairn-offline","messages":[{"role":"tool","content":"x"}]}`, 400, "messages[0].tool_call_id"},
		"two answers at once":          {"chat/completions", chat(`,"n":2`), 400, "n"},
		"a negative limit":             {"chat/completions", chat(`,"max_tokens":-1`), 400, "max_tokens"},
		"a temperature of 3":           {"chat/completions", chat(`,"temperature":3`), 400, "temperature"},
		"a choice without tools":       {"chat/completions", chat(`,"tool_choice":"required"`), 400, "tool_choice"},
		"an unknown choice":            {"chat/completions", chat(`,"tool_choice":"maybe"`), 400, "tool_choice"},
		"a choice of no tool":          {"chat/completions", chat(`,"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"function","function":{"name":"b"}}`), 400, "tool_choice"},
		"a tool without name":          {"chat/completions", chat(`,"tools":[{"type":"function"}]`), 400, "tools[0]"},
		"no input":                     {"embeddings", `{"model":"cairn-offline-meaning"}`, 400, "input"},
		"an empty input":               {"embeddings", `{"model":"cairn-offline-meaning","input":["a",""]}`, 400, "input[1]"},
		"input of tokens":              {"embeddings", `{"model":"cairn-offline-meaning","input":[1,2]}`, 400, "input"},
		"too many inputs":              {"embeddings", `{"model":"cairn-offline-meaning","input":[` + strings.Repeat(`"a",`, 2048) + `"a"]}`, 400, "input"},
		"an unknown encoding":          {"embeddings", `{"model":"cairn-offline-meaning","input":"a","encoding_format":"hex"}`, 400, "encoding_format"},
		"too many dimensions":          {"embeddings", `{"model":"cairn-offline-meaning","input":"a","dimensions":769}`, 400, "dimensions"},
		"the chat model":               {"embeddings", `{"model":"cairn-offline","input":"a"}`, 404, "model"},
		"another path":                 {"images", `{}`, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := post(t, localmodel.Config{}, "/v1/"+test.path, test.body)
			var got struct {
				Error struct {
					Message, Type string
					Param         *string
				}
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			param := ""
			if got.Error.Param != nil {
				param = *got.Error.Param
			}
			if status != test.status || param != test.param || got.Error.Type != "invalid_request_error" || got.Error.Message == "" {
				t.Errorf("status %d, %s", status, body)
			}
		})
	}
}

func TestWireForms(t *testing.T) {
	t.Parallel()

	t.Run("an answer that is not streamed has the text of the streamed one", func(t *testing.T) {
		t.Parallel()
		request := func(fields string) string {
			content, err := json.Marshal(handbook)
			if err != nil {
				t.Fatal(err)
			}
			return `{"model":"cairn-offline","messages":[{"role":"system","content":[{"type":"text","text":` + string(content) +
				`}]},{"role":"user","content":"Who approves remote work?"}]` + fields + `}`
		}
		var whole struct {
			Object  string
			Choices []struct {
				Message      struct{ Role, Content string }
				FinishReason string `json:"finish_reason"`
			}
			Usage struct {
				Prompt     int `json:"prompt_tokens"`
				Completion int `json:"completion_tokens"`
				Total      int `json:"total_tokens"`
			}
		}
		_, body := post(t, localmodel.Config{}, "/v1/chat/completions", request(``))
		if err := json.Unmarshal([]byte(body), &whole); err != nil {
			t.Fatal(err)
		}
		var streamed strings.Builder
		_, body = post(t, localmodel.Config{}, "/v1/chat/completions", request(`,"stream":true,"seed":3`))
		for line := range strings.Lines(body) {
			var event struct {
				Choices []struct{ Delta struct{ Content string } }
			}
			if data, ok := strings.CutPrefix(line, "data: {"); ok {
				if err := json.Unmarshal([]byte("{"+data), &event); err != nil {
					t.Fatal(line, err)
				}
				streamed.WriteString(event.Choices[0].Delta.Content)
			}
		}
		if !strings.HasSuffix(body, "data: [DONE]\n\n") || strings.Contains(body, `"usage"`) {
			t.Errorf("stream ends in %q", body[max(0, len(body)-200):])
		}
		if whole.Object != "chat.completion" || len(whole.Choices) != 1 || whole.Choices[0].FinishReason != "stop" || whole.Usage.Total != whole.Usage.Prompt+whole.Usage.Completion || whole.Usage.Completion == 0 {
			t.Errorf("got %+v", whole)
		}
		if diff := cmp.Diff(whole.Choices[0].Message.Content, streamed.String()); diff != "" || streamed.Len() == 0 {
			t.Error(diff)
		}
	})

	t.Run("vectors are the same as numbers and as base64, and shorter on demand", func(t *testing.T) {
		t.Parallel()
		_, embedding := serve(t, localmodel.Config{})
		direct := localmodel.New(localmodel.Config{}).Embed([]string{"a slow river"})
		overBase64, _, err := embedding.Embed(t.Context(), []string{"a slow river"})
		if err != nil {
			t.Fatal(err)
		}
		_, body := post(t, localmodel.Config{}, "/v1/embeddings", `{"model":"cairn-offline-meaning","input":"a slow river"}`)
		var numbers struct {
			Data []struct{ Embedding []float32 }
		}
		if err := json.Unmarshal([]byte(body), &numbers); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(direct, overBase64) + cmp.Diff(direct[0], numbers.Data[0].Embedding); diff != "" {
			t.Error(diff)
		}
		_, body = post(t, localmodel.Config{}, "/v1/embeddings", `{"model":"cairn-offline-meaning","input":"a slow river","dimensions":100}`)
		if err := json.Unmarshal([]byte(body), &numbers); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range numbers.Data[0].Embedding {
			sum += float64(v) * float64(v)
		}
		if len(numbers.Data[0].Embedding) != 100 || math.Abs(sum-1) > 1e-4 {
			t.Errorf("%d dimensions of length %f", len(numbers.Data[0].Embedding), sum)
		}
	})
}

// TestPace uses a fake clock.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := io.Pipe()
		request := httptest.NewRequest(http.MethodPost, "/v1/chat/completions",
			strings.NewReader(`{"model":"cairn-offline","stream":true,"messages":[{"role":"user","content":"x"}]}`)).WithContext(t.Context())
		finished := make(chan struct{})
		go func() {
			localmodel.New(localmodel.Config{TokensPerSecond: 10}).Handler().ServeHTTP(&pipeWriter{w: client}, request)
			_ = client.Close()
			close(finished)
		}()
		began := time.Now()
		var at []time.Duration
		lines := bufio.NewScanner(server)
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"content":`) && !strings.Contains(lines.Text(), `"role"`) {
				at = append(at, time.Since(began))
			}
		}
		<-finished
		if len(at) < 10 {
			t.Fatalf("%d pieces", len(at))
		}
		for i, d := range at {
			if d != time.Duration(i)*100*time.Millisecond {
				t.Fatalf("piece %d came after %s", i, d)
			}
		}
	})
}

func TestLeaving(t *testing.T) {
	t.Parallel()
	finished := make(chan struct{})
	handler := localmodel.New(localmodel.Config{TokensPerSecond: 1}).Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		close(finished)
	}))
	defer server.Close()
	res, err := http.Post(server.URL+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"cairn-offline","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := res.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_ = res.Body.Close()
	<-finished
	if waited := time.Since(began); waited > 5*time.Second {
		t.Errorf("streamed for %s after its reader disconnected", waited)
	}
}

// pipeWriter is a response that the test reads while it is written.
type pipeWriter struct {
	w      io.Writer
	header http.Header
}

func (p *pipeWriter) Header() http.Header {
	if p.header == nil {
		p.header = http.Header{}
	}
	return p.header
}
func (p *pipeWriter) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p *pipeWriter) WriteHeader(int)             {}
func (p *pipeWriter) Flush()                      {}
