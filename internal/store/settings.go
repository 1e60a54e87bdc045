package store

import (
	"context"

	"github.com/uptrace/bun"
)

type settingRow struct {
	bun.BaseModel `bun:"table:settings,alias:s"`
	Name          string `bun:"name,pk"`
	Value         string `bun:"value"`
}

// Setting returns a value that the instance keeps. If there is none, it stores the
// result of create. Of several callers at once one creates it, and all get that value.
func (s *workspaceStore) Setting(ctx context.Context, name string, create func() string) (string, error) {
	row := settingRow{Name: name}
	err := s.write(ctx, "read setting "+name, func(ctx context.Context, tx transaction) error {
		there, err := found(tx.NewSelect().Model(&row).WherePK().Scan(ctx))
		if err != nil || there {
			return err
		}
		row.Value = create()
		_, err = tx.NewInsert().Model(&row).Exec(ctx)
		return err
	})
	return row.Value, err
}
