package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// evaluationStore has the evaluations with their items and reviews.
type evaluationStore struct{ *database }

// Evaluation is a test set that a project answers, and whose answers are judged. The run of
// the evaluation has its id.
type Evaluation struct {
	ID        string
	Workspace string
	Project   string
	Owner     string
	TestSet   string
	Version   int             // of the test set
	Request   json.RawMessage // how it is done, which the store does not read
	Items     int             // each as often as it is repeated
	Paused    bool
	Report    json.RawMessage // nil = it was not measured
	CreatedAt time.Time

	Run      Run // says how it ended
	Progress knowledge.EvaluationProgress
}

type evaluationRow struct {
	bun.BaseModel `bun:"table:evaluations,alias:e"`
	ID            string `bun:"id,pk"`
	Workspace     string `bun:"workspace"`
	Project       string `bun:"project"`
	Owner         string `bun:"owner"`
	TestSet       string `bun:"test_set"`
	Version       int    `bun:"version"`
	Request       string `bun:"request"`
	Items         int    `bun:"items"`
	Paused        bool   `bun:"paused"`
	Report        string `bun:"report"`
	CreatedAt     int64  `bun:"created_at"`
}

func (r *evaluationRow) evaluation() (Evaluation, error) {
	e := Evaluation{
		ID: r.ID, Workspace: r.Workspace, Project: r.Project, Owner: r.Owner, TestSet: r.TestSet, Version: r.Version,
		Request: json.RawMessage(r.Request), Items: r.Items, Paused: r.Paused, CreatedAt: fromMicros(r.CreatedAt),
	}
	if r.Report != "" {
		e.Report = json.RawMessage(r.Report)
	}
	return e, nil
}

// ownOrManaged restricts a query of evaluations e to those that the principal may read: its
// own and, with the write scope, all of its project. They show answers, and passages of
// documents.
func ownOrManaged(q *bun.SelectQuery, p knowledge.Principal) *bun.SelectQuery {
	q = within(q, "e", p)
	if p.Can(knowledge.ScopeWrite) {
		return q
	}
	return q.Where("e.owner = ?", p.Owner())
}

// StartEvaluation stores an evaluation and its run, in one transaction. An evaluation that
// the same owner started before under this id stays as it is. A project that the principal
// does not cover is not found.
func (s *evaluationStore) StartEvaluation(ctx context.Context, p knowledge.Principal, e Evaluation) (Evaluation, error) {
	if err := requireProjectOf(p, e.Project); err != nil {
		return Evaluation{}, err
	}
	now := s.orNow(e.CreatedAt)
	row := evaluationRow{
		ID: e.ID, Workspace: p.Workspace(), Project: e.Project, Owner: p.Owner(), TestSet: e.TestSet, Version: e.Version,
		Request: string(e.Request), Items: e.Items, CreatedAt: micros(now),
	}
	run := Run{
		ID: e.ID, Workspace: row.Workspace, Project: row.Project, Kind: knowledge.KindEvaluate, Status: knowledge.RunRunning, Owner: row.Owner,
		WorkflowID: knowledge.KindEvaluate.WorkflowID(row.Workspace, e.ID), Subject: e.ID, CreatedAt: now,
	}
	err := s.write(ctx, "start evaluation "+e.ID, func(ctx context.Context, tx transaction) error {
		var before evaluationRow
		there, err := evaluationTable.first(ctx, tx, &before, "e.id = ? AND e.workspace = ? AND e.owner = ?", row.ID, row.Workspace, row.Owner)
		if err != nil || there {
			return err
		}
		if err := requireProject(ctx, tx, row.Workspace, row.Project); err != nil {
			return err
		}
		if err := insertRun(ctx, tx, run); err != nil {
			return err
		}
		return evaluationTable.insert(ctx, tx, &row)
	})
	if err != nil {
		return Evaluation{}, err
	}
	return s.Evaluation(ctx, p, e.ID)
}

// Evaluation returns an evaluation to its owner and to the write scope, with its run and its
// progress.
func (s *evaluationStore) Evaluation(ctx context.Context, p knowledge.Principal, id string) (Evaluation, error) {
	if err := requireWorkspace(p); err != nil {
		return Evaluation{}, err
	}
	var rows []evaluationRow
	if err := ownOrManaged(s.reader.NewSelect().Model(&rows), p).Where("e.id = ?", id).Scan(ctx); err != nil {
		return Evaluation{}, fmt.Errorf("read evaluation %s: %w", id, failure(err))
	}
	list, err := s.withRuns(ctx, rows)
	if err == nil && len(list) == 0 {
		err = knowledge.NotFound("evaluation", id)
	}
	if err != nil {
		return Evaluation{}, err
	}
	return list[0], nil
}

// EvaluationForSystem returns an evaluation without a check of permission: for workers.
func (s *evaluationStore) EvaluationForSystem(ctx context.Context, workspace, id string) (Evaluation, error) {
	rows, err := evaluationTable.all(ctx, s.reader, "e.workspace = ? AND e.id = ?", workspace, id)
	if err != nil {
		return Evaluation{}, fmt.Errorf("read evaluation %s: %w", id, failure(err))
	}
	list, err := s.withRuns(ctx, rows)
	if err == nil && len(list) == 0 {
		err = knowledge.NotFound("evaluation", id)
	}
	if err != nil {
		return Evaluation{}, err
	}
	return list[0], nil
}

// EvaluationQuery asks for evaluations. Empty fields ask for all.
type EvaluationQuery struct {
	Project string
	TestSet string
	Page
}

