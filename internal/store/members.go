package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// memberStore has the members of workspaces.
type memberStore struct{ *database }

// The kinds of members.
const (
	PersonMember  = "person"
	ServiceMember = "service"
)

// maxMembers bounds the members of a workspace.
const maxMembers = 100_000

// Member is a person or a service account with roles in a workspace.
type Member struct {
	Workspace string
	Name      string // the sub of a JWT, or the name of a service account
	Kind      string // PersonMember or ServiceMember
	Roles     []string
	Project   string // that the member is held to, "" = none
	Groups    []string
	Clearance string
	Limits    knowledge.UseLimits
	ExpiresAt time.Time // zero = never
	CreatedAt time.Time
	UpdatedAt time.Time

	// Provisioned are the groups in which an identity provider has put it. PutMember changes
	// neither them nor DeactivatedAt.
	Provisioned   []string
	IsProvisioned bool
	// DeactivatedAt is when its identity provider has deactivated or removed it; zero = not.
	DeactivatedAt time.Time
}

type memberRow struct {
	bun.BaseModel `bun:"table:members,alias:m"`
	Workspace     string `bun:"workspace,pk"`
	Name          string `bun:"name,pk"`
	Kind          string `bun:"kind"`
	Roles         string `bun:"roles"`
	Project       string `bun:"project"`
	Groups        string `bun:"group_names"`
	Clearance     string `bun:"clearance"`
	ExpiresAt     int64  `bun:"expires_at"`
	CreatedAt     int64  `bun:"created_at"`
	UpdatedAt     int64  `bun:"updated_at"`
	DeactivatedAt int64  `bun:"deactivated_at"`
	Limits        string `bun:"limits"`
}

func newMemberRow(m Member) (memberRow, error) {
	row := memberRow{
		Workspace: m.Workspace, Name: m.Name, Kind: m.Kind, Project: m.Project, Clearance: m.Clearance,
		ExpiresAt: micros(m.ExpiresAt), CreatedAt: micros(m.CreatedAt), UpdatedAt: micros(m.UpdatedAt), DeactivatedAt: micros(m.DeactivatedAt),
		Limits: m.Limits.Encode(),
	}
	var err error
	if row.Roles, err = encode(m.Roles); err != nil {
		return row, err
	}
	row.Groups, err = encode(m.Groups)
	return row, err
}

func (r *memberRow) member() (Member, error) {
	m := Member{
		Workspace: r.Workspace, Name: r.Name, Kind: r.Kind, Project: r.Project, Clearance: r.Clearance,
		ExpiresAt: fromMicros(r.ExpiresAt), CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt), DeactivatedAt: fromMicros(r.DeactivatedAt),
	}
	var err error
	if m.Limits, err = knowledge.DecodeUseLimits(r.Limits); err != nil {
		return m, fmt.Errorf("decode limits of member %s: %w", r.Name, err)
	}
	for _, f := range []struct {
		text string
		into *[]string
	}{{r.Roles, &m.Roles}, {r.Groups, &m.Groups}} {
		if err := json.Unmarshal([]byte(f.text), f.into); err != nil {
			return m, fmt.Errorf("decode member %s: %w", r.Name, err)
		}
	}
	return m, nil
}

// PutMember stores a member of the principal's workspace in the place of an earlier one of its
// name, whose time of creation stays. created reports that there was none. A project or a role
// that does not exist is not found; builtIn are the roles that every workspace has. A member
// does not change its kind: CodeConflict.
func (s *memberStore) PutMember(ctx context.Context, p knowledge.Principal, m Member, builtIn []string) (stored Member, created bool, err error) {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return stored, false, err
	}
	m.Workspace, m.UpdatedAt = p.Workspace(), s.orNow(m.UpdatedAt)
	err = s.write(ctx, "store member "+m.Name, func(ctx context.Context, tx transaction) error {
		if m.Project != "" {
			if err := requireProject(ctx, tx, m.Workspace, m.Project); err != nil {
				return err
			}
		}
		for _, role := range m.Roles {
			if err := requireRole(ctx, tx, m.Workspace, role, builtIn); err != nil {
				return err
			}
		}
		var earlier memberRow
		there, err := memberTable.first(ctx, tx, &earlier, "m.workspace = ? AND m.name = ?", m.Workspace, m.Name)
		if err != nil {
			return err
		}
		if created, m.CreatedAt = !there, m.UpdatedAt; there {
			m.CreatedAt, m.DeactivatedAt = fromMicros(earlier.CreatedAt), fromMicros(earlier.DeactivatedAt)
		}
		row, err := newMemberRow(m)
		switch {
		case err != nil:
			return err
		case there && earlier.Kind != m.Kind:
			return knowledge.Errorf(knowledge.CodeConflict, "the member %q is of the kind %s: remove it before you add one of the kind %s", m.Name, earlier.Kind, m.Kind)
		case there:
			return memberTable.update(ctx, tx, &row)
		}
		return addMember(ctx, tx, &row)
	})
	return m, created, err
}

func addMember(ctx context.Context, tx transaction, row *memberRow) error {
	count, err := tx.NewSelect().Model((*memberRow)(nil)).Where("m.workspace = ?", row.Workspace).Count(ctx)
	if err == nil && count >= maxMembers {
		err = knowledge.Errorf(knowledge.CodeLimitReached, "this workspace has %d members, which is the limit: remove one first", count)
	}
	if err != nil {
		return err
	}
	err = memberTable.insert(ctx, tx, row)
	if isDuplicate(err) {
		return knowledge.Errorf(knowledge.CodeConflict, "the member %q is being stored by another request: try again", row.Name).WithCause(err)
	}
	return err
}

