package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Evaluations keeps test sets and evaluations.
type Evaluations interface {
	AddTestSet(ctx context.Context, p knowledge.Principal, set store.TestSet, items store.TestItems) (store.TestSet, error)
	TestSet(ctx context.Context, p knowledge.Principal, id string) (store.TestSet, error)
	TestSets(ctx context.Context, p knowledge.Principal, query store.TestSetQuery) ([]store.TestSet, string, error)
	TestSetItems(ctx context.Context, p knowledge.Principal, id string, version int) (store.TestItems, error)
	UpdateTestSet(ctx context.Context, p knowledge.Principal, id string, patch store.TestSetPatch) (store.TestSet, error)
	RemoveTestSet(ctx context.Context, p knowledge.Principal, id string) error
	FeedbackSince(ctx context.Context, p knowledge.Principal, query store.FeedbackQuery) ([]store.Feedback, error)
	QuestionsSince(ctx context.Context, p knowledge.Principal, project string, since time.Time, limit int) ([]store.Run, error)
	StartEvaluation(ctx context.Context, p knowledge.Principal, e store.Evaluation) (store.Evaluation, error)
	Evaluation(ctx context.Context, p knowledge.Principal, id string) (store.Evaluation, error)
	EvaluationForSystem(ctx context.Context, workspace, id string) (store.Evaluation, error)
	Evaluations(ctx context.Context, p knowledge.Principal, query store.EvaluationQuery) ([]store.Evaluation, string, error)
	NoteEvaluation(ctx context.Context, workspace, id string, paused bool, used knowledge.Usage) (knowledge.EvaluationProgress, error)
	SetReport(ctx context.Context, workspace, id string, report json.RawMessage, tell bool) error
	BeginItems(ctx context.Context, evaluation string, items []store.Evaluated) error
	SetItem(ctx context.Context, evaluation string, i store.Evaluated) error
	ItemsAfter(ctx context.Context, evaluation string, after, limit int) ([]store.Evaluated, error)
	ItemForSystem(ctx context.Context, evaluation string, number int) (store.Evaluated, error)
	ItemsForSystem(ctx context.Context, evaluation string) ([]store.Evaluated, error)
	EvaluationItems(ctx context.Context, p knowledge.Principal, id string, query store.ItemQuery) ([]store.Evaluated, string, error)
	AllEvaluated(ctx context.Context, p knowledge.Principal, id string) ([]store.Evaluated, error)
	EvaluatedItem(ctx context.Context, p knowledge.Principal, id string, item store.ItemRef) (store.Evaluated, error)
	SetReview(ctx context.Context, p knowledge.Principal, id string, number int, review store.Review) error
	ReviewedItems(ctx context.Context, p knowledge.Principal, id string) ([]store.Evaluated, error)
	StartGeneration(ctx context.Context, p knowledge.Principal, project, id string, begun knowledge.GenerationProgress) (store.Run, error)
	NoteGeneration(ctx context.Context, workspace, run string, progress knowledge.GenerationProgress) error
}

func testEvaluations(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"other_items_make_a_new_version_of_a_test_set":       testSetVersions,
		"a_test_set_belongs_to_its_workspace_and_project":    testSetTenancy,
		"items_keep_their_final_state":                       evaluationItems,
		"an_evaluation_is_read_by_its_owner_and_its_manager": evaluationTenancy,
		"its_answers_are_in_no_list_of_runs":                 evaluationRuns,
		"reviews_stand_beside_the_result":                    evaluationReviews,
		"webhooks_are_told_once":                             evaluationWebhooks,
		"a_removed_project_takes_them_with_it":               evaluationsOfRemovedProject,
		"feedback_becomes_questions":                         feedbackSince,
		"a_generation_notes_its_progress_until_it_ends":      generationProgress,
		"an_item_may_begin_with_its_answer":                  answeredItems,
	})
}

func testItems(hash string) store.TestItems {
	return store.TestItems{Items: json.RawMessage(`[{"id":"` + hash + `"}]`), Count: 1, Hash: hash}
}

