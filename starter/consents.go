package main

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/client"
)

type consentsCmd struct {
	List     consentsListCmd     `cmd:"" help:"List consents, newest first."`
	Add      consentsAddCmd      `cmd:"" help:"Record a consent."`
	Withdraw consentsWithdrawCmd `cmd:"" help:"Withdraw a consent; the documents about its person are removed."`
}

// Help returns an example of the commands.
func (consentsCmd) Help() string {
	return "A document names the people whom it is about in its subjects. With privacy.consentRequired a project publishes it only while there is a consent of each of them.\n\nExample:\n\n" +
		"    cairn consents add ann --purpose \"training records\" --evidence \"form 2026-117\""
}

type consentsListCmd struct {
	listFlags
	Subject string `placeholder:"NAME" help:"Those of this person."`
	Active  bool   `help:"Those that nobody has withdrawn."`
}

// Help returns the command's example.
func (consentsListCmd) Help() string { return "Example:\n\n    cairn consents list --subject ann" }

// Run lists consents.
func (l consentsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	consents, err := pages(0, func(cursor string, limit int) (client.List[client.Consent], error) {
		return c.Consents(ctx, l.Subject, l.Active, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Consent]{Data: consents})
	}
	rows := make([][]string, 0, len(consents))
	for _, consent := range consents {
		state := "holds"
		if consent.WithdrawnAt != nil {
			state = "withdrawn"
		}
		rows = append(rows, []string{consent.ID, consent.Subject, state, consent.Purpose, consent.Evidence, l.when(a, consent.CreatedAt)})
	}
	return l.table(a, listing{
		none:   "no consents; cairn consents add records one",
		header: []string{"ID", "SUBJECT", "STATE", "PURPOSE", "EVIDENCE", "RECORDED"},
		rows:   rows,
		spare:  []string{"EVIDENCE", "RECORDED", "PURPOSE"},
	})
}

type consentsAddCmd struct {
	clientFlags
	Subject  string `arg:"" help:"The person, as documents name it in their subjects."`
	Purpose  string `required:"" help:"What the person has agreed to."`
	Evidence string `help:"Where the agreement is kept, such as the number of a signed form."`
}

// Help returns the command's example.
func (consentsAddCmd) Help() string {
	return "Example:\n\n    cairn consents add ann --purpose \"training records\" --evidence \"form 2026-117\""
}

// Run records a consent.
func (s consentsAddCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	added, err := c.AddConsent(ctx, s.Subject, s.Purpose, s.Evidence)
	if err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, added)
	}
	_, err = fmt.Fprintf(a.stdout, "recorded consent %s of %s\n", added.ID, added.Subject)
	return err
}

type consentsWithdrawCmd struct {
	clientFlags
	ID string `arg:"" help:"The consent's id, or the beginning of it."`
}

// Help returns the command's example.
func (consentsWithdrawCmd) Help() string {
	return "The documents that name the person vanish at once, and runs remove them. Those under a legal hold are hidden, and removed when the hold is lifted.\n\nExample:\n\n" +
		"    cairn consents withdraw 0b7b6a9e-9d0e-4e0e-8f0a-0c7f6a1d2e3f"
}

// Run withdraws a consent.
func (w consentsWithdrawCmd) Run(ctx context.Context, a *app) error {
	c, err := w.connectConsent(ctx, &w.ID)
	if err != nil {
		return err
	}
	done, err := c.WithdrawConsent(ctx, w.ID)
	if err != nil {
		return err
	}
	if w.forPrograms() {
		return w.write(a, done)
	}
	if _, err := fmt.Fprintf(a.stdout, "withdrew consent %s: %d documents are removed\n", done.Consent.ID, done.Removed); err != nil {
		return err
	}
	return printHeld(a, done.KeptByHold)
}

// printHeld names the documents that legal holds keep.
func printHeld(a *app, held []client.HeldDocument) error {
	for _, d := range held {
		if _, err := fmt.Fprintf(a.stdout, "kept by hold: %s (%s)\n", d.DocumentID, d.Holds); err != nil {
			return err
		}
	}
	return nil
}
