package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestExperiments(t *testing.T) {
	t.Parallel()
	t.Run("each_combination_is_a_cell_and_the_saved_one_is_not_asked_twice", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		started := e.do("POST", own+"/evaluations", e.editor, map[string]any{
			"test_set_id": e.testSet(), "repeats": 2, "budget": map[string]any{"tokens": 900},
			"grid": map[string]any{"retrieval.strategy": []any{"hybrid", "dense"}, "numberOfChunks": []any{5, 10}},
		}).want(202)
		cells := started["cells"].([]any)
		if started["configurations"] != 4.0 || len(cells) != 4 || started["progress"].(map[string]any)["total"] != 16.0 {
			t.Fatalf("it started as %v", started)
		}
		saved := cells[0].(map[string]any)
		if got := fmt.Sprint(saved["values"]); got != "map[ai.retrieval.numberOfChunks:10 ai.retrieval.strategy:hybrid]" || saved["projectConfigOverride"] != nil {
			t.Errorf("the saved settings are %v", saved)
		}
		if got := fmt.Sprint(cells[2].(map[string]any)["projectConfigOverride"]); got != "map[ai:map[retrieval:map[numberOfChunks:5 strategy:dense]]]" {
			t.Errorf("the third cell is %s", got)
		}
		id := started["id"].(string)
		if budget := e.work.evaluated[id]; budget.Tokens != 900 {
			t.Errorf("one workflow has the budget %+v", e.work.evaluated)
		}
		var snapshot record.Evaluation
		run := knowledge.RunRef{Workspace: "default", Project: "default", Run: id}
		if err := e.blobs.GetJSON(t.Context(), run.RequestKey(), &snapshot); err != nil || snapshot.QuestionOf(1).Config.AI.Retrieval.NumberOfChunks != 10 ||
			snapshot.QuestionOf(3).Config.AI.Retrieval.NumberOfChunks != 5 || snapshot.QuestionOf(3).Config.AI.Retrieval.Strategy != "dense" {
			t.Errorf("the snapshot is %+v, %v", snapshot.Others, err)
		}
	})
	t.Run("wrong_grids_are_named", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		set := e.testSet()
		for name, test := range map[string]struct{ grid, says string }{
			"an unknown setting": {`{"colour": ["red"]}`, "colour"}, "a value out of range": {`{"numberOfChunks": [5, 500]}`, "body.grid.ai.retrieval.numberOfChunks"},
			"another type": {`{"numberOfChunks": ["many"]}`, "body.grid.ai.retrieval.numberOfChunks"}, "only the saved settings": {`{"numberOfChunks": [10]}`, "saved settings"},
			"a locked setting": {`{"limits.documents": [5]}`, "body.grid.limits"}, "too many": {`{"numberOfChunks": [1,2,3,4,5,6], "ai.temperature": [0,0.1,0.2,0.3,0.4,0.5]}`, "31"},
		} {
			a := e.do("POST", own+"/evaluations", e.editor, `{"test_set_id": "`+set+`", "grid": `+test.grid+`}`)
			if a.status != 422 || !strings.Contains(string(a.body), test.says) {
				t.Errorf("%s: status %d, %s", name, a.status, a.body)
			}
		}
		a := e.do("POST", own+"/evaluations", e.editor, `{"test_set_id": "`+set+`", "grid": {"numberOfChunks": [5]}, "projectConfigOverride": {"ai": {"temperature": 0}}}`)
		if a.status != 422 || !strings.Contains(string(a.body), "body.grid") {
			t.Errorf("with an override: status %d, %s", a.status, a.body)
		}
	})
}

