package api_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
)

// TestFinishReasonIsShown asks where a reader is told that the answer is cut off. TestOpenAIFinishReason
// does the same for the OpenAI protocol.
func TestFinishReasonIsShown(t *testing.T) {
	t.Parallel()
	e, a, _ := openCiting(t)
	server := httptest.NewServer(e.handler)
	t.Cleanup(server.Close)
	session := e.connectMCP(server.URL, e.reader, make(chan string, 100))
	description := describedBy(e)
	for _, reason := range []string{model.FinishLength, model.FinishFiltered, ""} {
		a.record.FinishReason = reason
		for path, c := range map[string]struct{ key, body string }{
			hooks + "/query":    {"finishReason", `{"text":"How long is leave?","projectId":"default"}`},
			"/tools/rag_search": {"finish_reason", `{"query":"How long is leave?","project_id":"default"}`},
		} {
			got := e.do("POST", path, e.reader, c.body)
			description.check(t, "POST", path, got)
			if shown, there := got.want(200)[c.key]; there != (reason != "") || there && shown != reason {
				t.Errorf("%s of an answer that ended with %q: %s", path, reason, got.body)
			}
		}
		for tool, arguments := range map[string]map[string]any{
			"ask_project": {"question": "How long is leave?", "project_id": "default"}, "rag_search": {"query": "How long is leave?", "project_id": "default"},
		} {
			text, _, failed := call(t, session, tool, arguments)
			if failed || strings.Contains(text, "[The answer is cut off: "+reason+"]") != (reason != "") {
				t.Errorf("%s of an answer that ended with %q: %s", tool, reason, text)
			}
		}
	}
}
