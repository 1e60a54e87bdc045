package main

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type documentsAcknowledgeCmd struct {
	clientFlags
	IDs     []string `arg:"" optional:"" name:"id" help:"The documents' ids, external ids or names, or the beginnings of their ids."`
	All     bool     `help:"Select documents that have failed by the other flags instead of ids."`
	Project string   `short:"p" help:"With --all: only documents of this project. Default: all projects."`
	Code    string   `help:"With --all: only documents whose error has this code."`
	Tag     []string `sep:"none" help:"With --all: only documents with one of these tags; may be repeated."`
	Undo    bool     `help:"Let cairn doctor report the documents again."`
	DryRun  bool     `help:"Only count the documents; change nothing."`
}

// Help returns the command's details and examples.
func (documentsAcknowledgeCmd) Help() string {
	return "The documents keep their error, and are listed as acknowledged. A later failure of the same document is reported again.\n\n" +
		"Example:\n\n    cairn documents acknowledge scan-0017.pdf\n    cairn documents acknowledge --all --code corrupt\n    cairn documents acknowledge scan-0017.pdf --undo"
}

// Run acknowledges failures.
func (d documentsAcknowledgeCmd) Run(ctx context.Context, a *app) error {
	filter := client.DocumentFilter{Project: d.Project, Code: d.Code, Tags: d.Tag}
	switch {
	case d.All && len(d.IDs) > 0:
		return wrongUse("give either ids or --all")
	case !d.All && len(d.IDs) == 0:
		return wrongUse("give the ids of documents, or --all")
	case !d.All && !filter.Empty():
		return wrongUse("--project, --code and --tag need --all")
	}
	c, err := d.connectProject(ctx, &d.Project)
	if err != nil {
		return err
	}
	selection := client.Selection{DryRun: d.DryRun, Undo: d.Undo}
	if selection.IDs, err = documentIDs(ctx, c, d.IDs); err != nil {
		return err
	}
	if d.All {
		filter.Project = d.Project
		selection.Filter = &filter
	}
	result, err := c.ActOnDocuments(ctx, "acknowledge", selection)
	if err != nil {
		return err
	}
	return d.report(a, result)
}

func (d documentsAcknowledgeCmd) report(a *app, result client.SelectionResult) error {
	past := "acknowledged"
	if d.Undo {
		past = "no longer acknowledged:"
	}
	var err error
	switch {
	case d.forPrograms():
		err = d.write(a, result)
	case d.DryRun:
		_, err = fmt.Fprintf(a.stdout, "%s; nothing was changed\n", terminal.Count(result.Matched, "document"))
	default:
		_, err = fmt.Fprintf(a.stdout, "%s %d of %s\n", past, result.Started, terminal.Count(result.Matched, "document"))
	}
	if err != nil || d.All || len(result.Refused) == 0 {
		return err
	}
	if !d.forPrograms() {
		for _, refused := range result.Refused {
			fmt.Fprintf(a.stderr, "refused %s: %s\n", refused.ID, refused.Code) // the count shows it too
		}
	}
	return fmt.Errorf("%s refused: only a document that has failed can be acknowledged", terminal.Count(len(result.Refused), "document"))
}
