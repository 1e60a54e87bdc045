package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// projectGone stands in removing_run of a project that was removed. Its row stays as a
// tombstone, so that an upload that began before its removal is refused, until a project
// of the same id is made.
const projectGone = "gone"

// RemoveProject hides a project and everything in it at once, deletes its keys and secrets, cancels
// what its webhooks wait for, and inserts the run that removes the rest. A document under
// legal hold is a conflict. A repetition returns the first run while that one runs; after
// it the project is not found.
func (s *removalStore) RemoveProject(ctx context.Context, p knowledge.Principal, id, runID string) (Run, error) {
	if err := requireProjectOf(p, id); err != nil {
		return Run{}, err
	}
	var run Run
	err := s.write(ctx, "mark project "+id+" as removed", func(ctx context.Context, tx transaction) error {
		var project projectRow
		there, err := projectTable.first(ctx, tx, &project, "p.workspace = ? AND p.id = ?", p.Workspace(), id)
		switch {
		case err != nil:
			return err
		case !there || project.Removing == projectGone:
			return knowledge.NotFound("project", id)
		case project.Removing != "":
			var row runRow
			if _, err = runTable.first(ctx, tx, &row, "r.id = ? AND r.workspace = ?", project.Removing, p.Workspace()); err == nil {
				run, err = row.run()
			}
			return err
		}
		run = Run{
			ID: runID, Workspace: p.Workspace(), Project: id, Kind: knowledge.KindRemoveProject, Status: knowledge.RunRunning, Owner: p.Owner(),
			WorkflowID: knowledge.KindRemoveProject.WorkflowID(p.Workspace(), id), Subject: id, CreatedAt: s.now(),
		}
		if err := hideProject(ctx, tx, run); err != nil {
			return err
		}
		return insertRun(ctx, tx, run)
	})
	return run, err
}

// holdsOfProject selects the holds on documents of the project ?2 that nobody has lifted.
const holdsOfProject = `SELECT DISTINCT h.id, h.name FROM documents AS d JOIN hold_documents AS u ON u.document_id = d.id JOIN holds AS h ON h.id = u.hold
WHERE d.workspace = ?1 AND d.project = ?2 AND d.holds > 0 AND h.lifted_at = 0 ORDER BY h.id LIMIT 3`

// heldProject is the conflict of a project with documents under hold. It names the holds.
func heldProject(ctx context.Context, tx transaction, run Run, documents int) error {
	names, err := holdNames(ctx, tx, holdsOfProject, run.Workspace, run.Project)
	if err != nil {
		return err
	}
	if names != "" {
		names = " (" + names + ")"
	}
	return knowledge.Errorf(knowledge.CodeConflict, "%d documents of this project are under legal hold%s: lift the holds before you remove it", documents, names)
}

// hideProject marks a project and its documents as removed by a run.
func hideProject(ctx context.Context, tx transaction, run Run) error {
	held, err := tx.NewSelect().Model((*documentRow)(nil)).
		Where("d.workspace = ? AND d.project = ? AND d.removed = FALSE AND (d.legal_hold = TRUE OR d.holds > 0)", run.Workspace, run.Project).Count(ctx)
	if err != nil {
		return err
	}
	if held > 0 {
		return heldProject(ctx, tx, run, int(held))
	}
	now := micros(run.CreatedAt)
	for _, statement := range []struct {
		sql  string
		args []any
	}{
		{"UPDATE projects SET removing_run = ?, webhooks = '', callback_secret = '', updated_at = ? WHERE workspace = ? AND id = ?", []any{run.ID, now, run.Workspace, run.Project}},
		{`UPDATE documents SET removing_upto = version, removing_run = ?, removing_since = ?, updated_at = ?
			WHERE workspace = ? AND project = ? AND removed = FALSE AND removing_upto < version`, []any{run.ID, now, now, run.Workspace, run.Project}},
		{`UPDATE webhook_deliveries SET status = 'canceled', error = 'the project was removed', ended_at = ?
			WHERE workspace = ? AND project = ? AND status = 'pending'`, []any{now, run.Workspace, run.Project}},
		{"DELETE FROM api_keys WHERE workspace = ? AND project = ? AND instance = FALSE", []any{run.Workspace, run.Project}},
		{"DELETE FROM secrets WHERE workspace = ? AND project = ?", []any{run.Workspace, run.Project}},
		{"DELETE FROM publications WHERE workspace = ? AND project = ?", []any{run.Workspace, run.Project}},
		{"DELETE FROM test_sets WHERE workspace = ? AND project = ?", []any{run.Workspace, run.Project}},
	} {
		if _, err := tx.exec(ctx, statement.sql, statement.args...); err != nil {
			return err
		}
	}
	return nil
}

// refuseRemoved is CodeNotFound for a project that is being removed, or was.
func refuseRemoved(ctx context.Context, tx transaction, workspace, project string) error {
	var removing string
	there, err := first(ctx, tx, []any{&removing}, "SELECT removing_run FROM projects WHERE workspace = ? AND id = ?", workspace, project)
	if err == nil && there && removing != "" {
		err = knowledge.NotFound("project", project)
	}
	return err
}

