package main

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// documentAction is a command that starts runs on documents: on those that are named, or
// with --all on those that a filter chooses.
type documentAction struct {
	clientFlags
	IDs     []string `arg:"" optional:"" name:"id" help:"The documents' ids, external ids or names, or the beginnings of their ids."`
	All     bool     `help:"Select documents by the other flags instead of ids."`
	Project string   `short:"p" help:"With --all: only documents of this project. Default: all projects."`
	Status  string   `enum:",pending,published,error,inactive,deleting" default:"" help:"With --all: only documents with this status: pending, published, error, inactive or deleting."`
	Code    string   `help:"With --all: only documents whose error, or whose last failed attempt, has this code."`
	Tag     []string `sep:"none" help:"With --all: only documents with one of these tags; may be repeated."`
	Stale   bool     `help:"With --all: only documents that were processed with other settings or another embedding model than the project has now."`
	DryRun  bool     `help:"Only count the documents; change nothing."`
	Wait    bool     `help:"Wait until the runs have ended, all that a retry or a reingest has started; the exit code is 1 if a document failed."`
}

// doing is what a document command does: the path of its route, and how messages describe
// it while it runs and after it.
type doing struct {
	route         string
	present, past string
	one           func(ctx context.Context, c *client.Client, id string) (client.Document, error)
}

func (d documentAction) run(ctx context.Context, a *app, do doing) error {
	filter := d.filter()
	switch {
	case d.All && len(d.IDs) > 0:
		return wrongUse("give either ids or --all")
	case !d.All && len(d.IDs) == 0:
		return wrongUse("give the ids of documents, or --all")
	case !d.All && !filter.Empty():
		return wrongUse("--project, --status, --code, --tag and --stale need --all")
	case d.Wait && len(d.IDs) != 1 && do.route == "remove":
		return wrongUse("--wait of a removal needs one id")
	}
	c, err := d.connectProject(ctx, &d.Project)
	if err != nil {
		return err
	}
	if len(d.IDs) == 1 && !d.DryRun {
		return d.runOne(ctx, a, c, do)
	}
	ids, err := documentIDs(ctx, c, d.IDs)
	if err != nil {
		return err
	}
	selection := client.Selection{IDs: ids, DryRun: d.DryRun}
	if d.All {
		filter.Project = d.Project
		selection.Filter = &filter
	}
	result, err := c.ActOnDocuments(ctx, do.route, selection)
	if err != nil {
		return err
	}
	if d.Wait && !d.DryRun {
		return d.await(ctx, a, c, do, result)
	}
	return d.report(a, do, result)
}

func (d documentAction) filter() client.DocumentFilter {
	return client.DocumentFilter{Project: d.Project, Status: d.Status, Code: d.Code, Tags: d.Tag, Stale: d.Stale}
}

// runOne starts the run on one document and, with --wait, follows it.
func (d documentAction) runOne(ctx context.Context, a *app, c *client.Client, do doing) error {
	started, err := withDocument(ctx, c, d.IDs[0], func(id string) (client.Document, error) { return do.one(ctx, c, id) })
	if err != nil {
		return err
	}
	message, result := do.present, any(started)
	if d.Wait {
		n := narrator{app: a, quiet: d.forPrograms()}
		end, err := n.end(ctx, c, started.RunID)
		if err != nil {
			return err
		}
		message, result = do.past, end.Result
	}
	if d.forPrograms() {
		return d.write(a, result)
	}
	_, err = fmt.Fprintf(a.stdout, "%s %s, run %s\n", message, started.ID, started.RunID)
	return err
}

// report prints what became of many documents. A named document that was refused is an
// error; --all leaves out those that do not fit.
func (d documentAction) report(a *app, do doing, result client.SelectionResult) error {
	if err := d.print(a, do, result); err != nil {
		return err
	}
	return d.refusals(result)
}

