package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type runsCmd struct {
	List    runsListCmd    `cmd:"" help:"List runs, newest first."`
	Show    runsShowCmd    `cmd:"" help:"Show a run."`
	Watch   runsWatchCmd   `cmd:"" help:"Print the events of a run from the first to the last."`
	Cancel  runsCancelCmd  `cmd:"" help:"Cancel a run."`
	Message runsMessageCmd `cmd:"" help:"Send a message to an answer or a research that is under way."`
	Approve runsApproveCmd `cmd:"" help:"Approve a tool call that needs approval."`
	Refuse  runsRefuseCmd  `cmd:"" help:"Refuse a tool call that needs approval."`
	Pause   runsPauseCmd   `cmd:"" help:"Pause a research run, an import or a reindex."`
	Resume  runsResumeCmd  `cmd:"" help:"Resume a research run, an import or a reindex."`
}

// Help returns an example of the commands.
func (runsCmd) Help() string {
	return "Example:\n\n    cairn runs watch 0b4d4a3e-55ab-4c8e-8e9b-3cf7a45a2b11"
}

type runsListCmd struct {
	listFlags
	Kind    string `enum:",ingest,remove,query,tool,research,import,reindex" default:"" help:"Only runs of this kind: ingest, remove, query, tool, research, import or reindex."`
	Status  string `enum:",running,completed,failed,canceled" default:"" help:"Only runs with this status: running, completed, failed or canceled."`
	Project string `short:"p" help:"Only runs of this project."`
	Limit   atMost `default:"50" help:"The largest number to list; 0 lists all."`
}

// Help returns the command's example.
func (runsListCmd) Help() string {
	return "Example:\n\n    cairn runs list --kind ingest --status failed"
}

// Run lists runs.
func (l runsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connectProject(ctx, &l.Project)
	if err != nil {
		return err
	}
	runs, err := pages(int(l.Limit), func(cursor string, limit int) (client.List[client.Run], error) {
		return c.Runs(ctx, client.RunQuery{Kind: l.Kind, Status: l.Status, Project: l.Project, Cursor: cursor, Limit: limit})
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Run]{Data: runs})
	}
	rows := make([][]string, 0, len(runs))
	for _, r := range runs {
		row := []string{r.ID, r.Kind, r.Status, r.ProjectID, l.when(a, r.CreatedAt)}
		if l.Wide {
			row = append(row, r.DocumentID, string(r.Stage))
		}
		rows = append(rows, append(row, runCause(r)))
	}
	header := []string{"ID", "KIND", "STATUS", "PROJECT", "STARTED"}
	if l.Wide {
		header = append(header, "DOCUMENT", "STAGE")
	}
	return l.table(a, listing{none: l.none(), header: append(header, "CAUSE"), rows: rows, spare: []string{"PROJECT", "STARTED"}})
}

// none returns what is shown if there are no runs.
func (l runsListCmd) none() string {
	if l.Kind != "" || l.Status != "" || l.Project != "" {
		return "no run matches"
	}
	return "no runs; cairn ingest and cairn ask start some"
}

// runCause returns why a run failed, or what it waits for.
func runCause(r client.Run) string {
	switch {
	case r.Error != nil:
		return r.Error.Error()
	case r.Waiting != nil:
		return waitingCause(*r.Waiting)
	}
	return ""
}

type runsShowCmd struct {
	clientFlags
	ID string `arg:"" help:"The run's id, or the beginning of it."`
}

// Help returns the command's example.
func (runsShowCmd) Help() string {
	return "Example:\n\n    cairn runs show 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run shows a run.
func (s runsShowCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connectRun(ctx, &s.ID)
	if err != nil {
		return err
	}
	r, err := c.Run(ctx, s.ID)
	if err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, r)
	}
	d := s.document(ctx, c, r.DocumentID)
	ended, failure, said, waiting, step := "", "", "", "", ""
	if r.EndedAt != nil {
		ended = terminal.Time(*r.EndedAt)
	}
	if r.Error != nil {
		failure, said = r.Error.Error(), r.Error.Detail
	}
	if r.Waiting != nil {
		waiting = documentWait(*r.Waiting)
		step = nextStep(client.Document{ID: r.DocumentID, Status: knowledge.StatusPending, Waiting: r.Waiting})
	}
	if r.Stage != "" && r.Error != nil {
		step = nextStep(d)
	}
	return terminal.Fields(a.stdout, "id", r.ID, "kind", r.Kind, "status", r.Status, "project", r.ProjectID,
		"document", r.DocumentID, "name", d.Name, "stage", string(r.Stage), "waiting", waiting, "next step", step,
		"started", terminal.Time(r.CreatedAt), "ended", ended, "error", failure, "endpoint", said, "usage", unlessNull(r.Usage), "progress", string(r.Progress),
		"workflow", r.WorkflowID, "operator", r.OperatorURL)
}

