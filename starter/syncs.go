package main

import (
	"context"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type syncsCmd struct {
	List   syncsListCmd   `cmd:"" help:"List syncs, newest first."`
	Add    syncsAddCmd    `cmd:"" help:"Follow a place of a service."`
	Show   syncsShowCmd   `cmd:"" help:"Show a sync, its last run and what failed."`
	Run    syncsRunCmd    `cmd:"" help:"Start a run now."`
	Pause  syncsPauseCmd  `cmd:"" help:"Pause a sync and its run."`
	Resume syncsResumeCmd `cmd:"" help:"Resume a paused sync and its run."`
	Remove syncsRemoveCmd `cmd:"" help:"Remove a sync; its documents stay."`
}

// Help returns an example of the commands.
func (syncsCmd) Help() string {
	return "A sync follows a place of a service: each of its runs is an import of what has changed.\n\nExample:\n\n    cairn syncs list"
}

type syncsListCmd struct {
	listFlags
	Project string `short:"p" help:"Only syncs into this project."`
}

// Help returns the command's example.
func (syncsListCmd) Help() string { return "Example:\n\n    cairn syncs list --project legal" }

// Run lists syncs.
func (l syncsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connectProject(ctx, &l.Project)
	if err != nil {
		return err
	}
	list, err := pages(0, func(cursor string, limit int) (client.List[client.Sync], error) {
		return c.Syncs(ctx, l.Project, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Sync]{Data: list})
	}
	rows := make([][]string, 0, len(list))
	for _, y := range list {
		next := ""
		if y.NextRun != nil {
			next = terminal.Time(*y.NextRun)
		}
		rows = append(rows, []string{y.ID, y.Type, scopeText(y), y.ProjectID, y.Status, y.Every, number(y.Published), number(y.Failed), next})
	}
	return l.table(a, listing{
		none:   "no syncs; cairn syncs add makes one",
		header: []string{"ID", "TYPE", "SCOPE", "PROJECT", "STATUS", "EVERY", "PUBLISHED", "FAILED", "NEXT RUN"},
		rows:   rows,
		spare:  []string{"EVERY", "NEXT RUN", "PROJECT", "PUBLISHED", "TYPE", "FAILED"},
	})
}

// scopeText returns what a sync follows, in words.
func scopeText(y client.Sync) string {
	var parts []string
	for _, name := range []string{"site", "drive", "repository", "branch", "folder", "space", "mailbox"} {
		if value := y.Scope[name]; value != "" {
			parts = append(parts, value)
		}
	}
	return firstOf(strings.Join(parts, " "), "(all)")
}

type syncsAddCmd struct {
	clientFlags
	Connection   string   `arg:"" help:"The connection's id, or the beginning of it."`
	Project      string   `short:"p" help:"The project of the documents."`
	Site         string   `help:"Of sharepoint: the address of the site, such as https://contoso.sharepoint.com/sites/legal."`
	Drive        string   `help:"Of drive: the id of a shared drive. Of sharepoint: the name of a library of the site, the id of a drive, or the address of a person whose OneDrive is followed."`
	Folder       string   `help:"The folder to follow: its path, of drive its id. Default: all files."`
	Repository   string   `placeholder:"PATH" help:"Of git: the repository below the address of the connection. Default: the address is that of the repository."`
	Branch       string   `help:"Of git: the branch. Default: the one that the repository says."`
	Mailbox      string   `help:"Of imap: the mailbox. Default: INBOX."`
	Page         string   `help:"Of notion: the address or the id of a page, which is followed with what is below it. Default: all that is shared with the integration."`
	Database     string   `help:"Of notion: the address or the id of a database, instead of a page."`
	Space        string   `help:"Of confluence: the key of the space to follow. Default: all spaces."`
	Include      []string `placeholder:"PATTERN" help:"Follow only paths that match, such as reports/**/*.pdf; may be repeated."`
	Exclude      []string `placeholder:"PATTERN" help:"Leave out paths that match; may be repeated."`
	Tag          []string `placeholder:"TAG" help:"A tag of all documents; may be repeated."`
	Subject      []string `placeholder:"PERSON" help:"A person whom all documents are about, as consents name the person; may be repeated."`
	Every        string   `default:"1h" placeholder:"DURATION" help:"The time between two runs, between 1m and 720h."`
	Permissions  string   `enum:"mirror,none" default:"none" help:"mirror: those who may see a file in the service see its document. none: the whole workspace does."`
	KeepVanished bool     `help:"Keep the documents of files that are gone."`
	Wait         bool     `help:"Wait until the first run has ended."`
}

// Help returns the command's example.
func (syncsAddCmd) Help() string {
	return "Example:\n\n    cairn syncs add 0b4d4a3e --project legal --folder Contracts --every 15m --permissions mirror --wait\n" +
		"    cairn syncs add 0b4d4a3e --project handbook --repository handbook.git --branch main --folder docs\n" +
		"    cairn syncs add 0b4d4a3e --project handbook --page https://www.notion.so/Handbook-0123456789abcdef0123456789abcdef"
}

// Run makes a sync.
func (f syncsAddCmd) Run(ctx context.Context, a *app) error {
	c, err := f.connectConnection(ctx, &f.Connection)
	if err != nil {
		return err
	}
	keep := !f.KeepVanished
	n := client.NewSync{
		ConnectionID: f.Connection, ProjectID: f.Project, Include: f.Include, Exclude: f.Exclude, Tags: f.Tag, Subjects: f.Subject,
		Every: f.Every, Permissions: f.Permissions, RemoveVanished: &keep,
	}
	n.Scope = map[string]string{}
	for name, value := range map[string]string{
		"site": f.Site, "drive": f.Drive, "folder": f.Folder, "repository": f.Repository, "branch": f.Branch, "space": f.Space, "mailbox": f.Mailbox, "page": f.Page, "database": f.Database,
	} {
		if value != "" {
			n.Scope[name] = value
		}
	}
	y, err := c.AddSync(ctx, n)
	if err != nil {
		return err
	}
	return f.started(ctx, a, c, y, f.Wait)
}

// started shows a sync whose run has started and, with wait, follows the run to its end.
func (f clientFlags) started(ctx context.Context, a *app, c *client.Client, y client.Sync, wait bool) error {
	if wait && y.LastRun != nil {
		i, err := c.Import(ctx, y.LastRun.ID)
		if err != nil {
			return err
		}
		return awaitImport(ctx, a, c, i, f.outputFlags)
	}
	if f.forPrograms() {
		return f.write(a, y)
	}
	return showSync(a, y)
}

// connectSync connects, and replaces the beginning of a sync's id by the id.
func (f clientFlags) connectSync(ctx context.Context, id *string) (*client.Client, error) {
	c, err := f.connect()
	if err == nil {
		*id, err = fromStart(*id, "sync", func(cursor string, limit int) (client.List[client.Sync], error) {
			return c.Syncs(ctx, "", cursor, limit)
		}, func(y client.Sync) match { return match{y.ID, y.Type + " " + scopeText(y)} })
	}
	return c, err
}

func showSync(a *app, y client.Sync) error {
	run, started, ended, failure, next, waits, age := "", "", "", "", "", "", ""
	if y.LastRun != nil {
		run, started = y.LastRun.RunID+" ("+y.LastRun.Status+")", terminal.Time(y.LastRun.StartedAt)
		if y.LastRun.EndedAt != nil {
			ended = terminal.Time(*y.LastRun.EndedAt)
		}
		if y.LastRun.Error != nil {
			failure = y.LastRun.Error.Error()
		}
	}
	if y.NextRun != nil {
		next = terminal.Time(*y.NextRun)
	}
	if y.WaitsUntil != nil {
		waits = "until " + terminal.Time(*y.WaitsUntil) + ": the service asked for fewer requests"
	}
	if y.CursorAge != nil {
		age = (time.Duration(*y.CursorAge) * time.Second).String()
	}
	err := terminal.Fields(a.stdout, "id", y.ID, "type", y.Type, "scope", scopeText(y), "project", y.ProjectID, "connection", y.ConnectionID,
		"permissions", y.Permissions, "every", y.Every, "status", y.Status, "waits", waits, "error", failure,
		"discovered", number(y.Discovered), "published", number(y.Published), "skipped", number(y.Skipped), "failed", number(y.Failed),
		"removed", number(y.Deleted), "seen by nobody", number(y.Hidden), "groups untold", number(y.Unresolved), "as of", age, "next run", next, "last run", run, "started", started, "ended", ended)
	if err != nil {
		return err
	}
	for _, f := range y.Failures {
		if err := terminal.Outcome(a.stdout, outcomeFailed, firstOf(f.Name, f.Key), objectFailure(f.Error)); err != nil {
			return err
		}
	}
	return nil
}
