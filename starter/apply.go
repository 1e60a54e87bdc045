package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cairn-rag/cairn/internal/client"
)

// fileFlags name the files of projects.
type fileFlags struct {
	File    []source `short:"f" required:"" help:"A file in YAML; - is standard input. It may be given several times."`
	Project string   `short:"p" placeholder:"PROJECT" help:"The project of a file that has tools only, by its id or its name."`
}

// aboutFiles is the part of the help that both commands have.
const aboutFiles = "A file has the settings of a project (id or name, ai, tools, limits, privacy, retention, pipeline) with the names of the API, and its webhooks, test_sets and syncs. " +
	"cairn projects get prints one. Several documents in a file are several projects. A document that has tools only, each with its type, adds them to the project of --project. " +
	"What a file does not name stays as it is; webhooks that it lists are all that there are.\n\n"

type diffCmd struct {
	clientFlags
	fileFlags
}

// Help returns the command's details and example.
func (diffCmd) Help() string {
	return aboutFiles + "Exit codes: 0 nothing would change, 1 something would, or the command failed.\n\nExample:\n\n    cairn diff -f legal.yaml"
}

// errDiffers ends cairn diff when something would change.
var errDiffers = gateError{text: "cairn apply would change this", exit: exitFailed}

// Run shows what cairn apply would change.
func (d diffCmd) Run(ctx context.Context, a *app) error {
	_, plans, err := planFiles(ctx, a, d.clientFlags, d.fileFlags)
	if err != nil {
		return err
	}
	if err := showPlans(a, d.outputFlags, plans, "would change"); err != nil {
		return err
	}
	for _, p := range plans {
		if len(p.Changes) > 0 {
			return errDiffers
		}
	}
	return nil
}

type applyCmd struct {
	clientFlags
	fileFlags
	DryRun bool `help:"Show what would change, and change nothing."`
}

// Help returns the command's details and examples.
func (applyCmd) Help() string {
	return aboutFiles + "Applying a file again changes nothing.\n\nExample:\n\n" +
		"    cairn apply -f legal.yaml\n" +
		"    cairn apply -f tools.yaml --project legal"
}

// Run makes projects as files have them.
func (p applyCmd) Run(ctx context.Context, a *app) error {
	c, plans, err := planFiles(ctx, a, p.clientFlags, p.fileFlags)
	if err != nil {
		return err
	}
	if p.DryRun {
		return showPlans(a, p.outputFlags, plans, "would change")
	}
	for _, plan := range plans {
		if err := plan.apply(ctx, c); err != nil {
			return fmt.Errorf("project %s: %w", plan.Project, err)
		}
	}
	return showPlans(a, p.outputFlags, plans, "changed")
}

// planFiles compares the projects of files with those of the server.
func planFiles(ctx context.Context, a *app, flags clientFlags, files fileFlags) (*client.Client, []*projectPlan, error) {
	var wanted []projectFile
	for _, f := range files.File {
		data, err := readSource(a, string(f))
		if err != nil {
			return nil, nil, err
		}
		more, err := readProjectFiles(data, files.Project, filepath.Dir(string(f)))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f, err)
		}
		wanted = append(wanted, more...)
	}
	c, err := flags.connect()
	if err != nil {
		return nil, nil, err
	}
	plans := make([]*projectPlan, 0, len(wanted))
	for _, w := range wanted {
		p, err := planProject(ctx, c, w)
		if err != nil {
			return nil, nil, err
		}
		plans = append(plans, p)
	}
	return c, plans, nil
}

// readSource reads a file, or standard input for -.
func readSource(a *app, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(a.stdin)
	}
	return os.ReadFile(path)
}

// showPlans prints plans, a line for each change.
func showPlans(a *app, f outputFlags, plans []*projectPlan, verb string) error {
	if f.forPrograms() {
		return f.write(a, client.List[*projectPlan]{Data: plans})
	}
	for _, p := range plans {
		if len(p.Changes) == 0 {
			if _, err := fmt.Fprintf(a.stdout, "project %s: no difference\n", p.Project); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(a.stdout, "project %s: %s\n", p.Project, verb); err != nil {
			return err
		}
		for _, c := range p.Changes {
			if _, err := fmt.Fprintln(a.stdout, " ", c); err != nil {
				return err
			}
		}
	}
	return nil
}
