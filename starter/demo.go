package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/server"
	"github.com/cairn-rag/cairn/samples"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type demoCmd struct {
	Question string `default:"Explain in detail what fault E02 means and how lithium packs that met sea water are handled." help:"The question to ask about the documents."`
}

// Help returns the command's details and an example.
func (demoCmd) Help() string {
	return "The demo uses a temporary folder, free ports and the offline model, and leaves nothing behind. " +
		"The exit code is 1 if a check fails.\n\nExample:\n\n    cairn demo"
}

const (
	// demoTime is the time limit of the demo.
	demoTime = 60 * time.Second
	// demoKillAfter is the length of the answer before the kill, in code
	// points.
	demoKillAfter = 200
)

// Run runs the demo and checks each step.
func (d demoCmd) Run(ctx context.Context, a *app) (err error) {
	if err := server.RequireTemporal(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, demoTime, fmt.Errorf("the demo took more than %v", demoTime))
	defer cancel()
	folder, err := os.MkdirTemp("", "cairn-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return errors.Join(fmt.Errorf("find this program: %w", err), removeFolder(folder))
	}
	// In a group of its own: Ctrl-C ends the demo, and the demo ends the server.
	server := childserver.New(childserver.Config{
		Program: program, Data: folder, Log: filepath.Join(folder, "demo.log"), OwnGroup: true,
		Env: []string{"CAIRN_MODELS__OFFLINE__TOKENS_PER_SECOND=25"},
	})
	defer func() {
		if err != nil && context.Cause(ctx) != nil {
			err = errors.Join(context.Cause(ctx), err)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintf(a.stderr, "The server's last lines:\n%s\n", server.LastLines(6))
		}
		err = errors.Join(err, server.Close(), removeFolder(folder))
	}()
	begin := time.Now()
	if err := server.Start(ctx); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "Cairn is ready after %.1f s at %s; its data is in %s.\n", time.Since(begin).Seconds(), server.Endpoints().API, folder)
	fmt.Fprintf(a.stdout, "Its console is at %s/ until the demo ends; \"cairn up\" starts one that stays, and prints a link that signs you in.\n", server.Endpoints().API)
	show := demonstration{app: a, server: server, question: d.Question}
	return show.run(ctx)
}

// removeFolder removes the demo's folder. A dying process may still write into
// it, which can make the first try fail.
func removeFolder(folder string) error {
	var err error
	for range 20 {
		if err = os.RemoveAll(folder); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("remove the demo's folder: %w", err)
}

// demonstration is the part of the demo after the server is ready.
type demonstration struct {
	app      *app
	server   *childserver.Server
	client   *client.Client
	question string
	count    int // documents that were ingested
}

func (d *demonstration) run(ctx context.Context) (err error) {
	if d.client, err = d.server.Client(); err != nil {
		return err
	}
	if err := d.ingest(ctx); err != nil {
		return err
	}
	fmt.Fprintf(d.app.stdout, "\n> %s\n\n", d.question)
	w := &witness{out: terminal.NewAnswer(d.app.stdout), aside: d.app.stderr, server: d.server, killAfter: demoKillAfter}
	answer, err := w.watch(ctx, d.client.Ask(ctx, client.Question{Text: d.question, Project: "default"}))
	if err := errors.Join(err, w.out.Close()); err != nil {
		return err
	}
	fmt.Fprintln(d.app.stdout) // an error shows again at the next write
	if err := terminal.Sources(d.app.stdout, answer.Sources, true); err != nil {
		return err
	}
	fmt.Fprintf(d.app.stdout, "\nThe run, for operators: %s\n\n", answer.OperatorURL)
	return d.conclude(ctx, w, answer)
}

// ingest ingests the sample documents, and the documentation of the Go
// toolchain if there is one, and waits until all are published.
func (d *demonstration) ingest(ctx context.Context) error {
	documents, err := samples.Documents()
	if err != nil {
		return fmt.Errorf("open the samples: %w", err)
	}
	entries, err := folderEntries(documents, "")
	if err != nil {
		return fmt.Errorf("list the samples: %w", err)
	}
	if docs, ok := goDocumentation(ctx); ok {
		more, err := folderEntries(os.DirFS(docs), "go/")
		if err != nil {
			return fmt.Errorf("list %s: %w", docs, err)
		}
		entries = append(entries, more...)
	}
	begin := time.Now()
	progress := terminal.NewProgress(d.app.stdout, d.app.bar, len(entries))
	in := ingestRun{client: d.client, project: "default", wait: true, progress: progress, notes: newIngestNotes(progress, d.app.stderr, false)}
	outcomes, err := in.ingestAll(ctx, entries, 4)
	if err := errors.Join(err, progress.Close()); err != nil {
		return err
	}
	for _, o := range outcomes {
		if o.Outcome != outcomePublished {
			return fmt.Errorf("%s was not published: %s %s", o.Name, o.Outcome, o.Error)
		}
	}
	d.count = len(entries)
	fmt.Fprintf(d.app.stdout, "%d documents ingested in %.1f s.\n", d.count, time.Since(begin).Seconds())
	return nil
}

// goDocumentation returns the folder of the documentation that comes with the
// Go toolchain.
func goDocumentation(ctx context.Context) (string, bool) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", false // without a toolchain the samples are enough
	}
	docs := filepath.Join(strings.TrimSpace(string(out)), "doc")
	info, err := os.Stat(docs)
	return docs, err == nil && info.IsDir()
}

