package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/archive"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type ingestCmd struct {
	clientFlags
	Sources    []source `arg:"" name:"path|dir|url" help:"Files, folders (with all files below them) and http(s) URLs."`
	Project    string   `short:"p" default:"default" help:"The project of the documents."`
	Tag        []string `sep:"none" help:"A tag for all documents; may be repeated."`
	ExternalID string   `name:"external-id" xor:"id" help:"The external id of a single file or URL. Default: the path inside the folder, the file name, or the URL."`
	Prefix     string   `xor:"id" placeholder:"TEXT" help:"Text to put before each external id, so that files of the same name in two folders do not collide."`
	Force      bool     `help:"Ingest unchanged files too. Does not apply to the files in an archive."`
	Password   string   `env:"CAIRN_DOCUMENT_PASSWORD" placeholder:"TEXT" help:"The password of encrypted files (${env}); - reads it from standard input, so that it is in no history of a shell."`
	Wait       bool     `help:"Wait until each document is published or has failed."`
	Parallel   int      `default:"4" help:"The number of concurrent uploads."`
}

// Help returns the command's details and an example.
func (ingestCmd) Help() string {
	return "A file whose external id exists becomes a new version of that document, and the output says so. " +
		"Give each folder its own --prefix to prevent that. A file that is the same as before, with the same tags and settings, is reported as unchanged and is " +
		"not ingested again without --force, so an interrupted command can be repeated. A URL is always fetched.\n\n" +
		"A transcript (talk.vtt or talk.srt) beside a recording of the same name (talk.mp3) becomes part of its document. The files in a .zip become documents (see cairn import).\n\n" +
		"Files of unsupported kinds and links to folders are listed and skipped. Hidden files, and files that match a .cairnignore (the syntax of .gitignore), " +
		"are counted and skipped. The exit code is 1 if a document failed or no file was ingested.\n\nExample:\n\n" +
		"    cairn ingest ./handbook https://example.org/manual.html --tag service --wait\n" +
		"    cairn ingest ./projects/heron --prefix heron/"
}

// Run ingests the documents.
func (g ingestCmd) Run(ctx context.Context, a *app) error {
	if g.Parallel < 1 || g.Parallel > 64 {
		return wrongUse("--parallel must be between 1 and 64")
	}
	if g.Project == "" {
		return wrongUse("--project must name a project")
	}
	c, err := g.connectProject(ctx, &g.Project)
	if err != nil {
		return err
	}
	if g.Password, err = documentPassword(g.Password, a.stdin); err != nil {
		return err
	}
	found, err := gather(g.Sources, g.ExternalID, g.Prefix)
	if err != nil {
		return err
	}
	bar := a.bar
	if g.forPrograms() {
		bar = nil
	}
	out := a.stdout
	if g.forPrograms() {
		out = io.Discard
	}
	progress := terminal.NewProgress(out, bar, len(found.entries))
	notes := newIngestNotes(progress, a.stderr, g.forPrograms())
	in := ingestRun{client: c.WithOutages(notes.outage), project: g.Project, tags: g.Tag, force: g.Force, password: g.Password, wait: g.Wait, bar: bar != nil, progress: progress, notes: notes}
	outcomes, err := in.ingestAll(ctx, found.entries, g.Parallel)
	return g.finish(a, summarise(outcomes, found), errors.Join(err, progress.Close()))
}

// maxPassword bounds a password, in bytes.
const maxPassword = 1024

// documentPassword returns the password of encrypted files: what is given, or the first line of
// standard input.
func documentPassword(given string, stdin io.Reader) (string, error) {
	if given != "-" {
		return given, nil
	}
	line, err := bufio.NewReader(io.LimitReader(stdin, maxPassword+2)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password from standard input: %w", err)
	}
	password := strings.TrimRight(line, "\r\n")
	if password == "" || len(password) > maxPassword {
		return "", wrongUse("standard input must have the password as its first line, of at most %d bytes", maxPassword)
	}
	return password, nil
}

