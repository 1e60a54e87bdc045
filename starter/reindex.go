package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

type projectsReindexCmd struct {
	clientFlags
	ID     string `arg:"" help:"The project's id or name, or the beginning of its id."`
	DryRun bool   `help:"Only count the outdated documents."`
	Wait   bool   `help:"Wait until the reindex has ended; the exit code is 1 if it failed or was canceled."`
}

// Help returns the command's details and an example.
func (projectsReindexCmd) Help() string {
	return "Use it after a change of ai.embeddings, ai.textSplitter, ai.enrichment, ai.multimodal or ai.tables. The old version of a document stays in use until the new one is published.\n\n" +
		"Example:\n\n    cairn projects reindex default --wait"
}

// Run starts a reindex.
func (r projectsReindexCmd) Run(ctx context.Context, a *app) error {
	c, err := r.connectProject(ctx, &r.ID)
	if err != nil {
		return err
	}
	started, err := c.ReindexProject(ctx, r.ID, r.DryRun)
	if err != nil {
		return err
	}
	if r.Wait && !r.DryRun {
		return r.wait(ctx, a, c, started)
	}
	if r.forPrograms() {
		return r.write(a, started)
	}
	if r.DryRun {
		_, err = fmt.Fprintf(a.stdout, "%d documents are outdated\n", started.Matched)
	} else {
		_, err = fmt.Fprintf(a.stdout, "reindexing %s, %d documents, run %s\n", r.ID, started.Matched, started.RunID)
	}
	return err
}

// wait follows the run to its end, and shows the counts.
func (r projectsReindexCmd) wait(ctx context.Context, a *app, c *client.Client, started client.Reindex) error {
	n := narrator{app: a, quiet: r.forPrograms()}
	end, err := n.end(ctx, c, started.RunID)
	if err != nil {
		return err
	}
	if r.forPrograms() {
		return r.write(a, end.Result)
	}
	var p knowledge.ReindexProgress
	if err := json.Unmarshal(end.Result, &p); err != nil {
		return fmt.Errorf("decode the result of run %s: %w", started.RunID, err)
	}
	_, err = fmt.Fprintf(a.stdout, "reindexed %s, run %s: %d documents matched, %d published, %d failed, %d canceled, %d refused\n",
		r.ID, started.RunID, p.Matched, p.Published, p.Failed, p.Canceled, p.Refused)
	if err == nil && p.Embedded > 0 {
		_, err = fmt.Fprintf(a.stdout, "embedded %d documents again\n", p.Embedded)
	}
	for _, refusal := range p.Refusals {
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "refused %s (%s): %s\n", refusal.ID, refusal.Code, refusal.Message)
		}
	}
	return err
}

type runsPauseCmd struct {
	clientFlags
	ID string `arg:"" help:"The run's id, or the beginning of it."`
}

// Help returns the command's example.
func (runsPauseCmd) Help() string {
	return "Example:\n\n    cairn runs pause 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run pauses a research, an import or a reindex.
func (s runsPauseCmd) Run(ctx context.Context, a *app) error {
	return pauseRun(ctx, a, s.clientFlags, s.ID, true)
}

type runsResumeCmd struct {
	clientFlags
	ID string `arg:"" help:"The run's id, or the beginning of it."`
}

// Help returns the command's example.
func (runsResumeCmd) Help() string {
	return "Example:\n\n    cairn runs resume 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run resumes a research, an import or a reindex.
func (s runsResumeCmd) Run(ctx context.Context, a *app) error {
	return pauseRun(ctx, a, s.clientFlags, s.ID, false)
}

func pauseRun(ctx context.Context, a *app, flags clientFlags, id string, paused bool) error {
	c, err := flags.connectRun(ctx, &id)
	if err != nil {
		return err
	}
	if err := c.PauseRun(ctx, id, paused); err != nil {
		return err
	}
	if flags.forPrograms() {
		return flags.write(a, map[string]string{"id": id})
	}
	action := "resume"
	if paused {
		action = "pause"
	}
	_, err = fmt.Fprintln(a.stdout, "asked run", id, "to", action)
	return err
}
