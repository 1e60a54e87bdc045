package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// fewRuns is how many runs are printed one by one.
const fewRuns = 10

// printRuns prints the runs that work on documents.
func printRuns(out io.Writer, runs []client.StartedRun) error {
	for i, run := range runs {
		if i == fewRuns {
			_, err := fmt.Fprintf(out, "and %s more: cairn runs list --status running\n", terminal.Count(len(runs)-i, "run"))
			return err
		}
		of := "document " + run.DocumentID
		if run.DocumentID == "" {
			of = fmt.Sprintf("reindex of project %s, %s", run.ProjectID, terminal.Count(run.Documents, "document"))
		}
		if _, err := fmt.Fprintf(out, "run %s: %s\n", run.RunID, of); err != nil {
			return err
		}
	}
	return nil
}

// endedRun is a run that has ended, with the outcomes of its documents.
type endedRun struct {
	client.StartedRun
	Status    string `json:"status"` // completed, failed or canceled
	Published int    `json:"published"`
	Failed    int    `json:"failed"` // with those that were canceled or refused
	Error     string `json:"error,omitempty"`
}

// awaited is the result of an action on documents whose runs have ended.
type awaited struct {
	Matched   int              `json:"matched"`
	Started   int              `json:"started"`
	Published int              `json:"published"`
	Failed    int              `json:"failed"`
	Refused   []client.Refusal `json:"refused"`
	Runs      []endedRun       `json:"runs"`
}

// await follows the runs that an action has started, and reports the outcomes. A document
// that was not published is an error.
func (d documentAction) await(ctx context.Context, a *app, c *client.Client, do doing, started client.SelectionResult) error {
	out, bar := a.stderr, a.bar
	switch {
	case d.forPrograms():
		out, bar = io.Discard, nil
	case len(started.Runs) == 0:
		return d.report(a, do, started)
	default:
		if err := d.print(a, do, started); err != nil {
			return err
		}
	}
	meter := terminal.NewMeter(out, bar)
	f := followedRuns{client: c.WithOutages(func(err error) { meter.Note(a.stderr, outageText(err)) }), meter: meter, often: bar != nil, states: map[string]runState{}}
	runs, err := f.all(ctx, started.Runs)
	if err = errors.Join(err, meter.Close()); err != nil {
		fmt.Fprintln(a.stderr, "The server continues with the runs.") // the error follows in any case
		return err
	}
	end := awaited{Matched: started.Matched, Started: started.Started, Refused: started.Refused, Runs: runs}
	covered := 0
	for _, run := range runs {
		covered += run.Documents
		end.Published, end.Failed = end.Published+run.Published, end.Failed+run.Failed
	}
	if err := d.writeAwaited(a, do, end); err != nil {
		return err
	}
	switch {
	case end.Failed > 0:
		return fmt.Errorf("%d of %s failed", end.Failed, terminal.Count(end.Started, "document"))
	case covered < end.Started:
		return fmt.Errorf("%s more were started, and not awaited: cairn runs list --status running", terminal.Count(end.Started-covered, "run"))
	}
	return d.refusals(started)
}

func (d documentAction) writeAwaited(a *app, do doing, end awaited) error {
	if d.forPrograms() {
		return d.write(a, end)
	}
	for _, run := range end.Runs {
		if run.Error == "" {
			continue
		}
		name := run.DocumentID
		if name == "" {
			name = "project " + run.ProjectID
		}
		if err := terminal.Outcome(a.stdout, outcomeFailed, name, run.Error); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.stdout, "%s %d of %s, %d failed\n", do.past, end.Published, terminal.Count(end.Started, "document"), end.Failed)
	return err
}

// runState is how far a run is.
type runState struct{ done, failed int }

// followedRuns follows runs, and shows how far all of them are.
type followedRuns struct {
	client *client.Client
	meter  *terminal.Meter
	often  bool // there is a bar: each change is shown
	total  int  // documents of all runs

	mu     sync.Mutex
	states map[string]runState // by run
	shown  time.Time
}

// linesEvery is the least time between two lines of progress where there is no bar.
const linesEvery = 2 * time.Second

