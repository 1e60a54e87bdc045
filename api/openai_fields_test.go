package api_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// TestOpenAIFields sends each field that official clients have: it works, or it is refused
// by its name. None that changes an answer is ignored.
func TestOpenAIFields(t *testing.T) {
	t.Parallel()
	a := &answering{}
	e := a.open(t)
	a.record = record.Answer{Answer: "Yes.", Model: "m"}
	for place, c := range map[string]struct {
		path, body        string
		accepted, refused map[string]string // field: value. refused: param, or the field's own name: value
	}{
		"chat": {
			"/v1/chat/completions", `"model":"project:default","messages":[{"role":"user","content":"Why?"}]`,
			map[string]string{
				"metadata": `{"a":"b"}`, "user": `"ann"`, "store": "false", "top_p": "0.5", "n": "1", "tool_choice": `{"type":"function","function":{"name":"list_documents"}}`, "response_format": `{"type":"json_object"}`, "parallel_tool_calls": "true",
				"max_completion_tokens": "9", "stop": `["a","b"]`, "seed": "null", "logprobs": "false", "frequency_penalty": "0", "stream_options": "null", "service_tier": `"auto"`, "logit_bias": "{}", "modalities": `["text"]`,
			},
			map[string]string{
				"stop": `["a","b","c","d","e"]`, "seed": "7", "top_p": "1.5", "n": "2", "tools": `[{"type":"function","function":{"name":"f"}}]`, "tool_choice": `{"type":"function","function":{"name":"f"}}`,
				"response_format.type": `{"type":"xml"}`, "parallel_tool_calls": "false", "reasoning_effort": `"low"`, "logprobs": "true", "top_logprobs": "3", "frequency_penalty": "1", "presence_penalty": "-1",
				"logit_bias": `{"1":2}`, "modalities": `["text","audio"]`, "audio": `{"voice":"a"}`, "prediction": `{"type":"content"}`, "web_search_options": "{}", "functions": `[{"name":"f"}]`, "verbosity": `"low"`, "colour": "1",
			},
		},
		"responses": {
			"/v1/responses", `"model":"project:default","input":"Why?"`,
			map[string]string{
				"instructions": `"Be brief."`, "metadata": `{"a":"b"}`, "user": `"ann"`, "store": "true", "truncation": `"auto"`, "include": `["file_search_call.results","reasoning.encrypted_content"]`, "text": `{"format":{"type":"json_schema","name":"x","schema":{}}}`,
				"parallel_tool_calls": "true", "tool_choice": `{"type":"file_search"}`, "reasoning": `{"summary":"auto"}`, "top_p": "0.2", "max_output_tokens": "50", "stream_options": `{"include_obfuscation":false}`, "prompt_cache_key": `"k"`,
				"tools": `[{"type":"file_search","vector_store_ids":["default"],"max_num_results":3,"ranking_options":{"ranker":"auto","score_threshold":0.3}}]`,
			},
			map[string]string{
				"truncation": `"disabled"`, "include[0]": `["message.output_text.logprobs"]`, "text.format.type": `{"format":{"type":"grammar"}}`, "text.verbosity": `{"verbosity":"low"}`,
				"parallel_tool_calls": "false", "tool_choice": `{"type":"function","name":"f"}`, "reasoning": `{"effort":"low"}`, "top_p": "-1", "top_logprobs": "2", "max_tool_calls": "1", "prompt": `{"id":"p"}`,
				"conversation": `"c"`, "previous_response_id": `"resp_none"`, "tools[0].type": `[{"type":"web_search"}]`, "colour": "1",
				"tools[0].ranking_options.ranker":        `[{"type":"file_search","ranking_options":{"ranker":"none"}}]`,
				"tools[0].ranking_options.hybrid_search": `[{"type":"file_search","ranking_options":{"hybrid_search":{"embedding_weight":1,"text_weight":1}}}]`,
			},
		},
		"embeddings": {
			"/v1/embeddings", `"model":"stand-in","input":"one"`,
			map[string]string{"user": `"ann"`, "encoding_format": `"base64"`, "dimensions": "64"},
			map[string]string{"encoding_format": `"int8"`, "dimensions": "0", "input_type": `"query"`},
		},
		"search": {
			"/v1/vector_stores/default/search", `"query":"Why?"`,
			map[string]string{"max_num_results": "3", "filters": `{"type":"and","filters":[{"type":"eq","key":"a","value":1}]}`, "ranking_options": `{"ranker":"auto","score_threshold":0.1}`, "rewrite_query": "true"},
			map[string]string{"max_num_results": "51", "ranking_options.ranker": `{"ranker":"none"}`, "filters.type": `{"type":"or","filters":[]}`, "colour": "1"},
		},
		"stores": {
			"/v1/vector_stores", `"name":"Store"`,
			map[string]string{"metadata": "{}", "chunking_strategy": `{"type":"auto"}`, "expires_after": "null", "file_ids": "[]"},
			map[string]string{"metadata": `{"a":"b"}`, "chunking_strategy": `{"type":"static","static":{"max_chunk_size_tokens":800,"chunk_overlap_tokens":400}}`, "expires_after": `{"anchor":"last_active_at","days":1}`, "description": `"x"`},
		},
		"batches": {
			"/v1/vector_stores/default/file_batches", `"file_ids":["file-none"]`, nil,
			map[string]string{"chunking_strategy": `{"type":"static"}`, "colour": "1"},
		},
	} {
		t.Run(place, func(t *testing.T) {
			for field, value := range c.accepted {
				if got := e.do("POST", c.path, e.admin, fmt.Sprintf(`{%s,%q:%s}`, c.body, field, value)); got.status != 200 {
					t.Errorf("%s %s: %d %s", field, value, got.status, got.body)
				}
			}
			for param, value := range c.refused {
				field := param
				for i, r := range param {
					if r == '.' || r == '[' {
						field = param[:i]
						break
					}
				}
				got := e.do("POST", c.path, e.admin, fmt.Sprintf(`{%s,%q:%s}`, c.body, field, value))
				if name := got.openaiError(422, "invalid_request_error", knowledge.CodeInvalid); name != param {
					t.Errorf("%s %s: names %v: %s", param, value, name, got.body)
				}
			}
		})
	}
}

