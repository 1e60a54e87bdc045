package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestPipelineOfAgents asks a project with steps by MCP, by A2A and as a visitor of its page: each
// question passes them, and a question that a step refuses has no answer.
func TestPipelineOfAgents(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	st := newStepper(t)
	s.publish(t, "lamp", "The harbour lamp burns gas.")
	s.putPublication(t, nil)
	s.pipeline(t,
		map[string]any{"at": "before_prompt", "required": true, "timeout": 60, "webhook": st.at("/prompt", says(`{"instructions":"Speak as a keeper."}`))},
		map[string]any{"at": "after_answer", "required": true, "timeout": 60, "webhook": st.at("/answer", func(given map[string]any) (int, string) {
			if strings.Contains(given["question"].(string), "refused") {
				return http.StatusOK, `{"reject":{"reason":"no advice on lamps"}}`
			}
			return http.StatusOK, `{"answer":"Whale oil, says the step."}`
		})})
	passed := 0
	passes := func(door, answer string) {
		t.Helper()
		passed++
		requests := m.Requests()
		prompt := ""
		for _, message := range requests[len(requests)-1].Messages {
			prompt += string(message.Content)
		}
		if !strings.Contains(answer, "Whale oil, says the step.") || !strings.Contains(prompt, "Speak as a keeper.") || st.count("/prompt") != passed || st.count("/answer") != passed {
			t.Errorf("%s: the answer is %.300s, the steps were asked %d and %d times, want %d", door, answer, st.count("/prompt"), st.count("/answer"), passed)
		}
	}
	passes("MCP", s.askOverMCP(t, "default", "What does the harbour lamp burn?"))
	ask := func(id, text string) task {
		t.Helper()
		params := a2aMessage(id, text)
		delete(params, "configuration") // the answer is waited for
		return s.a2a(t, "SendMessage", params).Result.Task
	}
	done := ask("one", "What does the harbour lamp burn?")
	if done.Status.State != "TASK_STATE_COMPLETED" || len(done.Artifacts) != 1 || len(done.Artifacts[0].Parts) == 0 {
		t.Fatalf("A2A: the task is %+v", done)
	}
	passes("A2A", done.Artifacts[0].Parts[0].Text)
	_, _, events := s.visit(t).asked(t, "What does the harbour lamp burn?", "")
	passes("a visitor", events)
	if refused := ask("two", "Is it refused?"); refused.Status.State != "TASK_STATE_FAILED" || len(refused.Artifacts) != 0 {
		t.Errorf("a question that a step refuses is %+v", refused)
	}
}
