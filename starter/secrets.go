package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

type secretsCmd struct {
	Set    secretsSetCmd    `cmd:"" help:"Store or replace a secret for tools and imports."`
	List   secretsListCmd   `cmd:"" help:"List secrets, without their values."`
	Remove secretsRemoveCmd `cmd:"" help:"Remove a stored secret."`
}

// Help returns an example of the commands.
func (secretsCmd) Help() string {
	return "Example:\n\n    cairn secrets set shop --use header --host api.example.com < shop.key"
}

type secretsSetCmd struct {
	clientFlags
	Name    string   `arg:"" help:"The name of the secret: lower case letters, digits, - and _."`
	Project string   `short:"p" help:"Only this project may use the secret. Default: all projects of the workspace."`
	Use     []string `enum:"header,import,webhook,model" required:"" help:"The use of the secret: header (of the requests of a tool), import, webhook or model; may be repeated."`
	Host    []string `required:"" placeholder:"HOST" help:"A host to which the secret may be sent, such as api.example.com or *.example.com; may be repeated."`
	File    string   `type:"path" placeholder:"FILE" help:"The file with the value. Default: standard input."`
}

// Help returns the command's details and an example.
func (secretsSetCmd) Help() string {
	return "The value comes from standard input or a file, never from an argument, which other users of the machine could see. " +
		"For an import, --host is the host of its endpoint, or by default of the provider: s3.amazonaws.com, " +
		"storage.googleapis.com or ACCOUNT.blob.core.windows.net.\n\n" +
		"Example:\n\n" +
		"    cairn secrets set shop --use header --host api.example.com < shop.key\n" +
		"    cairn secrets set company_s3 --use import --host s3.amazonaws.com --file keys.json --project legal"
}

// Run stores a secret.
func (s secretsSetCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connectProject(ctx, &s.Project)
	if err != nil {
		return err
	}
	value, err := s.value(a)
	if err != nil {
		return err
	}
	stored, err := c.PutSecret(ctx, s.Name, client.NewSecret{Value: value, ProjectID: s.Project, Uses: s.Use, Hosts: s.Host})
	if err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, stored)
	}
	_, err = fmt.Fprintln(a.stdout, "stored secret", stored.Name)
	return err
}

// value returns the value of the secret, without a line end behind it.
func (s secretsSetCmd) value(a *app) (string, error) {
	data, err := s.read(a)
	value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	switch {
	case err != nil:
		return "", fmt.Errorf("read the value of the secret: %w", err)
	case value == "":
		return "", wrongUse("there is no value: write it to standard input, or name a file with --file")
	case len(value) > knowledge.MaxSecretBytes:
		return "", wrongUse("the value has more than %d bytes, which is the limit", knowledge.MaxSecretBytes)
	}
	return value, nil
}

// read reads the value. A person at a terminal types it without an echo.
func (s secretsSetCmd) read(a *app) ([]byte, error) {
	input := a.stdin
	if s.File != "" {
		file, err := os.Open(s.File)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		input = file
	}
	if file, ok := input.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		fmt.Fprintf(a.stderr, "Value of %s: ", s.Name)
		defer fmt.Fprintln(a.stderr)
		return term.ReadPassword(int(file.Fd()))
	}
	return io.ReadAll(io.LimitReader(input, knowledge.MaxSecretBytes+3)) // a line end is not counted
}

type secretsListCmd struct{ listFlags }

// Help returns the command's example.
func (secretsListCmd) Help() string { return "Example:\n\n    cairn secrets list --json" }

// Run lists secrets.
func (l secretsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	secrets, err := c.Secrets(ctx)
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, secrets)
	}
	rows := make([][]string, 0, len(secrets.Data))
	for _, s := range secrets.Data {
		from, updated := s.From, ""
		if s.Shadowed {
			from = "stored, not used"
		}
		if s.UpdatedAt != nil {
			updated = l.when(a, *s.UpdatedAt)
		}
		rows = append(rows, []string{s.Name, firstOf(s.ProjectID, "(all)"), strings.Join(s.Uses, ","), strings.Join(s.Hosts, ","), from, updated})
	}
	return l.table(a, listing{
		none:   "no secrets; cairn secrets set stores one",
		header: []string{"NAME", "PROJECT", "USES", "HOSTS", "FROM", "UPDATED"},
		rows:   rows,
		spare:  []string{"UPDATED", "FROM", "HOSTS"},
	})
}

type secretsRemoveCmd struct {
	clientFlags
	Name    string `arg:"" help:"The name of the secret."`
	Project string `short:"p" help:"The project of the secret. Default: none, a secret of the workspace."`
}

// Help returns the command's example.
func (secretsRemoveCmd) Help() string { return "Example:\n\n    cairn secrets remove shop" }

// Run removes a secret.
func (r secretsRemoveCmd) Run(ctx context.Context, a *app) error {
	c, err := r.connectProject(ctx, &r.Project)
	if err != nil {
		return err
	}
	if err := c.RemoveSecret(ctx, r.Name, r.Project); err != nil {
		return err
	}
	if r.forPrograms() {
		return r.write(a, map[string]string{"name": r.Name})
	}
	_, err = fmt.Fprintln(a.stdout, "removed secret", r.Name)
	return err
}