// TestOpenAIResponseFiles asks with files in the input, which become attachments, and lists
// the input again.
func TestOpenAIResponseFiles(t *testing.T) {
	t.Parallel()
	a := &answering{}
	e := a.open(t)
	a.record = record.Answer{Answer: "Yes.", Model: "m"}
	uploaded := e.sendFile(e.editor, "leave.md", "Leave is 30 days.").want(200)["id"].(string)
	ask := func(key, parts string) answer {
		return e.do("POST", "/v1/responses", key, `{"model":"project:default","instructions":"Be brief.","input":[{"role":"user","content":"first"},{"role":"assistant","content":"one"},{"role":"user","content":[{"type":"input_text","text":"How long?"}`+parts+`]}]}`)
	}
	response := ask(e.editor, `,{"type":"input_file","file_id":"`+uploaded+`"},{"type":"input_file","filename":"a.txt","file_data":"data:text/plain;base64,b25l"},`+
		`{"type":"input_image","image_url":"https://example.com/b.png"},{"type":"input_file","file_url":"https://example.com/c.txt"}`).want(200)
	var request knowledge.Request
	if err := e.blobs.GetJSON(t.Context(), a.last().RequestKey(), &request); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.txt", "b.png", "c.txt", "leave.md"}, e.attachmentNames(request)); diff != "" {
		t.Error(diff)
	}
	id := response["id"].(string)
	items := e.do("GET", "/v1/responses/"+id+"/input_items?order=asc&limit=2", e.editor, nil).want(200)
	first := items["data"].([]any)[0].(map[string]any)
	if len(items["data"].([]any)) != 2 || items["has_more"] != true || first["role"] != "user" || first["content"].([]any)[0].(map[string]any)["text"] != "first" {
		t.Errorf("input items %v", items)
	}
	e.do("GET", "/v1/responses/"+id+"/input_items", e.stranger, nil).openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
	e.do("DELETE", "/v1/responses/"+id, e.editor, nil).openaiError(405, "invalid_request_error", knowledge.CodeMethodNotAllowed)
	ask(e.reader, `,{"type":"input_file","filename":"a.txt","file_data":"b25l"}`).openaiError(403, "permission_error", knowledge.CodeForbidden)
	for _, parts := range []string{`,{"type":"input_file"}`, `,{"type":"input_image","image_url":"data:nothing"}`, `,{"type":"input_audio"}`} {
		if param := ask(e.editor, parts).openaiError(422, "invalid_request_error", knowledge.CodeInvalid); param != "input" {
			t.Errorf("%s: names %v", parts, param)
		}
	}
	other := `{"model":"project:default","input":[{"type":"function_call_output","call_id":"c","output":"x"},{"role":"user","content":"Why?"}]}`
	e.do("POST", "/v1/responses", e.editor, other).openaiError(422, "invalid_request_error", knowledge.CodeInvalid)
}

// TestOpenAIStoreFiles changes the attributes of a file, and lists the files of a batch.
func TestOpenAIStoreFiles(t *testing.T) {
	t.Parallel()
	e := open(t)
	var ids []string
	for _, name := range []string{"a.txt", "b.txt"} {
		ids = append(ids, e.sendFile(e.editor, name, "text of "+name).want(200)["id"].(string))
	}
	const root = "/v1/vector_stores/default"
	batch := e.do("POST", root+"/file_batches", e.editor, map[string]any{"file_ids": ids, "attributes": map[string]any{"a": 1}}).want(200)
	list := e.do("GET", root+"/file_batches/"+batch["id"].(string)+"/files?order=asc&filter=in_progress", e.editor, nil).want(200)["data"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["id"] != ids[0] {
		t.Errorf("files of the batch: %v", list)
	}
	changed := e.do("POST", root+"/files/"+ids[0], e.editor, `{"attributes":{"side":"east"}}`).want(200)
	if diff := cmp.Diff(map[string]any{"side": "east"}, changed["attributes"]); diff != "" {
		t.Error(diff)
	}
	if param := e.do("POST", root+"/files/"+ids[0], e.editor, `{}`).openaiError(422, "invalid_request_error", knowledge.CodeInvalid); param == nil {
		t.Error("the error names no field")
	}
}

// attachmentNames returns the names of the documents that are attached to a question.
func (e *edge) attachmentNames(request knowledge.Request) []string {
	e.t.Helper()
	var names []string
	for _, id := range request.Attachments {
		d, err := e.store.Document(e.t.Context(), request.Principal.Reader(), id)
		if err != nil {
			e.t.Fatal(err)
		}
		names = append(names, d.Name)
	}
	return names
}
