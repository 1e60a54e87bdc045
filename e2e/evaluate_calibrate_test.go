package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// The ways in which a plantedJudge judges.
const (
	judgeFair int32 = iota
	judgeLenient
	judgeFickle
)

// plantedJudge is a scripted model that answers questions about lamps, two in three of them not
// rightly, and judges the answers.
type plantedJudge struct {
	way      atomic.Int32
	answered atomic.Int32
}

var (
	judgedAnswer = regexp.MustCompile(`(?s)<answer>\s*Pier (\d+) has (\d*)`)
	lampsAsked   = regexp.MustCompile(`How many lamps has pier (\d+)\?`)
)

func (j *plantedJudge) reply(r protocol.ChatRequest) modeltest.Reply {
	user := string(r.Messages[len(r.Messages)-1].Content)
	if len(r.Tools) == 0 {
		return modeltest.Text(fmt.Sprintf(`{"reason": "as scripted", "grade": %d, "sentences": [{"number": 1, "verdict": "supported"}]}`, j.grade(r, user)))
	}
	asked := lampsAsked.FindAllStringSubmatch(user, -1)
	if len(asked) == 0 {
		return modeltest.Reply{}
	}
	pier, _ := strconv.Atoi(asked[len(asked)-1][1]) // digits
	j.answered.Add(1)
	return modeltest.Text(fmt.Sprintf("Pier %d has %slamps. <source_1>", pier, []string{fmt.Sprint(100+pier, " "), "", "7 "}[pier%3]))
}

// grade is what a person would say of an answer, if the judge is fair.
func (j *plantedJudge) grade(r protocol.ChatRequest, user string) int {
	m := judgedAnswer.FindStringSubmatch(user)
	if m == nil {
		return 2 // of the context
	}
	pier, _ := strconv.Atoi(m[1]) // digits
	fair := []int{2, 1, 0}[pier%3]
	switch j.way.Load() {
	case judgeLenient:
		return min(2, fair+1)
	case judgeFickle:
		if r.Seed != nil && *r.Seed > 1 && pier%4 == 0 {
			return (fair + 1) % 3
		}
	}
	return fair
}

// TestCalibrate has people score the answers of an evaluation, and finds a judge that is fair, one
// that is lenient and one that contradicts itself.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	const items = 60
	j := &plantedJudge{}
	m := standIn(t, modeltest.Options{Reply: j.reply})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, items)
	set := s.testSet(t, lampQuestions(items))
	e := s.evaluate(t, map[string]any{"test_set_id": set, "judge": map[string]any{"model": modeltest.ModelName}})
	s.evaluated(t, e.ID, "it has ended", hasEnded)
	asked := j.answered.Load()
	flags := []string{"--url", s.ends.API, "--key", s.key}
	calibrate := func(way int32, exit int, words ...string) {
		t.Helper()
		j.way.Store(way)
		code, out, said := command(t, nil, append([]string{"evaluate", "calibrate", e.ID}, flags...)...)
		if code != exit {
			t.Errorf("it ends with %d, not %d:\n%s\n%s", code, exit, out, said)
		}
		for _, word := range words {
			if !strings.Contains(out+said, word) {
				t.Errorf("%q is not in\n%s\n%s", word, out, said)
			}
		}
	}
	calibrate(judgeFair, 1, "scored by a person")
	for i := range items {
		if i == 10 {
			calibrate(judgeFair, 4, "10 answers are scored, and 50 are needed")
		}
		path := fmt.Sprintf("/workspaces/default/evaluations/%s/items/q%d/review", e.ID, i)
		if status := s.call(t, "POST", path, map[string]any{"score": []int{2, 1, 0}[i%3], "context": i % 3}, nil); status != http.StatusOK {
			t.Fatalf("review: status %d", status)
		}
	}
	calibrate(judgeFair, 0, "kappa      1.00", "0 of 50 inputs", "always the most frequent score: 0.33")
	calibrate(judgeLenient, 5, "the judge cannot gate", "away from those of people", "the judge scores higher than people")
	calibrate(judgeFickle, 5, "different grades when asked up to 3 times, more than 10 %")
	if j.answered.Load() != asked {
		t.Errorf("%d questions were asked again", j.answered.Load()-asked)
	}
	s.wantBlind(t, e.ID)
	j.way.Store(judgeFair)
	s.wantCalibration(t, s.evaluate(t, map[string]any{"test_set_id": set, "sample": 12, "judge": map[string]any{"model": modeltest.ModelName}}).ID, e.ID)
	j.way.Store(judgeFickle)
	file := filepath.Join(t.TempDir(), "questions.json")
	encoded, err := json.Marshal(lampQuestions(40))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, said := command(t, nil, append([]string{"evaluate", file, "--judge", modeltest.ModelName, "--fail-under", "score=0.1"}, flags...)...)
	if code != 5 || !strings.Contains(out, "different grades") || !strings.Contains(out, "rubric 1 (") {
		t.Errorf("a gate with a judge that contradicts itself ends with %d:\n%s\n%s", code, out, said)
	}
}