func testSetVersions(f *fixture) {
	p := manager("acme")
	set, err := f.AddTestSet(f.ctx, p, store.TestSet{ID: "s", Project: "handbook", Name: "holiday"}, testItems("one"))
	f.must(err)
	again, err := f.AddTestSet(f.ctx, p, store.TestSet{ID: "s", Project: "handbook", Name: "another"}, testItems("two"))
	f.must(err)
	if diff := cmp.Diff(set, again); diff != "" {
		f.Errorf("a repetition changed it:\n%s", diff)
	}
	same, two, name := testItems("one"), testItems("two"), "leave"
	if set, err = f.UpdateTestSet(f.ctx, p, "s", store.TestSetPatch{Items: &same}); err != nil || set.Version != 1 {
		f.Errorf("the same items make version %d, %v", set.Version, err)
	}
	if set, err = f.UpdateTestSet(f.ctx, p, "s", store.TestSetPatch{Items: &two, Name: &name}); err != nil || set.Version != 2 || set.Hash != "two" || set.Name != "leave" {
		f.Errorf("other items make %+v, %v", set, err)
	}
	for version, want := range map[int]string{0: "two", 1: "one", 2: "two"} {
		items, err := f.TestSetItems(f.ctx, p, "s", version)
		f.must(err)
		if items.Hash != want || string(items.Items) != string(testItems(want).Items) {
			f.Errorf("version %d has %s", version, items.Items)
		}
	}
	_, err = f.TestSetItems(f.ctx, p, "s", 3)
	f.wantCode(err, knowledge.CodeNotFound)
	f.must(f.RemoveTestSet(f.ctx, p, "s"))
	f.wantCode(f.RemoveTestSet(f.ctx, p, "s"), knowledge.CodeNotFound)
}

func testSetTenancy(f *fixture) {
	p := manager("acme")
	for i, project := range []string{"handbook", "press", "handbook"} {
		_, err := f.AddTestSet(f.ctx, p, store.TestSet{ID: fmt.Sprint("s", i), Project: project, Name: "set", CreatedAt: time.Now().Add(time.Duration(i) * time.Second)}, testItems("one"))
		f.must(err)
	}
	_, err := f.AddTestSet(f.ctx, ofPress(), store.TestSet{ID: "x", Project: "handbook"}, testItems("one"))
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.AddTestSet(f.ctx, p, store.TestSet{ID: "x", Project: "unknown"}, testItems("one"))
	f.wantCode(err, knowledge.CodeNotFound)
	first, cursor, err := f.TestSets(f.ctx, p, store.TestSetQuery{Project: "handbook", Page: store.Page{Limit: 1}})
	f.must(err)
	rest, last, err := f.TestSets(f.ctx, p, store.TestSetQuery{Project: "handbook", Page: store.Page{Limit: 1, Cursor: cursor}})
	f.must(err)
	if len(first) != 1 || len(rest) != 1 || first[0].ID != "s2" || rest[0].ID != "s0" || last != "" {
		f.Errorf("the pages are %+v and %+v, then %q", first, rest, last)
	}
	for name, somebody := range map[string]knowledge.Principal{"another workspace": manager("other"), "another project": ofPress()} {
		_, err := f.TestSet(f.ctx, somebody, "s0")
		f.wantCode(err, knowledge.CodeNotFound)
		f.wantCode(f.RemoveTestSet(f.ctx, somebody, "s0"), knowledge.CodeNotFound)
		list, _, err := f.TestSets(f.ctx, somebody, store.TestSetQuery{})
		f.must(err)
		if want := map[string]int{"another project": 1}[name]; len(list) != want {
			f.Errorf("%s lists %+v", name, list)
		}
	}
	if _, err := f.TestSet(f.ctx, reader("ann"), "s0"); err != nil {
		f.Errorf("a reader of the workspace: %v", err)
	}
}

