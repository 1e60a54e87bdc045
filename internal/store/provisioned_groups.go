package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ProvisionedGroup is a group that an identity provider provisions. The access of documents
// names it by its name.
type ProvisionedGroup struct {
	ID         string
	Name       string
	ExternalID string
	Users      []ProvisionedRef // by id
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

type provisionedGroupRow struct {
	bun.BaseModel `bun:"table:provisioned_groups,alias:g"`
	Workspace     string `bun:"workspace,pk"`
	ID            string `bun:"id,pk"`
	Name          string `bun:"name"`
	Folded        string `bun:"folded"`
	ExternalID    string `bun:"external_id"`
	CreatedAt     int64  `bun:"created_at"`
	UpdatedAt     int64  `bun:"updated_at"`
}

func (r *provisionedGroupRow) group() ProvisionedGroup {
	return ProvisionedGroup{ID: r.ID, Name: r.Name, ExternalID: r.ExternalID, CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt)}
}

// ProvisionedGroups lists the groups of the principal's workspace that a query selects, oldest
// first, and counts all of them. Without withUsers it leaves their users out.
func (s *provisioningStore) ProvisionedGroups(ctx context.Context, p knowledge.Principal, q ProvisionedQuery, withUsers bool) ([]ProvisionedGroup, int, error) {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return nil, 0, err
	}
	var rows []provisionedGroupRow
	selected := s.reader.NewSelect().Model(&rows).Where("g.workspace = ?", p.Workspace())
	if q.User != "" {
		selected = selected.Where("g.id IN (SELECT gu.group_id FROM provisioned_group_users AS gu WHERE gu.workspace = ? AND gu.user_id = ?)", p.Workspace(), q.User)
	}
	total, err := q.scan(ctx, selected, "g")
	if err != nil {
		return nil, 0, fmt.Errorf("list provisioned groups: %w", failure(err))
	}
	list := convert(rows, func(r provisionedGroupRow) ProvisionedGroup { return r.group() })
	if !withUsers {
		return list, total, nil
	}
	for i := range list {
		if list[i].Users, err = usersOf(ctx, s.reader, p.Workspace(), list[i].ID); err != nil {
			return nil, 0, fmt.Errorf("list provisioned groups: %w", failure(err))
		}
	}
	return list, total, nil
}

// ProvisionedGroup returns a group of the principal's workspace with its users.
func (s *provisioningStore) ProvisionedGroup(ctx context.Context, p knowledge.Principal, id string) (ProvisionedGroup, error) {
	list, _, err := s.ProvisionedGroups(ctx, p, ProvisionedQuery{ID: id, Limit: 1}, true)
	if err == nil && len(list) == 0 {
		err = knowledge.NotFound("group", id)
	}
	if err != nil {
		return ProvisionedGroup{}, err
	}
	return list[0], nil
}

// usersOf lists the users of a group by their ids.
func usersOf(ctx context.Context, db querier, workspace, group string) ([]ProvisionedRef, error) {
	found, err := db.query(ctx, `SELECT u.id, u.member FROM provisioned_group_users AS gu
		JOIN provisioned_users AS u ON u.workspace = gu.workspace AND u.id = gu.user_id
		WHERE gu.workspace = ? AND gu.group_id = ? ORDER BY u.id`, workspace, group)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var list []ProvisionedRef
	for found.Next() {
		var one ProvisionedRef
		if err := found.Scan(&one.ID, &one.Name); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, found.Err()
}

// AddProvisionedGroup stores a new group. A name that another group has is CodeConflict, and a
// user that is not there CodeInvalid.
func (s *provisioningStore) AddProvisionedGroup(ctx context.Context, p knowledge.Principal, g ProvisionedGroup) (ProvisionedGroup, error) {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return g, err
	}
	now := micros(s.orNow(g.CreatedAt))
	row := provisionedGroupRow{Workspace: p.Workspace(), ID: g.ID, Name: g.Name, Folded: fold(g.Name), ExternalID: g.ExternalID, CreatedAt: now, UpdatedAt: now}
	stored := row.group()
	err := s.write(ctx, "provision group "+g.ID, func(ctx context.Context, tx transaction) (err error) {
		if err := freeGroupName(ctx, tx, row); err != nil {
			return err
		}
		if err := provisionedGroupTable.insert(ctx, tx, &row); err != nil {
			return err
		}
		stored.Users, err = setUsers(ctx, tx, row, nil, g.Users)
		return err
	})
	return stored, err
}

