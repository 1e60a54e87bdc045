package evaluate_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/evaluate"
)

// TestPlanQuestions plans questions about passages of two documents, some with tables.
func TestPlanQuestions(t *testing.T) {
	t.Parallel()
	var passages []evaluate.Passage
	for i := range 40 {
		p := evaluate.Passage{ChunkID: fmt.Sprint("c", i), DocumentID: fmt.Sprint("d", i%2), Text: fmt.Sprintf("The keeper of pier %c%c inspects lamps, hinges and cables with a %cwrench and a %chammer.", 'a'+i%26, 'k'+i%7, 'a'+i%26, 'b'+i%25)}
		if i%8 == 0 {
			p.Text += "\n\n| Pier | Lamps |\n| --- | --- |\n| North | 12 |\n| South | 14 |\n"
		}
		passages = append(passages, p)
	}
	passages = append(passages, evaluate.Passage{ChunkID: "short", DocumentID: "d0", Text: "Contents"})
	plan := evaluate.PlanQuestions(passages, 60, 1)
	if diff := cmp.Diff(plan, evaluate.PlanQuestions(passages, 60, 1)); diff != "" {
		t.Errorf("the same seed plans others:\n%s", diff)
	}
	if cmp.Equal(plan, evaluate.PlanQuestions(passages, 60, 2)) {
		t.Error("another seed plans the same")
	}
	kinds, seen := map[evaluate.Kind]int{}, map[string]bool{}
	for i, q := range plan {
		kinds[q.Kind]++
		key := fmt.Sprint(q.Kind, q.Passages)
		if want := map[evaluate.Kind]int{evaluate.KindComparison: 2}[q.Kind]; len(q.Passages) != max(1, want) || seen[key] || q.Passages[0] == 40 {
			t.Errorf("question %d is %+v", i, q)
		}
		seen[key] = true
		if q.Kind == evaluate.KindTable && q.Passages[0]%8 != 0 {
			t.Errorf("passage %d has no table", q.Passages[0])
		}
	}
	if len(plan) != 60 || kinds[evaluate.KindTable] != 5 || kinds[evaluate.KindComparison] < 15 || kinds[evaluate.KindUnanswerable] < 5 || kinds[evaluate.KindUnanswerable] > 9 {
		t.Errorf("%d questions of the kinds %v", len(plan), kinds)
	}
	if none := evaluate.PlanQuestions(nil, 10, 1); len(none) > 0 {
		t.Errorf("nothing plans %v", none)
	}
}

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	for reply, ok := range map[string]bool{
		"UNKNOWN": false, " unknown.\n": false, "**UNKNOWN**": false, "": false, "The documents do not say so.": false,
		"It has 12 lamps.": true, "The colour is unknown to the keeper, but red is likely.": true,
	} {
		if _, got := evaluate.ReadAnswer("How many lamps are there?", reply); got != ok {
			t.Errorf("%q: %t", reply, got)
		}
	}
}

// TestChooseGenerated keeps one question in ten without an answer, and no duplicate.
func TestChooseGenerated(t *testing.T) {
	t.Parallel()
	var list []evaluate.Generated
	for i := range 30 {
		kind := evaluate.KindFact
		if i%3 == 0 {
			kind = evaluate.KindUnanswerable
		}
		list = append(list, evaluate.Generated{Item: evaluate.Item{Question: fmt.Sprintf("What does fault E%02d mean?", i/2*2+i%3/2), Kind: kind}})
	}
	kept, duplicates := evaluate.ChooseGenerated(list, 12)
	without := 0
	for _, g := range kept {
		if g.Item.Kind == evaluate.KindUnanswerable {
			without++
		}
	}
	if len(kept) > 12 || without != 1 || duplicates == 0 || evaluate.Unanswerable(12) != 1 || evaluate.Unanswerable(50) != 5 || evaluate.Unanswerable(4) != 0 {
		t.Errorf("%d are kept, %d of them without an answer; %d duplicates", len(kept), without, duplicates)
	}
	if _, needed := evaluate.ScoreRequest(evaluate.Item{Question: "How many lamps?", Reference: "12 lamps"}, "There are 12 lamps."); needed {
		t.Error("an answer in the same words needs a model")
	}
	if r, needed := evaluate.ScoreRequest(evaluate.Item{Question: "How many lamps?", Reference: "12 lamps"}, "There are 13."); !needed || r.Part != evaluate.PartScore {
		t.Errorf("another number: %+v", r)
	}
}
