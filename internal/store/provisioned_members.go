package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// putMemberOf stores the member that a provisioned user is, who was called former.
func (s *provisioningStore) putMemberOf(ctx context.Context, tx transaction, row provisionedUserRow, former string, roles []string, defaultRole string) error {
	member, there, err := personNamed(ctx, tx, row.Workspace, former)
	if err != nil {
		return err
	}
	now := micros(s.now())
	if !there {
		member = memberRow{Workspace: row.Workspace, Name: row.Member, Kind: PersonMember, Roles: "[]", Groups: "[]", CreatedAt: now}
	}
	if member.UpdatedAt = now; roles == nil && member.Roles == "[]" && defaultRole != "" {
		roles = []string{defaultRole}
	}
	if roles != nil {
		if member.Roles, err = encode(roles); err != nil {
			return err
		}
	}
	switch {
	case row.Active:
		member.DeactivatedAt = 0
	case member.DeactivatedAt == 0:
		member.DeactivatedAt = now
	}
	if !there {
		return addMember(ctx, tx, &member)
	}
	if former != row.Member {
		if err := renameMember(ctx, tx, row.Workspace, former, row.Member); err != nil {
			return err
		}
		member.Name = row.Member
	}
	return memberTable.update(ctx, tx, &member)
}

// personNamed reads the member of a name. A service account is CodeConflict.
func personNamed(ctx context.Context, tx transaction, workspace, name string) (memberRow, bool, error) {
	var member memberRow
	there, err := memberTable.first(ctx, tx, &member, "m.workspace = ? AND m.name = ?", workspace, name)
	if err == nil && there && member.Kind != PersonMember {
		err = knowledge.Errorf(knowledge.CodeConflict, "the member %q is a service account: no person can have its name", name)
	}
	return member, there, err
}

// renameMember gives a member another name. It takes the place of a deactivated one of that
// name; any other one is CodeConflict.
func renameMember(ctx context.Context, tx transaction, workspace, former, name string) error {
	other, there, err := personNamed(ctx, tx, workspace, name)
	switch {
	case err != nil:
		return err
	case there && other.DeactivatedAt == 0:
		return knowledge.Errorf(knowledge.CodeConflict, "another member has the name %q: remove it first", name)
	case there:
		if _, err := tx.exec(ctx, "DELETE FROM members WHERE workspace = ? AND name = ?", workspace, name); err != nil {
			return err
		}
	}
	_, err = tx.exec(ctx, "UPDATE members SET name = ? WHERE workspace = ? AND name = ?", name, workspace, former)
	return err
}

// endAccess ends what a user began under his former name. The keys that he made go on under
// his new name if he was only renamed, and are revoked with all keys that they made otherwise.
func (s *provisioningStore) endAccess(ctx context.Context, tx transaction, before, after provisionedUserRow) error {
	if _, err := tx.exec(ctx, "DELETE FROM sessions WHERE workspace = ? AND key_id = '' AND member = ?", before.Workspace, before.Member); err != nil {
		return err
	}
	maker := UserMaker + before.Member
	if after.Active && before.Member != after.Member {
		_, err := tx.exec(ctx, "UPDATE api_keys SET created_by = ? WHERE workspace = ? AND created_by = ?", UserMaker+after.Member, before.Workspace, maker)
		return err
	}
	_, err := tx.exec(ctx, `UPDATE api_keys SET revoked_at = ? WHERE revoked_at = 0 AND instance = FALSE AND workspace = ? AND id IN (
		WITH RECURSIVE tree (id) AS (
			SELECT k.id FROM api_keys AS k WHERE k.workspace = ? AND k.created_by IN (?, ?)
			UNION SELECT c.id FROM api_keys AS c JOIN tree ON c.created_by = tree.id
		) SELECT tree.id FROM tree)`, micros(s.now()), before.Workspace, before.Workspace, maker, UserMaker+cmp.Or(before.ExternalID, before.Member))
	return err
}

// withGroups returns a member with the groups in which an identity provider has put it.
func (s *memberStore) withGroups(ctx context.Context, row memberRow) (Member, error) {
	m, err := row.member()
	if err != nil || row.Kind != PersonMember {
		return m, err
	}
	groups, err := groupsOfMembers(ctx, s.reader, row.Workspace, []string{row.Name})
	if err != nil {
		return m, fmt.Errorf("read the groups of member %s: %w", row.Name, failure(err))
	}
	m.Provisioned, m.IsProvisioned = groups[row.Name]
	return m, nil
}

// MemberBySubject returns the member whom a token calls subject: by its name, else as its
// identity provider knows it, by externalId or by userName without regard to case. there is
// false if there is none.
func (s *memberStore) MemberBySubject(ctx context.Context, workspace, subject string) (m Member, there bool, err error) {
	if m, there, err = s.MemberOf(ctx, workspace, subject); err != nil || there || subject == "" {
		return m, there, err
	}
	var row provisionedUserRow
	there, err = provisionedUserTable.first(ctx, s.reader, &row, "u.workspace = ? AND (u.folded = ? OR u.external_id = ?) ORDER BY CASE WHEN u.folded = ? THEN 0 ELSE 1 END, u.removed_at, u.id",
		workspace, fold(subject), subject, fold(subject))
	if err != nil || !there {
		return m, false, failure(err)
	}
	return s.MemberOf(ctx, workspace, row.Member)
}

// forgetProvisioned forgets the removed user that a member was. One that is still provisioned
// is CodeConflict.
func forgetProvisioned(ctx context.Context, tx transaction, workspace, name string) error {
	var row provisionedUserRow
	there, err := provisionedUserTable.first(ctx, tx, &row, "u.workspace = ? AND u.member = ?", workspace, name)
	if err != nil || !there {
		return err
	}
	if row.RemovedAt == 0 {
		return knowledge.Errorf(knowledge.CodeConflict, "the member %q is provisioned by SCIM: remove it in the identity provider", name)
	}
	_, err = tx.exec(ctx, "DELETE FROM provisioned_users WHERE workspace = ? AND id = ?", workspace, row.ID)
	return err
}

// groupsOfMembers returns the provisioned groups of those members who are provisioned, by the
// name of the member.
func groupsOfMembers(ctx context.Context, db bun.IDB, workspace string, names []string) (map[string][]string, error) {
	groups := map[string][]string{}
	for some := range slices.Chunk(names, maxKeysAsked) {
		var found []struct{ Member, Name string }
		err := db.NewSelect().TableExpr("provisioned_users AS u").ColumnExpr("u.member, COALESCE(g.name, '') AS name").
			Join("LEFT JOIN provisioned_group_users AS gu ON gu.workspace = u.workspace AND gu.user_id = u.id").
			Join("LEFT JOIN provisioned_groups AS g ON g.workspace = gu.workspace AND g.id = gu.group_id").
			Where("u.workspace = ? AND u.member IN (?)", workspace, bun.List(some)).OrderExpr("g.name").Scan(ctx, &found)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if groups[f.Member] = append(groups[f.Member], f.Name); f.Name == "" {
				groups[f.Member] = nil
			}
		}
	}
	return groups, nil
}