func (d documentAction) print(a *app, do doing, result client.SelectionResult) error {
	var err error
	switch {
	case d.forPrograms():
		err = d.write(a, result)
	case result.Matched == 0 && len(result.Refused) == 0:
		_, err = fmt.Fprintln(a.stdout, "no document matches")
	case d.DryRun:
		_, err = fmt.Fprintf(a.stdout, "%s: %d would be refused; nothing was started\n", terminal.Count(result.Matched, "document"), len(result.Refused))
	default:
		_, err = fmt.Fprintf(a.stdout, "%s %d of %s\n", do.present, result.Started, terminal.Count(result.Matched, "document"))
	}
	if err != nil {
		return err
	}
	if d.forPrograms() {
		return nil
	}
	for _, refused := range result.Refused {
		fmt.Fprintf(a.stderr, "refused %s: %s\n", refused.ID, refused.Code) // the count shows it too
	}
	return printRuns(a.stdout, result.Runs)
}

// refusals returns the error of the documents that were refused: of those that were named,
// and of stale ones, which are stale still.
func (d documentAction) refusals(result client.SelectionResult) error {
	if (!d.All || d.Stale && d.Wait) && len(result.Refused) > 0 {
		return fmt.Errorf("%s refused: cairn documents show ID shows their state", terminal.Count(len(result.Refused), "document"))
	}
	return nil
}

type documentsRemoveCmd struct {
	documentAction
	Yes bool `help:"Confirm a removal with --all."`
}

// Help returns the command's details and an example.
func (documentsRemoveCmd) Help() string {
	return "A removed document is invisible at once; its data is deleted in the background. With --wait the command returns when all data is deleted. Use --dry-run before a removal with --all to count the documents.\n\nExample:\n\n" +
		"    cairn documents remove 7f15f1ff-d15e-5894-8fb3-155392ab8972 --wait\n    cairn documents remove --all --status error --code corrupt --yes"
}

// Run removes documents.
func (d documentsRemoveCmd) Run(ctx context.Context, a *app) error {
	if d.All && d.filter().Empty() {
		return wrongUse("a removal with --all needs --project, --status, --code, --tag or --stale; cairn projects delete removes a project with all its documents")
	}
	if d.All && !d.Yes && !d.DryRun {
		return wrongUse("a removal with --all needs --yes; --dry-run counts the documents")
	}
	return d.run(ctx, a, doing{"remove", "removing", "removed", func(ctx context.Context, c *client.Client, id string) (client.Document, error) {
		return c.RemoveDocument(ctx, id)
	}})
}

type documentsReingestCmd struct{ documentAction }

// Help returns the command's example.
func (documentsReingestCmd) Help() string {
	return "The command prints the runs that it starts: one for each document, or with --stale one for each project whose embedding model has changed. With --wait it shows how far they are, and returns when all have ended.\n\n" +
		"Example:\n\n    cairn documents reingest 7f15f1ff-d15e-5894-8fb3-155392ab8972 --wait\n    cairn documents reingest --stale --wait"
}

// Run creates new versions.
func (d documentsReingestCmd) Run(ctx context.Context, a *app) error {
	d.All = d.All || d.Stale && len(d.IDs) == 0
	return d.run(ctx, a, doing{"reingest", "ingesting again", "ingested again", func(ctx context.Context, c *client.Client, id string) (client.Document, error) {
		return c.ReingestDocument(ctx, id)
	}})
}

type documentsRetryCmd struct{ documentAction }

// Help returns the command's details and an example.
func (documentsRetryCmd) Help() string {
	return "A failed document resumes at the stage that failed. A document that waits for its next attempt is attempted at once.\n\nExample:\n\n" +
		"    cairn documents retry 7f15f1ff-d15e-5894-8fb3-155392ab8972 --wait\n    cairn documents retry --all --code provider_failed"
}

// Run resumes failed ingestions.
func (d documentsRetryCmd) Run(ctx context.Context, a *app) error {
	return d.run(ctx, a, doing{"retry", "retrying", "retried", func(ctx context.Context, c *client.Client, id string) (client.Document, error) {
		return c.RetryDocument(ctx, id)
	}})
}