// ingestRun sends entries to a project and follows their runs.
type ingestRun struct {
	client   *client.Client
	project  string
	tags     []string
	force    bool
	password string // of encrypted files
	wait     bool
	bar      bool // a person sees the progress
	progress *terminal.Progress
	notes    *ingestNotes
}

// waiting is the number of runs that are followed at a time, beside the
// uploads.
const waiting = 32

// ingestAll sends the entries, parallel at a time, and returns their outcomes in
// order. It stops at the first error that concerns all entries; the outcomes
// then show how far it came.
func (in ingestRun) ingestAll(ctx context.Context, entries []entry, parallel int) ([]outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	outcomes := make([]outcome, len(entries))
	for i, e := range entries {
		outcomes[i] = outcome{Name: e.name, Outcome: outcomeNotSent}
	}
	uploads, follows := make(chan struct{}, parallel), make(chan struct{}, parallel+waiting)
	var group sync.WaitGroup
	for i, e := range entries {
		select {
		case follows <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-follows }()
			var err error
			outcomes[i], err = in.ingestOne(ctx, e, uploads)
			if o := outcomes[i]; err == nil {
				err = in.progress.Done(o.Outcome, o.Name, detail(o))
			}
			if err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return outcomes, context.Cause(ctx)
}

func detail(o outcome) string {
	if o.Error != "" {
		return o.Error
	}
	if o.Import != nil {
		text := "import " + o.Import.ID + importCounts(*o.Import)
		if o.Outcome == outcomeAccepted && o.files > 0 {
			text += ", " + terminal.Count(o.files, "file")
		}
		return text
	}
	text := o.Document.ID
	switch {
	case o.Outcome == outcomePublished:
		text = terminal.Count(o.Document.ChunkCount, "chunk")
		if len(o.Document.Warnings) > 0 {
			text += "; warning: " + warningsText(o.Document.Warnings)
		}
	case o.Outcome == outcomeUnchanged && o.Document.PublishedVersion != o.Document.Version:
		text += ", which is " + string(o.Document.Status)
	}
	if o.replaces() {
		text += fmt.Sprintf(", version %d of %s", o.Document.Version, firstOf(o.Document.ExternalID, o.Name))
	}
	return text
}

// ingestOne sends an entry and, if wait is set, follows its run. It returns an
// error only if the other entries would fail in the same way.
func (in ingestRun) ingestOne(ctx context.Context, e entry, uploads chan struct{}) (outcome, error) {
	if e.unsent != nil {
		return *e.unsent, nil
	}
	o := outcome{Name: e.name, Outcome: outcomeNotSent}
	select {
	case uploads <- struct{}{}:
	case <-ctx.Done():
		return o, ctx.Err()
	}
	sent, err := in.send(ctx, e)
	<-uploads
	if err != nil {
		return refused(o, err)
	}
	o.Outcome, o.Document, o.Import = outcomeAccepted, sent.Document, sent.Import
	if sent.Import != nil {
		// An archive that this machine cannot read is refused by the server.
		o.files, _ = archive.CountFiles(e.path)
	}
	if sent.Document != nil && sent.Document.Unchanged {
		o.Outcome = outcomeUnchanged
	}
	switch {
	case sent.Document != nil && sent.Document.Error != nil:
		return failed(o, *sent.Document.Error), nil
	case !in.wait || o.Outcome == outcomeUnchanged && sent.Document.PublishedVersion == sent.Document.Version:
		return o, nil
	case sent.Import != nil:
		return in.archive(ctx, o)
	}
	last, err := in.follow(ctx, e.name, *sent.Document)
	if err != nil {
		return o, err
	}
	return ended(o, last)
}

// follow waits for the end of a document's run, and shows how far it is.
func (in ingestRun) follow(ctx context.Context, name string, d client.Document) (client.Event, error) {
	var extracting atomic.Bool
	if in.bar {
		show := func(now client.Document) { in.notes.now(name, now) }
		defer followPages(ctx, in.client, d.ID, extracting.Load, show)()
	}
	return in.client.Wait(ctx, d.RunID, func(e client.Event) {
		extracting.Store(in.notes.document(name, e) == knowledge.StageExtract)
	})
}

// archive waits for the import of an archive, and counts each of its files in the progress.
func (in ingestRun) archive(ctx context.Context, o outcome) (outcome, error) {
	expected, done := max(1, o.files), 0
	if o.files > 1 {
		in.progress.Grow(o.files-1, 0)
	}
	count := func(i client.Import) {
		more := max(0, int(i.Discovered)-expected)
		ended := max(0, min(int(i.Discovered-i.Remaining), expected+more-1)-done)
		expected, done = expected+more, done+ended
		in.progress.Grow(more, ended)
	}
	_, err := in.client.Wait(ctx, o.Import.RunID, func(e client.Event) {
		now := *o.Import
		if e.Name == client.EventImport && e.Decode(&now) == nil {
			count(now)
			in.progress.Now(importNumbers(now) + ", " + o.Name)
		}
	})
	if err != nil {
		return o, err
	}
	i, err := in.client.Import(ctx, o.Import.ID)
	if err != nil {
		return o, err
	}
	count(i)
	o.Outcome, o.Import = outcomePublished, &i
	if err := importOutcome(i); err != nil {
		o.Outcome, o.Error = outcomeFailed, err.Error()
	}
	return o, nil
}

func (in ingestRun) send(ctx context.Context, e entry) (client.Uploaded, error) {
	if e.url != "" {
		d, err := in.client.AddDocument(ctx, client.NewDocument{Project: in.project, Name: e.name,
			ExternalID: e.externalID, Content: client.Content{URL: e.url}, Tags: in.tags, Force: &in.force, Password: in.password})
		return client.Uploaded{Document: &d}, err
	}
	return in.client.Upload(ctx, client.Upload{Project: in.project, Name: e.name, ExternalID: e.externalID,
		Tags: in.tags, Force: in.force, Password: in.password, Open: e.open, Transcript: e.transcript})
}

// refused returns the outcome for an error that concerns this entry only. It
// returns any other error.
func refused(o outcome, err error) (outcome, error) {
	var code knowledge.Code
	if e, ok := errors.AsType[*client.Error](err); ok {
		code = e.Code
		o.Error = fmt.Sprintf("%s: %s", e.Code, e.Detail)
	}
	if _, unreadable := errors.AsType[*os.PathError](err); unreadable {
		o.Outcome, o.Error = outcomeFailed, err.Error()
		return o, nil
	}
	switch code {
	case knowledge.CodeUnsupportedFormat:
		o.Outcome = outcomeSkipped
	case knowledge.CodeMalformed, knowledge.CodeEmpty, knowledge.CodeTooLarge, knowledge.CodeInvalid, knowledge.CodeConflict:
		o.Outcome = outcomeFailed
	default:
		return o, err
	}
	return o, nil
}

func failed(o outcome, e knowledge.DocumentError) outcome {
	o.Outcome, o.Error = outcomeFailed, documentFailure(e).Error()
	if e.Code == knowledge.CodeUnsupportedFormat {
		o.Outcome = outcomeSkipped
	}
	return o
}

// ended returns the outcome in the last event of a document's run.
func ended(o outcome, last client.Event) (outcome, error) {
	if last.Name == client.EventError {
		var failure client.Failure
		err := last.Decode(&failure)
		o.Outcome, o.Error = outcomeFailed, failure.Error()
		return o, err
	}
	var end client.Ended
	if err := last.Decode(&end); err != nil {
		return o, err
	}
	if end.Error != nil {
		return failed(o, *end.Error), nil
	}
	if end.Status != "completed" {
		o.Outcome, o.Error = outcomeFailed, "the run ended as "+end.Status
		return o, nil
	}
	o.Outcome = outcomePublished
	return o, end.Document(o.Document)
}
