package main

import (
	"context"
	"fmt"
)

type subjectsCmd struct {
	Export subjectsExportCmd `cmd:"" help:"Export what a person left, as a zip."`
	Erase  subjectsEraseCmd  `cmd:"" help:"Erase what a person left."`
}

// Help returns an example of the commands.
func (subjectsCmd) Help() string {
	return "USER is a person of the workspace: the sub of a JWT, or the name of a member. With --external it is a user of an application (externalUserId).\n\nExample:\n\n    cairn subjects export ann"
}

// subjectFlags name a person.
type subjectFlags struct {
	clientFlags
	User     string `arg:"" help:"The name of the person."`
	External bool   `help:"The user of an application of this name, and not the person of the workspace."`
}

type subjectsExportCmd struct{ subjectFlags }

// Help returns the command's example.
func (subjectsExportCmd) Help() string {
	return "The result of the run has the link to the zip, which needs no key for an hour. The zip is deleted after a day.\n\nExample:\n\n    cairn subjects export ann\n    cairn runs show RUN --json"
}

// Run starts an export.
func (s subjectsExportCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	run, err := c.ExportSubject(ctx, s.User, s.External)
	return s.started(a, run, "export", err)
}

type subjectsEraseCmd struct {
	subjectFlags
	Reason string `required:"" help:"Why it is erased. It stays with the run."`
}

// Help returns the command's example.
func (subjectsEraseCmd) Help() string {
	return "It cannot be undone. Documents under a legal hold stay, and the result of the run names them. The audit keeps ids.\n\nExample:\n\n" +
		"    cairn subjects erase ann --reason \"request of 3 May\"\n    cairn runs show RUN --json"
}

// Run starts an erasure.
func (s subjectsEraseCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	run, err := c.EraseSubject(ctx, s.User, s.External, s.Reason)
	return s.started(a, run, "erasure", err)
}

// started reports the run that was started.
func (s subjectFlags) started(a *app, run, what string, err error) error {
	if err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, map[string]string{"run_id": run})
	}
	_, err = fmt.Fprintf(a.stdout, "started the %s of %s: run %s\n", what, s.User, run)
	return err
}
