package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// asked returns the request of the last question.
func (a *answering) asked() knowledge.Request {
	a.edge.t.Helper()
	var request knowledge.Request
	if err := a.edge.blobs.GetJSON(a.edge.t.Context(), a.last().RequestKey(), &request); err != nil {
		a.edge.t.Fatal(err)
	}
	return request
}

// TestFormOfAnAnswer asks projects for answers in a form.
func TestFormOfAnAnswer(t *testing.T) {
	t.Parallel()
	e, a := openAnswering(t, record.Answer{Answer: "Yes.", Model: "m"})
	const (
		chat      = `{"model":"project:default","messages":[{"role":"user","content":"Why?"}]`
		responses = `{"model":"project:default","input":"Why?"`
		schema    = `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}`
		format    = `{"json_schema":{"name":"leave","schema":` + schema + `,"strict":true},"type":"json_schema"}`
	)
	half := 0.5
	for name, test := range map[string]struct {
		path, body string
		want       knowledge.AnswerForm
	}{
		"none":                {chatPath, chat, knowledge.AnswerForm{}},
		"top_p":               {chatPath, chat + `,"top_p":0.5`, knowledge.AnswerForm{TopP: &half}},
		"top_p_zero":          {chatPath, chat + `,"top_p":0`, knowledge.AnswerForm{TopP: new(float64)}},
		"a_stop":              {chatPath, chat + `,"stop":"END"`, knowledge.AnswerForm{Stop: []string{"END"}}},
		"stops":               {chatPath, chat + `,"stop":["a","b","c","\n"]`, knowledge.AnswerForm{Stop: []string{"a", "b", "c", "\n"}}},
		"no_stops":            {chatPath, chat + `,"stop":[]`, knowledge.AnswerForm{}},
		"text":                {chatPath, chat + `,"response_format":{"type":"text"}`, knowledge.AnswerForm{}},
		"an_object":           {chatPath, chat + `,"response_format":{"type":"json_object"}`, knowledge.AnswerForm{Format: json.RawMessage(`{"type":"json_object"}`)}},
		"a_schema":            {chatPath, chat + `,"response_format":{"type":"json_schema","json_schema":{"name":"leave","schema":` + schema + `,"strict":true}}`, knowledge.AnswerForm{Format: json.RawMessage(format)}},
		"top_p_of_a_response": {"/v1/responses", responses + `,"top_p":0.5`, knowledge.AnswerForm{TopP: &half}},
		"text_of_a_response":  {"/v1/responses", responses + `,"text":{"format":{"type":"text"}}`, knowledge.AnswerForm{}},
		"object_of_a_response": {"/v1/responses", responses + `,"text":{"format":{"type":"json_object"}}`,
			knowledge.AnswerForm{Format: json.RawMessage(`{"type":"json_object"}`)}},
		"schema_of_a_response": {"/v1/responses", responses + `,"text":{"format":{"type":"json_schema","name":"leave","schema":` + schema + `,"strict":true}}`,
			knowledge.AnswerForm{Format: json.RawMessage(format)}},
	} {
		t.Run(name, func(t *testing.T) {
			e.do("POST", test.path, e.reader, test.body+"}").want(200)
			if diff := cmp.Diff(test.want, a.asked().Form); diff != "" {
				t.Error(diff)
			}
		})
	}
	shown := e.do("POST", "/v1/responses", e.reader, responses+`,"top_p":0.5,"text":{"format":{"type":"json_object"}}}`).want(200)
	if shown["top_p"] != 0.5 || !cmp.Equal(shown["text"], map[string]any{"format": map[string]any{"type": "json_object"}}) {
		t.Errorf("the response shows %v and %v", shown["top_p"], shown["text"])
	}
}

