package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type connectionsCmd struct {
	List   connectionsListCmd   `cmd:"" help:"List connections, without their secrets."`
	Add    connectionsAddCmd    `cmd:"" help:"Make a connection, and ask the service whether it accepts it."`
	Check  connectionsCheckCmd  `cmd:"" help:"Ask the service whether it accepts a connection."`
	Secret connectionsSecretCmd `cmd:"" help:"Replace the secret of a connection, and ask the service whether it accepts it."`
	Remove connectionsRemoveCmd `cmd:"" help:"Remove a connection that no sync uses."`
}

// Help returns an example of the commands.
func (connectionsCmd) Help() string {
	return "A connection is a service, and how the server signs in there. Syncs follow places of it.\n\nExample:\n\n" +
		"    cairn connections add webdav --at https://cloud.example.com/remote.php/dav/files/ann/ --username ann < app-password"
}

type connectionsListCmd struct{ listFlags }

// Help returns the command's example.
func (connectionsListCmd) Help() string { return "Example:\n\n    cairn connections list --json" }

// Run lists connections.
func (l connectionsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	list, err := pages(0, func(cursor string, limit int) (client.List[client.Connection], error) {
		return c.Connections(ctx, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Connection]{Data: list})
	}
	rows := make([][]string, 0, len(list))
	for _, one := range list {
		waits := ""
		if one.WaitsUntil != nil {
			waits = l.when(a, *one.WaitsUntil)
		}
		rows = append(rows, []string{one.ID, one.Type, one.Options["url"], firstOf(one.Options["username"], one.Options["subject"], one.Options["client_id"]), waits, l.when(a, one.CreatedAt)})
	}
	return l.table(a, listing{
		none:   "no connections; cairn connections add makes one",
		header: []string{"ID", "TYPE", "URL", "USER", "WAITS UNTIL", "CREATED"},
		rows:   rows,
		spare:  []string{"CREATED", "WAITS UNTIL", "USER"},
	})
}

type connectionsAddCmd struct {
	clientFlags
	Type     string `arg:"" enum:"webdav,drive,sharepoint,confluence,notion,git,imap,crawl" help:"The type of the service: webdav, drive, sharepoint, confluence, notion, git, imap, or crawl for a web site."`
	Address  string `name:"at" placeholder:"URL" help:"The address of the service; of webdav, of the files of the user who signs in; of git, of a repository or of what is above several ones. Of drive, sharepoint and notion, default: Google's, Microsoft's public cloud, and Notion's. Of confluence, such as https://example.atlassian.net/wiki. Of crawl, the page or sitemap at which it begins."`
	Username string `help:"Of webdav, git and imap: the user who signs in with the secret. Of confluence in the cloud: the mail address of the account."`
	Subject  string `help:"Of drive: the user for whom the service account acts, by domain-wide delegation."`
	Tenant   string `help:"Of sharepoint: the id or the domain of the tenant of Microsoft Entra."`
	ClientID string `help:"Of sharepoint: the id of the application of Microsoft Entra that signs in."`
	Auth     string `placeholder:"HOW" help:"Of imap: password, or xoauth2 for an access token. Default: password."`
	File     string `type:"path" placeholder:"FILE" help:"The file with the secret. Default: standard input."`
}

// Help returns the command's details and an example.
func (connectionsAddCmd) Help() string {
	return "The secret comes from standard input or a file, never from an argument, which other users of the machine could see. " +
		"For webdav and imap it is an app password of the user, for drive the JSON file of a key of a service account, for sharepoint a client secret, or the PEM text of a certificate and its private key, " +
		"for confluence an API token, or without a user name a personal access token of a data center, for notion the access token of an integration, for git a token that may read the repository. A crawl has none.\n\nExample:\n\n" +
		"    cairn connections add webdav --at https://cloud.example.com/remote.php/dav/files/ann/ --username ann < app-password\n" +
		"    cairn connections add drive --subject ann@example.com --file account.json\n" +
		"    cairn connections add sharepoint --tenant contoso.com --client-id 9a1e… --file certificate-and-key.pem\n" +
		"    cairn connections add git --at https://github.com/example/handbook.git < token\n" +
		"    cairn connections add confluence --at https://example.atlassian.net/wiki --username reader@example.com < api-token\n" +
		"    cairn connections add notion < access-token\n" +
		"    cairn connections add crawl --at https://www.example.com/handbook/\n" +
		"    cairn connections add imap --at imaps://imap.example.com --username ann@example.com < app-password"
}