// evaluation starts an evaluation of two items by a principal.
func (f *fixture) evaluation(p knowledge.Principal, id string) store.Evaluation {
	f.Helper()
	_, err := f.StartEvaluation(f.ctx, p, store.Evaluation{ID: id, Project: "handbook", TestSet: "s", Version: 1, Request: json.RawMessage(`{}`), Items: 2})
	f.must(err)
	items := []store.Evaluated{{Number: 1, ItemID: "a", Repeat: 1, Item: json.RawMessage(`{"id":"a"}`)}, {Number: 2, ItemID: "b", Repeat: 1, Item: json.RawMessage(`{"id":"b"}`)}}
	f.must(f.BeginItems(f.ctx, id, items))
	f.must(f.BeginItems(f.ctx, id, items))
	e, err := f.Evaluation(f.ctx, p, id)
	f.must(err)
	return e
}

func evaluationItems(f *fixture) {
	p := manager("acme")
	e := f.evaluation(p, "e")
	if e.Run.Kind != knowledge.KindEvaluate || e.Run.Status != knowledge.RunRunning || e.Progress.Total != 2 || e.Progress.Ended() != 0 {
		f.Errorf("it begins as %+v", e)
	}
	list, err := f.ItemsAfter(f.ctx, "e", 0, 10)
	f.must(err)
	if len(list) != 2 || list[0].State != knowledge.ItemWaiting {
		f.Fatalf("the items are %+v", list)
	}
	list[0].State, list[0].Run, list[0].Result = knowledge.ItemJudged, "run", json.RawMessage(`{"score":2}`)
	f.must(f.SetItem(f.ctx, "e", list[0]))
	late := list[0]
	late.State, late.Result = knowledge.ItemFailed, json.RawMessage(`{"score":0}`)
	f.must(f.SetItem(f.ctx, "e", late))
	list[1].State, list[1].Error = knowledge.ItemFailed, &knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "no"}
	f.must(f.SetItem(f.ctx, "e", list[1]))
	if rest, err := f.ItemsAfter(f.ctx, "e", 0, 10); err != nil || len(rest) > 0 {
		f.Errorf("left are %+v, %v", rest, err)
	}
	progress, err := f.NoteEvaluation(f.ctx, "acme", "e", true, knowledge.Usage{PromptTokens: 7, ModelCalls: 1})
	f.must(err)
	want := knowledge.EvaluationProgress{Total: 2, Answered: 1, Judged: 1, Failed: 1, Paused: true, Usage: knowledge.Usage{PromptTokens: 7, ModelCalls: 1}}
	if diff := cmp.Diff(want, progress); diff != "" {
		f.Errorf("the progress (-want +got):\n%s", diff)
	}
	all, err := f.AllEvaluated(f.ctx, p, "e")
	f.must(err)
	if string(all[0].Result) != `{"score":2}` || all[1].Error == nil || all[1].Error.Code != knowledge.CodeProviderFailed {
		f.Errorf("the items are %+v", all)
	}
	if all[0].Cell != 1 {
		f.Errorf("its configuration is %d", all[0].Cell)
	}
	f.must(f.BeginItems(f.ctx, "e", []store.Evaluated{{Number: 3, ItemID: "a", Repeat: 1, Cell: 2, Item: json.RawMessage(`{"id":"a"}`)}}))
	for cell, number := range map[int]int{1: 1, 2: 3} {
		one, err := f.EvaluatedItem(f.ctx, p, "e", store.ItemRef{Item: "a", Repeat: 1, Cell: cell})
		f.must(err)
		list, _, err := f.EvaluationItems(f.ctx, p, "e", store.ItemQuery{Cell: cell, Item: "a"})
		f.must(err)
		if one.Number != number || one.Cell != cell || len(list) != 1 || list[0].Number != number {
			f.Errorf("the item with configuration %d is %+v, and listed are %+v", cell, one, list)
		}
	}
	judged, next, err := f.EvaluationItems(f.ctx, p, "e", store.ItemQuery{State: knowledge.ItemJudged})
	f.must(err)
	if len(judged) != 1 || judged[0].ItemID != "a" || next != "" {
		f.Errorf("judged are %+v, then %q", judged, next)
	}
}

