package api_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

func TestOpenAIFinishReason(t *testing.T) {
	t.Parallel()
	for reason, incomplete := range map[string]string{model.FinishLength: "max_output_tokens", model.FinishFiltered: "content_filter"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			e, a, _ := openCiting(t)
			a.record.FinishReason = reason
			description := describedBy(e)
			const chat, responses = "/v1/chat/completions", "/v1/responses"
			completion := e.do("POST", chat, e.reader, `{"model":"project:default","messages":[{"role":"user","content":"How long is leave?"}]}`)
			if choice := completion.want(200)["choices"].([]any)[0].(map[string]any); choice["finish_reason"] != reason {
				t.Errorf("the completion ends with %v", choice["finish_reason"])
			}
			streamed := e.do("POST", chat, e.reader, `{"model":"project:default","stream":true,"messages":[{"role":"user","content":"How long is leave?"}]}`).streamed()
			if last := streamed[len(streamed)-2]; !strings.Contains(last, `"finish_reason":"`+reason+`"`) {
				t.Errorf("the last chunk is %s", last)
			}
			const search = `"tools":[{"type":"file_search","vector_store_ids":["default"]}]}`
			got := e.do("POST", responses, e.reader, `{"model":"stand-in","input":"How long is leave?",`+search)
			description.check(t, "POST", responses, got)
			response := got.want(200)
			details, _ := response["incomplete_details"].(map[string]any)
			if response["status"] != "incomplete" || details["reason"] != incomplete {
				t.Errorf("the response is %v because of %v", response["status"], details)
			}
			events := e.do("POST", responses, e.reader, `{"model":"stand-in","stream":true,"input":"How long is leave?",`+search).body
			if !strings.Contains(string(events), "event: response.incomplete\n") || strings.Contains(string(events), "response.completed") {
				t.Errorf("the events are %s", events)
			}
		})
	}
}
