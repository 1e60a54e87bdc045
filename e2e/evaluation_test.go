package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// lampQuestions are questions about the document of publishLamps, each about one number.
func lampQuestions(count int) []map[string]any {
	items := make([]map[string]any, 0, count)
	for i := range count {
		items = append(items, map[string]any{
			"id": fmt.Sprint("q", i), "question": fmt.Sprintf("How many lamps has pier %d?", i), "reference": fmt.Sprintf("Pier %d has %d lamps.", i, 100+i), "expected_documents": []string{"lamps"},
		})
	}
	return items
}

func publishLamps(t *testing.T, s *server, count int) {
	t.Helper()
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "Pier %d has %d lamps.\n\n", i, 100+i)
	}
	s.publish(t, "lamps", text.String())
}

// answerer is a scripted model: a good one says the reference, a bad one another number. It judges
// every answer as right.
func answerer(good func() bool) func(protocol.ChatRequest) modeltest.Reply {
	return func(r protocol.ChatRequest) modeltest.Reply {
		if len(r.Tools) == 0 { // the request of a judge
			return modeltest.Text(`{"reason": "as scripted", "grade": 2, "sentences": [{"number": 1, "verdict": "supported", "reason": "so"}]}`)
		}
		last := string(r.Messages[len(r.Messages)-1].Content)
		at := strings.LastIndex(last, "pier ")
		var pier int
		if at < 0 {
			return modeltest.Reply{}
		}
		if _, err := fmt.Sscanf(last[at:], "pier %d", &pier); err != nil {
			return modeltest.Reply{}
		}
		if good() {
			return modeltest.Text(fmt.Sprintf("Pier %d has %d lamps. <source_1>", pier, 100+pier))
		}
		return modeltest.Text(fmt.Sprintf("Pier %d has %d lamps. <source_1>", pier, 900+pier))
	}
}

// evaluation is an evaluation as the API shows it.
type evaluation struct {
	ID       string `json:"id"`
	RunID    string `json:"run_id"`
	Status   string `json:"status"`
	Progress knowledge.EvaluationProgress
	Scores   map[string]struct {
		Mean, Low, High float64
		N               int
	}
	Items []struct {
		ID     string   `json:"id"`
		State  string   `json:"state"`
		Answer *string  `json:"answer"`
		Score  *float64 `json:"score"`
		RunID  string   `json:"run_id"`
		Error  *struct{ Code, Message string }

		Reviews []struct{ Score *float64 }
	}
	Error *struct{ Code, Message string }
}

// testSet stores questions and returns the id of the test set.
func (s *server) testSet(t *testing.T, items []map[string]any) string {
	t.Helper()
	var set struct{ ID string }
	if status := s.call(t, "POST", "/workspaces/default/test_sets", map[string]any{"name": "lamps", "items": items}, &set); status != http.StatusCreated {
		t.Fatalf("test set: status %d", status)
	}
	return set.ID
}

func (s *server) evaluate(t *testing.T, body map[string]any) evaluation {
	t.Helper()
	var e evaluation
	if status := s.call(t, "POST", "/workspaces/default/evaluations", body, &e); status != http.StatusAccepted {
		t.Fatalf("evaluation: status %d", status)
	}
	return e
}

// evaluated blocks until an evaluation satisfies a condition.
func (s *server) evaluated(t *testing.T, id, what string, enough func(evaluation) bool) (e evaluation) {
	t.Helper()
	await(t, 3*time.Minute, what, func(context.Context) error {
		e = evaluation{}
		if status := s.call(t, "GET", "/workspaces/default/evaluations/"+id, nil, &e); status != http.StatusOK {
			return fmt.Errorf("status %d", status)
		}
		if !enough(e) {
			return fmt.Errorf("it is %s, %+v", e.Status, e.Progress)
		}
		return nil
	})
	return e
}

func hasEnded(e evaluation) bool { return e.Status != "running" && e.Status != "paused" }

