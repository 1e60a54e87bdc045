package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// runStore has the runs.
type runStore struct{ *database }

// notBegun is the first offset of an ingest whose workflow is still busy with
// other versions of the document: the events in its log are theirs.
const notBegun = -1

// Run is a question, a tool call, one version of one document, or a removal: it
// maps to a workflow and a log.
type Run struct {
	ID             string
	Workspace      string
	Project        string
	Kind           knowledge.RunKind
	Status         knowledge.RunStatus
	WorkflowID     string
	Subject        string // id of the document, of the import or of the reindexed project, or ""
	Version        int
	Owner          string
	ConversationID string
	FirstOffset    int64 // of its events in the workflow's log; below 0 = its turn has not come
	LogKey         string
	ResultKey      string
	Usage          json.RawMessage
	Error          *knowledge.Failure
	Parent         string              // the reindex, the answer or the evaluation that started it, "" = none
	After          string              // the run that its conversation was waiting for when it started, "" = none
	Progress       json.RawMessage     // knowledge.ReindexProgress of a reindex, nil = none
	Callback       *knowledge.Callback // is told how the run ended; nil = nobody
	Accounts       []knowledge.Account // to whom its use is counted; nil = its owner, project and workspace
	Reserves       bool                // it is held to the limits of a day that its accounts have
	CreatedAt      time.Time
	EndedAt        time.Time // zero = it has not ended
}

// EventsFrom is where readers look for the run's events in the workflow's log. Of
// a run that ended before its turn came these are the events of its end alone.
func (r Run) EventsFrom() int64 { return max(r.FirstOffset, 0) }

// LogWorkflowID returns the id of the workflow that holds the run's log.
func (r Run) LogWorkflowID() string {
	if r.Kind.Traits().OwnLog {
		return knowledge.RunRef{Workspace: r.Workspace, Run: r.ID}.LogWorkflowID()
	}
	return r.WorkflowID
}

// RunQuery asks for runs. Empty fields ask for all.
type RunQuery struct {
	Kind         knowledge.RunKind
	Status       knowledge.RunStatus
	Project      string
	Conversation string
	Document     string // that is ingested or removed
	Person       string // of the workspace, or a user of an application, who started it
	Page
}

type runRow struct {
	bun.BaseModel  `bun:"table:runs,alias:r"`
	ID             string              `bun:"id,pk"`
	Workspace      string              `bun:"workspace"`
	Project        string              `bun:"project"`
	Kind           knowledge.RunKind   `bun:"kind"`
	Status         knowledge.RunStatus `bun:"status"`
	WorkflowID     string              `bun:"workflow_id"`
	Subject        string              `bun:"subject"`
	Version        int                 `bun:"version"`
	Owner          string              `bun:"owner"`
	ConversationID string              `bun:"conversation_id"`
	FirstOffset    int64               `bun:"first_offset"`
	LogKey         string              `bun:"log_key"`
	ResultKey      string              `bun:"result_key"`
	Usage          string              `bun:"usage"`
	Error          string              `bun:"error"`
	Parent         string              `bun:"parent"`
	After          string              `bun:"after_run"`
	Progress       string              `bun:"progress"`
	Callback       string              `bun:"callback"`
	Accounts       string              `bun:"accounts"`
	CreatedAt      int64               `bun:"created_at"`
	EndedAt        int64               `bun:"ended_at"`
}

func newRunRow(r Run) (runRow, error) {
	row := runRow{
		ID: r.ID, Workspace: r.Workspace, Project: r.Project, Kind: r.Kind, Status: r.Status, WorkflowID: r.WorkflowID,
		Subject: r.Subject, Version: r.Version, Owner: r.Owner, ConversationID: r.ConversationID, FirstOffset: r.FirstOffset,
		LogKey: r.LogKey, ResultKey: r.ResultKey, Usage: string(r.Usage), Parent: r.Parent, After: r.After, Progress: string(r.Progress),
		CreatedAt: micros(r.CreatedAt), EndedAt: micros(r.EndedAt),
	}
	if len(r.Accounts) > 0 {
		encoded, err := encode(runAccounts(r.Accounts, r.Reserves))
		if err != nil {
			return row, fmt.Errorf("encode the accounts of run %s: %w", r.ID, err)
		}
		row.Accounts = encoded
	}
	if r.Callback != nil {
		encoded, err := encode(r.Callback)
		if err != nil {
			return row, fmt.Errorf("encode the callback of run %s: %w", r.ID, err)
		}
		row.Callback = encoded
	}
	if row.Status == "" {
		row.Status = knowledge.RunRunning
	}
	return row, row.setError(r.Error)
}

