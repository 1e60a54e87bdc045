package api_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// responseEvents returns the events of a streamed response.
func (a answer) responseEvents() (list []map[string]any) {
	a.t.Helper()
	for _, data := range a.streamed() {
		var event map[string]any
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			a.t.Fatal(err)
		}
		list = append(list, event)
	}
	return list
}

// doDescribed returns a function that sends a request, and checks an answer in JSON against
// the description of its route.
func doDescribed(e *edge) func(method, path, body string) answer {
	description := describedBy(e)
	return func(method, path, body string) answer {
		e.t.Helper()
		got := e.do(method, path, e.reader, body)
		if got.header.Get("Content-Type") == "application/json" {
			description.check(e.t, method, path, got)
		}
		return got
	}
}

func TestOpenAIResponses(t *testing.T) {
	t.Parallel()
	e, a, document := openCiting(t)
	do := doDescribed(e)
	const search = `"tools":[{"type":"file_search","vector_store_ids":["default"],"max_num_results":7,"filters":{"type":"and","filters":[{"type":"eq","key":"team","value":"hr"}]}}]`
	created := do("POST", "/v1/responses", `{"model":"stand-in","instructions":"Be brief.","input":"How long is leave?","metadata":{"a":"b"},"store":true,`+search+`}`)
	response := created.want(200)
	id := response["id"].(string)
	t.Run("an_answer_cites_files", func(t *testing.T) {
		message := response["output"].([]any)[0].(map[string]any)
		text := message["content"].([]any)[0].(map[string]any)
		if text["text"] != "Leave is 30 days [1]." || response["status"] != "completed" || message["role"] != "assistant" {
			t.Errorf("%s", created.body)
		}
		annotation := text["annotations"].([]any)[0].(map[string]any)
		if annotation["type"] != "file_citation" || annotation["index"] != 17.0 || annotation["file_id"] != "file-"+document || annotation["filename"] != "leave.md" {
			t.Errorf("annotation %v", annotation)
		}
		var request knowledge.Request
		if err := e.blobs.GetJSON(t.Context(), a.last().RequestKey(), &request); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(knowledge.Filter{{Field: "metadata.team", Type: knowledge.OpEq, Value: "hr"}}, request.Filter); diff != "" {
			t.Error(diff)
		}
		if request.Config.AI.Model != "stand-in" || request.Config.AI.Retrieval.NumberOfChunks != 7 || request.History[0].Content != "Be brief." || a.last().Project != "default" {
			t.Errorf("%+v", request)
		}
	})
	t.Run("is_read_again", func(t *testing.T) {
		if got := do("GET", "/v1/responses/"+id, "").want(200); !cmp.Equal(got, response) {
			t.Error(cmp.Diff(response, got))
		}
		e.do("GET", "/v1/responses/"+id, e.stranger, nil).openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
		do("GET", "/v1/responses/resp_nope", "").openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
	})
	t.Run("continues_the_conversation", func(t *testing.T) {
		next := do("POST", "/v1/responses", `{"model":"project:default","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"And then?"}]}],"previous_response_id":"`+id+`","background":true}`).want(200)
		if next["status"] != "in_progress" || next["conversation_id"] != response["conversation_id"] || next["previous_response_id"] != id {
			t.Errorf("%v", next)
		}
	})
	t.Run("is_not_cancelled_after_its_end", func(t *testing.T) {
		do("POST", "/v1/responses/"+id+"/cancel", "").openaiError(409, "invalid_request_error", knowledge.CodeConflict)
	})
	for name, c := range map[string]struct{ body, param string }{
		"no_project":         {`{"model":"stand-in","input":"a"}`, "model"},
		"another_tool":       {`{"model":"project:default","input":"a","tools":[{"type":"computer_use"}]}`, "tools[0].type"},
		"two_stores":         {`{"input":"a","tools":[{"type":"file_search","vector_store_ids":["a","b"]}]}`, "tools[0].vector_store_ids"},
		"an_or":              {`{"input":"a","tools":[{"type":"file_search","vector_store_ids":["default"],"filters":{"type":"or"}}]}`, "tools[0].filters.type"},
		"nothing":            {`{"model":"project:default","input":""}`, "input"},
		"a_picture":          {`{"model":"project:default","input":[{"role":"user","content":[{"type":"input_image"}]}]}`, "input"},
		"a_foreign_response": {`{"model":"project:default","input":"a","previous_response_id":"resp_nope"}`, "previous_response_id"},
	} {
		got := do("POST", "/v1/responses", c.body)
		if param := got.openaiError(422, "invalid_request_error", knowledge.CodeInvalid); param != c.param {
			t.Errorf("%s: %v in %s", name, param, got.body)
		}
	}
	if got := do("GET", "/v1/responses/"+id+"?starting_after=x", ""); got.status != 422 || !strings.Contains(string(got.body), "starting_after") {
		t.Errorf("%s", got.body)
	}
}

