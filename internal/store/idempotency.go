package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// idempotencyLife is how long a key is remembered.
const idempotencyLife = 24 * time.Hour

// expiredPerClaim is how many expired keys each claim deletes.
const expiredPerClaim = 20

// IdempotencyKey is what a caller sends to have a request done once.
type IdempotencyKey struct {
	Workspace string
	Caller    string
	Key       string
	Route     string
	BodyHash  string
	RunID     string // that the claimer will start
	Now       time.Time
}

// IdempotencyRecord is what became of an earlier request with the same key.
// Status is 0 while no response is stored.
type IdempotencyRecord struct {
	Route       string
	BodyHash    string
	RunID       string
	Status      int
	Response    []byte
	ContentType string
}

type idempotencyRow struct {
	bun.BaseModel `bun:"table:idempotency_keys,alias:i"`
	Workspace     string `bun:"workspace,pk"`
	Caller        string `bun:"caller,pk"`
	Name          string `bun:"name,pk"`
	Route         string `bun:"route"`
	BodyHash      string `bun:"body_hash"`
	RunID         string `bun:"run_id"`
	Status        int    `bun:"status"`
	ContentType   string `bun:"content_type"`
	Response      []byte `bun:"response"`
	CreatedAt     int64  `bun:"created_at"`
}

// ClaimKey returns the record of an earlier request with this key, or claims the key
// and returns nil. Of several callers at once exactly one claims it. A key older than
// 24 hours counts as absent.
func (s *Store) ClaimKey(ctx context.Context, k IdempotencyKey) (*IdempotencyRecord, error) {
	if k.Workspace == "" {
		return nil, requireWorkspace(knowledge.Principal{})
	}
	now := s.orNow(k.Now)
	oldest := micros(now.Add(-idempotencyLife))
	row := idempotencyRow{
		Workspace: k.Workspace, Caller: k.Caller, Name: k.Key, Route: k.Route, BodyHash: k.BodyHash,
		RunID: k.RunID, Response: []byte{}, CreatedAt: micros(now),
	}
	var existing *IdempotencyRecord
	err := s.write(ctx, "claim idempotency key", func(ctx context.Context, tx transaction) error {
		earlier := row
		there, err := found(tx.NewSelect().Model(&earlier).WherePK().Scan(ctx))
		if err != nil {
			return err
		}
		if there && earlier.CreatedAt > oldest {
			existing = &IdempotencyRecord{
				Route: earlier.Route, BodyHash: earlier.BodyHash, RunID: earlier.RunID,
				Status: earlier.Status, Response: earlier.Response, ContentType: earlier.ContentType,
			}
			return nil
		}
		if there {
			if _, err := tx.NewDelete().Model(&row).WherePK().Exec(ctx); err != nil {
				return err
			}
		}
		if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
			return err
		}
		return forgetExpired(ctx, tx, oldest)
	})
	return existing, err
}

// forgetExpired deletes a few expired keys, so that the table does not grow.
func forgetExpired(ctx context.Context, tx transaction, oldest int64) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM idempotency_keys WHERE (workspace, caller, name) IN (
		SELECT workspace, caller, name FROM idempotency_keys WHERE created_at <= ? ORDER BY created_at LIMIT ?)`, oldest, expiredPerClaim)
	return err
}

// StoreResponse keeps the answer to the request that claimed the key.
func (s *Store) StoreResponse(ctx context.Context, workspace, caller, key string, status int, contentType string, response []byte) error {
	if response == nil {
		response = []byte{}
	}
	row := idempotencyRow{Workspace: workspace, Caller: caller, Name: key, Status: status, ContentType: contentType, Response: response}
	return s.write(ctx, "store the response of an idempotency key", func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.NewUpdate().Model(&row).Column("status", "content_type", "response").WherePK().Exec(ctx))
		if err == nil && !there {
			err = knowledge.Errorf(knowledge.CodeNotFound, "this idempotency key is not claimed")
		}
		return err
	})
}

// ReleaseRun releases the key under which a run was started. It changes nothing if
// none is claimed.
func (s *Store) ReleaseRun(ctx context.Context, workspace, run string) error {
	return s.write(ctx, "release the idempotency key of run "+run, func(ctx context.Context, tx transaction) error {
		_, err := tx.NewDelete().Model((*idempotencyRow)(nil)).Where("workspace = ? AND run_id = ?", workspace, run).Exec(ctx)
		return err
	})
}

// ReleaseKey releases a claimed key, so that the request can be tried again. It
// changes nothing if the key is not claimed.
func (s *Store) ReleaseKey(ctx context.Context, workspace, caller, key string) error {
	row := idempotencyRow{Workspace: workspace, Caller: caller, Name: key}
	return s.write(ctx, "release idempotency key", func(ctx context.Context, tx transaction) error {
		_, err := tx.NewDelete().Model(&row).WherePK().Exec(ctx)
		return err
	})
}