func (r *runRow) setError(e *knowledge.Failure) error {
	if e == nil {
		r.Error = ""
		return nil
	}
	text, err := encode(e)
	r.Error = text
	return err
}

func (r runRow) run() (Run, error) {
	run := Run{
		ID: r.ID, Workspace: r.Workspace, Project: r.Project, Kind: r.Kind, Status: r.Status, WorkflowID: r.WorkflowID,
		Subject: r.Subject, Version: r.Version, Owner: r.Owner, ConversationID: r.ConversationID, FirstOffset: r.FirstOffset,
		LogKey: r.LogKey, ResultKey: r.ResultKey, Parent: r.Parent, After: r.After, CreatedAt: fromMicros(r.CreatedAt), EndedAt: fromMicros(r.EndedAt),
	}
	if r.Usage != "" {
		run.Usage = json.RawMessage(r.Usage)
	}
	if r.Progress != "" {
		run.Progress = json.RawMessage(r.Progress)
	}
	if err := decode(field{r.Error, &run.Error}, field{r.Callback, &run.Callback}); err != nil {
		return run, fmt.Errorf("decode run %s: %w", r.ID, err)
	}
	return run, nil
}

func insertRun(ctx context.Context, tx transaction, r Run) error {
	row, err := newRunRow(r)
	if err != nil {
		return err
	}
	err = runTable.insert(ctx, tx, &row)
	if isDuplicate(err) {
		return knowledge.Errorf(knowledge.CodeConflict, "there is a run %q already", r.ID).WithCause(err)
	}
	return err
}

// AddRun stores a run that starts; one with its id is a conflict.
func (s *runStore) AddRun(ctx context.Context, r Run) error {
	r.CreatedAt = s.orNow(r.CreatedAt)
	return s.write(ctx, "add run "+r.ID, func(ctx context.Context, tx transaction) error { return insertRun(ctx, tx, r) })
}

// anyRun and visibleRun are visibleRuns, for the runs ?3 and ?4.
var (
	anyRun     = inScope("r") + " AND r.id = ?3"
	visibleRun = inScope("r") + " AND r.id = ?4 AND " + ownOrOfDocument("?5", tokens3)
)

// ownOrOfDocument is the condition on a run r that it is the owner's, or the ingest
// or the removal of a visible document.
func ownOrOfDocument(owner, tokens string) string {
	return `(r.owner = ` + owner + ` OR r.kind IN ('ingest', 'remove') AND EXISTS (
		SELECT 1 FROM documents AS d WHERE d.id = r.subject AND d.workspace = r.workspace AND ` + visible(tokens) + `))`
}

// Run returns a run to its owner and to the write and admin scopes. An ingest is also
// returned to principals that see its version in Versions, and a removal to principals
// that see the document; nobody does while it is being removed.
func (s *runStore) Run(ctx context.Context, p knowledge.Principal, id string) (Run, error) {
	if err := requireWorkspace(p); err != nil {
		return Run{}, err
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return Run{}, err
	}
	query, args := visibleRun, []any{p.Workspace(), p.Project(), m.list(), id, p.Owner()}
	if p.Can(knowledge.ScopeWrite) {
		query, args = anyRun, []any{p.Workspace(), p.Project(), id}
	}
	rows, err := runTable.all(ctx, s.reader, query, args...)
	if err == nil {
		rows, err = s.seenRuns(ctx, p, rows)
	}
	switch {
	case err != nil:
		return Run{}, fmt.Errorf("read run %s: %w", id, failure(err))
	case len(rows) == 0:
		return Run{}, knowledge.NotFound("run", id)
	}
	return rows[0].run()
}

