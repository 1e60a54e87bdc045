package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/stream"
)

// TestReasoning: the reasoning of a model is shown beside the answer at every door, and is in no
// answer.
func TestReasoning(t *testing.T) {
	t.Parallel()
	e, a, _ := openCiting(t)
	a.said = append([]said{{stream.TopicReasoning, "Let me "}, {stream.TopicReasoning, "see [1]."}}, a.said...)

	got := e.do("POST", hooks+"/query", e.reader, `{"projectId":"default","text":"How long is leave?","stream":true,"sse":true}`)
	if body := string(got.body); strings.Count(body, "event: reasoning\n") != 2 || !strings.Contains(body, `data: {"delta":"see [1]."}`) {
		t.Errorf("%s", body)
	}

	chat := e.do("POST", hooks+chatPath, e.reader, projectChat(`,"stream":true`))
	if body := string(chat.body); !strings.Contains(body, `"reasoning_content":"Let me "`) || strings.Contains(body, `"content":"Let me "`) {
		t.Errorf("%s", body)
	}
	whole := e.do("POST", hooks+chatPath, e.reader, projectChat("")).want(200)
	if text := whole["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)["content"]; text != "Leave is 30 days [1]." {
		t.Errorf("%q", text)
	}

	for reasoning, want := range map[string][]string{
		`,"reasoning":{"summary":"auto"}`: {
			"response.output_item.added", "response.reasoning_summary_part.added", "response.reasoning_summary_text.delta", "response.reasoning_summary_text.delta",
			"response.reasoning_summary_text.done", "response.reasoning_summary_part.done", "response.output_item.done",
		},
		"": nil,
	} {
		response := e.do("POST", "/v1/responses", e.reader, `{"model":"project:default","input":"How long is leave?","stream":true`+reasoning+`}`)
		var types []string
		for i, event := range response.responseEvents() {
			if item, ok := event["item"].(map[string]any); ok && item["type"] == "reasoning" || strings.Contains(event["type"].(string), "reasoning") {
				types = append(types, event["type"].(string))
			}
			if event["type"] == "response.reasoning_summary_text.done" && event["text"] != "Let me see [1]." {
				t.Errorf("%v", event)
			}
			if event["sequence_number"] != float64(i) {
				t.Errorf("event %d has the number %v", i, event["sequence_number"])
			}
		}
		if diff := cmp.Diff(want, types); diff != "" {
			t.Error(diff)
		}
	}
}
