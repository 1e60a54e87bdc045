package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

type preferencesRow struct {
	bun.BaseModel `bun:"table:preferences,alias:p"`
	Workspace     string `bun:"workspace,pk"`
	Owner         string `bun:"owner,pk"`
	Value         string `bun:"value"`
}

// Preferences returns what SetPreferences stored for the principal's owner, or {}.
func (s *workspaceStore) Preferences(ctx context.Context, p knowledge.Principal) (json.RawMessage, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	value := "{}"
	_, err := first(ctx, s.reader, []any{&value}, "SELECT value FROM preferences WHERE workspace = ? AND owner = ?", p.Workspace(), p.Owner())
	if err != nil {
		return nil, fmt.Errorf("read preferences: %w", failure(err))
	}
	return json.RawMessage(value), nil
}

// SetPreferences stores the preferences of the principal's owner.
func (s *workspaceStore) SetPreferences(ctx context.Context, p knowledge.Principal, value json.RawMessage) error {
	if err := requireWorkspace(p); err != nil {
		return err
	}
	if !json.Valid(value) {
		return knowledge.Errorf(knowledge.CodeMalformed, "preferences must be JSON")
	}
	row := preferencesRow{Workspace: p.Workspace(), Owner: p.Owner(), Value: string(value)}
	return s.write(ctx, "store preferences", func(ctx context.Context, tx transaction) error {
		_, err := tx.NewInsert().Model(&row).On("CONFLICT (workspace, owner) DO UPDATE").Set("value = EXCLUDED.value").Exec(ctx)
		return err
	})
}