// ProjectRuns lists runs of a project that is being removed, oldest first, without the
// run that removes it: those that have not ended, or all.
func (s *removalStore) ProjectRuns(ctx context.Context, removal knowledge.RunRef, running bool, limit int) ([]Run, error) {
	condition := "r.workspace = ? AND r.project = ? AND r.id <> ?"
	if running {
		condition += " AND r.status = 'running'"
	}
	rows, err := runTable.all(ctx, s.reader, condition+" ORDER BY r.created_at, r.id LIMIT ?", removal.Workspace, removal.Project, removal.Run, limit)
	if err != nil {
		return nil, fmt.Errorf("list runs of project %s: %w", removal.Project, failure(err))
	}
	return decodeRows(rows, (*runRow).run)
}

// ProjectRemovals lists the documents of a project that are being removed, by id, from
// the first one after a document on.
func (s *removalStore) ProjectRemovals(ctx context.Context, workspace, project, after string, limit int) ([]Removal, error) {
	rows, err := documentTable.all(ctx, s.reader, "d.workspace = ? AND d.project = ? AND d.removed = FALSE AND d.removing_upto > 0 AND d.id > ? ORDER BY d.id LIMIT ?",
		workspace, project, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list removals of project %s: %w", project, failure(err))
	}
	return convert(rows, func(r documentRow) Removal { return r.removal() }), nil
}

// ProjectImports lists the imports of a project.
func (s *removalStore) ProjectImports(ctx context.Context, workspace, project string) ([]knowledge.ImportRef, error) {
	ids := []string{}
	err := s.reader.NewSelect().Model((*importRow)(nil)).Column("id").Where("workspace = ? AND project = ?", workspace, project).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("list imports of project %s: %w", project, failure(err))
	}
	return convert(ids, func(id string) knowledge.ImportRef {
		return knowledge.ImportRef{Workspace: workspace, Project: project, Import: id}
	}), nil
}

// DropRuns deletes runs that have ended, with what requests under their idempotency keys
// were answered.
func (s *removalStore) DropRuns(ctx context.Context, workspace string, ids []string) error {
	return s.write(ctx, "delete runs", func(ctx context.Context, tx transaction) error { return dropRuns(ctx, tx, workspace, ids) })
}

func dropRuns(ctx context.Context, tx transaction, workspace string, ids []string) error {
	for _, id := range ids {
		if _, err := tx.exec(ctx, "DELETE FROM idempotency_keys WHERE workspace = ? AND run_id = ?", workspace, id); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "DELETE FROM runs WHERE id = ? AND workspace = ? AND status <> 'running'", id, workspace); err != nil {
			return err
		}
	}
	return nil
}

// The conditions on a row that it belongs to a project: to its source, to its import, or
// to itself.
const (
	ofSource = "source_id IN (SELECT id FROM import_sources WHERE workspace = ?1 AND project = ?2)"
	ofImport = "import IN (SELECT number FROM imports WHERE workspace = ?1 AND project = ?2)"
	ofRow    = "workspace = ?1 AND project = ?2"
)

// projectRows are the rows of a project that are deleted when its documents and its runs
// are gone, in this order. Messages go with their conversations.
var projectRows = []struct{ table, condition string }{
	{"sync_listings", ofImport}, {"syncs", ofRow}, {"import_failures", ofImport}, {"import_waits", ofImport}, {"import_pages", ofImport}, {"import_sidecars", ofSource}, {"import_objects", ofSource},
	{"imports", ofRow}, {"import_sources", ofRow}, {"webhook_deliveries", ofRow}, {"webhook_queues", ofRow}, {"conversations", ofRow},
	{"api_keys", ofRow + " AND instance = FALSE"}, {"secrets", ofRow},
}

// DropProject deletes a project that is being removed, with its syncs, imports, webhooks,
// conversations, keys and secrets. It deletes nothing and returns false while the project has a
// document, or a run besides its removal. Its id stays, and of removed documents the ids
// and the version counters. Doing it again changes nothing.
func (s *removalStore) DropProject(ctx context.Context, removal knowledge.RunRef) (dropped bool, err error) {
	err = s.write(ctx, "delete project "+removal.Project, func(ctx context.Context, tx transaction) error {
		dropped = false
		there, err := tx.NewSelect().Model((*projectRow)(nil)).Where("p.workspace = ? AND p.id = ? AND p.removing_run = ?", removal.Workspace, removal.Project, removal.Run).Exists(ctx)
		if err != nil || !there {
			dropped = err == nil
			return err
		}
		left, err := tx.NewSelect().Model((*documentRow)(nil)).Where("d.workspace = ? AND d.project = ? AND d.removed = FALSE", removal.Workspace, removal.Project).Exists(ctx)
		if err == nil && !left {
			left, err = tx.NewSelect().Model((*runRow)(nil)).Where("r.workspace = ? AND r.project = ? AND r.id <> ?", removal.Workspace, removal.Project, removal.Run).Exists(ctx)
		}
		if err != nil || left {
			return err
		}
		for _, rows := range projectRows {
			if _, err := tx.exec(ctx, "DELETE FROM "+rows.table+" WHERE "+rows.condition, removal.Workspace, removal.Project); err != nil {
				return err
			}
		}
		dropped = true
		_, err = tx.exec(ctx, "UPDATE projects SET name = '', config = '{}', removing_run = ? WHERE workspace = ? AND id = ?", projectGone, removal.Workspace, removal.Project)
		return err
	})
	return dropped, err
}
