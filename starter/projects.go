package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type projectsCmd struct {
	List      projectsListCmd      `cmd:"" help:"List projects."`
	Create    projectsCreateCmd    `cmd:"" help:"Create a project; its API key is shown once."`
	Show      projectsShowCmd      `cmd:"" help:"Show a project and its configuration."`
	Get       projectsGetCmd       `cmd:"" help:"Print a project as a file for cairn apply."`
	Set       projectsSetCmd       `cmd:"" help:"Change a project's configuration."`
	Usage     projectsUsageCmd     `cmd:"" help:"Show the use of models by a project: calls, tokens and time."`
	Publish   projectsPublishCmd   `cmd:"" help:"Publish a project as an agent, or change how it is published."`
	Unpublish projectsUnpublishCmd `cmd:"" help:"Publish a project no longer."`
	Reindex   projectsReindexCmd   `cmd:"" help:"Process outdated documents again with the project's present settings."`
	Delete    projectsDeleteCmd    `cmd:"" help:"Delete a project with all its data."`
}

// Help returns an example of the commands.
func (projectsCmd) Help() string {
	return "Example:\n\n    cairn projects set default ai.retrieval.numberOfChunks=8"
}

type projectsListCmd struct{ listFlags }

// Help returns the command's example.
func (projectsListCmd) Help() string { return "Example:\n\n    cairn projects list" }

// Run lists projects.
func (l projectsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	projects, err := allProjects(ctx, c)
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Project]{Data: projects})
	}
	rows := make([][]string, 0, len(projects))
	for _, p := range projects {
		rows = append(rows, []string{p.ID, p.Name})
	}
	return l.table(a, listing{none: "no projects; cairn projects create makes one", header: []string{"ID", "NAME"}, rows: rows})
}

func allProjects(ctx context.Context, c *client.Client) ([]client.Project, error) {
	return pages(0, func(cursor string, limit int) (client.List[client.Project], error) {
		return c.Projects(ctx, cursor, limit)
	})
}

type projectsCreateCmd struct {
	clientFlags
	Name string `arg:"" help:"The project's name."`
}

// Help returns the command's example.
func (projectsCreateCmd) Help() string {
	return "Example:\n\n    cairn projects create \"Field service\""
}

// Run creates a project. Several may have one name, which the command reports: the second
// one may be a mistake.
func (p projectsCreateCmd) Run(ctx context.Context, a *app) error {
	c, err := p.connect()
	if err != nil {
		return err
	}
	created, err := c.SaveProject(ctx, client.Project{Name: p.Name})
	if err != nil {
		return err
	}
	warnOfNamesakes(a, created)
	if p.forPrograms() {
		return p.write(a, created)
	}
	return terminal.Fields(a.stdout, "id", created.ID, "name", created.Name, "key (shown only now)", created.APIKey)
}

// warnOfNamesakes names the other projects with the name of a project that was saved.
func warnOfNamesakes(a *app, saved client.Project) {
	for _, other := range saved.SameName {
		fmt.Fprintf(a.stderr, "The project %s has this name too; commands tell them apart by the id.\n", other)
	}
}

type projectsShowCmd struct {
	clientFlags
	ID string `arg:"" help:"The project's id or name, or the beginning of its id."`
}

// Help returns the command's example.
func (projectsShowCmd) Help() string { return "Example:\n\n    cairn projects show default" }

// Run shows a project.
func (s projectsShowCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connectProject(ctx, &s.ID)
	if err != nil {
		return err
	}
	p, err := c.Project(ctx, s.ID)
	if err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, p)
	}
	if err := terminal.Fields(a.stdout, "id", p.ID, "name", p.Name); err != nil {
		return err
	}
	return terminal.JSON(a.stdout, struct {
		AI      json.RawMessage `json:"ai,omitempty"`
		Tools   json.RawMessage `json:"tools,omitempty"`
		Limits  json.RawMessage `json:"limits,omitempty"`
		Privacy json.RawMessage `json:"privacy,omitempty"`

		Retention json.RawMessage `json:"retention,omitempty"`
		Pipeline  json.RawMessage `json:"pipeline,omitempty"`
	}{p.AI, p.Tools, p.Limits, p.Privacy, p.Retention, p.Pipeline})
}

