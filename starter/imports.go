package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type importsCmd struct {
	List     importsListCmd     `cmd:"" help:"List imports, newest first."`
	Show     importsShowCmd     `cmd:"" help:"Show an import and its first failures."`
	Failures importsFailuresCmd `cmd:"" help:"List the objects of an import that failed."`
	Pause    importsPauseCmd    `cmd:"" help:"Pause an import."`
	Resume   importsResumeCmd   `cmd:"" help:"Resume a paused import, or try at once what waits for a model."`
	Cancel   importsCancelCmd   `cmd:"" help:"Cancel an import; documents that it has published remain."`
	Retry    importsRetryCmd    `cmd:"" help:"Retry the objects of an import that failed, or try at once what waits for a model."`
}

// Help returns an example of the commands.
func (importsCmd) Help() string {
	return "Example:\n\n    cairn imports list"
}

type importsListCmd struct {
	listFlags
	Project string `short:"p" help:"Only imports into this project."`
	Limit   atMost `default:"50" help:"The largest number to list; 0 lists all."`
}

// Help returns the command's example.
func (importsListCmd) Help() string {
	return "Example:\n\n    cairn imports list --project legal"
}

// Run lists imports.
func (l importsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connectProject(ctx, &l.Project)
	if err != nil {
		return err
	}
	imports, err := pages(int(l.Limit), func(cursor string, limit int) (client.List[client.Import], error) {
		return c.Imports(ctx, l.Project, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Import]{Data: imports})
	}
	rows := make([][]string, 0, len(imports))
	for _, i := range imports {
		rows = append(rows, []string{i.ID, i.Source.URI, i.Status, number(i.Discovered), number(i.Published), number(i.Skipped), number(i.Failed), l.when(a, i.CreatedAt)})
	}
	return l.table(a, listing{
		none:   l.none(),
		header: []string{"ID", "SOURCE", "STATUS", "DISCOVERED", "PUBLISHED", "SKIPPED", "FAILED", "STARTED"},
		rows:   rows,
		spare:  []string{"DISCOVERED", "SKIPPED", "STARTED", "PUBLISHED", "FAILED"},
	})
}