// TestEvaluationGate evaluates a project by the command, with a model that answers well and with
// one that does not.
func TestEvaluationGate(t *testing.T) {
	t.Parallel()
	good := true
	m := standIn(t, modeltest.Options{Reply: answerer(func() bool { return good })})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, 40)
	file, junit := filepath.Join(t.TempDir(), "questions.json"), filepath.Join(t.TempDir(), "report.xml")
	encoded, err := json.Marshal(lampQuestions(40))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--url", s.ends.API, "--key", s.key}
	code, out, said := command(t, nil, append([]string{"evaluate", file, "--fail-under", "score=1.6", "--junit", junit}, flags...)...)
	if code != 0 || !strings.Contains(out, "score") {
		t.Fatalf("the good model ends with %d:\n%s\n%s", code, out, said)
	}
	if report, err := os.ReadFile(junit); err != nil || !strings.Contains(string(report), `tests="1`) || strings.Contains(string(report), "<failure") || strings.Contains(string(report), `name="evaluation"`) {
		t.Errorf("the JUnit report is %s, %v", report, err)
	}
	var baseline string
	if _, err := fmt.Sscanf(out, "evaluation %s", &baseline); err != nil {
		t.Fatalf("no evaluation is named in %q", out)
	}
	good = false
	code, out, said = command(t, nil, append([]string{"evaluate", file, "--fail-under", "score=1.6", "--baseline", baseline, "--junit", junit}, flags...)...)
	if code != 1 || !strings.Contains(said, "did not pass") {
		t.Errorf("the bad model ends with %d:\n%s\n%s", code, out, said)
	}
	if report, err := os.ReadFile(junit); err != nil || !strings.Contains(string(report), "<failure") {
		t.Errorf("the JUnit report is %s, %v", report, err)
	}
	wantNoConversation(t, s)
	code, out, said = command(t, nil, append([]string{"evaluate", file, "--budget-tokens", "1", "--junit", junit}, flags...)...)
	if report, err := os.ReadFile(junit); err != nil || code == 0 || !strings.Contains(said, "limit_reached: the budget") || !strings.Contains(string(report), `name="evaluation"`) {
		t.Errorf("without the tokens it ends with %d:\n%s\n%s\nThe JUnit report is %s, %v", code, out, said, report, err)
	}
}

// wantNoConversation fails the test if the questions of evaluations show among those of people.
func wantNoConversation(t *testing.T, s *server) {
	t.Helper()
	var list struct{ Data []map[string]any }
	if s.call(t, "GET", "/workspaces/default/conversations", nil, &list); len(list.Data) > 0 {
		t.Errorf("the conversations are %v", list.Data)
	}
	if s.call(t, "GET", "/workspaces/default/runs?kind=query", nil, &list); len(list.Data) > 0 {
		t.Errorf("the questions are %v", list.Data)
	}
	if s.call(t, "GET", "/workspaces/default/runs?kind=evaluate", nil, &list); len(list.Data) != 2 {
		t.Errorf("the evaluations among the runs are %v", list.Data)
	}
	var usage struct {
		Total struct {
			Questions        int
			CompletionTokens int `json:"completion_tokens"`
		}
	}
	if s.call(t, "GET", "/workspaces/default/projects/default/usage", nil, &usage); usage.Total.Questions != 0 || usage.Total.CompletionTokens == 0 {
		t.Errorf("the usage is %+v", usage.Total)
	}
}

// TestKilledEvaluation kills the server in the middle of an evaluation that a model judges. No
// answer and no judgement that was complete is asked for again.
func TestKilledEvaluation(t *testing.T) {
	t.Parallel()
	const items, atATime, perItem = 30, 8, 4 // the answer, and its three judgements
	m := standIn(t, modeltest.Options{Reply: answerer(func() bool { return true })})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, items)
	e := s.evaluate(t, map[string]any{"test_set_id": s.testSet(t, lampQuestions(items)), "judge": map[string]any{"model": modeltest.ModelName}})
	s.evaluated(t, e.ID, "some items are judged", func(e evaluation) bool { return e.Progress.Judged >= 5 })
	s.kill()
	before := m.Totals().Chats
	s.restart()
	e = s.evaluated(t, e.ID, "it has ended", hasEnded)
	if e.Status != "completed" || e.Progress.Judged != items || e.Progress.Failed != 0 || e.Scores["score"].Mean != 2 || e.Scores["faithfulness"].N != items {
		t.Fatalf("it is %s, %+v, %+v, %+v", e.Status, e.Progress, e.Scores, e.Error)
	}
	total := m.Totals().Chats
	t.Logf("%d items: %+v calls of the model at the kill, %+v in all", items, before, total)
	if before.Asked >= items*perItem {
		t.Fatal("it had ended before the kill")
	}
	if repeated := total.Asked - items*perItem; repeated < 0 || repeated > atATime { // those that were under way
		t.Errorf("%d calls for %d items", total.Asked, items)
	}
	last, err := s.Wait(t.Context(), e.RunID, nil)
	if err != nil || last.Name != "runEnded" {
		t.Errorf("the last event is %s, %v", last.Name, err)
	}
}

