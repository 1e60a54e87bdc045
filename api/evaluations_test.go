package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// testSet stores two questions and returns the id of the test set.
func (e *edge) testSet() string {
	e.t.Helper()
	set := e.do("POST", own+"/test_sets", e.editor, `{"name": "leave", "items": [{"id": "a", "question": "How many?", "reference": "30"}, {"id": "b", "question": "When?", "reference": "May", "expected_pages": [3]}]}`).want(201)
	return set["id"].(string)
}

func TestTestSets(t *testing.T) {
	t.Parallel()
	t.Run("other_items_make_a_new_version", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		path := own + "/test_sets/" + e.testSet()
		first := e.do("GET", path+"?limit=1", e.editor, nil).want(200)
		if items := first["items"].([]any); first["count"] != 2.0 || len(items) != 1 || first["next_cursor"] == nil {
			t.Errorf("the first page is %v", first)
		}
		rest := e.do("GET", path+"?limit=1&cursor="+first["next_cursor"].(string), e.editor, nil).want(200)
		item := rest["items"].([]any)[0].(map[string]any)
		if rest["next_cursor"] != nil || item["id"] != "b" || item["expected_pages"].([]any)[0] != 3.0 {
			t.Errorf("the second page is %v", rest)
		}
		if got := e.do("PATCH", path, e.editor, `{"name": "holiday"}`).want(200); got["version"] != 1.0 || got["name"] != "holiday" {
			t.Errorf("renamed it is %v", got)
		}
		if got := e.do("PATCH", path, e.editor, `{"items": [{"id": "a", "question": "How many days?"}]}`).want(200); got["version"] != 2.0 || got["count"] != 1.0 {
			t.Errorf("changed it is %v", got)
		}
		if got := e.do("GET", path+"?version=1", e.editor, nil).want(200); got["count"] != 2.0 || len(got["items"].([]any)) != 2 {
			t.Errorf("the first version is %v", got)
		}
		e.do("DELETE", path, e.editor, nil).want(204)
		e.do("GET", path, e.editor, nil).refused(404, knowledge.CodeNotFound)
	})
	t.Run("csv_and_lines_are_read_too", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for kind, body := range map[string]string{
			"text/csv":             "question,reference,expected_documents\nHow many?,30,\"handbook.md; law.pdf\"\n",
			"application/x-ndjson": `{"question": "How many?", "reference": "30", "expected_documents": ["handbook.md", "law.pdf"]}` + "\n",
		} {
			set := e.do("POST", own+"/test_sets?name=leave&project_id=default", e.editor, body, "Content-Type", kind).want(201)
			got := e.do("GET", own+"/test_sets/"+set["id"].(string), e.editor, nil).want(200)
			item := got["items"].([]any)[0].(map[string]any)
			if got["name"] != "leave" || item["reference"] != "30" || len(item["expected_documents"].([]any)) != 2 || item["id"] == "" {
				t.Errorf("%s: %v", kind, got)
			}
		}
	})
	t.Run("wrong_items_are_named", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for name, body := range map[string]string{
			"no question": `{"items": [{"id": "a"}]}`, "two ids": `{"items": [{"id": "a", "question": "x"}, {"id": "a", "question": "y"}]}`, "unknown field": `{"items": [{"question": "x", "answer": "y"}]}`,
			"none": `{"items": []}`, "no items": `{"name": "x"}`,
		} {
			if a := e.do("POST", own+"/test_sets", e.editor, body); a.status != 422 || !strings.Contains(string(a.body), "body.items") {
				t.Errorf("%s: status %d, %s", name, a.status, a.body)
			}
		}
		a := e.do("POST", own+"/test_sets", e.editor, "id,question\na,x\na,y\n", "Content-Type", "text/csv")
		if a.status != 422 || !strings.Contains(string(a.body), "line 3") {
			t.Errorf("CSV: status %d, %s", a.status, a.body)
		}
	})
	t.Run("readers_and_strangers_see_none", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		id := e.testSet()
		e.do("GET", own+"/test_sets/"+id, e.reader, nil).refused(403, knowledge.CodeForbidden)
		e.do("GET", strings.Replace(own, "default", "other", 1)+"/test_sets/"+id, e.stranger, nil).refused(404, knowledge.CodeNotFound)
	})
}