type projectsSetCmd struct {
	clientFlags
	ID      string   `arg:"" help:"The project's id or name, or the beginning of its id."`
	Changes []string `arg:"" name:"key=value" help:"A change: the key is name, or a path inside ai, tools, limits, privacy or retention; a value that is not JSON is a string."`
}

// Help returns the command's example.
func (projectsSetCmd) Help() string {
	return "Example:\n\n    cairn projects set default ai.retrieval.numberOfChunks=8 ai.retrieval.fusion=rrf name=Service"
}

// Run changes a project.
func (s projectsSetCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	change, err := projectChange(s.ID, s.Changes)
	if err != nil {
		return err
	}
	if change.ID, err = projectID(ctx, c, s.ID); err != nil {
		return err
	}
	saved, err := c.SaveProject(ctx, change)
	if err != nil {
		return err
	}
	warnOfNamesakes(a, saved)
	for _, notice := range saved.Notices {
		if _, err := fmt.Fprintf(a.stderr, "%s: %s\n", notice.Field, notice.Message); err != nil {
			return err
		}
	}
	if s.forPrograms() {
		return s.write(a, saved)
	}
	if _, err := fmt.Fprintln(a.stdout, "changed project", saved.ID); err != nil {
		return err
	}
	if n := saved.OutdatedDocuments; n != nil && *n > 0 {
		_, err = fmt.Fprintf(a.stdout, "%d documents were made with other settings; make new versions of them with: cairn projects reindex %s\n", *n, saved.ID)
	}
	return err
}

// projectChange returns a project with only the changed fields, which the
// server applies as an update.
func projectChange(id string, changes []string) (client.Project, error) {
	p := client.Project{ID: id}
	parts := map[string]map[string]any{}
	for _, change := range changes {
		path, text, ok := strings.Cut(change, "=")
		if !ok {
			return p, wrongUse("%q is not key=value", change)
		}
		keys := strings.Split(path, ".")
		switch {
		case path == "name" && text == "":
			return p, wrongUse("a project's name must not be empty")
		case path == "name":
			p.Name = text
			continue
		case len(keys) < 2 || !slices.Contains([]string{"ai", "tools", "limits", "privacy", "retention"}, keys[0]):
			return p, wrongUse("%q is neither name nor a path inside ai, tools, limits, privacy or retention, such as ai.temperature", path)
		}
		var value any = text
		if json.Valid([]byte(text)) {
			value = json.RawMessage(text)
		}
		if parts[keys[0]] == nil {
			parts[keys[0]] = map[string]any{}
		}
		if err := setPath(parts[keys[0]], keys[1:], value); err != nil {
			return p, wrongUse("%s: %v", path, err)
		}
	}
	for part, target := range map[string]*json.RawMessage{"ai": &p.AI, "tools": &p.Tools, "limits": &p.Limits, "privacy": &p.Privacy, "retention": &p.Retention} {
		if parts[part] == nil {
			continue
		}
		encoded, err := json.Marshal(parts[part])
		if err != nil {
			return p, fmt.Errorf("encode the change of project %s: %w", id, err)
		}
		*target = encoded
	}
	return p, nil
}

// setPath sets a value inside nested objects.
func setPath(object map[string]any, path []string, value any) error {
	key := path[0]
	if len(path) == 1 {
		object[key] = value
		return nil
	}
	if object[key] == nil {
		object[key] = map[string]any{}
	}
	inner, ok := object[key].(map[string]any)
	if !ok {
		return fmt.Errorf("%s is set to a value as well", key)
	}
	return setPath(inner, path[1:], value)
}