// TestEvaluationControl pauses, resumes and cancels an evaluation, and ends one by its budget.
func TestEvaluationControl(t *testing.T) {
	t.Parallel()
	const items = 60
	m := standIn(t, modeltest.Options{Reply: answerer(func() bool { return true }), TokenDelay: 10 * time.Millisecond})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, items)
	set := s.testSet(t, lampQuestions(items))
	e := s.evaluate(t, map[string]any{"test_set_id": set})
	act := func(action string, want int) {
		t.Helper()
		if status := s.call(t, "POST", "/workspaces/default/evaluations/"+e.ID+"/"+action, nil, nil); status != want {
			t.Errorf("%s: status %d", action, status)
		}
	}
	s.evaluated(t, e.ID, "an item is judged", func(e evaluation) bool { return e.Progress.Judged > 0 })
	act("pause", http.StatusAccepted)
	paused := s.evaluated(t, e.ID, "it is paused and rests", func(e evaluation) bool { return e.Status == "paused" && e.Progress.Answered == e.Progress.Judged })
	if paused.Progress.Judged >= items {
		t.Fatalf("it was too fast: %+v", paused.Progress)
	}
	act("resume", http.StatusAccepted)
	s.evaluated(t, e.ID, "it works again", func(e evaluation) bool { return e.Progress.Judged > paused.Progress.Judged+8 || hasEnded(e) })
	act("cancel", http.StatusAccepted)
	canceled := s.evaluated(t, e.ID, "it has ended", hasEnded)
	if canceled.Status != "canceled" || canceled.Scores["score"].N == 0 {
		t.Errorf("it is %s with %+v", canceled.Status, canceled.Scores)
	}
	act("pause", http.StatusConflict)
	bounded := s.evaluate(t, map[string]any{"test_set_id": set, "budget": map[string]any{"tokens": 50}})
	bounded = s.evaluated(t, bounded.ID, "its budget is used up", hasEnded)
	if bounded.Status != "failed" || bounded.Error == nil || bounded.Error.Code != "limit_reached" || bounded.Progress.Judged >= items || bounded.Scores["score"].N == 0 {
		t.Errorf("it is %s, %+v, %+v, %+v", bounded.Status, bounded.Error, bounded.Progress, bounded.Scores)
	}
}

// recordedJudging has the model judge its answer to a question, and returns the evaluation.
func (s *server) recordedJudging(t *testing.T, m *modeltest.Server) string {
	t.Helper()
	m.ScriptChat(modeltest.Text("It is so. <source_1>"))
	set := s.testSet(t, []map[string]any{{"question": "Kindly elucidate the pharology of that pier", "reference": "It has a lighthouse."}})
	e := s.evaluate(t, map[string]any{"test_set_id": set, "judge": map[string]any{"model": modeltest.ModelName}})
	if e = s.evaluated(t, e.ID, "it has ended", hasEnded); e.Status != "completed" || e.Progress.Judged != 1 {
		t.Fatalf("it is %s, %+v, %+v", e.Status, e.Progress, e.Error)
	}
	return e.ID
}

// recordedEvaluation evaluates two questions, of which the model answers one, by the judge that needs no
// model, and returns the evaluation.
func (s *server) recordedEvaluation(t *testing.T, m *modeltest.Server) string {
	t.Helper()
	refused := modeltest.Reply{Status: http.StatusBadRequest}
	m.ScriptChat(modeltest.Text("It is so. <source_1>"), refused)
	set := s.testSet(t, []map[string]any{
		{"question": "Kindly elucidate the pharology of that pier", "reference": "It has a lighthouse."},
		{"question": "Kindly elucidate the refracting lens", "reference": "It is catadioptric."},
	})
	e := s.evaluate(t, map[string]any{"test_set_id": set})
	if e = s.evaluated(t, e.ID, "it has ended", hasEnded); e.Status != "completed" || e.Progress.Judged != 1 || e.Progress.Failed != 1 {
		t.Fatalf("it is %s, %+v, %+v", e.Status, e.Progress, e.Error)
	}
	return e.ID
}
