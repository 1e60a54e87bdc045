package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// SignIn is a sign-in that a browser has begun at an identity provider.
type SignIn struct {
	Hash      string // of its state
	Data      string // JSON
	ExpiresAt time.Time
}

type signInRow struct {
	bun.BaseModel `bun:"table:sign_ins,alias:i"`
	Hash          string `bun:"hash,pk"`
	Data          string `bun:"data"`
	ExpiresAt     int64  `bun:"expires_at"`
}

// CreateSignIn stores a sign-in, and deletes those that were not finished in time.
func (s *keyStore) CreateSignIn(ctx context.Context, in SignIn) error {
	row := signInRow{Hash: in.Hash, Data: in.Data, ExpiresAt: micros(in.ExpiresAt)}
	return s.write(ctx, "begin a sign-in", func(ctx context.Context, tx transaction) error {
		if _, err := tx.exec(ctx, "DELETE FROM sign_ins WHERE expires_at <= ?", micros(s.now())); err != nil {
			return err
		}
		return signInTable.insert(ctx, tx, &row)
	})
}

// TakeSignIn deletes and returns a sign-in. Of several callers one gets it. One that was taken,
// or whose time is over, is not found.
func (s *keyStore) TakeSignIn(ctx context.Context, hash string) (SignIn, error) {
	var row signInRow
	err := s.write(ctx, "finish a sign-in", func(ctx context.Context, tx transaction) error {
		there, err := signInTable.first(ctx, tx, &row, "i.hash = ? AND i.expires_at > ?", hash, micros(s.now()))
		if err != nil {
			return err
		}
		if there {
			there, err = changed(tx.exec(ctx, "DELETE FROM sign_ins WHERE hash = ?", hash))
		}
		if err == nil && !there {
			err = knowledge.Errorf(knowledge.CodeNotFound, "no such sign-in")
		}
		return err
	})
	return SignIn{Hash: row.Hash, Data: row.Data, ExpiresAt: fromMicros(row.ExpiresAt)}, err
}
