package client

import (
	"context"
	"net/http"
	"time"
)

// Member is a person or a service account with roles in a workspace.
type Member struct {
	User      string   `json:"user"`
	Kind      string   `json:"kind"` // person or service
	Roles     []string `json:"roles"`
	ProjectID string   `json:"project_id,omitempty"` // "" = every project
	Groups    []string `json:"groups"`
	// ProvisionedGroups are those in which an identity provider has put the user by SCIM.
	ProvisionedGroups []string   `json:"provisioned_groups,omitempty"`
	Active            bool       `json:"active"` // false = the identity provider has deactivated the user
	Clearance         string     `json:"clearance,omitempty"`
	Limits            *Limits    `json:"limits,omitempty"` // nil = those of the instance
	ExpiresAt         *time.Time `json:"expires_at,omitempty"`
	CreatedAt         time.Time  `json:"created_at,omitzero"`
	UpdatedAt         time.Time  `json:"updated_at,omitzero"`
	Keys              []Key      `json:"keys,omitempty"` // of a service account that was asked for alone
}

// NewMember is what a member is to have.
type NewMember struct {
	Kind      string     `json:"kind,omitempty"`
	Roles     []string   `json:"roles,omitempty"`
	ProjectID string     `json:"project_id,omitempty"`
	Groups    []string   `json:"groups,omitempty"`
	Clearance string     `json:"clearance,omitempty"`
	Limits    *Limits    `json:"limits,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// PutMember adds a member, or replaces what it has.
func (c *Client) PutMember(ctx context.Context, user string, m NewMember) (Member, error) {
	var stored Member
	_, err := c.call(ctx, http.MethodPut, c.inWorkspace("members", user), nil, m, &stored)
	return stored, err
}

// Member reads a member, with the keys of a service account.
func (c *Client) Member(ctx context.Context, user string) (Member, error) {
	var m Member
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("members", user), nil, nil, &m)
	return m, err
}

// Members lists the members by name.
func (c *Client) Members(ctx context.Context, cursor string, limit int) (List[Member], error) {
	var list List[Member]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("members"), paging(cursor, limit), nil, &list)
	return list, err
}

// RemoveMember removes a member, and revokes the keys of a service account.
func (c *Client) RemoveMember(ctx context.Context, user string) error {
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("members", user), nil, nil, nil)
	return err
}

// Role is a role of a workspace.
type Role struct {
	Name        string     `json:"name"`
	Permissions []string   `json:"permissions"`
	BuiltIn     bool       `json:"built_in,omitempty"`
	CreatedAt   *time.Time `json:"created_at,omitempty"`
	UpdatedAt   *time.Time `json:"updated_at,omitempty"`
}

// PutRole defines a role, or replaces its permissions.
func (c *Client) PutRole(ctx context.Context, name string, permissions []string) (Role, error) {
	var stored Role
	body := map[string][]string{"permissions": permissions}
	_, err := c.call(ctx, http.MethodPut, c.inWorkspace("roles", name), nil, body, &stored)
	return stored, err
}

// Roles lists the roles: those that every workspace has, then those that this one has defined.
func (c *Client) Roles(ctx context.Context) (List[Role], error) {
	var list List[Role]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("roles"), nil, nil, &list)
	return list, err
}

// RemoveRole removes a role that the workspace has defined.
func (c *Client) RemoveRole(ctx context.Context, name string) error {
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("roles", name), nil, nil, nil)
	return err
}

// Permission is a permission with the roles that have it.
type Permission struct {
	Name  string   `json:"name"`
	About string   `json:"about"`
	Roles []string `json:"roles"`
}

// Permissions lists the permissions.
func (c *Client) Permissions(ctx context.Context) (List[Permission], error) {
	var list List[Permission]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("permissions"), nil, nil, &list)
	return list, err
}
