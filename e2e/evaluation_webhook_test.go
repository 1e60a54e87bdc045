package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestEvaluationWebhook subscribes to tests_results, and compares the payload with its transcript.
func TestEvaluationWebhook(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Reply: answerer(func() bool { return true })})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	publishLamps(t, s, 3)
	hook := receive(t)
	hook.behave(func(w http.ResponseWriter, _ told) bool { // the first attempt fails
		if len(hook.tries) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return false
		}
		return true
	})
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"webhooks": []map[string]any{
		{"url": hook.url, "types": []string{"tests_results"}, "secret": hookSecret, "apiKey": "key of theirs"},
	}}, nil); status != http.StatusOK {
		t.Fatalf("subscribe: status %d", status)
	}
	e := s.evaluate(t, map[string]any{"test_set_id": s.testSet(t, lampQuestions(3)[1:])})
	s.evaluated(t, e.ID, "it has ended", hasEnded)
	await(t, time.Minute, "the webhook has the results", func(context.Context) error {
		hook.mu.Lock()
		defer hook.mu.Unlock()
		if len(hook.taken) == 0 {
			return errors.New("it has none")
		}
		return nil
	})
	got := hook.taken[0]
	if got.kind != "tests_results" || got.body["projectId"] != "default" || hook.tries[0].id != got.id {
		t.Errorf("the envelope is %s of %v; the attempts are %s and %s", got.kind, got.body["projectId"], hook.tries[0].id, got.id)
	}
	payload, ok := got.body["payload"].([]any)
	if !ok {
		t.Fatalf("the payload is %v", got.body["payload"])
	}
	for _, result := range payload { // the ids of chunks are drawn
		if r, ok := result.(map[string]any); ok {
			text, _ := r["answer"].(string)
			r["answer"] = citationMark.ReplaceAllString(text, "[$1]")
		}
	}
	shown, err := json.MarshalIndent(payload, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "tests_results.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(shown)); diff != "" {
		t.Errorf("the payload (-want +got):\n%s", diff)
	}
}

// judgeProgram is a program that judges. It checks the signature of each request.
type judgeProgram struct {
	t     *testing.T
	mu    sync.Mutex
	ids   map[string]int // requests by webhook-id
	asked []string
}

// ServeHTTP implements http.Handler.
func (j *judgeProgram) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	verifier, err := standardwebhooks.NewWebhook(hookSecret)
	if err == nil {
		err = verifier.Verify(body, r.Header)
	}
	var asked struct {
		Type     string
		Item     struct{ ID, Question, Reference string }
		Answer   string
		Passages []struct{ Text string }
	}
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil || asked.Type != "judge" || asked.Answer == "" || len(asked.Passages) == 0 {
		j.t.Errorf("the request is %v, %.500s", err, body)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	id := r.Header.Get("webhook-id")
	if j.ids[id]++; j.ids[id] == 1 { // the first attempt at each item fails
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	j.asked = append(j.asked, asked.Item.ID)
	if asked.Item.ID == "q2" {
		fmt.Fprint(w, `{"score": 7}`)
		return
	}
	fmt.Fprint(w, `{"score": 1, "context": 2, "reason": "as expected"}`)
}

// TestEvaluationByAProgram has a program judge, which fails at first.
func TestEvaluationByAProgram(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Reply: answerer(func() bool { return true })})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	publishLamps(t, s, 3)
	program := &judgeProgram{t: t, ids: map[string]int{}}
	server := httptest.NewServer(program)
	t.Cleanup(server.Close)
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"callbackSecret": hookSecret}, nil); status != http.StatusOK {
		t.Fatalf("callback secret: status %d", status)
	}
	set := s.testSet(t, lampQuestions(3))
	e := s.evaluate(t, map[string]any{"test_set_id": set, "judge": map[string]any{"webhook": map[string]any{"url": server.URL}}})
	e = s.evaluated(t, e.ID, "it has ended", hasEnded)
	if e.Status != "completed" || e.Scores["score"].Mean != 1.5 || e.Scores["score"].N != 2 || e.Scores["context"].Mean != 2 {
		t.Errorf("it is %s, %+v, %+v", e.Status, e.Progress, e.Scores)
	}
	if len(program.asked) != 3 || len(program.ids) != 3 {
		t.Errorf("the program was asked about %v, as %v", program.asked, program.ids)
	}
	if status := s.call(t, "POST", "/workspaces/default/evaluations", map[string]any{"test_set_id": set, "judge": map[string]any{"webhook": map[string]any{"url": "http://169.254.169.254/"}}}, nil); status != http.StatusUnprocessableEntity {
		t.Errorf("an address of the machine's metadata: status %d", status)
	}
}

// citationMark is a citation of a passage, with its number.
var citationMark = regexp.MustCompile(`<citation id="[^"]*">\[(\d+)\]</citation>`)