// Run makes a connection, and checks it.
func (f connectionsAddCmd) Run(ctx context.Context, a *app) error {
	c, err := f.connect()
	if err != nil {
		return err
	}
	secret := ""
	if f.Type != "crawl" || f.File != "" {
		if secret, err = (secretsSetCmd{Name: "the connection", File: f.File}).value(a); err != nil {
			return err
		}
	}
	options := map[string]string{}
	for name, value := range map[string]string{
		"url": f.Address, "username": f.Username, "subject": f.Subject, "tenant": f.Tenant, "client_id": f.ClientID, "auth": f.Auth,
	} {
		if value != "" {
			options[name] = value
		}
	}
	made, err := c.AddConnection(ctx, client.NewConnection{Type: f.Type, Options: options, Secret: secret})
	if err != nil {
		return err
	}
	if f.forPrograms() {
		return f.write(a, made)
	}
	if _, err := fmt.Fprintln(a.stdout, "made connection", made.ID); err != nil {
		return err
	}
	return checkConnection(ctx, a, c, made.ID)
}

// checkConnection asks the service whether it accepts a connection.
func checkConnection(ctx context.Context, a *app, c *client.Client, id string) error {
	check, err := c.CheckConnection(ctx, id)
	switch {
	case err != nil:
		return err
	case check.Error != nil:
		return *check.Error
	}
	ends := ""
	if check.SecretEnds != nil {
		ends = "; its secret expires on " + terminal.Time(*check.SecretEnds)
	}
	_, err = fmt.Fprintln(a.stdout, "the service accepts it"+ends)
	return err
}

// connectionFlags are the flags of the commands for one connection.
type connectionFlags struct {
	clientFlags
	ID string `arg:"" help:"The connection's id, or the beginning of it."`
}

// connectConnection connects, and replaces the beginning of a connection's id by the id.
func (f clientFlags) connectConnection(ctx context.Context, id *string) (*client.Client, error) {
	c, err := f.connect()
	if err == nil {
		*id, err = fromStart(*id, "connection", func(cursor string, limit int) (client.List[client.Connection], error) {
			return c.Connections(ctx, cursor, limit)
		}, func(one client.Connection) match {
			return match{one.ID, strings.TrimSpace(one.Type + " " + one.Options["url"])}
		})
	}
	return c, err
}

type connectionsCheckCmd struct{ connectionFlags }

// Help returns the command's example.
func (connectionsCheckCmd) Help() string {
	return "Example:\n\n    cairn connections check 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run checks a connection.
func (f connectionsCheckCmd) Run(ctx context.Context, a *app) error {
	c, err := f.connectConnection(ctx, &f.ID)
	if err != nil {
		return err
	}
	if !f.forPrograms() {
		return checkConnection(ctx, a, c, f.ID)
	}
	check, err := c.CheckConnection(ctx, f.ID)
	if err != nil {
		return err
	}
	return f.write(a, check)
}

type connectionsSecretCmd struct {
	connectionFlags
	File string `type:"path" placeholder:"FILE" help:"The file with the secret. Default: standard input."`
}

// Help returns the command's details and an example.
func (connectionsSecretCmd) Help() string {
	return "The syncs of the connection use the new secret from their next request on. It comes from standard input or a file, as for cairn connections add.\n\n" +
		"Example:\n\n    cairn connections secret 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b21 < app-password"
}

// Run replaces the secret of a connection, and checks it.
func (f connectionsSecretCmd) Run(ctx context.Context, a *app) error {
	c, err := f.connectConnection(ctx, &f.ID)
	if err != nil {
		return err
	}
	secret, err := secretsSetCmd{Name: "the connection", File: f.File}.value(a)
	if err != nil {
		return err
	}
	changed, err := c.ReplaceSecret(ctx, f.ID, secret)
	if err != nil {
		return err
	}
	if f.forPrograms() {
		return f.write(a, changed)
	}
	if _, err := fmt.Fprintln(a.stdout, "replaced the secret of connection", changed.ID); err != nil {
		return err
	}
	return checkConnection(ctx, a, c, changed.ID)
}

type connectionsRemoveCmd struct{ connectionFlags }

// Help returns the command's example.
func (connectionsRemoveCmd) Help() string {
	return "Example:\n\n    cairn connections remove 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run removes a connection.
func (f connectionsRemoveCmd) Run(ctx context.Context, a *app) error {
	c, err := f.connectConnection(ctx, &f.ID)
	if err != nil {
		return err
	}
	if err := c.RemoveConnection(ctx, f.ID); err != nil {
		return err
	}
	if f.forPrograms() {
		return f.write(a, map[string]string{"id": f.ID})
	}
	_, err = fmt.Fprintln(a.stdout, "removed connection", f.ID)
	return err
}