// none returns what is shown if there are no imports.
func (l importsListCmd) none() string {
	into := ""
	if l.Project != "" {
		into = " into project " + l.Project
	}
	return "no imports" + into + "; cairn import starts one"
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// importFlags are the flags of the commands for one import.
type importFlags struct {
	clientFlags
	ID string `arg:"" help:"The import's id, or the beginning of it."`
}

// do calls the server and shows the import that it answers with.
func (f importFlags) do(ctx context.Context, a *app, call func(c *client.Client, id string) (client.Import, error)) error {
	c, err := f.connectImport(ctx, &f.ID)
	if err != nil {
		return err
	}
	i, err := call(c, f.ID)
	if err != nil {
		return err
	}
	if f.forPrograms() {
		return f.write(a, i)
	}
	return showImport(a, i)
}

func showImport(a *app, i client.Import) error {
	failure, ended, left, waiting := "", "", "", ""
	rate := fmt.Sprintf("%.1f documents/s", i.DocumentsPerSecond)
	if i.Error != nil {
		failure = i.Error.Error()
	}
	if i.EndedAt != nil {
		ended = terminal.Time(*i.EndedAt)
	} else if i.ETASeconds != nil {
		left = fmt.Sprintf("%.0f s", *i.ETASeconds)
	}
	if i.Waiting != nil {
		waiting, rate, left = importWait(*i.Waiting), "", "not known until the endpoint takes requests again"
	}
	err := terminal.Fields(a.stdout, "id", i.ID, "source", i.Source.URI, "project", i.ProjectID, "status", i.Status, "waits", waiting, "error", failure,
		"discovered", number(i.Discovered), "published", number(i.Published), "skipped", number(i.Skipped), "failed", number(i.Failed),
		"remaining", number(i.Remaining), "vanished", number(i.Vanished), "removed", number(i.Deleted), "size", knowledge.SizeText(i.Bytes),
		"rate", rate, "left", left,
		"started", terminal.Time(i.CreatedAt), "ended", ended, "run", i.RunID, "operator", i.OperatorURL)
	if err != nil {
		return err
	}
	if i.Waiting != nil {
		if _, err := fmt.Fprintln(a.stdout, "next step: wait, or after a repair: cairn imports retry "+i.ID); err != nil {
			return err
		}
	}
	for _, f := range i.Failures {
		if err := terminal.Outcome(a.stdout, outcomeFailed, firstOf(f.Name, f.Key), objectFailure(f.Error)); err != nil {
			return err
		}
	}
	return nil
}

type importsShowCmd struct{ importFlags }

// Help returns the command's example.
func (importsShowCmd) Help() string {
	return "Example:\n\n    cairn imports show 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run shows an import.
func (s importsShowCmd) Run(ctx context.Context, a *app) error {
	return s.do(ctx, a, func(c *client.Client, id string) (client.Import, error) { return c.Import(ctx, id) })
}

type importsFailuresCmd struct {
	listFlags
	ID    string `arg:"" help:"The import's id, or the beginning of it."`
	Limit atMost `default:"0" help:"The largest number to list; 0 lists all."`
}

// Help returns the command's example.
func (importsFailuresCmd) Help() string {
	return "Example:\n\n    cairn imports failures 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run lists failures.
func (f importsFailuresCmd) Run(ctx context.Context, a *app) error {
	c, err := f.connectImport(ctx, &f.ID)
	if err != nil {
		return err
	}
	failures, err := pages(int(f.Limit), func(cursor string, limit int) (client.List[client.ImportFailure], error) {
		return c.ImportFailures(ctx, f.ID, cursor, limit)
	})
	if err != nil {
		return err
	}
	if f.forPrograms() {
		return f.write(a, client.List[client.ImportFailure]{Data: failures})
	}
	rows := make([][]string, 0, len(failures))
	for _, failure := range failures {
		rows = append(rows, []string{firstOf(failure.Name, failure.Key), string(failure.Error.Code), string(failure.Error.Stage), failure.Error.Message})
	}
	return f.table(a, listing{
		none:   "no object of this import failed",
		header: []string{"OBJECT", "CODE", "STAGE", "MESSAGE"},
		rows:   rows,
		spare:  []string{"STAGE"},
	})
}

type importsPauseCmd struct{ importFlags }

// Help returns the command's example.
func (importsPauseCmd) Help() string {
	return "Example:\n\n    cairn imports pause 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run pauses an import.
func (s importsPauseCmd) Run(ctx context.Context, a *app) error {
	return s.do(ctx, a, func(c *client.Client, id string) (client.Import, error) { return c.PauseImport(ctx, id) })
}

type importsResumeCmd struct{ importFlags }

// Help returns the command's example.
func (importsResumeCmd) Help() string {
	return "Example:\n\n    cairn imports resume 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run resumes an import.
func (s importsResumeCmd) Run(ctx context.Context, a *app) error {
	return s.do(ctx, a, func(c *client.Client, id string) (client.Import, error) { return c.ResumeImport(ctx, id) })
}

type importsCancelCmd struct{ importFlags }

// Help returns the command's example.
func (importsCancelCmd) Help() string {
	return "Example:\n\n    cairn imports cancel 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

// Run cancels an import.
func (s importsCancelCmd) Run(ctx context.Context, a *app) error {
	return s.do(ctx, a, func(c *client.Client, id string) (client.Import, error) { return c.CancelImport(ctx, id) })
}

type importsRetryCmd struct {
	importFlags
	Wait bool `help:"Wait until the retries have ended."`
}

// Help returns the command's example.
func (importsRetryCmd) Help() string {
	return "Example:\n\n    cairn imports retry 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11 --wait"
}

// Run retries what failed.
func (s importsRetryCmd) Run(ctx context.Context, a *app) error {
	if !s.Wait {
		return s.do(ctx, a, func(c *client.Client, id string) (client.Import, error) { return c.RetryImport(ctx, id) })
	}
	c, err := s.connectImport(ctx, &s.ID)
	if err != nil {
		return err
	}
	i, err := c.RetryImport(ctx, s.ID)
	if err != nil {
		return err
	}
	return awaitImport(ctx, a, c, i, s.outputFlags)
}
