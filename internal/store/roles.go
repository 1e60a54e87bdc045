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

// roleStore has the roles that workspaces define.
type roleStore struct{ *database }

// maxRoles bounds the roles of a workspace.
const maxRoles = 100

// Role is a role that a workspace has defined.
type Role struct {
	Workspace   string
	Name        string
	Permissions []knowledge.Permission
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

type roleRow struct {
	bun.BaseModel `bun:"table:roles,alias:r"`
	Workspace     string `bun:"workspace,pk"`
	Name          string `bun:"name,pk"`
	Permissions   string `bun:"permissions"`
	CreatedAt     int64  `bun:"created_at"`
	UpdatedAt     int64  `bun:"updated_at"`
}

func (r *roleRow) role() (Role, error) {
	role := Role{Workspace: r.Workspace, Name: r.Name, CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt)}
	if err := json.Unmarshal([]byte(r.Permissions), &role.Permissions); err != nil {
		return role, fmt.Errorf("decode role %s: %w", r.Name, err)
	}
	return role, nil
}

// requireWholeWorkspace refuses a principal of one project what belongs to the workspace.
func requireWholeWorkspace(p knowledge.Principal, what string) error {
	if err := requireWorkspace(p); err != nil {
		return err
	}
	if p.Project() != "" {
		return knowledge.Errorf(knowledge.CodeForbidden, "a key or a member of one project has no access to the %s of the workspace: use a key for all projects", what)
	}
	return nil
}

// PutRole stores a role of the principal's workspace in the place of an earlier one of its
// name, whose time of creation stays. created reports that there was none. A workspace has at
// most 100 roles.
func (s *roleStore) PutRole(ctx context.Context, p knowledge.Principal, role Role) (stored Role, created bool, err error) {
	if err := requireWholeWorkspace(p, "roles"); err != nil {
		return stored, false, err
	}
	permissions, err := encode(role.Permissions)
	if err != nil {
		return stored, false, err
	}
	now := micros(s.orNow(role.UpdatedAt))
	row := roleRow{Workspace: p.Workspace(), Name: role.Name, Permissions: permissions, UpdatedAt: now}
	err = s.write(ctx, "store role "+role.Name, func(ctx context.Context, tx transaction) error {
		var earlier roleRow
		there, err := roleTable.first(ctx, tx, &earlier, "r.workspace = ? AND r.name = ?", row.Workspace, row.Name)
		if err != nil {
			return err
		}
		if created, row.CreatedAt = !there, now; there {
			row.CreatedAt = earlier.CreatedAt
			return roleTable.update(ctx, tx, &row)
		}
		return addRole(ctx, tx, &row)
	})
	if err != nil {
		return stored, false, err
	}
	stored, err = row.role()
	return stored, created, err
}

func addRole(ctx context.Context, tx transaction, row *roleRow) error {
	count, err := tx.NewSelect().Model((*roleRow)(nil)).Where("r.workspace = ?", row.Workspace).Count(ctx)
	if err == nil && count >= maxRoles {
		err = knowledge.Errorf(knowledge.CodeLimitReached, "this workspace has %d roles, which is the limit: remove one first", count)
	}
	if err != nil {
		return err
	}
	err = roleTable.insert(ctx, tx, row)
	if isDuplicate(err) {
		return knowledge.Errorf(knowledge.CodeConflict, "the role %q is being stored by another request: try again", row.Name).WithCause(err)
	}
	return err
}

// Roles lists the roles that the principal's workspace has defined, by name.
func (s *roleStore) Roles(ctx context.Context, p knowledge.Principal) ([]Role, error) {
	if err := requireWholeWorkspace(p, "roles"); err != nil {
		return nil, err
	}
	return s.RolesOf(ctx, p.Workspace())
}

// RolesOf lists the roles that a workspace has defined, by name.
func (s *roleStore) RolesOf(ctx context.Context, workspace string) ([]Role, error) {
	rows, err := roleTable.all(ctx, s.reader, "r.workspace = ? ORDER BY r.name", workspace)
	if err != nil {
		return nil, fmt.Errorf("list roles: %w", failure(err))
	}
	return decodeRows(rows, (*roleRow).role)
}

// RemoveRole deletes a role of the principal's workspace. One that there is not is not
// found; one that a valid key or a member still has is CodeConflict.
func (s *roleStore) RemoveRole(ctx context.Context, p knowledge.Principal, name string) error {
	if err := requireWholeWorkspace(p, "roles"); err != nil {
		return err
	}
	return s.write(ctx, "remove role "+name, func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.NewDelete().Model((*roleRow)(nil)).Where("workspace = ? AND name = ?", p.Workspace(), name).Exec(ctx))
		if err == nil && !there {
			err = knowledge.NotFound("role", name)
		}
		if err != nil {
			return err
		}
		keys, err := tx.NewSelect().Model((*keyRow)(nil)).Where("k.workspace = ? AND k.role = ? AND k.revoked_at = 0", p.Workspace(), name).Count(ctx)
		if err != nil {
			return err
		}
		members, err := membersWith(ctx, tx, p.Workspace(), name)
		if err == nil && keys+members > 0 {
			err = knowledge.Errorf(knowledge.CodeConflict, "%d keys and %d members have the role %q: revoke the keys and give the members another role first", keys, members, name)
		}
		return err
	})
}

// requireRole refuses a role that the workspace has not defined. builtIn are the roles that
// every workspace has.
func requireRole(ctx context.Context, tx transaction, workspace, name string, builtIn []string) error {
	if slices.Contains(builtIn, name) {
		return nil
	}
	there, err := tx.NewSelect().Model((*roleRow)(nil)).Where("r.workspace = ? AND r.name = ?", workspace, name).Exists(ctx)
	if err == nil && !there {
		err = knowledge.NotFound("role", name)
	}
	return err
}
