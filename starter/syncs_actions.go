package main

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/client"
)

// syncFlags are the flags of the commands for one sync.
type syncFlags struct {
	clientFlags
	ID string `arg:"" help:"The sync's id, or the beginning of it."`
}

// do calls the server and shows the sync that it answers with.
func (f syncFlags) do(ctx context.Context, a *app, call func(c *client.Client, id string) (client.Sync, error)) error {
	c, err := f.connectSync(ctx, &f.ID)
	if err != nil {
		return err
	}
	y, err := call(c, f.ID)
	if err != nil {
		return err
	}
	return f.started(ctx, a, c, y, false)
}

type syncsShowCmd struct{ syncFlags }

// Help returns the command's example.
func (syncsShowCmd) Help() string {
	return "Example:\n\n    cairn syncs show 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run shows a sync.
func (s syncsShowCmd) Run(ctx context.Context, a *app) error {
	return s.do(ctx, a, func(c *client.Client, id string) (client.Sync, error) { return c.Sync(ctx, id) })
}

type syncsRunCmd struct {
	syncFlags
	Wait bool `help:"Wait until the run has ended."`
}

// Help returns the command's example.
func (syncsRunCmd) Help() string {
	return "Example:\n\n    cairn syncs run 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11 --wait"
}

// Run starts a run.
func (s syncsRunCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connectSync(ctx, &s.ID)
	if err != nil {
		return err
	}
	y, err := c.ActOnSync(ctx, s.ID, "run")
	if err != nil {
		return err
	}
	return s.started(ctx, a, c, y, s.Wait)
}

type syncsPauseCmd struct{ syncFlags }

// Help returns the command's example.
func (syncsPauseCmd) Help() string {
	return "Example:\n\n    cairn syncs pause 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run pauses a sync.
func (s syncsPauseCmd) Run(ctx context.Context, a *app) error {
	return s.do(ctx, a, func(c *client.Client, id string) (client.Sync, error) { return c.ActOnSync(ctx, id, "pause") })
}

type syncsResumeCmd struct{ syncFlags }

// Help returns the command's example.
func (syncsResumeCmd) Help() string {
	return "Example:\n\n    cairn syncs resume 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run resumes a sync.
func (s syncsResumeCmd) Run(ctx context.Context, a *app) error {
	return s.do(ctx, a, func(c *client.Client, id string) (client.Sync, error) { return c.ActOnSync(ctx, id, "resume") })
}

type syncsRemoveCmd struct{ syncFlags }

// Help returns the command's example.
func (syncsRemoveCmd) Help() string {
	return "Example:\n\n    cairn syncs remove 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run removes a sync.
func (s syncsRemoveCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connectSync(ctx, &s.ID)
	if err != nil {
		return err
	}
	if err := c.RemoveSync(ctx, s.ID); err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, map[string]string{"id": s.ID})
	}
	_, err = fmt.Fprintln(a.stdout, "removed sync", s.ID)
	return err
}