// wantBlind fails the test if a person who has not reviewed an answer is shown what the judge and
// others said of it.
func (s *server) wantBlind(t *testing.T, id string) {
	t.Helper()
	other := s.newKey(t, map[string]any{"name": "another person", "scopes": []string{"read", "write"}})
	for _, look := range []struct {
		query  string
		header []string
		shown  bool
	}{{"?blind=true", []string{"Authorization", "Bearer " + other}, false}, {"", []string{"Authorization", "Bearer " + other}, true}, {"?blind=true", nil, true}} {
		_, answer := s.raw(t, "GET", "/workspaces/default/evaluations/"+id+look.query, "", nil, look.header...)
		var e evaluation
		if err := json.Unmarshal(answer, &e); err != nil || len(e.Items) == 0 {
			t.Fatalf("%v: %.300s", err, answer)
		}
		if got := e.Items[0].Score != nil && len(e.Items[0].Reviews) == 1; got != look.shown || look.shown == !strings.Contains(string(answer), "as scripted") {
			t.Errorf("%q, %v: shown is %t", look.query, look.header != nil, got)
		}
	}
}

// wantCalibration fails the test unless an evaluation whose answers nobody has scored has the
// agreement of another one by the same judge.
func (s *server) wantCalibration(t *testing.T, id, of string) {
	t.Helper()
	s.evaluated(t, id, "it has ended", hasEnded)
	var e struct {
		Agreement *struct{ N int }
		OnContext *struct{ N int } `json:"context_agreement"`
		Of        []string         `json:"agreement_of"`
	}
	s.call(t, "GET", "/workspaces/default/evaluations/"+id, nil, &e)
	if e.Agreement == nil || e.Agreement.N < 60 || e.OnContext == nil || e.OnContext.N < 60 || !slices.Contains(e.Of, of) {
		t.Errorf("the agreement is %+v, on the context %+v, of %v", e.Agreement, e.OnContext, e.Of)
	}
}

// TestBlindScores scores answers on the command line, which shows nothing of the judge before.
func TestBlindScores(t *testing.T) {
	t.Parallel()
	j := &plantedJudge{}
	m := standIn(t, modeltest.Options{Reply: j.reply})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, 8)
	e := s.evaluate(t, map[string]any{"test_set_id": s.testSet(t, lampQuestions(8))})
	s.evaluated(t, e.ID, "it has ended", hasEnded)
	var out, said bytes.Buffer
	c := exec.CommandContext(t.Context(), binary, "evaluate", "calibrate", e.ID, "--score", "5", "--url", s.ends.API, "--key", s.key)
	c.Env = childserver.Environment(os.Environ())
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader("2\nnonsense\n0\ns\n1\n2\n"), &out, &said
	if err := c.Run(); c.ProcessState.ExitCode() < 4 {
		t.Errorf("it ends with %d, %v:\n%s\n%s", c.ProcessState.ExitCode(), err, out.String(), said.String())
	}
	asked, _, _ := strings.Cut(said.String(), "cairn: ") // before it ends
	if !strings.Contains(asked, "5 of 5") || strings.Contains(asked, "kappa") || strings.Contains(asked, "scripted") || !strings.Contains(out.String(), "reviews    4") {
		t.Errorf("it says\n%s\n%s", said.String(), out.String())
	}
	e = s.evaluated(t, e.ID, "it has ended", hasEnded)
	scored := 0
	for _, i := range e.Items {
		scored += len(i.Reviews)
	}
	if scored != 4 {
		t.Errorf("%d answers are scored", scored)
	}
}