// TestWrongFormOfAnAnswer asks for forms that there are not.
func TestWrongFormOfAnAnswer(t *testing.T) {
	t.Parallel()
	e, _ := openAnswering(t, record.Answer{Answer: "Yes."})
	long := strings.Repeat("x", 1001)
	for field, values := range map[string]map[string]string{ // param by value
		"stop":  {`[""]`: "stop", `""`: "stop", `["a","b","c","d","e"]`: "stop", `7`: "stop", `[7]`: "stop", `"` + long + `"`: "stop"},
		"top_p": {`-0.1`: "top_p", `1.1`: "top_p", `"1"`: "top_p"},
		"response_format": {
			`{"type":"xml"}`:         "response_format.type",
			`{"type":"json_schema"}`: "response_format.json_schema",
			`{"type":"json_schema","json_schema":{"schema":{}}}`:            "response_format.json_schema.name",
			`{"type":"json_schema","json_schema":{"name":"a b"}}`:           "response_format.json_schema.name",
			`{"type":"json_schema","json_schema":{"name":"a"}}`:             "response_format.json_schema.schema",
			`{"type":"json_schema","json_schema":{"name":"a","schema":[]}}`: "response_format.json_schema.schema",
		},
	} {
		for value, param := range values {
			got := e.do("POST", chatPath, e.reader, `{"model":"project:default","messages":[{"role":"user","content":"a"}],"`+field+`":`+value+`}`)
			if name := got.openaiError(422, "invalid_request_error", knowledge.CodeInvalid); name != param {
				t.Errorf("%s %s: names %v: %s", field, value, name, got.body)
			}
		}
	}
	for value, param := range map[string]string{
		`{"type":"xml"}`: "text.format.type", `{"type":"json_schema"}`: "text.format.name", `{"type":"json_schema","name":"a"}`: "text.format.schema",
	} {
		got := e.do("POST", "/v1/responses", e.reader, `{"model":"project:default","input":"a","text":{"format":`+value+`}}`)
		if name := got.openaiError(422, "invalid_request_error", knowledge.CodeInvalid); name != param {
			t.Errorf("%s: names %v: %s", value, name, got.body)
		}
	}
}

// TestJSONFromTheOfflineModel asks an instance for JSON that has only the offline model.
func TestJSONFromTheOfflineModel(t *testing.T) {
	t.Parallel()
	a := &answering{record: record.Answer{Answer: "Yes."}}
	e := a.open(t, func(c *api.Config, _ *api.Deps) { c.ChatModels = []string{"offline"} })
	for param, request := range map[string][2]string{
		"response_format": {chatPath, `{"model":"project:default","messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_object"}}`},
		"text.format":     {"/v1/responses", `{"model":"project:default","input":"a","text":{"format":{"type":"json_object"}}}`},
	} {
		if name := e.do("POST", request[0], e.reader, request[1]).openaiError(422, "invalid_request_error", knowledge.CodeInvalid); name != param {
			t.Errorf("%s: names %v", param, name)
		}
	}
}

