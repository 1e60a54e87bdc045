package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// provisioningStore has the people and the groups that an identity provider provisions.
type provisioningStore struct{ *database }

// ProvisionedUser is a person whom an identity provider provisions. It is the member of its
// name.
type ProvisionedUser struct {
	ID         string
	Name       string // of the member: the userName
	ExternalID string // by which the identity provider knows it, "" = none
	Active     bool   // others are let in nowhere
	Attributes string // what else the identity provider says of it, as a JSON object
	Groups     []ProvisionedRef
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// ProvisionedRef names a provisioned user or group.
type ProvisionedRef struct{ ID, Name string }

// ProvisionedQuery selects provisioned users or groups. The zero query selects all.
type ProvisionedQuery struct {
	ID         string
	Name       string // without regard to case
	ExternalID string
	User       string // of groups: the id of one of its users
	Offset     int
	Limit      int // 0 = all
}

type provisionedUserRow struct {
	bun.BaseModel `bun:"table:provisioned_users,alias:u"`
	Workspace     string `bun:"workspace,pk"`
	ID            string `bun:"id,pk"`
	Member        string `bun:"member"`
	Folded        string `bun:"folded"`
	ExternalID    string `bun:"external_id"`
	Active        bool   `bun:"active"`
	Attributes    string `bun:"attributes"`
	CreatedAt     int64  `bun:"created_at"`
	UpdatedAt     int64  `bun:"updated_at"`
	RemovedAt     int64  `bun:"removed_at"`
}

func (r *provisionedUserRow) user() ProvisionedUser {
	return ProvisionedUser{
		ID: r.ID, Name: r.Member, ExternalID: r.ExternalID, Active: r.Active, Attributes: r.Attributes,
		CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt),
	}
}

func (r *provisionedUserRow) set(u ProvisionedUser) {
	r.Member, r.Folded, r.ExternalID, r.Active, r.Attributes = u.Name, fold(u.Name), u.ExternalID, u.Active, u.Attributes
}

// fold returns a name as names are compared without regard to case.
func fold(name string) string { return strings.ToLower(name) }

// ProvisionedUsers lists the provisioned users of the principal's workspace that a query
// selects, oldest first, and counts all of them.
func (s *provisioningStore) ProvisionedUsers(ctx context.Context, p knowledge.Principal, q ProvisionedQuery) ([]ProvisionedUser, int, error) {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return nil, 0, err
	}
	var rows []provisionedUserRow
	selected := s.reader.NewSelect().Model(&rows).Where("u.workspace = ? AND u.removed_at = 0", p.Workspace())
	total, err := q.scan(ctx, selected, "u")
	if err != nil {
		return nil, 0, fmt.Errorf("list provisioned users: %w", failure(err))
	}
	list := convert(rows, func(r provisionedUserRow) ProvisionedUser { return r.user() })
	if err := s.addGroups(ctx, p.Workspace(), list); err != nil {
		return nil, 0, fmt.Errorf("list provisioned users: %w", failure(err))
	}
	return list, total, nil
}

// scan reads the rows that a query selects, and counts those of all its pages.
func (q ProvisionedQuery) scan(ctx context.Context, rows *bun.SelectQuery, alias string) (int, error) {
	for column, value := range map[string]string{"id": q.ID, "folded": fold(q.Name), "external_id": q.ExternalID} {
		if value != "" {
			rows = rows.Where("?.? = ?", bun.Ident(alias), bun.Ident(column), value)
		}
	}
	rows = rows.OrderExpr("?.created_at, ?.id", bun.Ident(alias), bun.Ident(alias))
	if q.Limit > 0 {
		rows = rows.Offset(int64(q.Offset)).Limit(int64(q.Limit))
	}
	total, err := rows.ScanAndCount(ctx)
	return int(total), err
}

// ProvisionedUser returns a provisioned user of the principal's workspace.
func (s *provisioningStore) ProvisionedUser(ctx context.Context, p knowledge.Principal, id string) (ProvisionedUser, error) {
	list, _, err := s.ProvisionedUsers(ctx, p, ProvisionedQuery{ID: id, Limit: 1})
	if err == nil && len(list) == 0 {
		err = knowledge.NotFound("user", id)
	}
	if err != nil {
		return ProvisionedUser{}, err
	}
	return list[0], nil
}

// AddProvisionedUser stores a new user, who becomes a member with these roles, or is the person
// who is a member under this name already: without roles given he keeps his, and else has
// defaultRole. A name that another provisioned user or a service account has is CodeConflict.
func (s *provisioningStore) AddProvisionedUser(ctx context.Context, p knowledge.Principal, u ProvisionedUser, roles []string, defaultRole string) (ProvisionedUser, error) {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return u, err
	}
	now := micros(s.orNow(u.CreatedAt))
	row := provisionedUserRow{Workspace: p.Workspace(), ID: u.ID, CreatedAt: now, UpdatedAt: now}
	row.set(u)
	err := s.write(ctx, "provision user "+u.ID, func(ctx context.Context, tx transaction) error {
		if err := s.freeName(ctx, tx, row); err != nil {
			return err
		}
		if err := s.putMemberOf(ctx, tx, row, row.Member, roles, defaultRole); err != nil {
			return err
		}
		return provisionedUserTable.insert(ctx, tx, &row)
	})
	return row.user(), err
}

