package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/server"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type workersCmd struct {
	List workersListCmd `cmd:"" help:"List the versions of Cairn whose workers the Temporal server knows."`
	Use  workersUseCmd  `cmd:"" help:"Let the workers of a version begin all new runs."`
}

// Help returns what the commands are for.
func (workersCmd) Help() string {
	return "With temporal.pin_versions, a run stays with the workers of the version that began it. Two versions then work side by side: start the workers of the new one, " +
		"let it begin new runs, and stop the workers of the old one when it is drained. The same way leads back.\n\n" +
		"Example:\n\n    cairn workers list --config cluster.yaml\n    cairn workers use v1.5.0 --config cluster.yaml"
}

type workersListCmd struct {
	folderFlags
	outputFlags
}

// Help returns the command's details and an example.
func (workersListCmd) Help() string {
	return "The status is current (begins new runs), draining (has runs that have not ended), drained (has none: its workers can be stopped) or ready (has begun no run). " +
		"The Temporal server looks for runs that have ended every few minutes.\n\nExample:\n\n    cairn workers list --config cluster.yaml"
}

// Run lists versions.
func (w workersListCmd) Run(ctx context.Context, a *app) error {
	cfg, o, err := configure(ctx, a, w.Config, map[string]string{"data": w.Data})
	if err != nil {
		return err
	}
	versions, err := server.WorkerVersions(ctx, cfg, o)
	if err != nil {
		return err
	}
	if w.forPrograms() {
		return w.write(a, map[string]any{"data": versions})
	}
	if len(versions) == 0 {
		_, err := fmt.Fprintln(a.stderr, terminal.Wrapped(a.stderr, "no worker has started with temporal.pin_versions yet"))
		return err
	}
	rows := make([][]string, len(versions))
	for i, v := range versions {
		rows[i] = []string{v.Version, v.Status, v.FirstAt.Local().Format(time.DateTime)}
	}
	return terminal.Table(a.stdout, []string{"VERSION", "STATUS", "FIRST STARTED"}, rows)
}

type workersUseCmd struct {
	folderFlags
	Version string `arg:"" help:"The version, as cairn version and cairn workers list print it."`
}

// Help returns the command's details and an example.
func (workersUseCmd) Help() string {
	return "Runs that have begun stay with their version. A version without workers for all task queues of the current one is refused.\n\n" +
		"Example:\n\n    cairn workers use v1.5.0 --config cluster.yaml"
}

// Run changes the version.
func (w workersUseCmd) Run(ctx context.Context, a *app) error {
	cfg, o, err := configure(ctx, a, w.Config, map[string]string{"data": w.Data})
	if err != nil {
		return err
	}
	if err := server.UseWorkerVersion(ctx, cfg, o, w.Version); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "New runs begin with version %s.\n", w.Version)
	return nil
}
