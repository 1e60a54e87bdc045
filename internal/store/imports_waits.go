package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ImportWait is a step of a page that waits until its provider takes requests again.
type ImportWait struct {
	Page    int
	Step    string // names the step in its page
	Objects int    // that wait for the step; 0 = it waits no more
	NextAt  time.Time
	Code    knowledge.Code
	Message string
}

// SetImportWait stores that a step of an import waits, or that it waits no more. Repeating
// it changes nothing.
func (s *importStore) SetImportWait(ctx context.Context, i Import, w ImportWait) error {
	return s.write(ctx, "note that import "+i.Import+" waits", func(ctx context.Context, tx transaction) error {
		now := micros(s.now())
		if w.Objects == 0 {
			waited, err := changed(tx.exec(ctx, "DELETE FROM import_waits WHERE import = ? AND page = ? AND step = ?", i.Number, w.Page, w.Step))
			if err != nil || !waited {
				return err
			}
			// The time of the wait is no time of work.
			_, err = tx.exec(ctx, "UPDATE imports SET updated_at = ? WHERE number = ? AND status = 'running'", now, i.Number)
			return err
		}
		_, err := tx.exec(ctx, `INSERT INTO import_waits (import, page, step, objects, since, next_at, code, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (import, page, step) DO UPDATE SET objects = excluded.objects, next_at = excluded.next_at, code = excluded.code, message = excluded.message`,
			i.Number, w.Page, w.Step, w.Objects, now, micros(w.NextAt), string(w.Code), w.Message)
		return err
	})
}

// HeldImport is an import that has steps that wait.
type HeldImport struct {
	knowledge.ImportRef
	Pages   []int // with such steps, ascending
	Objects int64 // that wait, with one code
}

// heldImports lists pages with steps that wait: ?1 is the workspace, ?2 the project, ?3 the
// id of the import and ?4 the code, each empty for all.
const heldImports = `SELECT i.workspace, i.project, i.id, w.page, CAST(SUM(w.objects) AS BIGINT) FROM import_waits AS w JOIN imports AS i ON i.number = w.import
WHERE i.status = 'running' AND (i.workspace = ?1 OR ?1 = '') AND (i.project = ?2 OR ?2 = '') AND (i.id = ?3 OR ?3 = '') AND (w.code = ?4 OR ?4 = '')
GROUP BY i.workspace, i.project, i.id, i.number, w.page ORDER BY i.number, w.page`

func (s *importStore) heldImports(ctx context.Context, workspace, project, id string, code knowledge.Code) ([]HeldImport, error) {
	var list []HeldImport
	err := each(ctx, s.reader, heldImports, []any{workspace, project, id, string(code)}, func(rows *sql.Rows) error {
		var held HeldImport
		var page int
		if err := rows.Scan(&held.Workspace, &held.Project, &held.Import, &page, &held.Objects); err != nil {
			return err
		}
		if n := len(list) - 1; n >= 0 && list[n].ImportRef == held.ImportRef {
			list[n].Pages, list[n].Objects = append(list[n].Pages, page), list[n].Objects+held.Objects
			return nil
		}
		held.Pages = []int{page}
		list = append(list, held)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list held imports: %w", failure(err))
	}
	return list, nil
}

// HeldImports lists the running imports that have steps that wait, of a project or with ""
// of all projects that the principal covers, and of one import or with "" of all. Only waits
// with the code count, with "" all.
func (s *importStore) HeldImports(ctx context.Context, p knowledge.Principal, project, id string, code knowledge.Code) ([]HeldImport, error) {
	if err := requireWrite(p); err != nil {
		return nil, err
	}
	all, err := s.heldImports(ctx, p.Workspace(), project, id, code)
	var list []HeldImport
	for _, held := range all {
		if p.CoversProject(held.Project) {
			list = append(list, held)
		}
	}
	return list, err
}

// HeldForSystem lists the running imports of all workspaces that have steps that wait.
func (s *importStore) HeldForSystem(ctx context.Context) ([]HeldImport, error) {
	return s.heldImports(ctx, "", "", "", "")
}

// importWaiting sums up the waits of an import: the step that tries next tells the cause.
const importWaiting = `SELECT objects, since, next_at, code, message FROM import_waits WHERE import = ? ORDER BY next_at, page, step`

// addWaiting adds to an import that runs why its steps wait.
func (s *importStore) addWaiting(ctx context.Context, i *Import) error {
	if i.Status != knowledge.ImportRunning {
		return nil
	}
	err := each(ctx, s.reader, importWaiting, []any{i.Number}, func(rows *sql.Rows) error {
		var w knowledge.ImportWaiting
		var since, next int64
		if err := rows.Scan(&w.Documents, &since, &next, &w.Code, &w.Message); err != nil {
			return err
		}
		w.Since, w.NextAt = fromMicros(since), fromMicros(next)
		if first := i.Waiting; first != nil {
			first.Documents += w.Documents
			if w.Since.Before(first.Since) {
				first.Since = w.Since
			}
			return nil
		}
		i.Waiting = &w
		return nil
	})
	if err != nil {
		return fmt.Errorf("read what import %s waits for: %w", i.Import, failure(err))
	}
	return nil
}

// deleteWaits deletes the waits of an import that no longer runs.
func deleteWaits(ctx context.Context, tx transaction, number int64) error {
	_, err := tx.exec(ctx, "DELETE FROM import_waits WHERE import = ?", number)
	return err
}
