package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type projectsPublishCmd struct {
	clientFlags
	ID           string   `arg:"" name:"name" help:"The project's id or name, or the beginning of its id."`
	Visibility   string   `help:"Who may ask: public (anybody) or workspace (its people and keys). Default: unchanged, at first workspace."`
	Title        string   `help:"The title of the page. Default: unchanged, at first the name of the project."`
	Description  string   `help:"What the page says of the agent. Default: unchanged."`
	Starter      []string `sep:"none" placeholder:"QUESTION" help:"A question to begin with; can be repeated. Default: unchanged."`
	Avatar       string   `help:"At most 8 characters, such as an emoji. Default: unchanged."`
	Slug         string   `help:"The name of the agent in its address. Default: unchanged, at first the id of the project."`
	Origin       []string `placeholder:"ORIGIN" help:"The origin of pages that may show the chat, such as https://www.example.com; can be repeated. Default: unchanged."`
	RotateSecret bool     `help:"Make a new secret for the tokens of users, and show it once."`
}

// Help returns the command's details and an example.
func (projectsPublishCmd) Help() string {
	return "The agent has a page to ask on, a card and an endpoint of the A2A protocol, and a chat for other pages. Visitors of a public agent see the documents that the whole workspace may read. " +
		"The secret that signs the tokens of users is shown the first time.\n\nExample:\n\n" +
		"    cairn projects publish handbook --visibility public --title \"Service desk\" --starter \"How many days of holiday are there?\""
}

// Run publishes a project, or changes how it is published.
func (p projectsPublishCmd) Run(ctx context.Context, a *app) error {
	c, err := p.connectProject(ctx, &p.ID)
	if err != nil {
		return err
	}
	wanted, err := p.wanted(ctx, c)
	if err != nil {
		return err
	}
	made, err := c.Publish(ctx, p.ID, wanted)
	if err != nil {
		return err
	}
	if p.forPrograms() {
		return p.write(a, made)
	}
	script := fmt.Sprintf("<script src=%q data-agent=%q defer></script>", made.ScriptURL, made.Slug)
	return terminal.Fields(a.stdout, "project", made.ProjectID, "visibility", string(made.Visibility), "page", made.URL, "card", made.CardURL, "script", script,
		"secret of tokens (shown only now)", made.Secret)
}

// wanted returns the present publication with what the flags change.
func (p projectsPublishCmd) wanted(ctx context.Context, c *client.Client) (client.NewPublication, error) {
	now, err := c.Publication(ctx, p.ID)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == knowledge.CodeNotFound {
		project, err := c.Project(ctx, p.ID)
		if err != nil {
			return client.NewPublication{}, err
		}
		now.PublicationSettings = knowledge.PublicationSettings{Visibility: knowledge.VisibleWorkspace, Title: project.Name}
	} else if err != nil {
		return client.NewPublication{}, err
	}
	n := client.NewPublication{Slug: p.Slug, PublicationSettings: now.PublicationSettings, RotateSecret: p.RotateSecret}
	n.Visibility, n.Title = cmp.Or(knowledge.Visibility(p.Visibility), n.Visibility), cmp.Or(p.Title, n.Title)
	n.Description, n.Avatar = cmp.Or(p.Description, n.Description), cmp.Or(p.Avatar, n.Avatar)
	if len(p.Starter) > 0 {
		n.Starters = p.Starter
	}
	if len(p.Origin) > 0 {
		n.AllowedOrigins = p.Origin
	}
	return n, nil
}

type projectsUnpublishCmd struct {
	clientFlags
	ID string `arg:"" name:"name" help:"The project's id or name, or the beginning of its id."`
}

// Help returns the command's details and an example.
func (projectsUnpublishCmd) Help() string {
	return "The address of the agent answers nobody from then on. The conversations of its visitors stay with the project.\n\nExample:\n\n    cairn projects unpublish handbook"
}

// Run ends the publication of a project.
func (p projectsUnpublishCmd) Run(ctx context.Context, a *app) error {
	c, err := p.connectProject(ctx, &p.ID)
	if err != nil {
		return err
	}
	if err := c.Unpublish(ctx, p.ID); err != nil {
		return err
	}
	if p.forPrograms() {
		return p.write(a, map[string]string{"project_id": p.ID, "status": "not published"})
	}
	_, err = fmt.Fprintf(a.stdout, "project %s is not published any more\n", p.ID)
	return err
}