// ChangeProvisionedGroup changes a group of the principal's workspace. change may run several
// times.
func (s *provisioningStore) ChangeProvisionedGroup(ctx context.Context, p knowledge.Principal, id string, change func(*ProvisionedGroup) error) (ProvisionedGroup, error) {
	var changed ProvisionedGroup
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return changed, err
	}
	err := s.write(ctx, "change provisioned group "+id, func(ctx context.Context, tx transaction) error {
		var row provisionedGroupRow
		there, err := provisionedGroupTable.first(ctx, tx, &row, "g.workspace = ? AND g.id = ?", p.Workspace(), id)
		if err == nil && !there {
			err = knowledge.NotFound("group", id)
		}
		if err != nil {
			return err
		}
		changed = row.group()
		before, err := usersOf(ctx, tx, row.Workspace, row.ID)
		if err != nil {
			return err
		}
		changed.Users = slices.Clone(before)
		if err := change(&changed); err != nil {
			return err
		}
		row.Name, row.Folded, row.ExternalID = changed.Name, fold(changed.Name), changed.ExternalID
		row.UpdatedAt = max(micros(s.now()), row.UpdatedAt+1)
		changed.UpdatedAt = fromMicros(row.UpdatedAt)
		if err := freeGroupName(ctx, tx, row); err != nil {
			return err
		}
		if changed.Users, err = setUsers(ctx, tx, row, before, changed.Users); err != nil {
			return err
		}
		return provisionedGroupTable.update(ctx, tx, &row)
	})
	return changed, err
}

// RemoveProvisionedGroup removes a group of the principal's workspace.
func (s *provisioningStore) RemoveProvisionedGroup(ctx context.Context, p knowledge.Principal, id string) error {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return err
	}
	return s.write(ctx, "remove provisioned group "+id, func(ctx context.Context, tx transaction) error {
		if _, err := tx.exec(ctx, "DELETE FROM provisioned_group_users WHERE workspace = ? AND group_id = ?", p.Workspace(), id); err != nil {
			return err
		}
		there, err := changed(tx.exec(ctx, "DELETE FROM provisioned_groups WHERE workspace = ? AND id = ?", p.Workspace(), id))
		if err == nil && !there {
			err = knowledge.NotFound("group", id)
		}
		return err
	})
}

func freeGroupName(ctx context.Context, tx transaction, row provisionedGroupRow) error {
	var other provisionedGroupRow
	there, err := provisionedGroupTable.first(ctx, tx, &other, "g.workspace = ? AND g.folded = ? AND g.id <> ?", row.Workspace, row.Folded, row.ID)
	if err == nil && there {
		err = knowledge.Errorf(knowledge.CodeConflict, "another group has the displayName %q, by which documents name it", row.Name)
	}
	return err
}

// setUsers stores the users of a group, of whom some are there already, and returns them.
func setUsers(ctx context.Context, tx transaction, group provisionedGroupRow, before, after []ProvisionedRef) ([]ProvisionedRef, error) {
	wanted := map[string]bool{}
	for _, u := range after {
		wanted[u.ID] = true
	}
	for _, u := range before {
		if wanted[u.ID] {
			delete(wanted, u.ID)
			continue
		}
		if _, err := tx.exec(ctx, "DELETE FROM provisioned_group_users WHERE workspace = ? AND group_id = ? AND user_id = ?", group.Workspace, group.ID, u.ID); err != nil {
			return nil, err
		}
	}
	for id := range wanted {
		if _, err := readProvisionedUser(ctx, tx, group.Workspace, id); knowledge.IsCode(err, knowledge.CodeNotFound) {
			return nil, knowledge.Invalid("members", "has %q, which is the id of no user", id)
		} else if err != nil {
			return nil, err
		}
		if _, err := tx.exec(ctx, "INSERT INTO provisioned_group_users (workspace, group_id, user_id) VALUES (?, ?, ?)", group.Workspace, group.ID, id); err != nil {
			return nil, err
		}
	}
	return usersOf(ctx, tx, group.Workspace, group.ID)
}
