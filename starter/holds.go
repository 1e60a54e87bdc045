package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/cairn-rag/cairn/internal/client"
)

type holdsCmd struct {
	List  holdsListCmd  `cmd:"" help:"List legal holds, newest first."`
	Place holdsPlaceCmd `cmd:"" help:"Place a legal hold on documents."`
	Lift  holdsLiftCmd  `cmd:"" help:"Lift a legal hold."`
}

// Help returns an example of the commands.
func (holdsCmd) Help() string {
	return "Documents under a legal hold are not removed by anybody or anything.\n\nExample:\n\n    cairn holds place \"Smith v. Acme\" --reason \"notice of 3 May\" --tag smith"
}

type holdsListCmd struct {
	listFlags
	Active   bool   `help:"Those that nobody has lifted."`
	Document string `placeholder:"ID" help:"Those that hold the document of this id, or have held it."`
}

// Help returns the command's example.
func (holdsListCmd) Help() string { return "Example:\n\n    cairn holds list --active" }

// Run lists holds.
func (l holdsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	holds, err := pages(0, func(cursor string, limit int) (client.List[client.Hold], error) {
		return c.Holds(ctx, l.Active, l.Document, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Hold]{Data: holds})
	}
	rows := make([][]string, 0, len(holds))
	for _, h := range holds {
		state := "holds"
		if h.LiftedAt != nil {
			state = "lifted"
		}
		rows = append(rows, []string{h.ID, h.Name, state, strconv.Itoa(h.Documents), l.when(a, h.CreatedAt), h.Reason})
	}
	return l.table(a, listing{
		none:   "no legal holds; cairn holds place places one",
		header: []string{"ID", "NAME", "STATE", "DOCUMENTS", "PLACED", "REASON"},
		rows:   rows,
		spare:  []string{"REASON", "PLACED"},
	})
}

type holdsPlaceCmd struct {
	clientFlags
	Name     string   `arg:"" help:"The name of the hold, such as that of a case."`
	Reason   string   `required:"" help:"Why the documents are held."`
	Document []string `placeholder:"ID" help:"The id of a document; may be repeated. Give these, or --project and --tag."`
	Project  string   `short:"p" help:"Documents of this project, those that are added later too."`
	Tag      []string `placeholder:"TAG" help:"Documents with this tag, those that get it later too; may be repeated."`
	DryRun   bool     `name:"dry-run" help:"Count the documents, and place no hold."`
}

// Help returns the command's example.
func (holdsPlaceCmd) Help() string {
	return "Example:\n\n    cairn holds place \"Smith v. Acme\" --reason \"notice of 3 May\" --project legal --tag smith"
}

// Run places a hold.
func (h holdsPlaceCmd) Run(ctx context.Context, a *app) error {
	if (len(h.Document) > 0) == (h.Project != "" || len(h.Tag) > 0) {
		return wrongUse("give either --document, or --project and --tag")
	}
	c, err := h.connect()
	if err != nil {
		return err
	}
	request := client.NewHold{Name: h.Name, Reason: h.Reason, DocumentIDs: h.Document, DryRun: h.DryRun}
	if len(h.Document) == 0 {
		request.Filter = &client.HoldFilter{ProjectID: h.Project, Tags: h.Tag}
	}
	placed, err := c.PlaceHold(ctx, request)
	if err != nil {
		return err
	}
	if h.forPrograms() {
		return h.write(a, placed)
	}
	if h.DryRun {
		_, err = fmt.Fprintf(a.stdout, "the hold would keep %d documents\n", placed.Documents)
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "placed hold %s on %d documents\n", placed.ID, placed.Documents)
	return err
}

type holdsLiftCmd struct {
	clientFlags
	ID     string `arg:"" help:"The hold's id, or the beginning of it."`
	Reason string `required:"" help:"Why the hold is lifted."`
}

// Help returns the command's example.
func (holdsLiftCmd) Help() string {
	return "Example:\n\n    cairn holds lift 0b7b6a9e-9d0e-4e0e-8f0a-0c7f6a1d2e3f --reason \"settled\""
}

// Run lifts a hold.
func (l holdsLiftCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connectHold(ctx, &l.ID)
	if err != nil {
		return err
	}
	lifted, err := c.LiftHold(ctx, l.ID, l.Reason)
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, lifted)
	}
	_, err = fmt.Fprintln(a.stdout, "lifted hold", lifted.ID)
	return err
}

type retentionCmd struct {
	Run retentionRunCmd `cmd:"" help:"Remove now what the projects of the workspace keep no longer."`
}

// Help returns an example of the commands.
func (retentionCmd) Help() string {
	return "Projects say how long they keep documents, conversations and runs: cairn projects set default retention.conversations=365\n\nExample:\n\n    cairn retention run --dry-run"
}

type retentionRunCmd struct {
	clientFlags
	DryRun bool `name:"dry-run" help:"Count what is due, and remove nothing."`
}

// Help returns the command's example.
func (retentionRunCmd) Help() string {
	return "It also happens within an hour by itself.\n\nExample:\n\n    cairn retention run --dry-run"
}

// Run applies the retention.
func (r retentionRunCmd) Run(ctx context.Context, a *app) error {
	c, err := r.connect()
	if err != nil {
		return err
	}
	due, err := c.RunRetention(ctx, r.DryRun)
	if err != nil {
		return err
	}
	if r.forPrograms() {
		return r.write(a, due)
	}
	_, err = fmt.Fprintf(a.stdout, "due: %d documents, %d conversations, %d runs; kept by holds: %d documents\n", due.Documents, due.Conversations, due.Runs, due.KeptByHold)
	if err == nil && due.RunID != "" {
		_, err = fmt.Fprintln(a.stdout, "started run", due.RunID)
	}
	return err
}