// Runs lists runs, newest first, by the rule of Run. It leaves out the answers to the items of
// an evaluation, which the evaluation lists.
func (s *runStore) Runs(ctx context.Context, p knowledge.Principal, query RunQuery) ([]Run, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	if query.Project != "" && !p.CoversProject(query.Project) {
		return nil, "", knowledge.NotFound("project", query.Project)
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return nil, "", err
	}
	var rows []runRow
	q := visibleRuns(s.reader.NewSelect().Model(&rows), p, m)
	for column, value := range map[string]string{"r.kind": string(query.Kind), "r.status": string(query.Status), "r.project": query.Project, "r.conversation_id": query.Conversation} {
		if value != "" {
			q = q.Where("? = ?", bun.Ident(column), value)
		}
	}
	if query.Document != "" {
		q = q.Where("r.subject = ? AND r.subject <> '' AND r.kind IN (?)", query.Document, bun.List([]knowledge.RunKind{knowledge.KindIngest, knowledge.KindRemove})) // not '' for the index
	}
	q = q.Where("NOT (r.parent <> '' AND EXISTS (SELECT 1 FROM evaluations AS e WHERE e.id = r.parent))")
	if query.Person != "" {
		q = q.Where("r.owner IN (?)", bun.List(knowledge.OwnersOf(query.Person)))
	}
	q, limit, err := newestFirst(q, "r", "runs", query.Page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list runs: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r runRow) position {
		return position{List: "runs", Order: r.CreatedAt, ID: r.ID}
	})
	if rows, err = s.seenRuns(ctx, p, rows); err != nil {
		return nil, "", fmt.Errorf("list runs: %w", failure(err))
	}
	list, err := decodeRows(rows, (*runRow).run)
	return list, cursor, err
}

func visibleRuns(q *bun.SelectQuery, p knowledge.Principal, m marks) *bun.SelectQuery {
	q = within(q, "r", p)
	if p.Can(knowledge.ScopeWrite) {
		return q
	}
	return q.Where(ownOrOfDocument("?0", "?1"), p.Owner(), m.bound())
}

// seenRuns drops the ingests of versions that the principal may not know of,
// unless it started them.
func (s *runStore) seenRuns(ctx context.Context, p knowledge.Principal, rows []runRow) ([]runRow, error) {
	hidden := map[string]bool{}
	for _, r := range rows {
		if r.Kind == knowledge.KindIngest && r.Owner != p.Owner() && !p.Can(knowledge.ScopeWrite) {
			hidden[r.ID] = true
		}
	}
	if len(hidden) == 0 {
		return rows, nil
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return nil, err
	}
	var found []versionRow
	err = seenVersions(s.reader, &found, p, m).Join("JOIN runs AS r ON r.subject = v.document_id AND r.version = v.version").
		Where("r.id IN (?)", bun.List(slices.Collect(maps.Keys(hidden)))).Scan(ctx)
	if err != nil {
		return nil, err
	}
	list, err := readableVersions(ctx, s.database, p, m, found)
	return slices.DeleteFunc(rows, func(r runRow) bool {
		return hidden[r.ID] && !slices.ContainsFunc(list, func(v Version) bool { return v.Document == r.Subject && v.Version == r.Version })
	}), err
}

// RunForSystem returns a run without a check of permission: for workers, and for
// readers with a signed token for this run.
func (s *runStore) RunForSystem(ctx context.Context, workspace, id string) (Run, error) {
	var row runRow
	there, err := runTable.first(ctx, s.reader, &row, "r.id = ? AND r.workspace = ?", id, workspace)
	switch {
	case err != nil:
		return Run{}, fmt.Errorf("read run %s: %w", id, failure(err))
	case !there:
		return Run{}, knowledge.NotFound("run", id)
	}
	return row.run()
}

// RunningQuery asks for a page of the runs that have not ended.
type RunningQuery struct {
	Kinds  []knowledge.RunKind // nil = all
	Before time.Time           // started before, zero = at any time
	After  Position            // of the last one of the page before; zero = the first page
	Limit  int
}

// RunningRuns lists runs that have not ended, oldest first.
func (s *runStore) RunningRuns(ctx context.Context, query RunningQuery) ([]Run, error) {
	var rows []runRow
	q := s.reader.NewSelect().Model(&rows).Where("r.status = 'running' AND r.created_at < ?", bound(query.Before)).
		Where("(r.created_at, r.id) > (?, ?)", micros(query.After.At), query.After.ID)
	if len(query.Kinds) > 0 {
		q = q.Where("r.kind IN (?)", bun.List(query.Kinds))
	}
	if err := q.OrderExpr("r.created_at, r.id").Limit(int64(query.Limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("list running runs: %w", failure(err))
	}
	return decodeRows(rows, (*runRow).run)
}

// Position returns the run's place in RunningRuns.
func (r Run) Position() Position { return Position{At: r.CreatedAt, ID: r.ID} }
