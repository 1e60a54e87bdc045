package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// WorkspaceLimits returns the limits that a workspace has itself, none for one that there is
// not.
func (s *workspaceStore) WorkspaceLimits(ctx context.Context, workspace string) (knowledge.UseLimits, error) {
	var text string
	if _, err := first(ctx, s.reader, []any{&text}, "SELECT limits FROM workspaces WHERE id = ?", workspace); err != nil {
		return knowledge.UseLimits{}, fmt.Errorf("read workspace %s: %w", workspace, failure(err))
	}
	return knowledge.DecodeUseLimits(text)
}

// SetWorkspaceLimits replaces the limits of the principal's workspace.
func (s *workspaceStore) SetWorkspaceLimits(ctx context.Context, p knowledge.Principal, limits knowledge.UseLimits) error {
	if err := requireWholeWorkspace(p, "limits"); err != nil {
		return err
	}
	return s.write(ctx, "set the limits of workspace "+p.Workspace(), func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.exec(ctx, "UPDATE workspaces SET limits = ? WHERE id = ?", limits.Encode(), p.Workspace()))
		if err == nil && !there {
			err = knowledge.NotFound("workspace", p.Workspace())
		}
		return err
	})
}

// ProjectAccount returns the account of a project by its id or its name, with the limits that it
// has itself. found is false if there is none.
func (s *projectStore) ProjectAccount(ctx context.Context, workspace, idOrName string) (a knowledge.Account, found bool, err error) {
	var row projectRow
	found, err = projectTable.first(ctx, s.reader, &row, "p.workspace = ?1 AND (p.id = ?2 OR p.name = ?2) AND p.removing_run = '' ORDER BY p.id = ?2 DESC LIMIT 1", workspace, idOrName)
	if err != nil || !found {
		return a, false, failure(err)
	}
	p, err := row.project()
	return knowledge.Account{Kind: knowledge.ProjectAccount, ID: p.ID, Limits: p.Config.Limits.Use()}, true, err
}