// evaluation starts an evaluation and puts its items on record, as its workflow would.
func (e *edge) evaluation(set string) string {
	e.t.Helper()
	started := e.do("POST", own+"/evaluations", e.editor, map[string]any{"test_set_id": set}).want(202)
	id := started["id"].(string)
	var items []store.Evaluated
	for i, item := range []string{"a", "b"} {
		encoded, err := json.Marshal(evaluate.Item{ID: item, Question: item + "?"})
		if err != nil {
			e.t.Fatal(err)
		}
		items = append(items, store.Evaluated{Number: i + 1, ItemID: item, Repeat: 1, Item: encoded})
	}
	if err := e.store.BeginItems(e.t.Context(), id, items); err != nil {
		e.t.Fatal(err)
	}
	return id
}

// judged stores the score of an item, as the workflow would.
func (e *edge) judged(id string, number int, item string, score float64) {
	e.t.Helper()
	result, err := json.Marshal(record.ItemResult{
		Outcome: evaluate.Outcome{Item: item, Values: map[evaluate.Measure]float64{evaluate.MeasureScore: score}}, Judgement: evaluate.Judgement{Score: &score, Reason: "as judged"},
	})
	if err == nil {
		err = e.store.SetItem(e.t.Context(), id, store.Evaluated{Number: number, State: knowledge.ItemJudged, Result: result})
	}
	if err != nil {
		e.t.Fatal(err)
	}
}

// ends ends the run of an evaluation.
func (e *edge) ends(id string) {
	e.t.Helper()
	if err := e.store.EndRun(e.t.Context(), "default", id, store.RunEnd{Status: knowledge.RunCompleted}); err != nil {
		e.t.Fatal(err)
	}
}

func TestEvaluations(t *testing.T) {
	t.Parallel()
	t.Run("it_starts_and_shows_its_items", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		set := e.testSet()
		started := e.do("POST", own+"/evaluations", e.editor, map[string]any{
			"test_set_id": set, "repeats": 2, "sample": 1, "budget": map[string]any{"tokens": 500}, "projectConfigOverride": map[string]any{"ai": map[string]any{"temperature": 0.5}},
		}).want(202)
		id := started["id"].(string)
		if started["status"] != "running" || started["run_id"] != id || started["judge"] != evaluate.OfflineJudge || started["progress"].(map[string]any)["total"] != 2.0 {
			t.Errorf("it started as %v", started)
		}
		if budget, there := e.work.evaluated[id]; !there || budget.Tokens != 500 {
			t.Errorf("the workflow started with %+v", e.work.evaluated)
		}
		var snapshot record.Evaluation
		run := knowledge.RunRef{Workspace: "default", Project: "default", Run: id}
		if err := e.blobs.GetJSON(t.Context(), run.RequestKey(), &snapshot); err != nil || *snapshot.Question.Config.AI.Temperature != 0.5 || snapshot.Question.ConversationID != "" {
			t.Errorf("the snapshot is %+v, %v", snapshot.Question.Config.AI, err)
		}
	})
	t.Run("reviews_and_the_judge_are_compared", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		id := e.evaluation(e.testSet())
		path := own + "/evaluations/" + id
		e.do("POST", path+"/items/a/review", e.editor, `{"score": 2}`).refused(409, knowledge.CodeConflict)
		e.judged(id, 1, "a", 1.5)
		e.do("POST", path+"/items/a/review", e.editor, `{"score": 3}`).refused(422, knowledge.CodeInvalid)
		e.do("POST", path+"/items/a/review", e.editor, `{}`).refused(422, knowledge.CodeInvalid)
		e.do("POST", path+"/items/none/review", e.editor, `{"score": 2}`).refused(404, knowledge.CodeNotFound)
		item := e.do("POST", path+"/items/a/review", e.editor, `{"score": 1, "comment": "half"}`).want(200)
		review := item["reviews"].([]any)[0].(map[string]any)
		if item["score"] != 1.5 || item["reason"] != "as judged" || review["score"] != 1.5 || review["own"] != true || review["comment"] != "half" {
			t.Errorf("the item is %v", item)
		}
		if got := e.do("GET", path+"?state=judged", e.editor, nil).want(200); got["agreement"].(map[string]any)["n"] != 1.0 || len(got["items"].([]any)) != 1 {
			t.Errorf("the evaluation is %v", got)
		}
	})
	t.Run("two_are_paired_by_their_items", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		set := e.testSet()
		first, second := e.evaluation(set), e.evaluation(set)
		path := own + "/evaluations/" + first + "/compare/" + second
		e.do("GET", path, e.editor, nil).refused(409, knowledge.CodeConflict)
		for id, scores := range map[string][2]float64{first: {0, 2}, second: {2, 2}} {
			e.judged(id, 1, "a", scores[0])
			e.judged(id, 2, "b", scores[1])
			e.ends(id)
		}
		got := e.do("GET", path, e.editor, nil).want(200)
		difference := got["differences"].([]any)[0].(map[string]any)
		changed := got["changed"].([]any)
		if got["paired"] != 2.0 || difference["mean"] != 1.0 || len(changed) != 1 || changed[0].(map[string]any)["item"] != "a" || len(got["warnings"].([]any)) != 0 {
			t.Errorf("the comparison is %v", got)
		}
	})
}

