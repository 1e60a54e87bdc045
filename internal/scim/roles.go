package scim

import (
	"context"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// rolesOf returns the roles that attributes give, if the principal may give them: CodeForbidden.
// It ignores those that the workspace does not have, as they do in tokens: identity
// providers have roles of their own.
func (h *users) rolesOf(ctx context.Context, attributes object) ([]string, error) {
	var known []string
	for _, value := range listOf(attributes[roles]) {
		element, _ := value.(object)
		name, _ := element["value"].(string)
		if name == "" || slices.Contains(known, name) {
			continue
		}
		err := h.mayGive(ctx, name)
		if knowledge.IsCode(err, knowledge.CodeNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		known = append(known, name)
	}
	return known, nil
}

// changedRoles returns the roles that a user has after a change, nil for those that he has. One
// to whom the identity provider gives none any more has the default role.
func (h *users) changedRoles(ctx context.Context, before store.ProvisionedUser, after object) ([]string, error) {
	present, err := h.attributes(before)
	if err != nil {
		return nil, err
	}
	if sameRoles(present[roles], after[roles]) {
		return nil, nil
	}
	wanted, err := h.rolesOf(ctx, after)
	if err != nil || len(wanted) > 0 {
		return wanted, err
	}
	return []string{h.cfg.DefaultRole}, h.mayGive(ctx, h.cfg.DefaultRole)
}

func sameRoles(a, b any) bool {
	return slices.EqualFunc(listOf(a), listOf(b), isSame)
}

// mayGive refuses a role that the workspace does not have (CodeNotFound), or that has a
// permission which the principal lacks (CodeForbidden).
func (h *users) mayGive(ctx context.Context, role string) error {
	permissions, err := h.cfg.Rights.PermissionsOf(ctx, h.Principal.Workspace(), role)
	if err != nil {
		return err
	}
	for _, permission := range permissions {
		if !h.Principal.May(permission) {
			return knowledge.Errorf(knowledge.CodeForbidden, "the role %q has the permission %s, which only a key that has it can give", role, permission)
		}
	}
	return nil
}
