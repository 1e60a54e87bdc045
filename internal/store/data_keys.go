package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/envelope"
)

// dataKeyStore has the data keys of the instance, wrapped by its master key, and how far the
// blobs are encrypted with the newest one.
type dataKeyStore struct{ *database }

type dataKeyRow struct {
	bun.BaseModel `bun:"table:data_keys,alias:k"`
	ID            string `bun:"id,pk"`
	Wrapped       string `bun:"wrapped"`
	Master        string `bun:"master"`
	CreatedAt     int64  `bun:"created_at"`
}

// DataKeys implements envelope.Keys.
func (s *dataKeyStore) DataKeys(ctx context.Context) ([]envelope.Key, error) {
	keys, err := dataKeys(ctx, s.reader)
	return keys, failure(err)
}

func dataKeys(ctx context.Context, db bun.IDB) ([]envelope.Key, error) {
	var rows []dataKeyRow
	if err := db.NewSelect().Model(&rows).OrderExpr("k.created_at, k.id").Scan(ctx); err != nil {
		return nil, err
	}
	var keys []envelope.Key
	for _, r := range rows {
		keys = append(keys, envelope.Key{ID: r.ID, Wrapped: r.Wrapped, Master: r.Master, CreatedAt: fromMicros(r.CreatedAt)})
	}
	return keys, nil
}

// ReplaceDataKeys implements envelope.Keys.
func (s *dataKeyStore) ReplaceDataKeys(ctx context.Context, before, now []envelope.Key) (done bool, err error) {
	err = s.write(ctx, "store the data keys", func(ctx context.Context, tx transaction) error {
		kept, err := dataKeys(ctx, tx.Tx)
		if done = err == nil && slices.EqualFunc(kept, before, sameDataKey); !done {
			return err
		}
		if _, err := tx.exec(ctx, "DELETE FROM data_keys"); err != nil {
			return err
		}
		for _, k := range now {
			row := dataKeyRow{ID: k.ID, Wrapped: k.Wrapped, Master: k.Master, CreatedAt: micros(k.CreatedAt)}
			if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	return done && err == nil, err
}

func sameDataKey(a, b envelope.Key) bool { return a.ID == b.ID && a.Wrapped == b.Wrapped }

// resealRow is the one row of the table of how far the blobs are.
type resealRow struct {
	bun.BaseModel `bun:"table:reseals,alias:r"`
	ID            int    `bun:"id,pk"` // 1
	DataKey       string `bun:"data_key"`
	Seen          int64  `bun:"seen"`
	Sealed        int64  `bun:"sealed"`
	Upto          string `bun:"upto"`
	BeganAt       int64  `bun:"began_at"`
	UpdatedAt     int64  `bun:"updated_at"`
	EndedAt       int64  `bun:"ended_at"` // 0 = it has not ended
}

// Reseal returns how far the blobs are; a zero BeganAt if nobody began.
func (s *dataKeyStore) Reseal(ctx context.Context) (envelope.Reseal, error) {
	row := resealRow{ID: 1}
	there, err := found(s.reader.NewSelect().Model(&row).WherePK().Scan(ctx))
	if err != nil || !there {
		return envelope.Reseal{}, failure(err)
	}
	r := envelope.Reseal{DataKey: row.DataKey, Seen: row.Seen, Sealed: row.Sealed, Upto: row.Upto, BeganAt: fromMicros(row.BeganAt), UpdatedAt: fromMicros(row.UpdatedAt)}
	if row.EndedAt != 0 {
		r.EndedAt = fromMicros(row.EndedAt)
	}
	return r, nil
}

// PutReseal stores how far the blobs are.
func (s *dataKeyStore) PutReseal(ctx context.Context, r envelope.Reseal) error {
	row := resealRow{ID: 1, DataKey: r.DataKey, Seen: r.Seen, Sealed: r.Sealed, Upto: r.Upto, BeganAt: micros(r.BeganAt), UpdatedAt: micros(s.orNow(r.UpdatedAt))}
	if !r.EndedAt.IsZero() {
		row.EndedAt = micros(r.EndedAt)
	}
	return s.write(ctx, "store how far the blobs are encrypted", func(ctx context.Context, tx transaction) error {
		insert := tx.NewInsert().Model(&row).On("CONFLICT (id) DO UPDATE")
		for _, column := range []string{"data_key", "seen", "sealed", "upto", "began_at", "updated_at", "ended_at"} {
			insert = insert.Set(column + " = EXCLUDED." + column)
		}
		if _, err := insert.Exec(ctx); err != nil {
			return fmt.Errorf("write the row: %w", err)
		}
		return nil
	})
}