// ChangeProvisionedUser changes a user of the principal's workspace, and the member that he
// is. change may run several times. roles of nil keep those of the member. One who is not
// active any more loses his sessions and the keys that he made.
func (s *provisioningStore) ChangeProvisionedUser(ctx context.Context, p knowledge.Principal, id string, change func(*ProvisionedUser) (roles []string, err error)) (ProvisionedUser, error) {
	var changed ProvisionedUser
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return changed, err
	}
	err := s.write(ctx, "change provisioned user "+id, func(ctx context.Context, tx transaction) error {
		row, err := readProvisionedUser(ctx, tx, p.Workspace(), id)
		if err != nil {
			return err
		}
		before := row
		changed = row.user()
		roles, err := change(&changed)
		if err != nil {
			return err
		}
		row.set(changed)
		row.UpdatedAt = max(micros(s.now()), before.UpdatedAt+1)
		changed.UpdatedAt = fromMicros(row.UpdatedAt)
		if row.Folded != before.Folded {
			if err := s.freeName(ctx, tx, row); err != nil {
				return err
			}
		}
		if before.Active && !row.Active || row.Member != before.Member {
			if err := s.endAccess(ctx, tx, before, row); err != nil {
				return err
			}
		}
		if err := s.putMemberOf(ctx, tx, row, before.Member, roles, ""); err != nil {
			return err
		}
		return provisionedUserTable.update(ctx, tx, &row)
	})
	if err != nil {
		return changed, err
	}
	list := []ProvisionedUser{changed}
	err = s.addGroups(ctx, p.Workspace(), list)
	return list[0], err
}

// RemoveProvisionedUser removes a user: he is let in nowhere, not even by a JWT that has
// roles, until he is provisioned again or an administrator removes the member.
func (s *provisioningStore) RemoveProvisionedUser(ctx context.Context, p knowledge.Principal, id string) error {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return err
	}
	return s.write(ctx, "remove provisioned user "+id, func(ctx context.Context, tx transaction) error {
		row, err := readProvisionedUser(ctx, tx, p.Workspace(), id)
		if err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "DELETE FROM provisioned_group_users WHERE workspace = ? AND user_id = ?", row.Workspace, row.ID); err != nil {
			return err
		}
		if err := s.endAccess(ctx, tx, row, row); err != nil {
			return err
		}
		row.Active, row.Attributes, row.RemovedAt = false, "{}", micros(s.now())
		if err := s.putMemberOf(ctx, tx, row, row.Member, []string{}, ""); err != nil {
			return err
		}
		return provisionedUserTable.update(ctx, tx, &row)
	})
}

func readProvisionedUser(ctx context.Context, db querier, workspace, id string) (provisionedUserRow, error) {
	var row provisionedUserRow
	there, err := provisionedUserTable.first(ctx, db, &row, "u.workspace = ? AND u.id = ? AND u.removed_at = 0", workspace, id)
	if err == nil && !there {
		err = knowledge.NotFound("user", id)
	}
	return row, err
}

// freeName refuses a name that another provisioned user has, and forgets a removed user of
// that name.
func (s *provisioningStore) freeName(ctx context.Context, tx transaction, row provisionedUserRow) error {
	var other provisionedUserRow
	there, err := provisionedUserTable.first(ctx, tx, &other, "u.workspace = ? AND u.folded = ? AND u.id <> ?", row.Workspace, row.Folded, row.ID)
	switch {
	case err != nil || !there:
		return err
	case other.RemovedAt == 0:
		return knowledge.Errorf(knowledge.CodeConflict, "another user has the userName %q", row.Member)
	}
	if _, err := tx.exec(ctx, "DELETE FROM provisioned_users WHERE workspace = ? AND id = ?", other.Workspace, other.ID); err != nil || other.Member == row.Member {
		return err
	}
	_, err = tx.exec(ctx, "DELETE FROM members WHERE workspace = ? AND name = ? AND deactivated_at > 0", other.Workspace, other.Member)
	return err
}

// addGroups sets the groups of users, by their names.
func (s *provisioningStore) addGroups(ctx context.Context, workspace string, users []ProvisionedUser) error {
	at := make(map[string]int, len(users))
	ids := make([]string, len(users))
	for i, u := range users {
		at[u.ID], ids[i] = i, u.ID
	}
	for some := range slices.Chunk(ids, maxKeysAsked) {
		var found []struct{ UserID, ID, Name string }
		err := s.reader.NewSelect().TableExpr("provisioned_group_users AS gu").ColumnExpr("gu.user_id, g.id, g.name").
			Join("JOIN provisioned_groups AS g ON g.workspace = gu.workspace AND g.id = gu.group_id").
			Where("gu.workspace = ? AND gu.user_id IN (?)", workspace, bun.List(some)).OrderExpr("g.name").Scan(ctx, &found)
		if err != nil {
			return err
		}
		for _, f := range found {
			u := &users[at[f.UserID]]
			u.Groups = append(u.Groups, ProvisionedRef{f.ID, f.Name})
		}
	}
	return nil
}
