package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type projectsCmd struct {
	List   projectsListCmd   `cmd:"" help:"List projects."`
	Create projectsCreateCmd `cmd:"" help:"Create a project; its API key is shown once."`
	Show   projectsShowCmd   `cmd:"" help:"Show a project and its configuration."`
	Set    projectsSetCmd    `cmd:"" help:"Change a project's configuration."`
}

type projectsListCmd struct{ clientFlags }

// Help is the command's example.
func (projectsListCmd) Help() string { return "Example:\n\n    cairn projects list" }

// Run lists projects.
func (l projectsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	projects, err := pages(0, func(cursor string, limit int) (client.List[client.Project], error) {
		return c.Projects(ctx, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.JSON {
		return terminal.JSON(a.stdout, client.List[client.Project]{Data: projects})
	}
	rows := make([][]string, 0, len(projects))
	for _, p := range projects {
		rows = append(rows, []string{p.ID, p.Name})
	}
	return terminal.Table(a.stdout, []string{"ID", "NAME"}, rows)
}

type projectsCreateCmd struct {
	clientFlags
	Name string `arg:"" help:"The project's name."`
}

// Help is the command's example.
func (projectsCreateCmd) Help() string {
	return "Example:\n\n    cairn projects create \"Field service\""
}

// Run creates a project.
func (p projectsCreateCmd) Run(ctx context.Context, a *app) error {
	c, err := p.connect()
	if err != nil {
		return err
	}
	created, err := c.SaveProject(ctx, client.Project{Name: p.Name})
	if err != nil {
		return err
	}
	if p.JSON {
		return terminal.JSON(a.stdout, created)
	}
	return terminal.Fields(a.stdout, "id", created.ID, "name", created.Name, "key (shown this once)", created.APIKey)
}

type projectsShowCmd struct {
	clientFlags
	ID string `arg:"" help:"The project's id."`
}

// Help is the command's example.
func (projectsShowCmd) Help() string { return "Example:\n\n    cairn projects show default" }

// Run shows a project.
func (s projectsShowCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	p, err := c.Project(ctx, s.ID)
	if err != nil {
		return err
	}
	if s.JSON {
		return terminal.JSON(a.stdout, p)
	}
	if err := terminal.Fields(a.stdout, "id", p.ID, "name", p.Name); err != nil {
		return err
	}
	return terminal.JSON(a.stdout, struct {
		AI     json.RawMessage `json:"ai,omitempty"`
		Tools  json.RawMessage `json:"tools,omitempty"`
		Limits json.RawMessage `json:"limits,omitempty"`
	}{p.AI, p.Tools, p.Limits})
}

type projectsSetCmd struct {
	clientFlags
	ID      string   `arg:"" help:"The project's id."`
	Changes []string `arg:"" name:"key=value" help:"What to change: name, or a path inside ai, tools or limits. A value is JSON, or else a string; null takes it back to the default."`
}

// Help is the command's example.
func (projectsSetCmd) Help() string {
	return "Example:\n\n    cairn projects set default ai.retrieval.numberOfChunks=8 ai.retrieval.fusion=rrf name=Service"
}

// Run changes a project.
func (s projectsSetCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	p, err := c.Project(ctx, s.ID)
	if err != nil {
		return err
	}
	for _, change := range s.Changes {
		if err := applyChange(&p, change); err != nil {
			return err
		}
	}
	saved, err := c.SaveProject(ctx, p)
	if err != nil {
		return err
	}
	if s.JSON {
		return terminal.JSON(a.stdout, saved)
	}
	_, err = fmt.Fprintln(a.stdout, "changed project", saved.ID)
	return err
}

// applyChange sets one key=value in a project.
func applyChange(p *client.Project, change string) error {
	path, text, ok := strings.Cut(change, "=")
	if !ok {
		return wrongUse("%q is not key=value", change)
	}
	part, rest, _ := strings.Cut(path, ".")
	target := map[string]*json.RawMessage{"ai": &p.AI, "tools": &p.Tools, "limits": &p.Limits}[part]
	switch {
	case path == "name":
		p.Name = text
		return nil
	case target == nil || rest == "":
		return wrongUse("%q is neither name nor a path inside ai, tools or limits, such as ai.temperature", path)
	}
	var value any = text
	if json.Valid([]byte(text)) {
		value = json.RawMessage(text)
	}
	object := map[string]any{}
	if len(*target) > 0 {
		if err := json.Unmarshal(*target, &object); err != nil {
			return fmt.Errorf("read %s of project %s: %w", part, p.ID, err)
		}
	}
	if err := setPath(object, strings.Split(rest, "."), value); err != nil {
		return wrongUse("%s: %v", path, err)
	}
	encoded, err := json.Marshal(object)
	*target = encoded
	return err
}

// setPath sets a value inside nested objects; JSON null takes it out.
func setPath(object map[string]any, path []string, value any) error {
	key := path[0]
	if len(path) == 1 {
		if raw, ok := value.(json.RawMessage); ok && string(raw) == "null" {
			delete(object, key)
		} else {
			object[key] = value
		}
		return nil
	}
	if object[key] == nil {
		object[key] = map[string]any{}
	}
	inner, ok := object[key].(map[string]any)
	if !ok {
		return fmt.Errorf("%s holds no further settings", key)
	}
	return setPath(inner, path[1:], value)
}
