package e2e_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestErasedAnswersAreNotJudgedAgain has the answers of an evaluation judged again, before and after
// their runs were removed because the project keeps none.
func TestErasedAnswersAreNotJudgedAgain(t *testing.T) {
	t.Parallel()
	const items = 3
	m := standIn(t, modeltest.Options{Reply: answerer(func() bool { return true })})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, items)
	e := s.evaluate(t, map[string]any{"test_set_id": s.testSet(t, lampQuestions(items))})
	s.evaluated(t, e.ID, "it has ended", hasEnded)
	again := func() evaluation {
		return s.evaluated(t, s.evaluate(t, map[string]any{"of": e.ID}).ID, "it has ended", hasEnded)
	}
	if before := again(); before.Status != "completed" || before.Progress.Judged != items {
		t.Fatalf("it is %s, %+v, %+v", before.Status, before.Progress, before.Error)
	}
	due := s.startRetention(t, map[string]any{"runs": 0})
	if _, err := s.Wait(t.Context(), due.RunID, nil); err != nil {
		t.Fatal(err)
	}
	after := again()
	if after.Status != "completed" || after.Progress.Failed != items || len(after.Scores) != 0 || len(after.Items) != items {
		t.Errorf("it is %s, %+v, %+v, %+v", after.Status, after.Progress, after.Scores, after.Error)
	}
	for _, item := range after.Items {
		if item.Error == nil || item.Error.Code != "gone" || item.Error.Message != "its answer was erased" || item.Answer != nil {
			t.Errorf("%s is %s, %+v", item.ID, item.State, item.Error)
		}
	}
	old := s.evaluated(t, e.ID, "it is there", hasEnded)
	if old.Scores["score"].N != items || len(old.Items) != items || old.Items[0].Answer != nil || old.Items[0].Score == nil {
		t.Errorf("the first evaluation has %+v, %+v", old.Scores, old.Items)
	}
}
