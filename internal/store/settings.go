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

// Setting gives a value that the instance keeps, and stores what create makes
// where there is none yet. Of several callers one creates, and all get that.
func (s *Store) Setting(ctx context.Context, name string, create func() string) (string, error) {
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