// Member returns a member of the principal's workspace.
func (s *memberStore) Member(ctx context.Context, p knowledge.Principal, name string) (Member, error) {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return Member{}, err
	}
	m, there, err := s.MemberOf(ctx, p.Workspace(), name)
	if err == nil && !there {
		err = knowledge.NotFound("member", name)
	}
	return m, err
}

// MemberOf returns a member of a workspace. there is false if there is none of this name.
func (s *memberStore) MemberOf(ctx context.Context, workspace, name string) (m Member, there bool, err error) {
	var row memberRow
	there, err = memberTable.first(ctx, s.reader, &row, "m.workspace = ? AND m.name = ?", workspace, name)
	switch {
	case err != nil:
		return m, false, fmt.Errorf("read member %s: %w", name, failure(err))
	case !there:
		return m, false, nil
	}
	m, err = s.withGroups(ctx, row)
	return m, true, err
}

// Members lists the members of the principal's workspace by name.
func (s *memberStore) Members(ctx context.Context, p knowledge.Principal, page Page) ([]Member, string, error) {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return nil, "", err
	}
	limit, err := page.limit(defaultLimit)
	if err != nil {
		return nil, "", err
	}
	at, _, err := page.after("members")
	if err != nil {
		return nil, "", err
	}
	rows, err := memberTable.all(ctx, s.reader, "m.workspace = ? AND m.name > ? ORDER BY m.name LIMIT ?", p.Workspace(), at.Text, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("list members: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r memberRow) position { return position{List: "members", Text: r.Name} })
	list, err := decodeRows(rows, (*memberRow).member)
	if err != nil {
		return nil, "", err
	}
	groups, err := groupsOfMembers(ctx, s.reader, p.Workspace(), convert(list, func(m Member) string { return m.Name }))
	if err != nil {
		return nil, "", fmt.Errorf("list members: %w", failure(err))
	}
	for i := range list {
		list[i].Provisioned, list[i].IsProvisioned = groups[list[i].Name]
	}
	return list, cursor, nil
}

// RemoveMember deletes a member of the principal's workspace with its sessions and, of a service
// account, revokes its keys. One that there is not is not found; one that an identity provider provisions is
// CodeConflict.
func (s *memberStore) RemoveMember(ctx context.Context, p knowledge.Principal, name string) error {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return err
	}
	return s.write(ctx, "remove member "+name, func(ctx context.Context, tx transaction) error {
		if err := forgetProvisioned(ctx, tx, p.Workspace(), name); err != nil {
			return err
		}
		there, err := changed(tx.NewDelete().Model((*memberRow)(nil)).Where("workspace = ? AND name = ?", p.Workspace(), name).Exec(ctx))
		if err == nil && !there {
			err = knowledge.NotFound("member", name)
		}
		if err == nil {
			_, err = tx.exec(ctx, "DELETE FROM sessions WHERE workspace = ? AND key_id = '' AND member = ?", p.Workspace(), name)
		}
		if err != nil {
			return err
		}
		_, err = tx.NewUpdate().Model((*keyRow)(nil)).Set("revoked_at = ?", micros(s.now())).
			Where("workspace = ? AND member = ? AND revoked_at = 0 AND instance = FALSE", p.Workspace(), name).Exec(ctx)
		return err
	})
}

// requireMember refuses a service account that the workspace does not have. "" is none.
func requireMember(ctx context.Context, tx transaction, workspace, name string) error {
	if name == "" {
		return nil
	}
	there, err := tx.NewSelect().Model((*memberRow)(nil)).Where("m.workspace = ? AND m.name = ? AND m.kind = ?", workspace, name, ServiceMember).Exists(ctx)
	if err == nil && !there {
		err = knowledge.NotFound("service account", name)
	}
	return err
}

// membersWith counts the members of a workspace that have a role.
func membersWith(ctx context.Context, tx transaction, workspace, role string) (int64, error) {
	var lists []string
	q := tx.NewSelect().Model((*memberRow)(nil)).Column("m.roles").Where("m.workspace = ?", workspace).Where("m.roles LIKE ?", `%"`+role+`"%`)
	if err := q.Scan(ctx, &lists); err != nil {
		return 0, err
	}
	var count int64
	for _, list := range lists {
		var roles []string
		if err := json.Unmarshal([]byte(list), &roles); err != nil {
			return 0, fmt.Errorf("decode the roles of a member: %w", err)
		}
		if slices.Contains(roles, role) { // LIKE takes "_" for any character
			count++
		}
	}
	return count, nil
}

// EndedMembers returns which of these users are not, or no longer, people of a workspace.
func (s *memberStore) EndedMembers(ctx context.Context, workspace string, users []string) ([]string, error) {
	var ended []string
	for some := range slices.Chunk(users, maxKeysAsked) {
		var valid []string
		q := s.reader.NewSelect().Model((*memberRow)(nil)).Column("m.name").Where("m.workspace = ? AND m.name IN (?)", workspace, bun.List(some)).
			Where("m.kind = ? AND m.deactivated_at = 0 AND (m.expires_at = 0 OR m.expires_at > ?)", PersonMember, micros(s.now()))
		if err := q.Scan(ctx, &valid); err != nil {
			return nil, fmt.Errorf("look for ended members: %w", failure(err))
		}
		for _, name := range some {
			if !slices.Contains(valid, name) {
				ended = append(ended, name)
			}
		}
	}
	return ended, nil
}
