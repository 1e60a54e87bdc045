package main

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/client"
)

type accessCmd struct {
	Explain accessExplainCmd `cmd:"" help:"Explain whether somebody sees a document."`
}

// Help returns an example of the commands.
func (accessCmd) Help() string {
	return "Example:\n\n    cairn access explain --document contract.pdf --user ann --groups legal,board"
}

type accessExplainCmd struct {
	listFlags
	Document     string   `required:"" help:"The document's id, external id or name, or the beginning of its id."`
	User         string   `xor:"reader" help:"A person of the workspace."`
	Groups       []string `placeholder:"GROUP,…" help:"The groups of the person, separated by commas."`
	ExternalUser string   `name:"external-user" xor:"reader" placeholder:"USER" help:"A customer of an application, in place of --user."`
	Conversation string   `placeholder:"ID" help:"A conversation of the reader, whose attachments count."`
	KeyID        string   `name:"key-id" placeholder:"ID" help:"The id of the API key with which the reader asks."`
}

// Help returns the command's details and example.
func (accessExplainCmd) Help() string {
	return "Applies the rules of a search to the document and the reader, and prints them in the order in which they were applied. " +
		"Needs a key with the permission access.read (role admin) for the project of the document.\n\n" +
		"Example:\n\n    cairn access explain --document contract.pdf --user ann --groups legal,board"
}

// Run explains the access to a document.
func (e accessExplainCmd) Run(ctx context.Context, a *app) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	reader := client.Reader{User: e.User, Groups: e.Groups, ExternalUser: e.ExternalUser, Conversation: e.Conversation, KeyID: e.KeyID}
	explained, err := withDocument(ctx, c, e.Document, func(id string) (client.AccessExplanation, error) {
		return c.ExplainAccess(ctx, id, reader)
	})
	if err != nil {
		return err
	}
	if e.forPrograms() {
		return e.write(a, explained)
	}
	outcome := "A search of this reader does not show the document."
	if explained.Allowed {
		outcome = "A search of this reader shows the document."
	}
	fmt.Fprintln(a.stderr, outcome)
	rows := make([][]string, 0, len(explained.Because))
	for _, r := range explained.Because {
		rows = append(rows, []string{r.Effect, r.Kind, r.ID, r.Detail})
	}
	return e.table(a, listing{none: "no rule was applied", header: []string{"EFFECT", "RULE", "OF", "WHY"}, rows: rows, spare: []string{"OF"}})
}