// Evaluations lists evaluations, newest first, by the rule of Evaluation.
func (s *evaluationStore) Evaluations(ctx context.Context, p knowledge.Principal, query EvaluationQuery) ([]Evaluation, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	var rows []evaluationRow
	q := ownOrManaged(s.reader.NewSelect().Model(&rows), p)
	if query.Project != "" {
		q = q.Where("e.project = ?", query.Project)
	}
	if query.TestSet != "" {
		q = q.Where("e.test_set = ?", query.TestSet)
	}
	q, limit, err := newestFirst(q, "e", "evaluations", query.Page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list evaluations: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r evaluationRow) position {
		return position{List: "evaluations", Order: r.CreatedAt, ID: r.ID}
	})
	list, err := s.withRuns(ctx, rows)
	return list, cursor, err
}

// withRuns returns evaluations with their runs and their progress.
func (s *evaluationStore) withRuns(ctx context.Context, rows []evaluationRow) ([]Evaluation, error) {
	list, err := decodeRows(rows, (*evaluationRow).evaluation)
	if err != nil || len(list) == 0 {
		return list, err
	}
	ids := make([]string, 0, len(list))
	places := map[string]int{}
	for i, e := range list {
		ids, places[e.ID] = append(ids, e.ID), i
		list[i].Progress = knowledge.EvaluationProgress{Total: e.Items, Paused: e.Paused}
	}
	var runs []runRow
	if err := s.reader.NewSelect().Model(&runs).Where("r.id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the runs of evaluations: %w", failure(err))
	}
	for i := range runs {
		e := &list[places[runs[i].ID]]
		if e.Run, err = runs[i].run(); err != nil {
			return nil, err
		}
		if err := e.Progress.Usage.Decode(e.Run.Usage); err != nil {
			return nil, fmt.Errorf("decode the usage of evaluation %s: %w", e.ID, err)
		}
	}
	return list, s.countItems(ctx, ids, func(id string) *knowledge.EvaluationProgress { return &list[places[id]].Progress })
}

// countItems adds the items of evaluations to their progress, by their state.
func (s *evaluationStore) countItems(ctx context.Context, ids []string, of func(id string) *knowledge.EvaluationProgress) error {
	var counts []struct {
		Evaluation string
		State      knowledge.ItemState
		Count      int
	}
	err := s.reader.NewSelect().Model((*evaluatedRow)(nil)).Column("i.evaluation", "i.state").ColumnExpr("count(*) AS count").
		Where("i.evaluation IN (?)", bun.List(ids)).Group("i.evaluation", "i.state").Scan(ctx, &counts)
	if err != nil {
		return fmt.Errorf("count the items of evaluations: %w", failure(err))
	}
	for _, c := range counts {
		p := of(c.Evaluation)
		switch c.State {
		case knowledge.ItemAnswered:
			p.Answered += c.Count
		case knowledge.ItemJudged:
			p.Answered += c.Count
			p.Judged += c.Count
		case knowledge.ItemFailed:
			p.Failed += c.Count
		case knowledge.ItemWaiting:
		}
	}
	return nil
}

// NoteEvaluation stores whether an evaluation is paused and what it has used, unless it has
// ended, and returns how far it is.
func (s *evaluationStore) NoteEvaluation(ctx context.Context, workspace, id string, paused bool, used knowledge.Usage) (knowledge.EvaluationProgress, error) {
	usage := string(knowledge.RunUsage{Usage: used}.Encode())
	err := s.write(ctx, "note the progress of evaluation "+id, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE evaluations SET paused = ? WHERE id = ? AND workspace = ? AND paused <> ?", paused, id, workspace, paused)
		if err == nil && usage != "" {
			_, err = tx.exec(ctx, "UPDATE runs SET usage = ? WHERE id = ? AND workspace = ? AND status = 'running'", usage, id, workspace)
		}
		return err
	})
	if err != nil {
		return knowledge.EvaluationProgress{}, err
	}
	e, err := s.EvaluationForSystem(ctx, workspace, id)
	return e.Progress, err
}

// SetReport stores what an evaluation came to, in place of what was stored before. With tell
// the webhooks of its project of the type tests_results are told of the results, once.
func (s *evaluationStore) SetReport(ctx context.Context, workspace, id string, report json.RawMessage, tell bool) error {
	return s.write(ctx, "store the report of evaluation "+id, func(ctx context.Context, tx transaction) error {
		var row evaluationRow
		there, err := evaluationTable.first(ctx, tx, &row, "e.id = ? AND e.workspace = ?", id, workspace)
		if err == nil && !there {
			err = knowledge.NotFound("evaluation", id)
		}
		if err != nil {
			return err
		}
		row.Report, row.Paused = string(report), false
		if err := evaluationTable.update(ctx, tx, &row); err != nil || !tell {
			return err
		}
		return row.announce(ctx, tx, micros(s.now()))
	})
}

// announce adds the event of the results for each webhook that wants it. The queue orders the
// events of an evaluation like those of a document.
func (r *evaluationRow) announce(ctx context.Context, tx transaction, now int64) error {
	var encoded string
	there, err := first(ctx, tx, []any{&encoded}, "SELECT webhooks FROM projects WHERE workspace = ? AND id = ? AND removing_run = ''", r.Workspace, r.Project)
	if err != nil || !there {
		return err
	}
	webhooks, err := webhooksThat(encoded, knowledge.WebhookTests)
	if err != nil {
		return err
	}
	event := knowledge.DerivedID("event", r.ID, string(knowledge.WebhookTests))
	for _, w := range webhooks {
		added, err := changed(tx.exec(ctx, addDelivery, knowledge.DerivedID("delivery", event, w.ID), event, r.Workspace, r.Project, w.ID, r.ID, 1, string(knowledge.WebhookTests), "", now))
		if err == nil && added {
			err = wake(ctx, tx, WebhookQueue{r.Workspace, r.Project, w.ID}, now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