// TestChosenTool names the tool that a model is to call first.
func TestChosenTool(t *testing.T) {
	t.Parallel()
	e, a := openAnswering(t, record.Answer{Answer: "Yes."})
	automation := `{"type":"automation","automation":{"url":"https://example.com/"}}`
	listing := `{"type":"mcp","mcp":{"url":"https://example.com/mcp","tools":[{"name":"hours"}]}}`
	e.do("PATCH", own+"/projects/default", e.admin, `{"tools":{"custom":{"weather":`+automation+`,"tides":`+listing+`,"ships":{"type":"mcp","mcp":{"url":"https://example.com/mcp"}}}}}`).want(200)
	for choice, want := range map[string]string{
		`"auto"`: "auto", `"required"`: "required", `"none"`: "none", `null`: "",
		`NAME weather`: "weather", `NAME tides_hours`: "tides_hours", `NAME ships_berths`: "ships_berths", `NAME documents_rag`: "documents_rag", `NAME list_documents`: "list_documents",
		`NAME other`: "422", `NAME tides_other`: "422", `NAME ships_`: "422", `NAME web_search`: "422", `NAME code_interpreter`: "422", `NAME a b`: "422",
		`{"type":"function"}`: "422", `{"type":"function","function":{}}`: "422", `{"type":"custom","name":"weather"}`: "422", `"weather"`: "422", `7`: "422",
	} {
		for path, form := range map[string]string{chatPath: `{"type":"function","function":{"name":%q}}`, "/v1/responses": `{"type":"function","name":%q}`} {
			value := choice
			if name, ok := strings.CutPrefix(choice, "NAME "); ok {
				value = fmt.Sprintf(form, name)
			}
			body := `{"model":"project:default","messages":[{"role":"user","content":"a"}]`
			if path != chatPath {
				body = `{"model":"project:default","input":"a"`
			}
			got := e.do("POST", path, e.reader, body+`,"tool_choice":`+value+`}`)
			if want == "422" {
				if name := got.openaiError(422, "invalid_request_error", knowledge.CodeInvalid); name != "tool_choice" {
					t.Errorf("%s %s: names %v: %s", path, value, name, got.body)
				}
				continue
			}
			if got.status != 200 {
				t.Errorf("%s %s: %d %s", path, value, got.status, got.body)
			} else if chosen := a.asked().ToolChoice; chosen != want {
				t.Errorf("%s %s: the model is told %q", path, value, chosen)
			}
		}
	}
}

// TestPicturesInAChat asks a project with pictures in the messages, which become attachments.
func TestPicturesInAChat(t *testing.T) {
	t.Parallel()
	e, a := openAnswering(t, record.Answer{Answer: "Yes.", Model: "m"})
	const png = "data:image/png;base64,iVBORw0KGgo="
	picture := func(address string) string {
		return `{"type":"image_url","image_url":{"url":"` + address + `","detail":"low"}}`
	}
	chat := func(question string, more string) string {
		return `{"model":"project:default","messages":[{"role":"user","content":[{"type":"text","text":"First?"},` + picture("https://example.com/old.png") + `]},{"role":"assistant","content":"One."},` +
			`{"role":"user","content":[` + question + `]}]` + more + `}`
	}
	for _, streamed := range []string{"", `,"stream":true`} {
		got := e.do("POST", chatPath, e.editor, chat(`{"type":"text","text":"What is it?"},`+picture(png)+`,{"type":"image_url","image_url":"https://example.com/new.jpg"}`, streamed))
		if got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		request := a.asked()
		if diff := cmp.Diff([]string{"untitled", "new.jpg", "old.png"}, e.attachmentNames(request)); diff != "" || request.Question != "What is it?" || len(request.History) != 2 || request.ConversationID == "" {
			t.Errorf("%s%+v", diff, request)
		}
	}
	e.do("POST", chatPath, e.reader, chat(`{"type":"text","text":"What?"},`+picture(png), "")).openaiError(403, "permission_error", knowledge.CodeForbidden)
	many := `{"type":"text","text":"What?"}` + strings.Repeat(","+picture(png), knowledge.MaxAttachments)
	if param := e.do("POST", chatPath, e.editor, chat(many, "")).openaiError(422, "invalid_request_error", knowledge.CodeInvalid); param != "messages" {
		t.Errorf("too many pictures: %v", param)
	}
	broken := chat(`{"type":"text","text":"What?"},`+picture("data:image/png,abc"), "")
	if param := e.do("POST", chatPath, e.editor, broken).openaiError(422, "invalid_request_error", knowledge.CodeInvalid); param != "messages" {
		t.Errorf("a data: address without base64: %v", param)
	}
	alone := `{"model":"project:default","input":[{"role":"user","content":[{"type":"input_image","image_url":"https://example.com/a.png"}]}]}`
	if param := e.do("POST", "/v1/responses", e.editor, alone).openaiError(422, "invalid_request_error", knowledge.CodeInvalid); param != "input" {
		t.Errorf("a picture alone: %v", param)
	}
}