func evaluationTenancy(f *fixture) {
	ann := reader("ann")
	f.evaluation(ann, "hers")
	f.evaluation(manager("acme"), "managers")
	for name, test := range map[string]struct {
		p    knowledge.Principal
		want int
	}{
		"its owner": {ann, 1}, "another reader": {reader("bob"), 0}, "a manager": {manager("acme"), 2}, "another workspace": {manager("other"), 0}, "another project": {ofPress(), 0},
	} {
		list, _, err := f.Evaluations(f.ctx, test.p, store.EvaluationQuery{})
		f.must(err)
		if len(list) != test.want {
			f.Errorf("%s lists %d evaluations", name, len(list))
		}
		_, err = f.Evaluation(f.ctx, test.p, "hers")
		_, _, itemsErr := f.EvaluationItems(f.ctx, test.p, "hers", store.ItemQuery{})
		_, oneErr := f.EvaluatedItem(f.ctx, test.p, "hers", store.ItemRef{Item: "a", Repeat: 1, Cell: 1})
		_, reviewedErr := f.ReviewedItems(f.ctx, test.p, "hers")
		for _, err := range []error{err, itemsErr, oneErr, reviewedErr} {
			if allowed := test.want > 0; allowed && err != nil || !allowed && !knowledge.IsCode(err, knowledge.CodeNotFound) {
				f.Errorf("%s reads hers: %v", name, err)
			}
		}
	}
	_, err := f.StartEvaluation(f.ctx, ofPress(), store.Evaluation{ID: "x", Project: "handbook"})
	f.wantCode(err, knowledge.CodeNotFound)
}

func evaluationRuns(f *fixture) {
	p := manager("acme")
	f.evaluation(p, "e")
	f.must(f.AddRun(f.ctx, store.Run{ID: "answer", Workspace: "acme", Project: "handbook", Kind: knowledge.KindQuery, Owner: p.Owner(), Parent: "e"}))
	f.must(f.AddRun(f.ctx, store.Run{ID: "question", Workspace: "acme", Project: "handbook", Kind: knowledge.KindQuery, Owner: p.Owner()}))
	list, _, err := f.Runs(f.ctx, p, store.RunQuery{})
	f.must(err)
	ids := map[string]bool{}
	for _, r := range list {
		ids[r.ID] = true
	}
	if len(ids) != 2 || !ids["e"] || !ids["question"] {
		f.Errorf("listed are %v", ids)
	}
	if _, err := f.Run(f.ctx, p, "answer"); err != nil {
		f.Errorf("it can be opened by its id: %v", err)
	}
}

func evaluationReviews(f *fixture) {
	p, two := manager("acme"), 2.0
	f.evaluation(p, "e")
	f.wantCode(f.SetReview(f.ctx, p, "e", 1, store.Review{Score: &two}), knowledge.CodeConflict)
	f.must(f.SetItem(f.ctx, "e", store.Evaluated{Number: 1, State: knowledge.ItemJudged, Result: json.RawMessage(`{}`)}))
	f.must(f.SetReview(f.ctx, p, "e", 1, store.Review{Comment: "first"}))
	f.must(f.SetReview(f.ctx, p, "e", 1, store.Review{Score: &two, Comment: "second"}))
	f.wantCode(f.SetReview(f.ctx, p, "e", 9, store.Review{Score: &two}), knowledge.CodeNotFound)
	f.wantCode(f.SetReview(f.ctx, manager("other"), "e", 1, store.Review{Score: &two}), knowledge.CodeNotFound)
	list, err := f.ReviewedItems(f.ctx, p, "e")
	f.must(err)
	if len(list) != 1 || len(list[0].Reviews) != 1 || list[0].Reviews[0].Comment != "second" || *list[0].Reviews[0].Score != 2 || list[0].Reviews[0].Author != p.Owner() {
		f.Errorf("reviewed are %+v", list)
	}
}

