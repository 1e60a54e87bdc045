package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/audit"
)

// endingGrants is the condition on grants g that they have an end which is not in the audit.
const endingGrants = "g.expires_at > 0 AND g.ended = FALSE"

// EndGrants writes the end of grants of a workspace into the audit, at most limit of them, the first to
// end first. They have had no effect since then: every read compares the time. next is the end of the
// first grant that is left, zero if none is.
func (s *grantStore) EndGrants(ctx context.Context, workspace string, limit int) (next time.Time, err error) {
	err = s.write(ctx, "end grants of workspace "+workspace, func(ctx context.Context, tx transaction) error {
		rows, err := grantTable.all(ctx, tx, "g.workspace = ? AND "+endingGrants+" AND g.expires_at <= ? ORDER BY g.expires_at, g.id LIMIT ?", workspace, micros(s.now()), limit)
		if err != nil {
			return err
		}
		if ids := convert(rows, func(r grantRow) string { return r.ID }); len(ids) > 0 {
			if _, err := tx.NewUpdate().Model((*grantRow)(nil)).Set("ended = TRUE").Where("g.id IN (?)", bun.List(ids)).Exec(ctx); err != nil {
				return err
			}
			if err := tx.auditOwn(ctx, audit.Own{Workspace: workspace, Actor: "workflow:grants", Action: "end-grants", Objects: ids}); err != nil {
				return err
			}
		}
		var left int64
		_, err = first(ctx, tx, []any{&left}, "SELECT COALESCE(MIN(g.expires_at), 0) FROM grants AS g WHERE g.workspace = ? AND "+endingGrants, workspace)
		next = fromMicros(left)
		return err
	})
	return next, err
}

// EndingGrants returns the workspaces with grants that end before a time and whose end is not in the
// audit.
func (s *grantStore) EndingGrants(ctx context.Context, before time.Time) (workspaces []string, err error) {
	err = s.reader.NewSelect().Distinct().Model((*grantRow)(nil)).Column("workspace").
		Where(endingGrants+" AND g.expires_at <= ?", micros(before)).OrderExpr("workspace").Scan(ctx, &workspaces)
	if err != nil {
		return nil, fmt.Errorf("list workspaces with grants that end: %w", failure(err))
	}
	return workspaces, nil
}
