package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// TestJudgeReadsWhatTheModelRead has a project read passages with their neighbours, and without the
// sentences that do not matter. The judge is given the same words as the model.
func TestJudgeReadsWhatTheModelRead(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	shown, judged := "", ""
	m := standIn(t, modeltest.Options{Reply: func(r protocol.ChatRequest) modeltest.Reply {
		mu.Lock()
		defer mu.Unlock()
		var all strings.Builder
		for _, message := range r.Messages {
			all.WriteString(string(message.Content))
		}
		if len(r.Tools) == 0 {
			judged += all.String()
			return modeltest.Text(`{"reason": "so", "grade": 2, "sentences": [{"number": 1, "verdict": "supported"}]}`)
		}
		shown += all.String()
		return modeltest.Text("The pharology of the pier is catadioptric. <source_1>")
	}})
	s := start(t, at(m.URL())...)
	splitter := map[string]any{"ai": map[string]any{"textSplitter": map[string]any{"strategy": "fixed", "chunkSize": 400, "chunkOverlap": 0, "separators": []string{"\n\n"}}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", splitter, nil); status != http.StatusOK {
		t.Fatalf("splitter: status %d", status)
	}
	var text strings.Builder
	for i, marker := range []string{"zebrafish", "catadioptric pharology", "quagmire", "xylophone"} {
		fmt.Fprintf(&text, "Part %d is about the %s. %s\n\n", i, marker, strings.Repeat("It goes on with ordinary words about work at the harbour. ", 5))
	}
	s.publish(t, "parts", text.String())
	set := s.testSet(t, []map[string]any{{"question": "What is the catadioptric pharology of the pier?", "reference": "It is catadioptric."}})
	e := s.evaluate(t, map[string]any{
		"test_set_id": set, "judge": map[string]any{"model": modeltest.ModelName},
		"projectConfigOverride": map[string]any{"ai": map[string]any{"retrieval": map[string]any{"numberOfChunks": 1, "neighbours": 1}}},
	})
	if e = s.evaluated(t, e.ID, "it has ended", hasEnded); e.Status != "completed" || e.Progress.Judged != 1 {
		t.Fatalf("it is %s, %+v, %+v", e.Status, e.Progress, e.Error)
	}
	mu.Lock()
	defer mu.Unlock()
	read := 0
	for _, marker := range []string{"about the zebrafish", "about the catadioptric pharology", "about the quagmire", "about the xylophone"} {
		if strings.Contains(shown, marker) {
			read++
		}
		if strings.Contains(shown, marker) != strings.Contains(judged, marker) {
			t.Errorf("%q: the model read it: %t, the judge: %t", marker, strings.Contains(shown, marker), strings.Contains(judged, marker))
		}
	}
	if read != 3 {
		t.Errorf("the model read %d parts, not one with its neighbours", read)
	}
}

// TestQuestionsBesideEvaluations asks questions while two evaluations run. They wait for no item that
// has not begun.
func TestQuestionsBesideEvaluations(t *testing.T) {
	t.Parallel()
	const items = 400
	m := standIn(t, modeltest.Options{Reply: answerer(func() bool { return true }), TokenDelay: 10 * time.Millisecond})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, items)
	set := s.testSet(t, lampQuestions(items))
	first, second := s.evaluate(t, map[string]any{"test_set_id": set}), s.evaluate(t, map[string]any{"test_set_id": set})
	for _, id := range []string{first.ID, second.ID} {
		s.evaluated(t, id, "it has begun", func(e evaluation) bool { return e.Progress.Judged > 0 })
	}
	const questions = 5
	judged := func() (sum int) {
		for _, id := range []string{first.ID, second.ID} {
			var e evaluation
			s.call(t, "GET", "/workspaces/default/evaluations/"+id, nil, &e)
			sum += e.Progress.Judged
		}
		return sum
	}
	before, begin := judged(), time.Now()
	for i := range questions {
		s.follow(t, s.query(t, fmt.Sprintf("How many lamps has pier %d?", i)).run, 0)
	}
	took, passed := time.Since(begin)/questions, float64(judged()-before)/questions
	t.Logf("a question takes %s beside two evaluations, which meanwhile judge %.1f items", took.Round(time.Millisecond), passed)
	// Sixteen items are under way at a time; a question that waited for the others would take as long as 800.
	if passed > 100 {
		t.Errorf("%.0f items were judged before a question had its answer", passed)
	}
	for _, id := range []string{first.ID, second.ID} {
		if status := s.call(t, "POST", "/workspaces/default/evaluations/"+id+"/cancel", nil, nil); status != http.StatusAccepted {
			t.Errorf("cancel: status %d", status)
		}
	}
}

// TestHundredItems evaluates a hundred questions with the judge that needs no model.
func TestHundredItems(t *testing.T) {
	t.Parallel()
	const items = 100
	m := standIn(t, modeltest.Options{Reply: answerer(func() bool { return true })})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, items)
	set := s.testSet(t, lampQuestions(items))
	begin := time.Now()
	e := s.evaluate(t, map[string]any{"test_set_id": set})
	await(t, 2*time.Minute, "the evaluation ends", func(context.Context) error {
		var seen evaluation
		if s.call(t, "GET", "/workspaces/default/evaluations/"+e.ID+"?limit=1", nil, &seen); !hasEnded(seen) {
			return fmt.Errorf("it is %s, %+v", seen.Status, seen.Progress)
		}
		e = seen
		return nil
	})
	t.Logf("%d items took %.1f s", items, time.Since(begin).Seconds())
	if e.Status != "completed" || e.Progress.Judged != items || e.Scores["score"].Mean != 2 {
		t.Errorf("it is %s, %+v, %+v", e.Status, e.Progress, e.Scores)
	}
}
