package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
)

type rolesCmd struct {
	List   rolesListCmd   `cmd:"" help:"List roles."`
	Set    rolesSetCmd    `cmd:"" help:"Define a role, or replace its permissions."`
	Remove rolesRemoveCmd `cmd:"" help:"Remove a role that the workspace has defined."`
}

// Help returns an example of the commands.
func (rolesCmd) Help() string {
	return "Example:\n\n    cairn roles set uploader documents.write projects.read"
}

type rolesListCmd struct {
	listFlags
	Permissions bool `help:"List the permissions, and the roles that have them."`
}

// Help returns the command's example.
func (rolesListCmd) Help() string {
	return "Example:\n\n    cairn roles list\n    cairn roles list --permissions"
}

// Run lists roles or permissions.
func (l rolesListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	if l.Permissions {
		return l.listPermissions(ctx, a, c)
	}
	roles, err := c.Roles(ctx)
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, roles)
	}
	rows := make([][]string, 0, len(roles.Data))
	for _, role := range roles.Data {
		updated := "built in"
		if role.UpdatedAt != nil {
			updated = l.when(a, *role.UpdatedAt)
		}
		rows = append(rows, []string{role.Name, updated, strings.Join(role.Permissions, ",")})
	}
	return l.table(a, listing{none: "no roles", header: []string{"ROLE", "UPDATED", "PERMISSIONS"}, rows: rows, spare: []string{"UPDATED"}})
}

func (l rolesListCmd) listPermissions(ctx context.Context, a *app, c *client.Client) error {
	permissions, err := c.Permissions(ctx)
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, permissions)
	}
	rows := make([][]string, 0, len(permissions.Data))
	for _, p := range permissions.Data {
		rows = append(rows, []string{p.Name, strings.Join(p.Roles, ","), p.About})
	}
	return l.table(a, listing{none: "no permissions", header: []string{"PERMISSION", "ROLES", "ABOUT"}, rows: rows, spare: []string{"ABOUT"}})
}

type rolesSetCmd struct {
	clientFlags
	Name        string   `arg:"" help:"The name of the role: lower case letters, digits, - and _."`
	Permissions []string `arg:"" name:"permission" help:"The permissions of the role; cairn roles list --permissions shows them."`
}

// Help returns the command's example.
func (rolesSetCmd) Help() string {
	return "Keys and members with the role have its new permissions within two seconds. Nobody gives a permission that he lacks.\n\n" +
		"Example:\n\n    cairn roles set uploader documents.write projects.read"
}

// Run defines a role.
func (s rolesSetCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	stored, err := c.PutRole(ctx, s.Name, s.Permissions)
	if err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, stored)
	}
	_, err = fmt.Fprintln(a.stdout, "stored role", stored.Name)
	return err
}

type rolesRemoveCmd struct {
	clientFlags
	Name string `arg:"" help:"The role."`
}

// Help returns the command's example.
func (rolesRemoveCmd) Help() string {
	return "It is refused while a valid key or a member has the role.\n\nExample:\n\n    cairn roles remove uploader"
}

// Run removes a role.
func (r rolesRemoveCmd) Run(ctx context.Context, a *app) error {
	c, err := r.connect()
	if err != nil {
		return err
	}
	if err := c.RemoveRole(ctx, r.Name); err != nil {
		return err
	}
	if r.forPrograms() {
		return r.write(a, map[string]string{"name": r.Name})
	}
	_, err = fmt.Fprintln(a.stdout, "removed role", r.Name)
	return err
}
