package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// SignedIn is a session as it is listed.
type SignedIn struct {
	ID        string
	KeyID     string
	KeyName   string
	User      string    // who signed in with an identity provider, "" = a key
	CreatedAt time.Time // zero = not recorded
	ExpiresAt time.Time
}

type signedInRow struct {
	bun.BaseModel `bun:"table:sessions,alias:s"`
	ID            string `bun:"id"`
	KeyID         string `bun:"key_id"`
	KeyName       string `bun:"key_name"`
	Member        string `bun:"member"`
	CreatedAt     int64  `bun:"created_at"`
	ExpiresAt     int64  `bun:"expires_at"`
}

func (r signedInRow) signedIn() SignedIn {
	return SignedIn{ID: r.ID, KeyID: r.KeyID, KeyName: r.KeyName, User: r.Member, CreatedAt: fromMicros(r.CreatedAt), ExpiresAt: fromMicros(r.ExpiresAt)}
}

// SessionQuery asks for sessions of browsers.
type SessionQuery struct {
	User string // those of this person; "" = all
	Page
}

// SessionsOf lists the sessions that have not ended, newest first: those of the principal's own
// key or of its user or, with the permission sessions.admin, of all keys that it may list and of
// all users.
func (s *keyStore) SessionsOf(ctx context.Context, p knowledge.Principal, query SessionQuery) ([]SignedIn, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	var rows []signedInRow
	q := s.reader.NewSelect().Model(&rows).ColumnExpr("s.id, s.key_id, s.member, s.created_at, s.expires_at, COALESCE(k.name, '') AS key_name").
		Join("LEFT JOIN api_keys AS k ON k.id = s.key_id").Where("s.expires_at > ?", micros(s.now()))
	if query.User != "" {
		q = q.Where("s.key_id = '' AND s.member = ?", query.User)
	}
	q, limit, err := newestFirst(ownSessions(q, p), "s", "sessions", query.Page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r signedInRow) position { return position{List: "sessions", Order: r.CreatedAt, ID: r.ID} })
	return convert(rows, signedInRow.signedIn), cursor, nil
}

// EndSessionOf ends a session that SessionsOf lists. Any other one is not found.
func (s *keyStore) EndSessionOf(ctx context.Context, p knowledge.Principal, id string) error {
	if err := requireWorkspace(p); err != nil {
		return err
	}
	return s.write(ctx, "end session "+id, func(ctx context.Context, tx transaction) error {
		listed := ownSessions(tx.NewSelect().TableExpr("sessions AS s").ColumnExpr("s.hash").Join("LEFT JOIN api_keys AS k ON k.id = s.key_id"), p).Where("s.id = ?", id)
		there, err := changed(tx.NewDelete().Model((*sessionRow)(nil)).Where("hash IN (?)", listed).Exec(ctx))
		if err == nil && !there {
			err = knowledge.NotFound("session", id)
		}
		return err
	})
}

// ownSessions restricts a query of sessions s and their keys k to those that the principal may
// list. Only the instance's administrator sees the sessions of its key.
func ownSessions(q *bun.SelectQuery, p knowledge.Principal) *bun.SelectQuery {
	return q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.WhereGroup(" OR ", func(q *bun.SelectQuery) *bun.SelectQuery { return ofKeys(q, p) })
		return q.WhereGroup(" OR ", func(q *bun.SelectQuery) *bun.SelectQuery { return ofPeople(q, p) })
	})
}

// ofKeys selects the sessions of keys.
func ofKeys(q *bun.SelectQuery, p knowledge.Principal) *bun.SelectQuery {
	q = within(q, "k", p)
	if !p.May(knowledge.SessionsAdmin) {
		return q.Where("k.id = ?", p.KeyID())
	}
	if !p.Instance() {
		q = q.Where("k.instance = FALSE")
	}
	return q
}

// ofPeople selects the sessions of people, of whom a key is none.
func ofPeople(q *bun.SelectQuery, p knowledge.Principal) *bun.SelectQuery {
	q = q.Where("s.key_id = '' AND s.workspace = ?", p.Workspace())
	if p.May(knowledge.SessionsAdmin) && p.Project() == "" {
		return q
	}
	if p.KeyID() != "" || p.User() == "" {
		return q.Where("1 = 0")
	}
	return q.Where("s.member = ?", p.User())
}
