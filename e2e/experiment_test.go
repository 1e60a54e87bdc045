package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// exact is a system prompt with which promptedAnswerer answers well.
const exact = "Be exact. ${context}"

// promptedAnswerer is a scripted model that answers well if its system prompt asks for it.
func promptedAnswerer(r protocol.ChatRequest) modeltest.Reply {
	good := strings.Contains(string(r.Messages[0].Content), "Be exact")
	return answerer(func() bool { return good })(r)
}

// lampFile writes lampQuestions to a file and returns its name.
func lampFile(t *testing.T, count int) string {
	t.Helper()
	encoded, err := json.Marshal(lampQuestions(count))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "questions.json")
	if err := os.WriteFile(name, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestExperimentFindsTheBetterPrompt tries two prompts and two numbers of passages by the command,
// and makes the better configuration the saved one.
func TestExperimentFindsTheBetterPrompt(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Reply: promptedAnswerer})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, 20)
	flags := []string{"--url", s.ends.API, "--key", s.key}
	grid := []string{"--grid", `prompt=["` + exact + `", "Be quick. ${context}"]`, "--grid", "numberOfChunks=4,10"}
	code, out, said := command(t, nil, append(append([]string{"evaluate", lampFile(t, 20)}, grid...), flags...)...)
	if code != 0 {
		t.Fatalf("the experiment ends with %d:\n%s\n%s", code, out, said)
	}
	t.Log(out)
	e := s.newestExperiment(t)
	if len(e.Cells) != 5 || e.Progress.Judged != 100 || e.Progress.Failed != 0 {
		t.Fatalf("%d configurations, %+v", len(e.Cells), e.Progress)
	}
	better := 0
	for _, cell := range e.Cells[1:] {
		want := "undecided"
		if cell.Values["ai.prompt"] == exact {
			want = "better"
			better = cell.Cell
		}
		if cell.Verdict != want || cell.Scores["score"].N != 20 || cell.Usage.ModelCalls == 0 {
			t.Errorf("configuration %+v", cell)
		}
	}
	for _, want := range []string{"saved", "better", "beyond noise", "cairn evaluations apply " + e.ID} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q", want)
		}
	}
	apply := []string{"evaluations", "apply", e.ID, string(rune('0' + better)), "--url", s.ends.API, "--key"}
	if code, out, said := command(t, nil, append(apply, s.keyOf(t, "evaluations.read", "projects.read"))...); code == 0 || s.promptOf(t) == exact {
		t.Errorf("without the permission to change projects it ends with %d: %s %s", code, out, said)
	}
	if code, out, said := command(t, nil, append(apply, s.key)...); code != 0 || s.promptOf(t) != exact {
		t.Errorf("the configuration is applied with %d: %s %s", code, out, said)
	}
}

// experiment is an experiment as the API shows it.
type experiment struct {
	evaluation
	Cells []struct {
		Cell    int
		Values  map[string]any
		Verdict string
		Scores  map[string]struct {
			Mean float64
			N    int
		}
		Usage struct {
			ModelCalls int `json:"model_calls"`
		}
	}
}

// newestExperiment returns the newest evaluation with its configurations.
func (s *server) newestExperiment(t *testing.T) (e experiment) {
	t.Helper()
	var list struct{ Data []struct{ ID string } }
	s.call(t, "GET", "/workspaces/default/evaluations", nil, &list)
	if len(list.Data) == 0 {
		t.Fatal("there is no evaluation")
	}
	s.call(t, "GET", "/workspaces/default/evaluations/"+list.Data[0].ID, nil, &e)
	return e
}

// promptOf returns the saved prompt of the project default.
func (s *server) promptOf(t *testing.T) string {
	t.Helper()
	var project struct{ AI struct{ Prompt string } }
	s.call(t, "GET", "/workspaces/default/projects/default", nil, &project)
	return project.AI.Prompt
}

// keyOf makes a key with these permissions.
func (s *server) keyOf(t *testing.T, permissions ...string) string {
	t.Helper()
	var key struct{ Key string }
	if status := s.call(t, "POST", "/workspaces/default/keys", map[string]any{"name": "narrow", "permissions": permissions}, &key); status != http.StatusCreated {
		t.Fatalf("a key: status %d", status)
	}
	return key.Key
}

// TestKilledExperiment kills the server in the middle of an experiment. One budget, pause and cancel
// are for all configurations, and no answer that was complete is asked for again.
func TestKilledExperiment(t *testing.T) {
	t.Parallel()
	const items, cells, atATime = 12, 3, 8
	m := standIn(t, modeltest.Options{Reply: promptedAnswerer})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, items)
	body := map[string]any{"test_set_id": s.testSet(t, lampQuestions(items)), "grid": map[string]any{"ai.prompt": []string{exact, "Be quick. ${context}"}}}
	e := s.evaluate(t, body)
	s.evaluated(t, e.ID, "some items are judged", func(e evaluation) bool { return e.Progress.Judged >= 5 })
	s.kill()
	before := m.Totals().Chats.Asked
	s.restart()
	e = s.evaluated(t, e.ID, "it has ended", hasEnded)
	if e.Status != "completed" || e.Progress.Judged != items*cells || e.Progress.Failed != 0 {
		t.Fatalf("it is %s, %+v, %+v", e.Status, e.Progress, e.Error)
	}
	total := m.Totals().Chats.Asked
	t.Logf("%d answers: %d calls of the model at the kill, %d in all", items*cells, before, total)
	if before >= items*cells {
		t.Fatal("it had ended before the kill")
	}
	if repeated := total - items*cells; repeated < 0 || repeated > atATime { // those that were under way
		t.Errorf("%d calls for %d answers", total, items*cells)
	}
	got := s.newestExperiment(t)
	for i, want := range []float64{0, 2, 0} {
		if score := got.Cells[i].Scores["score"]; score.Mean != want || score.N != items {
			t.Errorf("configuration %d has the score %+v, want %g", i+1, score, want)
		}
	}
	body["budget"] = map[string]any{"tokens": 50}
	bounded := s.evaluate(t, body)
	bounded = s.evaluated(t, bounded.ID, "its budget is used up", hasEnded)
	if bounded.Error == nil || bounded.Error.Code != "limit_reached" || bounded.Progress.Judged >= items*cells {
		t.Errorf("it is %s, %+v, %+v", bounded.Status, bounded.Error, bounded.Progress)
	}
}
