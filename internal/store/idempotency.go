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
	// Owner is the process that runs the request. Until LeasedUntil no other process
	// takes the request for one whose process died. "" = no other process serves
	// requests: the key has no lease.
	Owner       string
	LeasedUntil time.Time
	Now         time.Time
}

// IdempotencyRecord is what became of an earlier request with the same key.
// Status is 0 while no response is stored. Held reports that another process runs the
// request, and LeasedUntil when its lease ends by its own clock.
type IdempotencyRecord struct {
	Route       string
	BodyHash    string
	RunID       string
	Status      int
	Response    []byte
	ContentType string
	Held        bool
	LeasedUntil time.Time
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
	Owner         string `bun:"owner"`
	LeasedUntil   int64  `bun:"leased_until"`
}

// ClaimKey returns the record of an earlier request with this key, or claims the key
// and returns nil. Of several callers at once exactly one claims it. A key older than
// 24 hours counts as absent. A request without a response whose lease has expired, or has
// ended, is leased to the caller if it has an Owner.
func (s *leaseStore) ClaimKey(ctx context.Context, k IdempotencyKey) (*IdempotencyRecord, error) {
	if k.Workspace == "" {
		return nil, requireWorkspace(knowledge.Principal{})
	}
	now := s.orNow(k.Now)
	oldest := micros(now.Add(-idempotencyLife))
	row := idempotencyRow{
		Workspace: k.Workspace, Caller: k.Caller, Name: k.Key, Route: k.Route, BodyHash: k.BodyHash,
		RunID: k.RunID, Response: []byte{}, CreatedAt: micros(now), Owner: k.Owner, LeasedUntil: micros(k.LeasedUntil),
	}
	var existing *IdempotencyRecord
	err := s.write(ctx, "claim idempotency key", func(ctx context.Context, tx transaction) error {
		existing = nil
		earlier := row
		there, err := found(tx.NewSelect().Model(&earlier).WherePK().Scan(ctx))
		if err != nil {
			return err
		}
		if there && earlier.CreatedAt > oldest {
			existing, err = earlier.lease(ctx, tx, &row, micros(now))
			return err
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

// lease returns the record of an earlier request. If its answer is not known and no other
// process runs it, the claim of the same request gets its lease.
func (r *idempotencyRow) lease(ctx context.Context, tx transaction, claim *idempotencyRow, now int64) (*IdempotencyRecord, error) {
	record := &IdempotencyRecord{
		Route: r.Route, BodyHash: r.BodyHash, RunID: r.RunID, Status: r.Status, Response: r.Response, ContentType: r.ContentType,
		LeasedUntil: fromMicros(r.LeasedUntil),
	}
	if r.Status != 0 || r.Route != claim.Route || r.BodyHash != claim.BodyHash {
		return record, nil
	}
	record.Held = r.Owner != "" && r.Owner != claim.Owner && r.LeasedUntil > now
	if record.Held || claim.Owner == "" {
		return record, nil
	}
	_, err := tx.NewUpdate().Model(claim).Column("owner", "leased_until").WherePK().Exec(ctx)
	return record, err
}

// HoldKey sets the end of the lease that k.Owner has of a key; the zero time ends it now.
// It changes nothing if the lease is another process's by now, or the request has its
// answer.
func (s *leaseStore) HoldKey(ctx context.Context, k IdempotencyKey) error {
	row := idempotencyRow{Workspace: k.Workspace, Caller: k.Caller, Name: k.Key, Owner: k.Owner, LeasedUntil: micros(k.LeasedUntil)}
	if k.LeasedUntil.IsZero() {
		row.Owner = ""
	}
	return s.write(ctx, "hold an idempotency key", func(ctx context.Context, tx transaction) error {
		_, err := tx.NewUpdate().Model(&row).Column("owner", "leased_until").WherePK().Where("owner = ?", k.Owner).Exec(ctx)
		return err
	})
}

// forgetExpired deletes a few expired keys, so that the table does not grow.
func forgetExpired(ctx context.Context, tx transaction, oldest int64) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM idempotency_keys WHERE (workspace, caller, name) IN (
		SELECT workspace, caller, name FROM idempotency_keys WHERE created_at <= ? ORDER BY created_at LIMIT ?)`, oldest, expiredPerClaim)
	return err
}

// StoreResponse keeps the answer to the request that claimed the key, which ends its lease.
func (s *leaseStore) StoreResponse(ctx context.Context, workspace, caller, key string, status int, contentType string, response []byte) error {
	if response == nil {
		response = []byte{}
	}
	row := idempotencyRow{Workspace: workspace, Caller: caller, Name: key, Status: status, ContentType: contentType, Response: response}
	return s.write(ctx, "store the response of an idempotency key", func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.NewUpdate().Model(&row).Column("status", "content_type", "response", "owner", "leased_until").WherePK().Exec(ctx))
		if err == nil && !there {
			err = knowledge.Errorf(knowledge.CodeNotFound, "this idempotency key is not claimed")
		}
		return err
	})
}

// ReleaseRun releases the key under which a run was started. It changes nothing if
// none is claimed.
func (s *leaseStore) ReleaseRun(ctx context.Context, workspace, run string) error {
	return s.write(ctx, "release the idempotency key of run "+run, func(ctx context.Context, tx transaction) error {
		_, err := tx.NewDelete().Model((*idempotencyRow)(nil)).Where("workspace = ? AND run_id = ?", workspace, run).Exec(ctx)
		return err
	})
}

// ReleaseKey releases a claimed key, so that the request can be tried again. It
// changes nothing if the key is not claimed.
func (s *leaseStore) ReleaseKey(ctx context.Context, workspace, caller, key string) error {
	row := idempotencyRow{Workspace: workspace, Caller: caller, Name: key}
	return s.write(ctx, "release idempotency key", func(ctx context.Context, tx transaction) error {
		_, err := tx.NewDelete().Model(&row).WherePK().Exec(ctx)
		return err
	})
}
