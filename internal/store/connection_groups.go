package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxMembersAtATime is how many members one statement stores.
const maxMembersAtATime = 500

type connectionMemberRow struct {
	bun.BaseModel `bun:"table:connection_members,alias:m"`
	Workspace     string `bun:"workspace,pk"`
	Member        string `bun:"member,pk"`
	Connection    string `bun:"connection,pk"`
	Group         string `bun:"group_name,pk"`
}

// GroupsToRead stores the groups that objects of a sync name, and returns those of its
// connection whose members neither the run nor a later one has read.
func (s *syncStore) GroupsToRead(ctx context.Context, i Import, named []string) (groups []string, err error) {
	err = s.write(ctx, "note the groups of sync "+i.Request.Sync, func(ctx context.Context, tx transaction) error {
		connection, err := connectionOf(ctx, tx, i)
		if err != nil {
			return err
		}
		for _, name := range named {
			_, err := tx.exec(ctx, "INSERT INTO connection_groups (workspace, connection, name, read_by, complete) VALUES (?, ?, ?, 0, FALSE) ON CONFLICT DO NOTHING", i.Workspace, connection, name)
			if err != nil {
				return err
			}
		}
		groups, err = texts(ctx, tx, "SELECT name FROM connection_groups WHERE workspace = ? AND connection = ? AND read_by < ? ORDER BY name", i.Workspace, connection, i.Number)
		return err
	})
	return groups, err
}

// connectionOf returns the id of the connection of a run. One that was removed, or whose sync
// was, is CodeNotFound.
func connectionOf(ctx context.Context, tx transaction, i Import) (id string, err error) {
	there, err := first(ctx, tx, []any{&id}, "SELECT c.id FROM connections AS c JOIN syncs AS y ON y.connection = c.id WHERE y.id = ? AND y.workspace = ? AND y.removed = FALSE", i.Request.Sync, i.Workspace)
	if err == nil && !there {
		err = knowledge.NotFound("sync", i.Request.Sync)
	}
	return id, err
}

// SetGroupMembers stores the members of a group of a connection, as a run has read them.
// complete reports that the service has told all of them. A run that began before the one that
// has read them last changes nothing.
func (s *syncStore) SetGroupMembers(ctx context.Context, i Import, group string, members []string, complete bool) error {
	return s.write(ctx, "store the members of group "+group, func(ctx context.Context, tx transaction) error {
		connection, err := connectionOf(ctx, tx, i)
		if err != nil {
			return err
		}
		is, err := changed(tx.exec(ctx, "UPDATE connection_groups SET read_by = ?, complete = ? WHERE workspace = ? AND connection = ? AND name = ? AND read_by < ?",
			i.Number, complete, i.Workspace, connection, group, i.Number))
		if err != nil || !is {
			return err
		}
		before, err := texts(ctx, tx, "SELECT member FROM connection_members WHERE workspace = ? AND connection = ? AND group_name = ?", i.Workspace, connection, group)
		if err != nil {
			return err
		}
		gone, come := missing(before, members), missing(members, before)
		for some := range slices.Chunk(gone, maxMembersAtATime) {
			_, err := tx.NewDelete().Model((*connectionMemberRow)(nil)).Where("workspace = ? AND connection = ? AND group_name = ? AND member IN (?)", i.Workspace, connection, group, bun.List(some)).Exec(ctx)
			if err != nil {
				return err
			}
		}
		for some := range slices.Chunk(come, maxMembersAtATime) {
			rows := convert(some, func(member string) connectionMemberRow {
				return connectionMemberRow{Workspace: i.Workspace, Member: member, Connection: connection, Group: group}
			})
			if _, err := tx.NewInsert().Model(&rows).Exec(ctx); err != nil {
				return err
			}
		}
		if len(gone)+len(come) == 0 {
			return nil
		}
		return tx.auditOwn(ctx, i.change("sync-change-members", []string{group}))
	})
}

// missing returns the names of a list that another one lacks.
func missing(list, other []string) []string {
	there := make(map[string]bool, len(other))
	for _, name := range other {
		there[name] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return there[name] })
}

// ConnectionGroups returns the groups of services in which a person of a workspace is.
func (s *syncStore) ConnectionGroups(ctx context.Context, workspace, member string) ([]string, error) {
	list, err := texts(ctx, s.reader, "SELECT DISTINCT group_name FROM connection_members WHERE workspace = ? AND member = ? ORDER BY group_name", workspace, member)
	if err != nil {
		return nil, fmt.Errorf("read the groups of services of a person: %w", failure(err))
	}
	return list, nil
}

// UnresolvedGroups counts the groups of a connection of which the service does not tell all
// members. It needs the write scope.
func (s *syncStore) UnresolvedGroups(ctx context.Context, p knowledge.Principal, connection string) (n int64, err error) {
	if err := requireWrite(p); err != nil {
		return 0, err
	}
	if _, err := first(ctx, s.reader, []any{&n}, "SELECT count(*) FROM connection_groups WHERE workspace = ? AND connection = ? AND read_by > 0 AND complete = FALSE", p.Workspace(), connection); err != nil {
		return 0, fmt.Errorf("count the groups of a connection: %w", failure(err))
	}
	return n, nil
}