func TestEvaluationsAreControlled(t *testing.T) {
	t.Parallel()
	e := open(t)
	set := e.testSet()
	id := e.evaluation(set)
	path := own + "/evaluations/" + id
	if got := e.do("POST", path+"/pause", e.editor, nil).want(202); got["status"] != "paused" || !e.work.paused[id] {
		t.Errorf("paused it is %v", got["status"])
	}
	if got := e.do("POST", path+"/resume", e.editor, nil).want(202); got["status"] != "running" || e.work.paused[id] {
		t.Errorf("resumed it is %v", got["status"])
	}
	e.do("POST", path+"/cancel", e.editor, nil).want(202)
	e.ends(id)
	e.do("POST", path+"/pause", e.editor, nil).refused(409, knowledge.CodeConflict)
	for name, test := range map[string]struct {
		body map[string]any
		code int
	}{
		"an unknown set":        {map[string]any{"test_set_id": "none"}, 404},
		"an unknown version":    {map[string]any{"test_set_id": set, "test_set_version": 9}, 404},
		"a wrong override":      {map[string]any{"test_set_id": set, "projectConfigOverride": map[string]any{"ai": map[string]any{"temperature": 9}}}, 422},
		"two judges":            {map[string]any{"test_set_id": set, "judge": map[string]any{"model": "m", "webhook": map[string]any{"url": "https://example.com"}}}, 422},
		"an address of its own": {map[string]any{"test_set_id": set, "judge": map[string]any{"webhook": map[string]any{"url": "http://127.0.0.1/"}}}, 422},
		"too many repeats":      {map[string]any{"test_set_id": set, "repeats": 11}, 422},
	} {
		if a := e.do("POST", own+"/evaluations", e.editor, test.body); a.status != test.code {
			t.Errorf("%s: status %d, %s", name, a.status, a.body)
		}
	}
	for name, key := range map[string]string{"a reader": e.reader, "a stranger": e.stranger} {
		if a := e.do("GET", path, key, nil); a.status != http.StatusForbidden && a.status != http.StatusNotFound {
			t.Errorf("%s: status %d", name, a.status)
		}
	}
	if got := e.do("GET", own+"/evaluations?test_set_id="+set, e.editor, nil).want(200); len(got["data"].([]any)) != 1 {
		t.Errorf("listed are %v", got)
	}
}