// all blocks until the runs have ended, and returns them in their order.
func (f *followedRuns) all(ctx context.Context, runs []client.StartedRun) ([]endedRun, error) {
	for _, run := range runs {
		f.total += run.Documents
	}
	ended := make([]endedRun, len(runs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(waiting)
	for i, run := range runs {
		group.Go(func() (err error) {
			if ended[i], err = f.one(ctx, run); err == nil {
				f.note(run.RunID, runState{run.Documents, ended[i].Failed})
			}
			return err
		})
	}
	return ended, group.Wait()
}

func (f *followedRuns) one(ctx context.Context, run client.StartedRun) (endedRun, error) {
	if run.DocumentID != "" {
		last, err := f.client.Wait(ctx, run.RunID, nil)
		if err != nil {
			return endedRun{}, err
		}
		return endedDocument(run, last)
	}
	stop := f.watch(ctx, run.RunID)
	last, err := f.client.Wait(ctx, run.RunID, nil)
	stop()
	if err != nil {
		return endedRun{}, err
	}
	return endedReindex(run, last)
}

// endedDocument returns the outcome in the last event of a document's run.
func endedDocument(run client.StartedRun, last client.Event) (endedRun, error) {
	o, err := ended(outcome{Document: &client.Document{}}, last)
	end := endedRun{StartedRun: run, Status: string(knowledge.RunFailed), Failed: 1, Error: o.Error}
	if o.Outcome == outcomePublished {
		end.Status, end.Published, end.Failed = string(knowledge.RunCompleted), 1, 0
	}
	return end, err
}

// endedReindex returns the outcome in the last event of a reindex.
func endedReindex(run client.StartedRun, last client.Event) (endedRun, error) {
	end := endedRun{StartedRun: run, Status: string(knowledge.RunFailed), Failed: run.Documents}
	if last.Name == client.EventError {
		var failure client.Failure
		err := last.Decode(&failure)
		end.Error = failure.Error()
		return end, err
	}
	var finished client.Ended
	if err := last.Decode(&finished); err != nil {
		return end, err
	}
	var p knowledge.ReindexProgress
	if len(finished.Result) > 0 {
		if err := json.Unmarshal(finished.Result, &p); err != nil {
			return end, fmt.Errorf("decode the result of run %s: %w", run.RunID, err)
		}
	}
	end.Status, end.Published, end.Failed = finished.Status, max(p.Embedded, p.Published), p.Failed+p.Canceled+p.Refused
	switch {
	case end.Status != string(knowledge.RunCompleted):
		end.Error = "the run ended as " + end.Status
		if e := finished.Error; e != nil {
			end.Error = fmt.Sprintf("%s: %s", e.Code, e.Message)
		}
		end.Failed = max(end.Failed, run.Documents-end.Published)
	case end.Failed > 0:
		end.Error = fmt.Sprintf("%d failed, %d canceled, %d refused; cairn runs show %s names the refused ones", p.Failed, p.Canceled, p.Refused, run.RunID)
	}
	return end, nil
}

// watch shows how far a reindex is until stop is called: its events do not tell. Requests
// that fail are left out.
func (f *followedRuns) watch(ctx context.Context, id string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(linesEvery)
		defer ticker.Stop()
		for {
			var p knowledge.ReindexProgress
			run, err := f.client.Run(ctx, id)
			if err == nil && json.Unmarshal(run.Progress, &p) == nil {
				ended := p.Published + p.Failed + p.Canceled
				f.note(id, runState{max(p.Embedded, ended) + p.Refused, p.Failed + p.Canceled + p.Refused})
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return func() { cancel(); <-stopped }
}

// note shows how far the runs are, one of which has changed.
func (f *followedRuns) note(id string, now runState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if before, known := f.states[id]; known && before == now {
		return
	}
	f.states[id] = now
	if !f.often && time.Since(f.shown) < linesEvery {
		return
	}
	f.shown = time.Now()
	var all runState
	for _, state := range f.states {
		all.done, all.failed = all.done+state.done, all.failed+state.failed
	}
	// Progress that cannot be written is no reason to stop.
	_ = f.meter.Show(int64(all.done), int64(f.total), fmt.Sprintf("%d failed", all.failed))
}