// folderEntries returns the text documents of a file system, without empty
// files. prefix is put before their names.
func folderEntries(files fs.FS, prefix string) ([]entry, error) {
	var entries []entry
	err := fs.WalkDir(files, ".", func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".html", ".md", ".txt", ".pdf", ".csv":
		default:
			return nil
		}
		if info, err := f.Info(); err != nil || info.Size() == 0 {
			return err
		}
		entries = append(entries, entry{name: prefix + path, externalID: prefix + path,
			open: func() (io.ReadCloser, error) { return files.Open(path) }})
		return nil
	})
	return entries, err
}

// conclude checks the demo's claims and then prints them.
func (d *demonstration) conclude(ctx context.Context, w *witness, answer client.Answer) error {
	if err := w.verdict(answer); err != nil {
		return err
	}
	run, err := d.client.Run(ctx, answer.RunID)
	if err != nil {
		return fmt.Errorf("read the stored run: %w", err)
	}
	var stored client.Answer
	if err := (client.Event{Name: "result", Data: run.Result}).Decode(&stored); err != nil {
		return err
	}
	if stored.Text != w.out.Text() {
		return fmt.Errorf("the streamed answer (%d bytes) differs from the stored one (%d bytes)", len(w.out.Text()), len(stored.Text))
	}
	list, err := d.client.Documents(ctx, client.DocumentQuery{Project: "default", Status: string(knowledge.StatusPublished), Limit: 1})
	if err != nil {
		return fmt.Errorf("count the documents: %w", err)
	}
	if list.Total != d.count {
		return fmt.Errorf("%d documents are published after the kill, but %d were before it", list.Total, d.count)
	}
	claims := fmt.Sprintf("1. %d documents were published. After SIGKILL of the whole server all %d still are.\n"+
		"2. The server was killed at character %d of the answer and ready again after %.1f s. The %d characters assembled from the events (with citations as markup) equal the stored answer.\n"+
		"3. The %d events of the answer have the ids 1 to %d without a gap or a duplicate; %d of them came after the restart.",
		d.count, list.Total, w.killedAt, w.ready.Seconds(), runes(stored.Text), w.events, w.events, w.eventsAfter)
	_, err = fmt.Fprintln(d.app.stdout, terminal.Wrapped(d.app.stdout, claims))
	return err
}
