package store

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// QuestionsSince returns the newest questions of everybody to a project that were asked since a
// time and have ended, newest first. The questions of other runs are left out. It needs the
// permission runs.admin.
func (s *runStore) QuestionsSince(ctx context.Context, p knowledge.Principal, project string, since time.Time, limit int) ([]Run, error) {
	if err := requireProjectOf(p, project); err != nil {
		return nil, err
	}
	if !p.May(knowledge.RunsAdmin) {
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "reading everybody's questions needs the permission runs.admin")
	}
	rows, err := runTable.all(ctx, s.reader, `r.workspace = ? AND r.project = ? AND r.kind IN ('query', 'research') AND r.status <> 'running' AND r.parent = ''
		AND r.created_at >= ? ORDER BY r.created_at DESC, r.id DESC LIMIT ?`, p.Workspace(), project, micros(since), limit)
	if err != nil {
		return nil, fmt.Errorf("list the questions of project %s: %w", project, failure(err))
	}
	return decodeRows(rows, (*runRow).run)
}
