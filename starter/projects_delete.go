package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
)

type projectsDeleteCmd struct {
	clientFlags
	ID   string `arg:"" name:"name" help:"The project's id or name, or the beginning of its id."`
	Yes  bool   `help:"Do not ask for confirmation."`
	Wait bool   `help:"Wait until all data is deleted."`
}

// Help returns the command's details and an example.
func (projectsDeleteCmd) Help() string {
	return "The documents, conversations, runs, imports, webhooks and keys of the project are deleted with it. " +
		"They are invisible at once; the data is deleted in the background. The command asks for the name of the project first.\n\n" +
		"Example:\n\n    cairn projects delete field-service --wait"
}

// Run removes a project.
func (d projectsDeleteCmd) Run(ctx context.Context, a *app) error {
	c, err := d.connectProject(ctx, &d.ID)
	if err != nil {
		return err
	}
	if !d.Yes {
		if err := d.confirm(a); err != nil {
			return err
		}
	}
	removed, err := c.RemoveProject(ctx, d.ID)
	if err != nil {
		return err
	}
	message, result := "removing", any(removed)
	if d.Wait {
		n := narrator{app: a, quiet: d.forPrograms()}
		end, err := n.end(ctx, c, removed.RunID)
		if err != nil {
			return err
		}
		message, result = "removed", end.Result
	}
	if d.forPrograms() {
		return d.write(a, result)
	}
	_, err = fmt.Fprintf(a.stdout, "%s project %s, run %s\n", message, removed.ID, removed.RunID)
	return err
}

// confirm asks for the name of the project, and fails if another text is typed.
func (d projectsDeleteCmd) confirm(a *app) error {
	fmt.Fprintf(a.stderr, "This removes the project %s with all its documents, conversations, runs and keys. It cannot be undone.\nType %s to continue:\n", d.ID, d.ID)
	typed, _ := bufio.NewReader(a.stdin).ReadString('\n') // an error leaves it empty
	if strings.TrimSpace(typed) != d.ID {
		return wrongUse("the name does not match, so nothing was removed; a script passes --yes")
	}
	return nil
}
