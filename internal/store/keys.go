package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// keyStore has the API keys.
type keyStore struct{ *database }

// Key is an API key as it is stored: its hash, never itself.
type Key struct {
	ID        string
	Workspace string
	Project   string // "" = every project
	Name      string
	Hash      string
	Prefix    string // the first characters, by which people tell keys apart
	Scopes    []knowledge.Scope
	// Role or Permissions stand in the place of scopes: a key has one of the three.
	Role        string
	Permissions []knowledge.Permission
	// Member is the service account to which it belongs, whose roles bound it; "" = none.
	Member string
	// Clearance is the level up to which the key reaches documents, "" = nobody gave it one.
	Clearance string
	Instance  bool // the instance's admin key
	// QueriesPerMinute is how many questions it may ask, 0 = the instance's limit.
	QueriesPerMinute int
	Limits           knowledge.UseLimits
	// CreatedBy is the id of the key that made it, or UserMaker and the user whose JWT
	// did; "" = not known, or the server made it.
	CreatedBy string
	// Makers are the keys that made it, the nearest first. Only KeyByHash sets them.
	Makers []knowledge.KeyLimit
	// Bounds are the rights of those of its makers whom scopes alone do not describe. Only
	// KeyByHash sets them.
	Bounds     []Rights
	ExpiresAt  time.Time // zero = never
	CreatedAt  time.Time
	RevokedAt  time.Time // zero = not
	LastUsedAt time.Time // to the minute; zero = not recorded
}

// Rights are what a key may do: the scopes, the role or the permissions, within the roles of the
// member.
type Rights struct {
	Scopes      []knowledge.Scope
	Role        string
	Permissions []knowledge.Permission
	Member      string
}

// Rights returns what the key may do by itself.
func (k Key) Rights() Rights { return Rights{k.Scopes, k.Role, k.Permissions, k.Member} }

type keyRow struct {
	bun.BaseModel `bun:"table:api_keys,alias:k"`
	ID            string `bun:"id,pk"`
	Workspace     string `bun:"workspace"`
	Project       string `bun:"project"`
	Name          string `bun:"name"`
	Hash          string `bun:"hash"`
	Prefix        string `bun:"prefix"`
	Scopes        string `bun:"scopes"`
	Instance      bool   `bun:"instance"`
	ExpiresAt     int64  `bun:"expires_at"`
	CreatedAt     int64  `bun:"created_at"`
	RevokedAt     int64  `bun:"revoked_at"`
	Queries       int    `bun:"queries_per_minute"`
	CreatedBy     string `bun:"created_by"`
	Role          string `bun:"role"`
	Permissions   string `bun:"permissions"`
	Member        string `bun:"member"`
	LastUsedAt    int64  `bun:"last_used_at"`
	Clearance     string `bun:"clearance"`
	Limits        string `bun:"limits"`
}

func newKeyRow(k Key) (keyRow, error) {
	scopes, err := encode(append([]knowledge.Scope{}, k.Scopes...))
	if err != nil {
		return keyRow{}, fmt.Errorf("encode scopes of key %s: %w", k.ID, err)
	}
	permissions, err := encode(append([]knowledge.Permission{}, k.Permissions...))
	if err != nil {
		return keyRow{}, fmt.Errorf("encode permissions of key %s: %w", k.ID, err)
	}
	return keyRow{
		Limits: k.Limits.Encode(),
		Role:   k.Role, Permissions: permissions, Member: k.Member, LastUsedAt: micros(k.LastUsedAt), Clearance: k.Clearance,
		ID: k.ID, Workspace: k.Workspace, Project: k.Project, Name: k.Name, Hash: k.Hash, Prefix: k.Prefix,
		Scopes: scopes, Instance: k.Instance, ExpiresAt: micros(k.ExpiresAt),
		CreatedAt: micros(k.CreatedAt), RevokedAt: micros(k.RevokedAt), Queries: k.QueriesPerMinute, CreatedBy: k.CreatedBy,
	}, nil
}

func (r keyRow) key() (Key, error) {
	k := Key{
		ID: r.ID, Workspace: r.Workspace, Project: r.Project, Name: r.Name, Hash: r.Hash, Prefix: r.Prefix,
		Instance: r.Instance, ExpiresAt: fromMicros(r.ExpiresAt), CreatedAt: fromMicros(r.CreatedAt), RevokedAt: fromMicros(r.RevokedAt), QueriesPerMinute: r.Queries,
		CreatedBy: r.CreatedBy, Role: r.Role, Member: r.Member, LastUsedAt: fromMicros(r.LastUsedAt), Clearance: r.Clearance,
	}
	var err error
	if k.Limits, err = knowledge.DecodeUseLimits(r.Limits); err != nil {
		return k, fmt.Errorf("decode limits of key %s: %w", r.ID, err)
	}
	if r.Permissions != "[]" {
		if err := json.Unmarshal([]byte(r.Permissions), &k.Permissions); err != nil {
			return k, fmt.Errorf("decode permissions of key %s: %w", r.ID, err)
		}
	}
	if err := json.Unmarshal([]byte(r.Scopes), &k.Scopes); err != nil {
		return k, fmt.Errorf("decode scopes of key %s: %w", r.ID, err)
	}
	return k, nil
}

// CreateKey stores a key. A workspace or a service account that does not exist is not found.
func (s *keyStore) CreateKey(ctx context.Context, k Key) error {
	k.CreatedAt = s.orNow(k.CreatedAt)
	row, err := newKeyRow(k)
	if err != nil {
		return err
	}
	return s.write(ctx, "create key "+k.ID, func(ctx context.Context, tx transaction) error {
		if err := requireMember(ctx, tx, k.Workspace, k.Member); err != nil {
			return err
		}
		return insertKey(ctx, tx, row)
	})
}

