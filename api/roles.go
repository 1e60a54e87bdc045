package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// permissionView is a permission with the roles that have it.
type permissionView struct {
	Name  knowledge.Permission `json:"name"`
	About string               `json:"about"`
	Roles []string             `json:"roles" doc:"The roles out of reader, editor, admin and auditor that have it"`
}

type permissionsOutput struct {
	Body struct {
		Data  []permissionView                  `json:"data"`
		Roles map[string][]knowledge.Permission `json:"roles" doc:"The permissions of the roles that every workspace has"`
	} `nameHint:"Permissions"`
}

// roleView is a role as it is shown.
type roleView struct {
	Name        string                 `json:"name"`
	Permissions []knowledge.Permission `json:"permissions"`
	BuiltIn     bool                   `json:"built_in" doc:"Every workspace has it, and nobody changes it"`
	CreatedAt   *time.Time             `json:"created_at" doc:"null: it is built in"`
	UpdatedAt   *time.Time             `json:"updated_at" doc:"null: it is built in"`
}

type roleOutput struct{ Body roleView }

// RolePath is the path of a role.
type RolePath struct {
	WorkspacePath
	Name string `path:"name" maxLength:"63" doc:"The role: 1 to 63 lower case letters, digits, - or _, beginning with a letter or digit"`
}

type roleInput struct {
	RolePath
	Body struct {
		Permissions []knowledge.Permission `json:"permissions" minItems:"1" maxItems:"100" doc:"Permissions of GET permissions; the caller needs each of them itself"`
	} `nameHint:"NewRole"`
}

// Rights tells what roles allow.
type Rights interface {
	// PermissionsOf returns the permissions of a role of a workspace. A role that the
	// workspace does not have is CodeNotFound.
	PermissionsOf(ctx context.Context, workspace, role string) ([]knowledge.Permission, error)
}

// roleRoutes holds the routes of permissions and roles.
type roleRoutes struct {
	store Roles
}

func (rr *roleRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/roles"
	route := tagged("members")
	edge.Handle(e, route("list-permissions", http.MethodGet, "/workspaces/{workspaceId}/permissions", "List the permissions",
		"The list is closed. x-permission of an operation in openapi.json names the permission that it needs."), rr.permissions)
	edge.Handle(e, route("list-roles", http.MethodGet, path, "List the roles", "Those that every workspace has, then those that this one has defined."), rr.list)
	edge.Handle(e, route("get-role", http.MethodGet, path+"/{name}", "Read a role", ""), rr.get)
	edge.Handle(e, route("put-role", http.MethodPut, path+"/{name}", "Define a role, or replace its permissions",
		"Keys and members that have the role have its new permissions within two seconds."), rr.put)
	edge.Handle(e, route("delete-role", http.MethodDelete, path+"/{name}", "Remove a role",
		"The answer is 409 while a valid key or a member has the role."), rr.remove)
}

func (rr *roleRoutes) permissions(context.Context, knowledge.Principal, *WorkspacePath) (*permissionsOutput, error) {
	out := &permissionsOutput{}
	out.Body.Roles = access.BuiltIn()
	for _, row := range access.Permissions() {
		if row.Name != knowledge.Public {
			out.Body.Data = append(out.Body.Data, permissionView{row.Name, row.About, notNil(row.Roles)})
		}
	}
	return out, nil
}

func (rr *roleRoutes) list(ctx context.Context, p knowledge.Principal, in *ShortList) (*listOutput[roleView], error) {
	all, err := rr.all(ctx, p)
	if err != nil {
		return nil, err
	}
	return shortPage(all, *in)
}

// all returns the roles of a workspace, those that every workspace has first.
func (rr *roleRoutes) all(ctx context.Context, p knowledge.Principal) ([]roleView, error) {
	defined, err := rr.store.Roles(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("list roles: %w", err)
	}
	return slices.Concat(builtInRoles(), convert(defined, viewRole)), nil
}

func (rr *roleRoutes) get(ctx context.Context, p knowledge.Principal, in *RolePath) (*roleOutput, error) {
	all, err := rr.all(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, role := range all {
		if role.Name == in.Name {
			return &roleOutput{role}, nil
		}
	}
	return nil, knowledge.NotFound("role", in.Name)
}

func (rr *roleRoutes) put(ctx context.Context, p knowledge.Principal, in *roleInput) (*roleOutput, error) {
	if !knowledge.ValidSlug(in.Name) {
		return nil, knowledge.Invalid("path.name", "must be 1 to 63 lower case letters, digits, - or _, and begin with a letter or digit")
	}
	if slices.Contains(access.Roles(), in.Name) {
		return nil, knowledge.Errorf(knowledge.CodeConflict, "every workspace has the role %q, and nobody changes it: take another name", in.Name)
	}
	permissions, err := given(p, in.Body.Permissions)
	if err != nil {
		return nil, err
	}
	stored, _, err := rr.store.PutRole(ctx, p, store.Role{Name: in.Name, Permissions: permissions})
	if err != nil {
		return nil, fmt.Errorf("store role %s: %w", in.Name, err)
	}
	return &roleOutput{viewRole(stored)}, nil
}

func (rr *roleRoutes) remove(ctx context.Context, p knowledge.Principal, in *RolePath) (*struct{}, error) {
	if slices.Contains(access.Roles(), in.Name) {
		return nil, knowledge.Errorf(knowledge.CodeConflict, "every workspace has the role %q, and nobody removes it", in.Name)
	}
	if err := rr.store.RemoveRole(ctx, p, in.Name); err != nil {
		return nil, fmt.Errorf("remove role %s: %w", in.Name, err)
	}
	return nil, nil
}

// given returns permissions that a request names, sorted and each once. One that there is not,
// or that the principal lacks itself, is CodeInvalid.
func given(p knowledge.Principal, names []knowledge.Permission) ([]knowledge.Permission, error) {
	known := access.Grantable()
	for i, name := range names {
		location := fmt.Sprintf("body.permissions[%d]", i)
		switch {
		case !slices.Contains(known, name):
			return nil, knowledge.Invalid(location, "is not a permission that a role can have: GET permissions lists them")
		case !p.May(name):
			return nil, knowledge.Invalid(location, "needs the permission %s, which only somebody who has it can give", name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names))), nil
}

// builtInRoles returns the roles that every workspace has, as they are shown.
func builtInRoles() []roleView {
	var views []roleView
	rights := access.BuiltIn()
	for _, name := range access.Roles() {
		views = append(views, roleView{Name: name, Permissions: rights[name], BuiltIn: true})
	}
	return views
}

func viewRole(r store.Role) roleView {
	return roleView{Name: r.Name, Permissions: r.Permissions, CreatedAt: &r.CreatedAt, UpdatedAt: &r.UpdatedAt}
}
