package access

import (
	"context"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// ofPerson returns what the user of a token may do: what its roles allow, and the roles of the
// member whom it means. One who was deactivated is CodeForbidden. A membership of one project
// holds the user to it, whatever the token says.
func (a *Authenticator) ofPerson(ctx context.Context, token tokenClaims) (knowledge.Claims, error) {
	claims := knowledge.Claims{Workspace: token.Workspace, User: token.Subject, Groups: token.Groups, Expires: token.Expires, Given: knowledge.Given{Roles: token.Roles, Groups: token.Groups, Clearance: token.Clearance}}
	roles, clearances := token.Roles, []string{token.Clearance}
	member, err := a.addMember(ctx, &claims)
	if err != nil {
		return claims, err
	}
	if member != nil {
		if !member.DeactivatedAt.IsZero() {
			return claims, errDeactivated()
		}
		roles, clearances = joined(roles, member.Roles), append(clearances, member.Clearance)
	}
	permissions, err := a.permissionsOf(ctx, token.Workspace, roles)
	if err != nil {
		return claims, err
	}
	if len(permissions) == 0 {
		return claims, knowledge.Errorf(knowledge.CodeForbidden, "neither this token nor a membership of its user has a role of this workspace: reader, editor, admin, auditor, or one that the workspace has defined")
	}
	claims = a.rights.grant(claims, permissions)
	a.clear(&claims, clearances...)
	return claims, nil
}

// errDeactivated refuses a person whom the identity provider has deactivated or removed.
func errDeactivated() error {
	return knowledge.Errorf(knowledge.CodeForbidden, "this user was deactivated by the identity provider of the workspace")
}

// person returns the person whom a token calls name, nil if there is none.
func (a *Authenticator) person(ctx context.Context, workspace, name string) (*store.Member, error) {
	member, err := a.directory.member(ctx, workspace, name)
	if err != nil || member == nil || member.Kind != store.PersonMember {
		return nil, err
	}
	return member, nil
}

// addMember adds the name and the groups of the member whom the user of claims means, and
// holds them to its project and end. It returns the member, nil if there is none. Members or
// not, users are in the groups of services that are followed.
func (a *Authenticator) addMember(ctx context.Context, claims *knowledge.Claims) (*store.Member, error) {
	member, err := a.person(ctx, claims.Workspace, claims.User)
	if err != nil {
		return nil, err
	}
	if member != nil {
		claims.UserLimits = member.Limits
		claims.User, claims.Groups, claims.Member = member.Name, joined(joined(claims.Groups, member.Groups), member.Provisioned), true
		holdTo(claims, member)
	}
	return member, a.addServiceGroups(ctx, claims)
}

// addServiceGroups adds the groups of services in which the user of claims is.
func (a *Authenticator) addServiceGroups(ctx context.Context, claims *knowledge.Claims) error {
	groups, err := a.directory.groupsOf(ctx, claims.Workspace, claims.User)
	claims.Groups = joined(claims.Groups, groups)
	return err
}

// joined returns the names of a, and those of b that a lacks.
func joined(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// holdTo holds claims to the project and the end of a member. Claims of another project lose
// their permissions.
func holdTo(claims *knowledge.Claims, member *store.Member) {
	if end := member.ExpiresAt; !end.IsZero() && (claims.Expires == 0 || end.Unix() < claims.Expires) {
		claims.Expires = end.Unix()
	}
	switch {
	case member.Project == "":
	case claims.Project == "" || claims.Project == member.Project:
		claims.Project = member.Project
	default:
		claims.Permissions = nil
	}
}

// keyPermissions returns the permissions of a key: what its rights give, within what the
// rights of its makers give now; and the service account to which it belongs, nil if none.
func (a *Authenticator) keyPermissions(ctx context.Context, key store.Key) ([]knowledge.Permission, *store.Member, error) {
	all, member, err := a.ofRights(ctx, key.Workspace, key.Rights())
	for _, bound := range key.Bounds {
		if err != nil {
			break
		}
		var permissions []knowledge.Permission
		if permissions, _, err = a.ofRights(ctx, key.Workspace, bound); err == nil {
			all = both(all, permissions)
		}
	}
	return all, member, err
}

// ofRights returns the permissions of rights, and the service account that they belong to, nil
// if none. A service account that was removed, or whose time is over, has none.
func (a *Authenticator) ofRights(ctx context.Context, workspace string, r store.Rights) ([]knowledge.Permission, *store.Member, error) {
	permissions, err := a.ownRights(ctx, workspace, r)
	if err != nil || r.Member == "" {
		return permissions, nil, err
	}
	member, err := a.directory.member(ctx, workspace, r.Member)
	if err != nil || member == nil {
		return nil, nil, err
	}
	ofMember, err := a.permissionsOf(ctx, workspace, member.Roles)
	if len(r.Scopes) == 0 && r.Role == "" && len(r.Permissions) == 0 {
		return ofMember, member, err
	}
	return both(permissions, ofMember), member, err
}

func (a *Authenticator) ownRights(ctx context.Context, workspace string, r store.Rights) ([]knowledge.Permission, error) {
	switch {
	case r.Role != "":
		return a.permissionsOf(ctx, workspace, []string{r.Role})
	case len(r.Permissions) > 0:
		return r.Permissions, nil
	}
	return a.rights.ofScopes(r.Scopes), nil
}

// permissionsOf returns the permissions of roles of a workspace together. It ignores roles that
// the workspace does not have: tokens name roles of other systems.
func (a *Authenticator) permissionsOf(ctx context.Context, workspace string, roles []string) ([]knowledge.Permission, error) {
	var all []knowledge.Permission
	for _, name := range roles {
		permissions, builtIn := a.rights[name]
		if !builtIn {
			var err error
			if permissions, err = a.directory.role(ctx, workspace, name); err != nil {
				return nil, err
			}
		}
		all = union(all, permissions)
	}
	return all, nil
}

// PermissionsOf returns the permissions that a role of a workspace has now. A role that the
// workspace does not have is CodeNotFound.
func (a *Authenticator) PermissionsOf(ctx context.Context, workspace, role string) ([]knowledge.Permission, error) {
	if permissions, builtIn := a.rights[role]; builtIn {
		return permissions, nil
	}
	permissions, err := a.directory.readRole(ctx, workspace, role)
	if err == nil && permissions == nil {
		err = knowledge.NotFound("role", role)
	}
	return permissions, err
}

// LeftMembers returns which of these users are not, or no longer, people of a workspace.
func (a *Authenticator) LeftMembers(ctx context.Context, workspace string, users []string) ([]string, error) {
	return a.store.EndedMembers(ctx, workspace, users)
}
