package store

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// NewImport is an import that starts. SourceName is the same for all requests that
// mean the same source.
type NewImport struct {
	knowledge.ImportRef
	RunID      string
	SourceName string
	Request    ImportRequest
	Splitter   knowledge.Splitter
	Now        time.Time
}

// StartImport inserts an import and its run, in one transaction. If the same owner
// started it before, nothing changes and the import is returned as it is. A source
// that another import of the project has not ended with is a conflict.
func (s *importStore) StartImport(ctx context.Context, p knowledge.Principal, n NewImport) (Import, error) {
	if err := requireWrite(p); err != nil {
		return Import{}, err
	}
	if n.Workspace != p.Workspace() || !p.CoversProject(n.Project) {
		return Import{}, knowledge.NotFound("project", n.Project)
	}
	n.Now = s.orNow(n.Now)
	var row importRow
	err := s.write(ctx, "start import "+n.Import, func(ctx context.Context, tx transaction) error {
		there, err := importTable.first(ctx, tx, &row, "i.id = ? AND i.workspace = ? AND i.owner = ?", n.Import, n.Workspace, p.Owner())
		if err != nil || there {
			return err
		}
		if err := n.insert(ctx, tx, p.Owner(), &row); err != nil {
			return err
		}
		run := importRun(&row, n.Now)
		run.Accounts = n.Request.Accounts
		return insertRun(ctx, tx, run)
	})
	if err != nil {
		return Import{}, err
	}
	return row.value()
}

// insert inserts the import and, if it is new, its source.
func (n NewImport) insert(ctx context.Context, tx transaction, owner string, row *importRow) error {
	_, err := tx.exec(ctx, "INSERT INTO import_sources (workspace, project, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", n.Workspace, n.Project, n.SourceName)
	if err != nil {
		return err
	}
	*row = importRow{
		ID: n.Import, Workspace: n.Workspace, Project: n.Project, RunID: n.RunID, Owner: owner, Status: knowledge.ImportRunning,
		CreatedAt: micros(n.Now), UpdatedAt: micros(n.Now),
	}
	_, err = first(ctx, tx, []any{&row.SourceID}, "SELECT id FROM import_sources WHERE workspace = ? AND project = ? AND name = ?", n.Workspace, n.Project, n.SourceName)
	if err != nil {
		return err
	}
	var open string
	busy, err := first(ctx, tx, []any{&open}, "SELECT id FROM imports WHERE source_id = ? AND status IN ('running', 'paused')", row.SourceID)
	if err != nil {
		return err
	}
	if busy {
		return knowledge.Errorf(knowledge.CodeConflict, "import %q of this source has not ended: wait for it, or cancel it", open)
	}
	if row.Request, err = encode(n.Request); err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	if row.Splitter, err = encode(n.Splitter); err != nil {
		return fmt.Errorf("encode splitter: %w", err)
	}
	if _, err = first(ctx, tx, []any{&row.Number}, "SELECT COALESCE(MAX(number), 0) + 1 FROM imports"); err != nil {
		return err
	}
	return importTable.insert(ctx, tx, row)
}

// importRun is the run of an import, or of a retry of what failed.
func importRun(row *importRow, now time.Time) Run {
	ref := knowledge.ImportRef{Workspace: row.Workspace, Project: row.Project, Import: row.ID}
	return Run{
		ID: row.RunID, Workspace: row.Workspace, Project: row.Project, Kind: knowledge.KindImport, Status: knowledge.RunRunning, Owner: row.Owner,
		WorkflowID: ref.WorkflowID(row.RunID), Subject: row.ID, CreatedAt: now,
	}
}

// PreviousImport returns the id of the import of the same source before an import, ""
// for none. Of a run of a sync it is the last run before that was completed.
func (s *importStore) PreviousImport(ctx context.Context, i Import) (string, error) {
	var id string
	only := ""
	if i.Request.Sync != "" {
		only = " AND status = 'completed'"
	}
	_, err := first(ctx, s.reader, []any{&id}, "SELECT id FROM imports WHERE source_id = ? AND number < ?"+only+" ORDER BY number DESC LIMIT 1", i.Source, i.Number)
	if err != nil {
		return "", fmt.Errorf("find the import before %s: %w", i.Import, failure(err))
	}
	return id, nil
}