func TestOpenAIResponseStreams(t *testing.T) {
	t.Parallel()
	t.Run("is_followed_from_any_event", func(t *testing.T) {
		e, _, _ := openCiting(t)
		do := doDescribed(e)
		got := do("POST", "/v1/responses", `{"model":"project:default","input":"How long is leave?","stream":true,"background":true}`)
		events, text := got.responseEvents(), ""
		run := got.header.Get("Cairn-Run-Id")
		for i, event := range events {
			if event["sequence_number"] != float64(i) {
				t.Fatalf("event %d has the number %v", i, event["sequence_number"])
			}
			if event["type"] == "response.output_text.delta" && event["output_index"] == 1.0 {
				text += event["delta"].(string)
			}
		}
		last := events[len(events)-1]
		if text != "Leave is 30 days [1]." || events[0]["type"] != "response.created" || last["type"] != "response.completed" {
			t.Errorf("%q in %s", text, got.body)
		}
		for after := range len(events) {
			rest := do("GET", "/v1/responses/resp_"+run+"?stream=true&starting_after="+strconv.Itoa(after), "")
			if after == len(events)-1 {
				if len(rest.body) != 0 {
					t.Errorf("behind the last event: %s", rest.body)
				}
				continue
			}
			if diff := cmp.Diff(events[after+1:], rest.responseEvents()); diff != "" {
				t.Fatalf("behind event %d: %s", after, diff)
			}
		}
	})
	t.Run("its_message_has_one_id", func(t *testing.T) {
		e, a, _ := openCiting(t)
		preamble := a.said
		called := []said{
			{stream.TopicToolCall, `{"id":"c","name":"documents_rag","status":"started"}`},
			{stream.TopicToolCall, `{"id":"c","name":"documents_rag","status":"completed"}`}, {"", "Leave is 30 days."},
		}
		for name, said := range map[string][]said{"after_a_search": called, "after_words_that_were_dropped": preamble} {
			a.said = said
			got := e.do("POST", "/v1/responses", e.reader, `{"model":"project:default","input":"How long is leave?","stream":true}`)
			events, ids := got.responseEvents(), map[string]bool{}
			last := ""
			for _, event := range events {
				if item, ok := event["item"].(map[string]any); ok && event["type"] == "response.output_item.done" {
					if last = item["id"].(string); ids[last] {
						t.Errorf("%s: two items have the id %s", name, last)
					}
					ids[last] = true
				}
			}
			answerOf := func(response any) any {
				output := response.(map[string]any)["output"].([]any)
				return output[len(output)-1].(map[string]any)["id"]
			}
			if id := answerOf(events[len(events)-1]["response"]); id != last {
				t.Errorf("%s: the message %s is %s in the response", name, last, id)
			}
			read := e.do("GET", "/v1/responses/resp_"+got.header.Get("Cairn-Run-Id"), e.reader, nil).want(200)
			if id := answerOf(read); name == "after_a_search" && id != last {
				t.Errorf("the message %s is %s when it is read", last, id)
			}
		}
	})
}