func insertKey(ctx context.Context, tx transaction, row keyRow) error {
	_, err := tx.NewInsert().Model(&row).Exec(ctx)
	switch {
	case isDuplicate(err):
		return knowledge.Errorf(knowledge.CodeConflict, "this key exists already").WithCause(err)
	case isOrphan(err):
		return knowledge.NotFound("workspace", row.Workspace)
	}
	return err
}

// RenewKey replaces the secret of a key, for a request that created the key and did
// not deliver its secret, and ends the sessions that began with the earlier secret. A
// revoked key is not found.
func (s *keyStore) RenewKey(ctx context.Context, p knowledge.Principal, id, hash, prefix string) (Key, error) {
	if err := requireWorkspace(p); err != nil {
		return Key{}, err
	}
	row := keyRow{ID: id}
	err := s.write(ctx, "renew key "+id, func(ctx context.Context, tx transaction) error {
		q := within(tx.NewSelect().Model(&row), "k", p).Where("k.id = ? AND k.instance = FALSE AND k.revoked_at = 0", id)
		there, err := found(q.Scan(ctx))
		if err == nil && !there {
			err = knowledge.NotFound("key", id)
		}
		if err != nil {
			return err
		}
		row.Hash, row.Prefix = hash, prefix
		if _, err = tx.NewUpdate().Model(&row).Column("hash", "prefix").WherePK().Exec(ctx); err != nil {
			return err
		}
		_, err = tx.NewDelete().Model((*sessionRow)(nil)).Where("key_id = ?", id).Exec(ctx)
		return err
	})
	if err != nil {
		return Key{}, err
	}
	return row.key()
}

// KeyByHash returns the key with this hash, held to what the keys that made it may do. A
// revoked or expired key is not found.
func (s *keyStore) KeyByHash(ctx context.Context, hash string) (Key, error) {
	return s.validKey(ctx, "k.hash = ?", hash)
}

// KeyByID returns the key with this id, as KeyByHash does.
func (s *keyStore) KeyByID(ctx context.Context, id string) (Key, error) {
	return s.validKey(ctx, "k.id = ?", id)
}

// validKey returns the key that a condition selects, unless it was revoked or has expired.
func (s *keyStore) validKey(ctx context.Context, condition, value string) (Key, error) {
	var row keyRow
	there, err := keyTable.first(ctx, s.reader, &row, condition+" AND k.revoked_at = 0 AND (k.expires_at = 0 OR k.expires_at > ?)", value, micros(s.now()))
	switch {
	case err != nil:
		return Key{}, fmt.Errorf("look up key: %w", failure(err))
	case !there:
		return Key{}, knowledge.Errorf(knowledge.CodeNotFound, "no such key")
	}
	k, err := row.key()
	if err == nil {
		err = s.withinMakers(ctx, &k)
	}
	if err != nil {
		return Key{}, fmt.Errorf("look up key: %w", failure(err))
	}
	return k, nil
}

// Keys lists the keys of the workspace, newest first; a principal that is held
// to a project sees the keys of that project. The instance's own key is shown to
// the instance's administrator only.
func (s *keyStore) Keys(ctx context.Context, p knowledge.Principal, page Page) ([]Key, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	var rows []keyRow
	q := within(s.reader.NewSelect().Model(&rows), "k", p)
	if !p.Instance() {
		q = q.Where("k.instance = FALSE")
	}
	q, limit, err := newestFirst(q, "k", "keys", page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list keys: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r keyRow) position {
		return position{List: "keys", Order: r.CreatedAt, ID: r.ID}
	})
	list, err := decodeRows(rows, (*keyRow).key)
	return list, cursor, err
}

// RevokeKey ends a key at once; the keys that it made stay. Doing it again changes nothing. The instance's
// key is configured, not revoked.
func (s *keyStore) RevokeKey(ctx context.Context, p knowledge.Principal, id string) error {
	if err := requireWorkspace(p); err != nil {
		return err
	}
	return s.write(ctx, "revoke key "+id, func(ctx context.Context, tx transaction) error { return revoke(ctx, tx, p, id, micros(s.now())) })
}

// revoke ends the principal's key, unless it is revoked already.
func revoke(ctx context.Context, tx transaction, p knowledge.Principal, id string, now int64) error {
	q := tx.NewUpdate().Model((*keyRow)(nil)).
		Set("revoked_at = CASE WHEN revoked_at = 0 THEN ? ELSE revoked_at END", now).
		Where("id = ? AND workspace = ? AND instance = FALSE", id, p.Workspace())
	if p.Project() != "" {
		q = q.Where("project = ?", p.Project())
	}
	there, err := changed(q.Exec(ctx))
	if err == nil && !there {
		err = knowledge.NotFound("key", id)
	}
	return err
}

// ReplaceInstanceKey makes k the instance's one admin key. It deletes an earlier one
// with another hash, and leaves one with the same hash as it is.
func (s *keyStore) ReplaceInstanceKey(ctx context.Context, k Key) error {
	k.Instance, k.CreatedAt = true, s.orNow(k.CreatedAt)
	row, err := newKeyRow(k)
	if err != nil {
		return err
	}
	return s.write(ctx, "replace the instance's key", func(ctx context.Context, tx transaction) error {
		if _, err := tx.NewDelete().Model((*keyRow)(nil)).Where("instance = TRUE AND hash <> ?", k.Hash).Exec(ctx); err != nil {
			return err
		}
		there, err := tx.NewSelect().Model((*keyRow)(nil)).Where("instance = TRUE AND hash = ?", k.Hash).Exists(ctx)
		if err != nil || there {
			return err
		}
		return insertKey(ctx, tx, row)
	})
}