// experiment puts an ended experiment with two cells and two items on record: with the saved settings
// both are wrong, with the other one they have these scores.
func (e *edge) experiment(a, b float64) string {
	e.t.Helper()
	started := e.do("POST", own+"/evaluations", e.editor, map[string]any{"test_set_id": e.testSet(), "grid": map[string]any{"numberOfChunks": []any{5}}}).want(202)
	id := started["id"].(string)
	scores := []float64{0, a, 0, b}
	for i, score := range scores {
		item := []string{"a", "b"}[i/2]
		encoded, err := json.Marshal(evaluate.Item{ID: item, Question: item + "?"})
		if err == nil {
			err = e.store.BeginItems(e.t.Context(), id, []store.Evaluated{{Number: i + 1, ItemID: item, Repeat: 1, Cell: i%2 + 1, Item: encoded}})
		}
		if err != nil {
			e.t.Fatal(err)
		}
		e.judged(id, i+1, item, score)
	}
	e.ends(id)
	return id
}

func TestCellsOfExperiments(t *testing.T) {
	t.Parallel()
	t.Run("two_cells_of_one_are_compared", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		path := own + "/evaluations/" + e.experiment(2, 0)
		same := e.do("GET", path+"/compare/"+path[len(own+"/evaluations/"):], e.editor, nil).want(200)
		if changed := same["changed"].([]any); len(changed) != 0 || same["paired"] != 2.0 {
			t.Errorf("the saved settings beside themselves are %v", same)
		}
		got := e.do("GET", path+"/compare/"+path[len(own+"/evaluations/"):]+"?candidate_cell=2", e.editor, nil).want(200)
		changed := got["changed"].([]any)
		if len(changed) != 1 || changed[0].(map[string]any)["after"] != 2.0 || fmt.Sprint(got["questions"]) != "map[a:a?]" {
			t.Errorf("the cells beside each other are %v", got)
		}
		e.do("GET", path+"/compare/"+path[len(own+"/evaluations/"):]+"?candidate_cell=3", e.editor, nil).refused(404, knowledge.CodeNotFound)
	})
	t.Run("items_and_reviews_are_of_a_cell", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		path := own + "/evaluations/" + e.experiment(2, 0)
		item := e.do("POST", path+"/items/a/review?cell=2", e.editor, `{"score": 2}`).want(200)
		if item["cell"] != 2.0 || item["number"] != 2.0 || item["score"] != 2.0 {
			t.Errorf("reviewed was %v", item)
		}
		got := e.do("GET", path+"?cell=2", e.editor, nil).want(200)["items"].([]any)
		if len(got) != 2 || len(got[0].(map[string]any)["reviews"].([]any)) != 1 || len(got[1].(map[string]any)["reviews"].([]any)) != 0 {
			t.Errorf("the items of the cell are %v", got)
		}
		if got := e.do("GET", path+"?item=a", e.editor, nil).want(200)["items"].([]any); len(got) != 2 {
			t.Errorf("the answers to a are %v", got)
		}
	})
	t.Run("a_sampling_leaves_out_what_the_caller_reviewed", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		path := own + "/evaluations/" + e.experiment(2, 0)
		numbers := func(query string) (list []float64, left any) {
			got := e.do("GET", path+query, e.editor, nil).want(200)
			for _, item := range got["items"].([]any) {
				list = append(list, item.(map[string]any)["number"].(float64))
			}
			return list, got["to_review"]
		}
		if list, left := numbers("?sampling=disagreement&limit=9"); left != 2.0 || len(list) != 2 || list[0]+list[1] != 3 {
			t.Errorf("the answers to one question that differ are %v of %v", list, left)
		}
		if list, left := numbers("?sampling=low_score&limit=1"); left != 4.0 || len(list) != 1 || list[0] == 2 {
			t.Errorf("the lowest is %v of %v", list, left)
		}
		e.do("POST", path+"/items/b/review", e.editor, `{"score": 0}`).want(200)
		if list, left := numbers("?sampling=random&limit=9"); left != 3.0 || len(list) != 3 || strings.Contains(fmt.Sprint(list), "3") {
			t.Errorf("to review are %v of %v", list, left)
		}
	})
}
