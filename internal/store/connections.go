package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// syncStore has the connections to services, and the syncs that follow places there.
type syncStore struct{ *database }

// maxConnections bounds the connections of a workspace.
const maxConnections = 1000

// Connection is a service, and how to sign in there. Its secret is sealed.
type Connection struct {
	ID         string
	Workspace  string
	Type       source.Type
	Options    source.Settings
	Sealed     string
	WaitsUntil time.Time // the service asked for fewer requests until then, zero = it did not
	SecretEnds time.Time // when the secret expires, zero = it is not known
	CreatedAt  time.Time
}

type connectionRow struct {
	bun.BaseModel `bun:"table:connections,alias:c"`
	ID            string      `bun:"id,pk"`
	Workspace     string      `bun:"workspace"`
	Type          source.Type `bun:"type"`
	Options       string      `bun:"options"`
	Sealed        string      `bun:"sealed"`
	WaitsUntil    int64       `bun:"waits_until"`
	CreatedAt     int64       `bun:"created_at"`
	SecretEnds    int64       `bun:"secret_ends"`
	SecretAskedAt int64       `bun:"secret_asked_at"`
}

var connectionTable = tableOf[connectionRow]()

func (r *connectionRow) connection() (Connection, error) {
	c := Connection{
		ID: r.ID, Workspace: r.Workspace, Type: r.Type, Sealed: r.Sealed, WaitsUntil: fromMicros(r.WaitsUntil), SecretEnds: fromMicros(r.SecretEnds), CreatedAt: fromMicros(r.CreatedAt),
	}
	if err := decode(field{r.Options, &c.Options}); err != nil {
		return c, fmt.Errorf("decode connection %s: %w", r.ID, err)
	}
	return c, nil
}

// AddConnection stores a connection of the principal's workspace. One of the same id that
// the workspace has is returned as it is. A workspace has at most 1,000 connections.
func (s *syncStore) AddConnection(ctx context.Context, p knowledge.Principal, c Connection) (Connection, error) {
	if err := requireWholeWorkspace(p, "connections"); err != nil {
		return c, err
	}
	c.Workspace, c.CreatedAt = p.Workspace(), s.orNow(c.CreatedAt)
	options, err := encode(c.Options)
	if err != nil {
		return c, fmt.Errorf("encode connection: %w", err)
	}
	row := connectionRow{ID: c.ID, Workspace: c.Workspace, Type: c.Type, Options: options, Sealed: c.Sealed, CreatedAt: micros(c.CreatedAt)}
	err = s.write(ctx, "store connection "+c.ID, func(ctx context.Context, tx transaction) error {
		there, err := connectionTable.first(ctx, tx, &row, "c.id = ? AND c.workspace = ?", c.ID, c.Workspace)
		if err != nil || there {
			return err
		}
		count, err := tx.NewSelect().Model((*connectionRow)(nil)).Where("c.workspace = ?", c.Workspace).Count(ctx)
		if err == nil && count >= maxConnections {
			err = knowledge.Errorf(knowledge.CodeLimitReached, "this workspace has %d connections, which is the limit: remove one first", count)
		}
		if err != nil {
			return err
		}
		return connectionTable.insert(ctx, tx, &row)
	})
	if err != nil {
		return c, err
	}
	return row.connection()
}

// Connection returns a connection of the principal's workspace.
func (s *syncStore) Connection(ctx context.Context, p knowledge.Principal, id string) (Connection, error) {
	if err := requireWholeWorkspace(p, "connections"); err != nil {
		return Connection{}, err
	}
	return s.ConnectionForSystem(ctx, p.Workspace(), id)
}

// ConnectionForSystem returns a connection without a check of permission: for workers.
func (s *syncStore) ConnectionForSystem(ctx context.Context, workspace, id string) (Connection, error) {
	var row connectionRow
	there, err := connectionTable.first(ctx, s.reader, &row, "c.id = ? AND c.workspace = ?", id, workspace)
	if err == nil && !there {
		err = knowledge.NotFound("connection", id)
	}
	if err != nil {
		return Connection{}, fmt.Errorf("read connection %s: %w", id, failure(err))
	}
	return row.connection()
}

// Connections lists the connections of the principal's workspace, newest first.
func (s *syncStore) Connections(ctx context.Context, p knowledge.Principal, page Page) ([]Connection, string, error) {
	if err := requireWholeWorkspace(p, "connections"); err != nil {
		return nil, "", err
	}
	var rows []connectionRow
	q, limit, err := newestFirst(s.reader.NewSelect().Model(&rows).Where("c.workspace = ?", p.Workspace()), "c", "connections", page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list connections: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r connectionRow) position {
		return position{List: "connections", Order: r.CreatedAt, ID: r.ID}
	})
	list, err := decodeRows(rows, (*connectionRow).connection)
	return list, cursor, err
}

// UpdateConnection stores another sealed secret of a connection of the principal's workspace.
// When it expires is not known yet.
func (s *syncStore) UpdateConnection(ctx context.Context, p knowledge.Principal, id, sealed string) (Connection, error) {
	if err := requireWholeWorkspace(p, "connections"); err != nil {
		return Connection{}, err
	}
	var row connectionRow
	err := s.write(ctx, "change connection "+id, func(ctx context.Context, tx transaction) error {
		there, err := connectionTable.first(ctx, tx, &row, "c.id = ? AND c.workspace = ?", id, p.Workspace())
		if err == nil && !there {
			err = knowledge.NotFound("connection", id)
		}
		if err != nil {
			return err
		}
		row.Sealed, row.SecretEnds, row.SecretAskedAt = sealed, 0, 0
		return connectionTable.update(ctx, tx, &row)
	})
	if err != nil {
		return Connection{}, err
	}
	return row.connection()
}

// RemoveConnection deletes a connection of the principal's workspace. One that a sync uses
// is CodeConflict.
func (s *syncStore) RemoveConnection(ctx context.Context, p knowledge.Principal, id string) error {
	if err := requireWholeWorkspace(p, "connections"); err != nil {
		return err
	}
	return s.write(ctx, "remove connection "+id, func(ctx context.Context, tx transaction) error {
		var sync string
		used, err := first(ctx, tx, []any{&sync}, "SELECT id FROM syncs WHERE connection = ? AND workspace = ? AND removed = FALSE", id, p.Workspace())
		if err != nil {
			return err
		}
		if used {
			return knowledge.Errorf(knowledge.CodeConflict, "the sync %q uses this connection: remove it first", sync)
		}
		for _, table := range []string{"connection_members", "connection_groups"} {
			if _, err := tx.exec(ctx, "DELETE FROM "+table+" WHERE workspace = ? AND connection = ?", p.Workspace(), id); err != nil {
				return err
			}
		}
		there, err := changed(tx.exec(ctx, "DELETE FROM connections WHERE id = ? AND workspace = ?", id, p.Workspace()))
		if err == nil && !there {
			err = knowledge.NotFound("connection", id)
		}
		return err
	})
}

// SetConnectionWait stores until when a service asked for fewer requests.
func (s *syncStore) SetConnectionWait(ctx context.Context, workspace, id string, until time.Time) error {
	return s.write(ctx, "note the wait of connection "+id, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE connections SET waits_until = ? WHERE id = ? AND workspace = ?", micros(until), id, workspace)
		return err
	})
}
