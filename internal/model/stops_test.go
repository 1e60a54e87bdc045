package model_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

// parts returns a stream of an answer in parts of so many bytes, which ends with a call of a tool.
func parts(t *testing.T, answer string, size int) string {
	t.Helper()
	var b strings.Builder
	for len(answer) > 0 {
		n := min(size, len(answer))
		text, err := json.Marshal(answer[:n])
		if err != nil {
			t.Fatal(err)
		}
		answer = answer[n:]
		b.WriteString(`data: {"choices":[{"index":0,"delta":{"content":` + string(text) + `}}]}` + "\n\n")
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":9}}` + "\n\ndata: [DONE]\n\n")
	return b.String()
}

// TestStops reads answers of an endpoint that does not know stop, in parts of every size.
func TestStops(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer string
		stop   []string
		want   string
	}{
		"none":                      {"one two", nil, "one two"},
		"not_met":                   {"one two", []string{"three"}, "one two"},
		"in_the_middle":             {"one two three", []string{" two"}, "one"},
		"at_the_beginning":          {"one two", []string{"one"}, ""},
		"at_the_end":                {"one two", []string{"two"}, "one "},
		"the_first_of_several":      {"a. b! c? d", []string{"?", "!", "zzz"}, "a. b"},
		"only_its_beginning":        {"one END", []string{"ENDE"}, "one END"},
		"a_beginning_and_then_it":   {"xEEND y", []string{"END"}, "xE"},
		"overlaps_itself":           {"aab aaab", []string{"aaab"}, "aab "},
		"one_within_another":        {"one END two", []string{"END two", "END"}, "one "},
		"lines":                     {"one\n\n\ntwo", []string{"\n\n"}, "one"},
		"several_bytes_a_character": {"eins – zwei", []string{"–"}, "eins "},
		"not_in_the_reasoning":      {"<think>END</think>one END two", []string{"END"}, "one "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= len(test.answer); size++ {
				if strings.Contains(name, "bytes") && size < len(test.answer) {
					continue // JSON does not hold half a character
				}
				c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, parts(t, test.answer, size)) })
				req := question
				req.Stop = test.stop
				text, done, err := collect(t.Context(), c, req)
				if err != nil || text != test.want || done.FinishReason != model.FinishStop {
					t.Fatalf("in parts of %d bytes: %q, %v, %v", size, text, done, err)
				}
			}
		})
	}
}

// TestFormatAndSampling sends what a caller chooses of an answer, also where the endpoint
// refuses the format.
func TestFormatAndSampling(t *testing.T) {
	t.Parallel()
	topP := 0.25
	const schema = `{"type":"object","properties":{"days":{"type":"integer"}}}`
	req := question
	req.TopP, req.Stop, req.Format = &topP, []string{"END"}, json.RawMessage(`{"type":"json_schema","json_schema":{"name":"leave","schema":`+schema+`}}`)
	t.Run("sent", func(t *testing.T) {
		c, bodies, _ := strict(t, "nothing", 400, "")
		if _, _, err := collect(t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
		sent := (*bodies)[0]
		if sent["top_p"] != 0.25 || !cmp.Equal(sent["stop"], []any{"END"}) || sent["response_format"].(map[string]any)["type"] != "json_schema" {
			t.Errorf("sent %v", sent)
		}
	})
	t.Run("not_chosen", func(t *testing.T) {
		c, bodies, _ := strict(t, "nothing", 400, "")
		if _, _, err := collect(t.Context(), c, question); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"top_p", "stop", "response_format"} {
			if value, there := (*bodies)[0][name]; there {
				t.Errorf("sent %s: %v", name, value)
			}
		}
	})
	t.Run("refused", func(t *testing.T) {
		c, bodies, _ := strict(t, "response_format", 400, `{"error":{"message":"response_format is not supported","param":"response_format"}}`)
		if _, _, err := collect(t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
		messages := (*bodies)[1]["messages"].([]any)
		told := messages[len(messages)-1].(map[string]any)["content"].(string)
		if !strings.Contains(told, "one JSON object") || !strings.Contains(told, schema) {
			t.Errorf("the model is told %q", told)
		}
	})
}