// RetryImport opens an import that has ended again, with a new run that retries the
// objects that failed. If the same run was started before, nothing changes. It is a
// conflict if nothing failed, if the import has not ended, or if a later import of
// the source has taken its objects over.
func (s *importStore) RetryImport(ctx context.Context, p knowledge.Principal, id, runID string, now time.Time) (Import, error) {
	if err := requireWrite(p); err != nil {
		return Import{}, err
	}
	now = s.orNow(now)
	var row importRow
	err := s.write(ctx, "retry import "+id, func(ctx context.Context, tx transaction) error {
		if err := loadImport(ctx, tx, p.Workspace(), id, &row); err != nil {
			return err
		}
		if !p.CoversProject(row.Project) {
			return knowledge.NotFound("import", id)
		}
		if row.RunID == runID {
			return nil
		}
		if err := retryableImport(ctx, tx, &row); err != nil {
			return err
		}
		row.RunID, row.Status, row.Error, row.EndedAt, row.UpdatedAt = runID, knowledge.ImportRunning, "", 0, micros(now)
		if err := importTable.update(ctx, tx, &row); err != nil {
			return err
		}
		run := importRun(&row, now)
		run.Owner = p.Owner()
		return insertRun(ctx, tx, run)
	})
	if err != nil {
		return Import{}, err
	}
	return row.value()
}

// retryableImport returns the conflict that prevents a retry of an import, or nil.
func retryableImport(ctx context.Context, tx transaction, row *importRow) error {
	var later string
	overtaken, err := first(ctx, tx, []any{&later}, "SELECT id FROM imports WHERE source_id = ? AND number > ? ORDER BY number DESC LIMIT 1", row.SourceID, row.Number)
	switch {
	case err != nil:
		return err
	case row.Status == knowledge.ImportRunning, row.Status == knowledge.ImportPaused:
		return knowledge.Errorf(knowledge.CodeConflict, "import %q is still running: retry its failed objects when it has ended", row.ID)
	case row.Failed == 0:
		return knowledge.Errorf(knowledge.CodeConflict, "no object of import %q failed", row.ID)
	case overtaken:
		return knowledge.Errorf(knowledge.CodeConflict, "import %q of the same source is newer: retry the failed objects of that one", later)
	}
	return nil
}

// SetImportStatus stores that an import is paused or running. It does nothing for
// an import that has ended.
func (s *importStore) SetImportStatus(ctx context.Context, ref knowledge.ImportRef, status knowledge.ImportStatus) error {
	return s.write(ctx, "set the status of import "+ref.Import, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE imports SET status = ?, updated_at = ? WHERE id = ? AND workspace = ? AND status IN ('running', 'paused')",
			status, micros(s.now()), ref.Import, ref.Workspace)
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, "DELETE FROM import_waits WHERE import IN (SELECT number FROM imports WHERE id = ? AND workspace = ?)", ref.Import, ref.Workspace)
		return err
	})
}

// endImport stores the end of an import whose run has ended, and gives up the versions
// that it has claimed and not published.
func endImport(ctx context.Context, tx transaction, workspace, runID string, end runRow) error {
	var row importRow
	there, err := importTable.first(ctx, tx, &row, "i.run_id = ? AND i.workspace = ?", runID, workspace)
	if err != nil || !there {
		return err
	}
	row.Status, row.Error, row.EndedAt, row.UpdatedAt = knowledge.ImportStatusOf(end.Status), end.Error, end.EndedAt, end.EndedAt
	if err := importTable.update(ctx, tx, &row); err != nil {
		return err
	}
	if err := deleteWaits(ctx, tx, row.Number); err != nil {
		return err
	}
	return releaseClaims(ctx, tx, runID)
}

// releaseClaims ends the versions that an import has claimed and not published.
func releaseClaims(ctx context.Context, tx transaction, runID string) error {
	rows, err := versionTable.all(ctx, tx, "v.status = 'pending' AND v.run_id = ?", runID)
	for i := range rows {
		if err == nil {
			err = failClaim(ctx, tx, rows[i].ref(), claim{runID, rows[i].SourceKey}, knowledge.DocumentError{
				Code: knowledge.CodeCanceled, Stage: knowledge.StagePublish, Retryable: true, Message: "the import ended before this document was published",
			})
		}
	}
	return err
}
