package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type projectsGetCmd struct {
	clientFlags
	ID string `arg:"" help:"The project's id or name, or the beginning of its id."`
}

// Help returns the command's details and example.
func (projectsGetCmd) Help() string {
	return "It prints the settings, webhooks, test sets and syncs of a project in the form that cairn apply reads, with the names of the API. Secrets are not in it.\n\n" +
		"Example:\n\n    cairn projects get legal -o yaml > legal.yaml"
}

// Run prints a project as a file has it.
func (g projectsGetCmd) Run(ctx context.Context, a *app) error {
	c, err := g.connectProject(ctx, &g.ID)
	if err != nil {
		return err
	}
	p, err := exportProject(ctx, c, g.ID)
	if err != nil {
		return err
	}
	if g.JSON || g.Output == outputJSON {
		return terminal.JSON(a.stdout, p)
	}
	e := yaml.NewEncoder(a.stdout)
	e.SetIndent(2)
	return e.Encode(p)
}

// exportProject returns a project of the server as a file has it.
func exportProject(ctx context.Context, c *client.Client, id string) (p projectFile, err error) {
	has, err := c.Project(ctx, id)
	if err != nil {
		return p, err
	}
	p.ID, p.Name = has.ID, has.Name
	for to, part := range map[any]json.RawMessage{&p.AI: has.AI, &p.Tools: has.Tools, &p.Limits: has.Limits, &p.Privacy: has.Privacy, &p.Retention: has.Retention, &p.Pipeline: has.Pipeline} {
		if len(part) == 0 {
			continue
		}
		if err := json.Unmarshal(part, to); err != nil {
			return p, fmt.Errorf("read the settings of project %s: %w", id, err)
		}
	}
	if len(has.Webhooks) > 0 {
		if err := json.Unmarshal(has.Webhooks, &p.Webhooks); err != nil {
			return p, fmt.Errorf("read the webhooks of project %s: %w", id, err)
		}
	}
	if p.TestSets, err = exportTestSets(ctx, c, has.ID); err != nil {
		return p, err
	}
	p.Syncs, err = exportSyncs(ctx, c, has.ID)
	return p, err
}

func exportTestSets(ctx context.Context, c *client.Client, project string) (sets []fileTestSet, err error) {
	all, err := pages(0, func(cursor string, limit int) (client.List[client.TestSet], error) {
		return c.TestSets(ctx, project, "", cursor, limit)
	})
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		_, items, err := allItems(ctx, c, one.ID)
		if err != nil {
			return nil, err
		}
		set := fileTestSet{Name: one.Name}
		encoded, err := json.Marshal(items)
		if err != nil {
			return nil, fmt.Errorf("encode the questions: %w", err)
		}
		if err := json.Unmarshal(encoded, &set.Items); err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	slices.SortFunc(sets, func(a, b fileTestSet) int { return strings.Compare(a.Name, b.Name) })
	return sets, nil
}

func exportSyncs(ctx context.Context, c *client.Client, project string) (syncs []fileSync, err error) {
	all, err := pages(0, func(cursor string, limit int) (client.List[client.Sync], error) {
		return c.Syncs(ctx, project, cursor, limit)
	})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	connections, err := pages(0, func(cursor string, limit int) (client.List[client.Connection], error) {
		return c.Connections(ctx, cursor, limit)
	})
	if err != nil {
		return nil, err
	}
	by := map[string]any{}
	for _, one := range connections {
		described := fileSync{Connection: map[string]any{"type": one.Type, "options": one.Options}}
		if _, err := described.findConnection(connections); err != nil { // another one is alike
			described.Connection = one.ID
		}
		by[one.ID] = described.Connection
	}
	slices.Reverse(all) // the oldest first, as cairn apply makes them
	for _, y := range all {
		connection, known := by[y.ConnectionID]
		if !known {
			connection = y.ConnectionID
		}
		syncs = append(syncs, fileSync{
			Connection: connection, Scope: y.Scope, Include: y.Include, Exclude: y.Exclude, Tags: y.Tags, Subjects: y.Subjects, Every: y.Every,
			Permissions: y.Permissions, RemoveVanished: &y.RemoveVanished,
		})
	}
	return syncs, nil
}