// document returns the document of a run, without fields if the run has none or it cannot
// be read, for example because it was removed.
func (runsShowCmd) document(ctx context.Context, c *client.Client, id string) client.Document {
	if id == "" {
		return client.Document{}
	}
	d, err := c.Document(ctx, id)
	if err != nil {
		return client.Document{}
	}
	return d
}

// unlessNull returns a JSON value as text, "" for null.
func unlessNull(value json.RawMessage) string {
	if string(value) == "null" {
		return ""
	}
	return string(value)
}

type runsWatchCmd struct {
	clientFlags
	ID    string `arg:"" help:"The run's id, or the beginning of it."`
	After int64  `default:"0" help:"Skip the events up to this id."`
}

// Help returns the command's details and an example.
func (runsWatchCmd) Help() string {
	return "With --json each event is one line. The exit code is 1 if the run failed or was cancelled.\n\nExample:\n\n" +
		"    cairn runs watch 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run follows a run.
func (w runsWatchCmd) Run(ctx context.Context, a *app) error {
	c, err := w.connectRun(ctx, &w.ID)
	if err != nil {
		return err
	}
	n := newNarrator(a, w.forPrograms())
	n.run, n.server = w.ID, strings.TrimRight(w.URL, "/")
	c = c.WithOutages(n.outage)
	stop := w.followPages(ctx, a, c, n)
	last, err := n.follow(func(yield func(client.Event, error) bool) {
		for e, err := range c.Events(ctx, w.ID, w.After) {
			if err == nil && w.forPrograms() {
				err = w.writeItem(a, eventLine{e.ID, e.Name, e.Data})
			}
			if !yield(e, err) {
				return
			}
		}
	})
	stop()
	n.clear()
	if n.answer != nil {
		err = errors.Join(err, n.answer.Close())
	}
	if errors.Is(err, errNoEvents) && w.After > 0 {
		return nil
	}
	if err != nil || w.forPrograms() {
		return err
	}
	if last.Name == client.EventToolEnd {
		if err := underTool(a.stdout, last); err != nil {
			return err
		}
	}
	if last.Name != client.EventCompleted {
		_, err = fmt.Fprintln(a.stdout, "completed")
		return err
	}
	var answer client.Answer
	if err := last.Decode(&answer); err != nil {
		return err
	}
	err = answerView{}.under(a.stdout, answer)
	n.researchEnd(w.ID)
	return err
}

// followPages shows a person the pages of the document that the run ingests, until stop is
// called.
func (w runsWatchCmd) followPages(ctx context.Context, a *app, c *client.Client, n *narrator) (stop func()) {
	if a.bar == nil || w.forPrograms() {
		return func() {}
	}
	watched, err := c.Run(ctx, w.ID)
	if err != nil || watched.Kind != "ingest" { // the events tell why the run cannot be read
		return func() {}
	}
	return followPages(ctx, c, watched.DocumentID, n.extracting, n.pages)
}

// eventLine is an event in the form of runs watch --json.
type eventLine struct {
	ID    int64           `json:"id"`
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

type runsCancelCmd struct {
	clientFlags
	ID string `arg:"" help:"The run's id, or the beginning of it."`
}

// Help returns the command's example.
func (runsCancelCmd) Help() string {
	return "Example:\n\n    cairn runs cancel 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run cancels a run.
func (s runsCancelCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connectRun(ctx, &s.ID)
	if err != nil {
		return err
	}
	if err := c.CancelRun(ctx, s.ID); err != nil {
		return err
	}
	if s.forPrograms() {
		return s.write(a, map[string]string{"id": s.ID})
	}
	_, err = fmt.Fprintln(a.stdout, "asked run", s.ID, "to stop")
	return err
}

// pageSize is the number of items that are requested at a time.
const pageSize = 500

// pages reads a list until it ends or has limit items (0 = no limit).
func pages[T any](limit int, get func(cursor string, limit int) (client.List[T], error)) ([]T, error) {
	all, cursor := []T{}, ""
	for {
		want := pageSize
		if limit > 0 {
			want = min(pageSize, limit-len(all))
		}
		list, err := get(cursor, want)
		if err != nil {
			return nil, err
		}
		all = append(all, list.Data...)
		cursor = list.NextCursor
		if cursor == "" || limit > 0 && len(all) >= limit {
			return all, nil
		}
	}
}