func evaluationWebhooks(f *fixture) {
	p := manager("acme")
	_, err := f.UpdateProject(f.ctx, p, "handbook", func(project *knowledge.Project) error {
		project.Webhooks = []knowledge.Webhook{
			{ID: "wants", Types: []knowledge.WebhookType{knowledge.WebhookTests}, Enabled: true}, {ID: "others", Types: []knowledge.WebhookType{knowledge.WebhookCreated}, Enabled: true},
		}
		return nil
	})
	f.must(err)
	f.evaluation(p, "e")
	for _, tell := range []bool{false, true, true} {
		f.must(f.SetReport(f.ctx, "acme", "e", json.RawMessage(`{"items":2}`), tell))
	}
	list, _, err := f.Deliveries(f.ctx, p, store.DeliveryQuery{})
	f.must(err)
	if len(list) != 1 || list[0].Webhook != "wants" || list[0].Type != knowledge.WebhookTests || list[0].DocumentID != "e" {
		f.Errorf("the deliveries are %+v", list)
	}
	if e, err := f.Evaluation(f.ctx, p, "e"); err != nil || string(e.Report) != `{"items":2}` {
		f.Errorf("the report is %s, %v", e.Report, err)
	}
}

func evaluationsOfRemovedProject(f *fixture) {
	p := manager("acme")
	_, err := f.AddTestSet(f.ctx, p, store.TestSet{ID: "s", Project: "handbook", Name: "set"}, testItems("one"))
	f.must(err)
	f.evaluation(p, "e")
	run, err := f.RemoveProject(f.ctx, p, "handbook", "removal")
	f.must(err)
	_, err = f.TestSet(f.ctx, p, "s")
	f.wantCode(err, knowledge.CodeNotFound)
	runs, err := f.ProjectRuns(f.ctx, knowledge.RunRef{Workspace: "acme", Project: "handbook", Run: run.ID}, false, 10)
	f.must(err)
	if len(runs) != 1 || runs[0].ID != "e" {
		f.Fatalf("the runs are %+v", runs)
	}
	f.must(f.EndRun(f.ctx, "acme", "e", store.RunEnd{Status: knowledge.RunCanceled}))
	f.must(f.DropRuns(f.ctx, "acme", []string{"e"}))
	_, err = f.EvaluationForSystem(f.ctx, "acme", "e")
	f.wantCode(err, knowledge.CodeNotFound)
}

func feedbackSince(f *fixture) {
	ann, now := reader("ann"), time.Now().UTC()
	for i, rating := range []string{"up", "down"} {
		id := fmt.Sprint("run", i)
		f.must(f.AddRun(f.ctx, store.Run{ID: id, Workspace: "acme", Project: "handbook", Kind: knowledge.KindQuery, Owner: ann.Owner(), CreatedAt: now}))
		f.must(f.EndRun(f.ctx, "acme", id, store.RunEnd{Status: knowledge.RunCompleted}))
		f.must(f.SetFeedback(f.ctx, ann, store.Feedback{Run: id, Rating: rating, CreatedAt: now.Add(time.Duration(i) * time.Minute)}))
	}
	for name, test := range map[string]struct {
		p     knowledge.Principal
		query store.FeedbackQuery
		want  int
	}{
		"all of hers": {ann, store.FeedbackQuery{}, 2}, "down": {ann, store.FeedbackQuery{Rating: "down"}, 1}, "later": {ann, store.FeedbackQuery{Since: now.Add(time.Second)}, 1},
		"of another": {reader("bob"), store.FeedbackQuery{}, 0},
	} {
		test.query.Project, test.query.Limit = "handbook", 10
		list, err := f.FeedbackSince(f.ctx, test.p, test.query)
		f.must(err)
		if len(list) != test.want {
			f.Errorf("%s: %+v", name, list)
		}
	}
	_, err := f.QuestionsSince(f.ctx, ann, "handbook", now.Add(-time.Hour), 10)
	f.wantCode(err, knowledge.CodeForbidden)
}
