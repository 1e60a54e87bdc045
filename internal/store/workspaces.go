package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// workspaceStore has the workspaces, and what the instance and its users have chosen.
type workspaceStore struct{ *database }

// Workspace is a tenant: nothing of one is ever seen from another.
type Workspace struct {
	ID        string
	Name      string
	CreatedAt time.Time
}

type workspaceRow struct {
	bun.BaseModel `bun:"table:workspaces,alias:w"`
	ID            string `bun:"id,pk"`
	Name          string `bun:"name"`
	CreatedAt     int64  `bun:"created_at"`
}

func (r workspaceRow) workspace() Workspace {
	return Workspace{ID: r.ID, Name: r.Name, CreatedAt: fromMicros(r.CreatedAt)}
}

// CreateWorkspace makes a workspace; one with its id is a conflict.
func (s *workspaceStore) CreateWorkspace(ctx context.Context, w Workspace) error {
	row := workspaceRow{ID: w.ID, Name: w.Name, CreatedAt: micros(s.orNow(w.CreatedAt))}
	return s.write(ctx, "create workspace "+w.ID, func(ctx context.Context, tx transaction) error {
		_, err := tx.NewInsert().Model(&row).Exec(ctx)
		if isDuplicate(err) {
			return knowledge.Errorf(knowledge.CodeConflict, "there is a workspace %q already: choose another id", w.ID).WithCause(err)
		}
		return err
	})
}

// Workspaces lists the principal's own workspace, newest first; the instance's
// administrator sees all of them.
func (s *workspaceStore) Workspaces(ctx context.Context, p knowledge.Principal, page Page) ([]Workspace, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	var rows []workspaceRow
	q := s.reader.NewSelect().Model(&rows)
	if !p.Instance() {
		q = q.Where("w.id = ?", p.Workspace())
	}
	q, limit, err := newestFirst(q, "w", "workspaces", page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list workspaces: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r workspaceRow) position {
		return position{List: "workspaces", Order: r.CreatedAt, ID: r.ID}
	})
	return convert(rows, workspaceRow.workspace), cursor, nil
}

// WorkspaceExists reports whether there is a workspace with this id.
func (s *workspaceStore) WorkspaceExists(ctx context.Context, id string) (bool, error) {
	there, err := s.reader.NewSelect().Model((*workspaceRow)(nil)).Where("w.id = ?", id).Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("look up workspace %s: %w", id, failure(err))
	}
	return there, nil
}
