package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
)

type grantsCmd struct {
	List   grantsListCmd   `cmd:"" help:"List grants, newest first."`
	Add    grantsAddCmd    `cmd:"" help:"Allow or deny readers what access lists do not say."`
	Remove grantsRemoveCmd `cmd:"" help:"Remove a grant. It has no effect from then on."`
}

// Help returns an example of the commands.
func (grantsCmd) Help() string {
	return "Of several grants, one that denies wins.\n\nExample:\n\n    cairn grants add deny read --group press --tag unreleased --expires 720h --reason \"until the launch\""
}

type grantsListCmd struct {
	listFlags
	User  string `xor:"subject" help:"Those that mean this person by name."`
	Group string `xor:"subject" help:"Those that mean this group."`
	Tag   string `help:"Those on this tag."`
}

// Help returns the command's example.
func (grantsListCmd) Help() string { return "Example:\n\n    cairn grants list --group press --json" }

// Run lists grants.
func (l grantsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	filter := url.Values{}
	for name, value := range map[string]string{"user": l.User, "group": l.Group, "tag": l.Tag} {
		if value != "" {
			filter.Set(name, value)
		}
	}
	grants, err := pages(0, func(cursor string, limit int) (client.List[client.Grant], error) {
		return c.Grants(ctx, filter, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Grant]{Data: grants})
	}
	rows := make([][]string, 0, len(grants))
	for _, g := range grants {
		rows = append(rows, []string{g.ID, g.Effect + " " + g.Permission, subjectOf(g), objectOf(g), l.end(a, g), g.Reason})
	}
	return l.table(a, listing{
		none:   "no grants; cairn grants add adds one",
		header: []string{"ID", "EFFECT", "FOR", "ON", "ENDS", "REASON"},
		rows:   rows,
		spare:  []string{"REASON", "ENDS"},
	})
}

// end returns when a grant ends or has ended.
func (l grantsListCmd) end(a *app, g client.Grant) string {
	switch {
	case g.ExpiresAt == nil:
		return ""
	case g.ExpiresAt.Before(time.Now()):
		return "ended"
	}
	return l.when(a, *g.ExpiresAt)
}

func subjectOf(g client.Grant) string {
	switch s := g.Subject; {
	case s.User != "":
		return "user " + s.User
	case s.Group != "":
		return "group " + s.Group
	default:
		return "project " + s.Project
	}
}

func objectOf(g client.Grant) string {
	switch o := g.Object; {
	case o.DocumentID != "":
		return "document " + o.DocumentID
	case o.Tag != "":
		return "tag " + o.Tag
	default:
		return "project " + o.ProjectID
	}
}

type grantsAddCmd struct {
	clientFlags
	Effect     string        `arg:"" enum:"allow,deny" help:"allow or deny."`
	Permission string        `arg:"" enum:"read,write" help:"read or write. To allow write allows read too, and to deny read denies write too."`
	User       string        `xor:"subject" required:"" help:"For this person of the workspace."`
	Group      string        `xor:"subject" required:"" help:"For this group."`
	OfProject  string        `name:"of-project" xor:"subject" required:"" placeholder:"PROJECT" help:"For the keys and members that are held to this project."`
	Document   string        `xor:"object" required:"" help:"On this document: its id, external id or name, or the beginning of its id."`
	Tag        string        `xor:"object" required:"" help:"On the documents with this tag, in every project."`
	Project    string        `short:"p" xor:"object" required:"" help:"On the documents of this project."`
	Expires    time.Duration `placeholder:"DURATION" help:"The grant ends after this time, such as 720h."`
	Reason     string        `help:"Why, for those who list grants or explain access."`
}

// Help returns the command's example.
func (grantsAddCmd) Help() string {
	return "A grant shows at once and ends to the second. It does not lift a classification or the boundary of a project.\n\nExample:\n\n" +
		"    cairn grants add allow read --user ann --document contract.pdf --expires 48h\n" +
		"    cairn grants add deny read --group press --tag unreleased --reason \"until the launch\""
}

// Run adds a grant.
func (g grantsAddCmd) Run(ctx context.Context, a *app) error {
	c, err := g.connect()
	if err != nil {
		return err
	}
	request := client.NewGrant{
		Subject: client.GrantSubject{User: g.User, Group: g.Group, Project: g.OfProject}, Object: client.GrantObject{Tag: g.Tag, ProjectID: g.Project},
		Effect: g.Effect, Permission: g.Permission, Reason: g.Reason,
	}
	if request.ExpiresAt, err = endAfter(g.Expires); err != nil {
		return err
	}
	add := func(document string) (client.Grant, error) {
		request.Object.DocumentID = document
		return c.AddGrant(ctx, request)
	}
	var added client.Grant
	if g.Document != "" {
		added, err = withDocument(ctx, c, g.Document, add)
	} else {
		added, err = add("")
	}
	if err != nil {
		return err
	}
	if g.forPrograms() {
		return g.write(a, added)
	}
	_, err = fmt.Fprintln(a.stdout, "added grant", added.ID)
	return err
}

type grantsRemoveCmd struct {
	clientFlags
	ID string `arg:"" help:"The grant's id, or the beginning of it."`
}

// Help returns the command's example.
func (grantsRemoveCmd) Help() string {
	return "Example:\n\n    cairn grants remove 0b7b6a9e-9d0e-4e0e-8f0a-0c7f6a1d2e3f"
}

// Run removes a grant.
func (r grantsRemoveCmd) Run(ctx context.Context, a *app) error {
	c, err := r.connectGrant(ctx, &r.ID)
	if err != nil {
		return err
	}
	if err := c.RemoveGrant(ctx, r.ID); err != nil {
		return err
	}
	if r.forPrograms() {
		return r.write(a, map[string]string{"id": r.ID})
	}
	_, err = fmt.Fprintln(a.stdout, "removed grant", r.ID)
	return err
}
