package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type keysCmd struct {
	Create keysCreateCmd `cmd:"" help:"Create an API key; it is shown once."`
	List   keysListCmd   `cmd:"" help:"List API keys."`
	Revoke keysRevokeCmd `cmd:"" help:"Revoke an API key at once."`
	Rotate keysRotateCmd `cmd:"" help:"Rotate the keys that encrypt what the server stores."`
}

// Help returns an example of the commands.
func (keysCmd) Help() string {
	return "Example:\n\n    cairn keys create reporting --project default --scope read"
}

type keysCreateCmd struct {
	clientFlags
	Name       string        `arg:"" help:"The purpose of the key."`
	Project    string        `short:"p" help:"Restrict the key to this project."`
	Scope      []string      `enum:"read,write,admin" help:"The key's scopes: read, write or admin; may be repeated. Default: read."`
	Role       string        `placeholder:"ROLE" help:"A role in place of scopes: reader, editor, admin, auditor, or one of cairn roles list."`
	Permission []string      `placeholder:"PERMISSION" help:"A permission in place of scopes or a role; may be repeated. cairn roles list --permissions shows them."`
	Member     string        `placeholder:"NAME" help:"The service account to which the key belongs. Without --role, --permission and --scope the key has its roles."`
	Clearance  string        `placeholder:"LEVEL" help:"The level of classification up to which the key reaches documents, such as confidential."`
	Expires    time.Duration `placeholder:"DURATION" help:"The key expires after this time, such as 720h."`
	Limit      []string      `placeholder:"NAME=VALUE" help:"What the key may use: requestsPerMinute, tokensPerDay, documents, bytes or costPerDay, and a number; may be repeated."`
	Queries    int           `name:"queries-per-minute" placeholder:"N" help:"The number of questions that the key may ask in a minute. Default: the limit of the configuration."`
}

// Help returns the command's example.
func (keysCreateCmd) Help() string {
	return "Example:\n\n    cairn keys create reporting --project default --role reader --expires 720h\n    cairn keys create ci --permission documents.write --permission projects.read\n    cairn keys create partner --limit requestsPerMinute=60 --limit tokensPerDay=200000"
}

// Run creates a key.
func (k keysCreateCmd) Run(ctx context.Context, a *app) error {
	c, err := k.connectProject(ctx, &k.Project)
	if err != nil {
		return err
	}
	request := client.NewKey{
		Name: k.Name, ProjectID: k.Project, Scopes: k.Scope, Role: k.Role, Permissions: k.Permission, Member: k.Member, Clearance: k.Clearance, QueriesPerMinute: k.Queries,
	}
	if len(k.Scope)+len(k.Permission) == 0 && k.Role+k.Member == "" {
		request.Scopes = []string{"read"}
	}
	if k.Queries < 0 {
		return wrongUse("--queries-per-minute must be positive")
	}
	if request.ExpiresAt, err = endAfter(k.Expires); err != nil {
		return err
	}
	if request.Limits, err = parseLimits(k.Limit); err != nil {
		return err
	}
	created, err := c.CreateKey(ctx, request)
	if err != nil {
		return err
	}
	if k.forPrograms() {
		return k.write(a, created)
	}
	fmt.Fprintf(a.stderr, "Key %s, shown only now:\n", created.ID)
	_, err = fmt.Fprintln(a.stdout, created.Secret)
	return err
}

type keysListCmd struct{ listFlags }

// Help returns the command's example.
func (keysListCmd) Help() string { return "Example:\n\n    cairn keys list --json" }

// Run lists keys.
func (l keysListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	keys, err := pages(0, func(cursor string, limit int) (client.List[client.Key], error) {
		return c.Keys(ctx, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Key]{Data: keys})
	}
	rows := make([][]string, 0, len(keys))
	for _, k := range keys {
		rows = append(rows, []string{k.ID, k.Name, firstOf(k.ProjectID, "(all)"), rightsOf(k), l.state(a, k), l.used(a, k), k.CreatedBy, l.when(a, k.CreatedAt)})
	}
	return l.table(a, listing{
		none:   "no keys; cairn keys create makes one",
		header: []string{"ID", "NAME", "PROJECT", "RIGHTS", "STATE", "USED", "MADE BY", "CREATED"},
		rows:   rows,
		spare:  []string{"MADE BY", "CREATED", "USED", "RIGHTS", "PROJECT"},
	})
}

// rightsOf returns what a key may do, in a few words.
func rightsOf(k client.Key) string {
	rights := append(slices.Concat(k.Scopes, k.Permissions), k.Role)
	if k.Member != "" {
		rights = append(rights, "of "+k.Member)
	}
	return strings.Join(slices.DeleteFunc(rights, func(right string) bool { return right == "" }), ",")
}

// used returns when a key was used last.
func (l keysListCmd) used(a *app, k client.Key) string {
	if k.LastUsedAt == nil {
		return ""
	}
	return l.when(a, *k.LastUsedAt)
}

// state returns whether a key is valid, and how long it will be.
func (l keysListCmd) state(a *app, k client.Key) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case k.ExpiresAt == nil:
		return "valid"
	case k.ExpiresAt.Before(time.Now()):
		return "expired"
	case terminal.Width(l.screen(a)) > 0:
		return "valid for " + terminal.Duration(time.Until(*k.ExpiresAt))
	default:
		return "valid to " + terminal.Time(*k.ExpiresAt)
	}
}

type keysRevokeCmd struct {
	clientFlags
	ID       string `arg:"" help:"The key's id, or the beginning of it."`
	Children bool   `help:"Also revoke the keys that were created with this key, and the keys created with those."`
}

// Help returns the command's example.
func (keysRevokeCmd) Help() string {
	return "Example:\n\n    cairn keys revoke 0b7b6a9e-9d0e-4e0e-8f0a-0c7f6a1d2e3f"
}

// Run revokes a key.
func (r keysRevokeCmd) Run(ctx context.Context, a *app) error {
	c, err := r.connectKey(ctx, &r.ID)
	if err != nil {
		return err
	}
	if err := c.RevokeKey(ctx, r.ID, r.Children); err != nil {
		return err
	}
	if r.forPrograms() {
		return r.write(a, map[string]string{"id": r.ID})
	}
	_, err = fmt.Fprintln(a.stdout, "revoked key", r.ID)
	return err
}
