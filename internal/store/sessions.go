package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Session is a browser that signed in with an API key, or a person's with an identity
// provider: its rights are those that the key or the person has at each request.
type Session struct {
	Hash      string // of its cookie
	ID        string // by which it is listed and ended
	KeyID     string // "" = of a person
	Workspace string // of the person
	User      string // the name of the person
	Person    string // what the identity provider said of the person, as JSON
	CreatedAt time.Time
	ExpiresAt time.Time
}

type sessionRow struct {
	bun.BaseModel `bun:"table:sessions,alias:s"`
	Hash          string `bun:"hash,pk"`
	ID            string `bun:"id"`
	KeyID         string `bun:"key_id"`
	CreatedAt     int64  `bun:"created_at"`
	ExpiresAt     int64  `bun:"expires_at"`
	Workspace     string `bun:"workspace"`
	Member        string `bun:"member"`
	Person        string `bun:"person"`
}

func (r *sessionRow) session() Session {
	return Session{
		Hash: r.Hash, ID: r.ID, KeyID: r.KeyID, Workspace: r.Workspace, User: r.Member, Person: r.Person,
		CreatedAt: fromMicros(r.CreatedAt), ExpiresAt: fromMicros(r.ExpiresAt),
	}
}

// CreateSession stores a session.
func (s *keyStore) CreateSession(ctx context.Context, session Session) error {
	row := sessionRow{
		Hash: session.Hash, ID: session.ID, KeyID: session.KeyID, Workspace: session.Workspace, Member: session.User, Person: session.Person,
		CreatedAt: micros(session.CreatedAt), ExpiresAt: micros(session.ExpiresAt),
	}
	return s.write(ctx, "create a session", func(ctx context.Context, tx transaction) error {
		_, err := tx.NewInsert().Model(&row).Exec(ctx)
		return err
	})
}

// DropSessions deletes up to limit sessions that have expired.
func (s *keyStore) DropSessions(ctx context.Context, limit int) error {
	return s.write(ctx, "delete expired sessions", func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`, micros(s.now()), limit)
		return err
	})
}

// ExtendSession moves the end of a session. It changes nothing if there is no such session.
func (s *keyStore) ExtendSession(ctx context.Context, session Session) error {
	row := sessionRow{Hash: session.Hash, ExpiresAt: micros(session.ExpiresAt)}
	return s.write(ctx, "extend a session", func(ctx context.Context, tx transaction) error {
		_, err := tx.NewUpdate().Model(&row).Column("expires_at").WherePK().Exec(ctx)
		return err
	})
}

// EndSession deletes a session. It changes nothing if there is no such session.
func (s *keyStore) EndSession(ctx context.Context, hash string) error {
	return s.write(ctx, "end a session", func(ctx context.Context, tx transaction) error {
		_, err := tx.NewDelete().Model((*sessionRow)(nil)).Where("hash = ?", hash).Exec(ctx)
		return err
	})
}

// EndedSessions returns which of these sessions, by their hashes, have ended: by signing out,
// or by time.
func (s *keyStore) EndedSessions(ctx context.Context, hashes []string) ([]string, error) {
	var ended []string
	for some := range slices.Chunk(hashes, maxKeysAsked) {
		var valid []string
		err := s.reader.NewSelect().Model((*sessionRow)(nil)).Column("s.hash").Where("s.hash IN (?) AND s.expires_at > ?", bun.List(some), micros(s.now())).Scan(ctx, &valid)
		if err != nil {
			return nil, fmt.Errorf("look for ended sessions: %w", failure(err))
		}
		for _, hash := range some {
			if !slices.Contains(valid, hash) {
				ended = append(ended, hash)
			}
		}
	}
	return ended, nil
}

// KeyBySession returns a session, and its key as KeyByHash does; that of a person has none. One
// that has expired, or whose key is no longer valid, is not found.
func (s *keyStore) KeyBySession(ctx context.Context, hash string) (Session, Key, error) {
	var row sessionRow
	there, err := sessionTable.first(ctx, s.reader, &row, "s.hash = ? AND s.expires_at > ?", hash, micros(s.now()))
	if err != nil {
		return Session{}, Key{}, fmt.Errorf("look up a session: %w", failure(err))
	}
	if !there {
		return Session{}, Key{}, knowledge.Errorf(knowledge.CodeNotFound, "no such session")
	}
	if row.KeyID == "" {
		return row.session(), Key{}, nil
	}
	key, err := s.validKey(ctx, "k.id = ?", row.KeyID)
	return row.session(), key, err
}
