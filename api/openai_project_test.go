package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/stream"
)

// openCiting opens an edge whose answers cite the chunk of a document.
func openCiting(t *testing.T) (e *edge, a *answering, document string) {
	t.Helper()
	a = &answering{}
	e = a.open(t)
	document = e.add(e.editor, "leave.md", "Leave is 30 days.")
	e.publish(document, knowledge.Chunk{Text: "Leave is 30 days."})
	chunk := knowledge.ChunkID(document, 1, 0)
	a.record = record.Answer{
		Answer: `Leave is 30 days <citation id="` + chunk + `">[1]</citation>.`, Used: []int{1}, Model: "m",
		Sources: []record.Source{{Rank: 1, ChunkID: chunk, DocumentID: document, Score: 0.5}, {Rank: 2, ChunkID: "gone", DocumentID: document}},
		Usage:   knowledge.Usage{PromptTokens: 20, CompletionTokens: 6, ModelCalls: 2}, Searches: []retrieve.Choices{{Strategy: "bm25"}},
	}
	a.said = []said{
		{"", "Let me look."}, {topic: stream.TopicReset}, {"", "Leave is 30 days <cita"}, {"", `tion id="` + chunk + `">[1`}, {"", "]</citation>."},
	}
	return e, a, document
}

const chatPath = "/v1/chat/completions"

// projectChat returns the body of a request for a chat completion by a project.
func projectChat(more string) string {
	return `{"model":"project:default","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"first"},{"role":"assistant","content":"one"},{"role":"user","content":[{"type":"text","text":"How long is leave?"}]}],"temperature":0.5,"max_tokens":99` + more + `}`
}

func TestOpenAIChatWithAProject(t *testing.T) {
	t.Parallel()
	e, a, document := openCiting(t)
	description := describedBy(e)
	t.Run("whole", func(t *testing.T) {
		got := e.do("POST", chatPath, e.reader, projectChat(`,"user":"ann","store":false,"top_p":1`))
		description.check(t, "POST", chatPath, got)
		choice := got.want(200)["choices"].([]any)[0].(map[string]any)
		message := choice["message"].(map[string]any)
		if message["content"] != "Leave is 30 days [1]." || choice["finish_reason"] != "stop" {
			t.Errorf("%s", got.body)
		}
		place := message["annotations"].([]any)[0].(map[string]any)["url_citation"].(map[string]any)
		if place["start_index"] != 17.0 || place["end_index"] != 20.0 || place["title"] != "leave.md" || !strings.HasPrefix(place["url"].(string), "http://example.com/workspaces/default/documents/"+document) {
			t.Errorf("annotation %v", place)
		}
		cited := message["citations"].([]any)
		if len(cited) != 1 || cited[0].(map[string]any)["documentId"] != document || cited[0].(map[string]any)["text"] != "Leave is 30 days." {
			t.Errorf("citations %v", cited)
		}
		if diff := cmp.Diff([]any{map[string]any{"strategy": "bm25"}}, message["searches"]); diff != "" {
			t.Errorf("what the search chose: %s", diff)
		}
		if usage := got.want(200)["usage"].(map[string]any); usage["total_tokens"] != 26.0 {
			t.Errorf("usage %v", usage)
		}
		var request knowledge.Request
		if err := e.blobs.GetJSON(t.Context(), a.last().RequestKey(), &request); err != nil {
			t.Fatal(err)
		}
		history := []knowledge.Message{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "first"}, {Role: "assistant", Content: "one"}}
		if diff := cmp.Diff(history, request.History); diff != "" || request.Question != "How long is leave?" {
			t.Errorf("question %q, history: %s", request.Question, diff)
		}
		if request.Config.AI.MaxTokens != 99 || *request.Config.AI.Temperature != 0.5 || request.ConversationID != "" || got.header.Get("Cairn-Run-Id") != a.last().Run {
			t.Errorf("snapshot %+v, %s", request, got.header)
		}
	})
	t.Run("a_repeated_request_attaches_to_the_run", func(t *testing.T) {
		first := e.do("POST", chatPath, e.reader, projectChat(""), "Idempotency-Key", "k").header.Get("Cairn-Run-Id")
		again := e.do("POST", chatPath, e.reader, projectChat(""), "Idempotency-Key", "k")
		if again.header.Get("Cairn-Run-Id") != first || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s", again.header)
		}
	})
}

func TestOpenAIChatStreamOfAProject(t *testing.T) {
	t.Parallel()
	e, _, _ := openCiting(t)
	got := e.do("POST", hooks+chatPath, e.reader, projectChat(`,"stream":true,"stream_options":{"include_usage":true}`))
	events, text := got.streamed(), ""
	var last struct {
		Choices []struct {
			Delta struct {
				Content                          string
				Annotations, Citations, Searches []any
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage map[string]any
	}
	for i, event := range events[:len(events)-2] {
		last.Choices = nil
		if err := json.Unmarshal([]byte(event), &last); err != nil {
			t.Fatal(err)
		}
		if i == 0 && !strings.Contains(event, `"role":"assistant"`) {
			t.Errorf("the first chunk is %s", event)
		}
		text += last.Choices[0].Delta.Content
	}
	if text != "Let me look.\n\nLeave is 30 days [1]." {
		t.Errorf("%q", text)
	}
	if c := last.Choices[0]; c.FinishReason != "stop" || len(c.Delta.Annotations) != 1 || len(c.Delta.Citations) != 1 || len(c.Delta.Searches) != 1 {
		t.Errorf("the last chunk is %+v", c)
	}
	if !strings.Contains(events[len(events)-2], `"choices":[],"usage":{"prompt_tokens":20`) || events[len(events)-1] != "[DONE]" {
		t.Errorf("%s", events[len(events)-2:])
	}
}

func TestRefusedChatWithAProject(t *testing.T) {
	t.Parallel()
	e, _, _ := openCiting(t)
	for name, c := range map[string]struct{ more, param string }{
		"tools":            {`,"tools":[{"type":"function"}]`, "tools"},
		"several_answers":  {`,"n":2`, "n"},
		"a_schema":         {`,"response_format":{"type":"json_schema"}`, "response_format.json_schema"},
		"a_picture":        {`,"messages":[{"role":"user","content":[{"type":"image_url"}]}]`, "messages[0].content"},
		"a_picture_alone":  {`,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}]`, "messages[0].content"},
		"a_text_as_image":  {`,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:text/plain;base64,YQ=="}}]}]`, "messages[0].content"},
		"no_address":       {`,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{}}]}]`, "messages"},
		"an_answer's":      {`,"messages":[{"role":"assistant","content":[{"type":"image_url","image_url":"https://example.com/a.png"}]},{"role":"user","content":"a"}]`, "messages[0].content"},
		"no_question":      {`,"messages":[{"role":"system","content":"a"}]`, "messages"},
		"an_empty_message": {`,"messages":[{"role":"user","content":" "}]`, "messages[0].content"},
	} {
		t.Run("refuses_"+name, func(t *testing.T) {
			field, _, _ := strings.Cut(strings.TrimPrefix(c.more, `,"`), `"`)
			request := `{"model":"project:default"` + c.more
			if field != "messages" {
				request += `,"messages":[{"role":"user","content":"a"}]`
			}
			got := e.do("POST", chatPath, e.reader, request+"}")
			if param := got.openaiError(422, "invalid_request_error", knowledge.CodeInvalid); param != c.param {
				t.Errorf("param %v: %s", param, got.body)
			}
		})
	}
	e.do("POST", chatPath, e.reader, strings.Replace(projectChat(""), "default", "nope", 1)).openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
}
