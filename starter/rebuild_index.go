package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

type rebuildIndexCmd struct {
	clientFlags
	Project string `placeholder:"ID" help:"Only this project. Default: all projects of the workspace."`
}

// Help returns the command's details and an example.
func (rebuildIndexCmd) Help() string {
	return "Use it when the index is empty because its file was lost or vector.url was changed. Only chunks without stored vectors are embedded again. " +
		"The command starts a run for each project and waits for all of them; a run continues after a restart of the server.\n\n" +
		"Example:\n\n    cairn rebuild-index --project default"
}

// rebuilt is the end of the rebuild of a project.
type rebuilt struct {
	Project   string `json:"project"`
	RunID     string `json:"run_id"`
	Matched   int    `json:"matched"`
	Documents int    `json:"documents"`
}

// Run rebuilds the index of one project after the other.
func (r rebuildIndexCmd) Run(ctx context.Context, a *app) error {
	c, err := r.connectProject(ctx, &r.Project)
	if err != nil {
		return err
	}
	ids := []string{r.Project}
	if r.Project == "" {
		projects, err := pages(0, func(cursor string, limit int) (client.List[client.Project], error) {
			return c.Projects(ctx, cursor, limit)
		})
		if err != nil {
			return err
		}
		ids = nil
		for _, p := range projects {
			ids = append(ids, p.ID)
		}
	}
	var all []rebuilt
	for _, id := range ids {
		done, err := r.rebuild(ctx, a, c, id)
		if err != nil {
			return fmt.Errorf("rebuild the index of project %s: %w", id, err)
		}
		all = append(all, done)
	}
	if r.forPrograms() {
		return r.write(a, client.List[rebuilt]{Data: all})
	}
	return nil
}

func (r rebuildIndexCmd) rebuild(ctx context.Context, a *app, c *client.Client, project string) (rebuilt, error) {
	started, err := c.RebuildIndex(ctx, project)
	if err != nil {
		return rebuilt{}, err
	}
	n := narrator{app: a, quiet: r.forPrograms()}
	end, err := n.end(ctx, c, started.RunID)
	if err != nil {
		return rebuilt{}, err
	}
	var p knowledge.ReindexProgress
	if err := json.Unmarshal(end.Result, &p); err != nil {
		return rebuilt{}, fmt.Errorf("decode the result of run %s: %w", started.RunID, err)
	}
	if !p.Rebuild {
		return rebuilt{}, fmt.Errorf("a reindex of the project was running, run %s, and has ended: repeat the command", started.RunID)
	}
	if !r.forPrograms() {
		if _, err := fmt.Fprintf(a.stdout, "rebuilt %s, run %s: %d documents\n", project, started.RunID, p.Embedded); err != nil {
			return rebuilt{}, err
		}
	}
	return rebuilt{project, started.RunID, p.Matched, p.Embedded}, nil
}
