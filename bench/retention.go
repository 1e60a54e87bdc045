package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// besideEvery is how often the retention measure writes something small and searches, and
// quietProbes how often it does so before the retention runs.
const (
	besideEvery = 100 * time.Millisecond
	quietProbes = 100
)

// retention measures how a project with many documents is hidden or removed by age: its speed,
// the transactions in which it writes, its histories, and what it costs others meanwhile. The
// rows of the documents are written with SQL. They have no passages and no originals.
func retention(ctx context.Context, b *bench) (figures []figure, err error) {
	d, err := b.agedDocuments(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	quiet, err := d.beside(ctx, quietProbes, nil)
	if err != nil {
		return nil, err
	}
	rules := map[string]any{"retention": map[string]any{"documents": []map[string]any{{"days": 30, "action": b.action}}}}
	if err := d.server.send(ctx, "PATCH", "/workspaces/default/projects/default", rules, nil); err != nil {
		return nil, err
	}
	swept, err := d.sweep(ctx, b)
	if err != nil {
		return nil, err
	}
	return []figure{
		higher(fmt.Sprintf("documents/s (%s, %d on %s)", b.action, b.aged, b.database), float64(b.aged)/swept.took.Seconds()),
		lower("longest write transaction ms, at most", swept.longest.quantile(1)).aim(1000),
		lower("p99 of write transactions ms, at most", swept.longest.quantile(.99)),
		lower("RSS highest MB, server", d.server.peakMB()).aim(1000),
		lower("longest history of its runs, events", float64(swept.history)).aim(10_000),
		lower("open workflows at most", float64(swept.open)).aim(200),
		lower("document accepted p95 ms, quiet", quiet.writes.quantile(.95)),
		lower("document accepted p95 ms, beside", swept.beside.writes.quantile(.95)).aim(500),
		lower("search p95 ms, quiet", quiet.searches.quantile(.95)),
		lower("search p95 ms, beside", swept.beside.searches.quantile(.95)).aim(500),
	}, nil
}

// swept is what a run of retention did, and what was seen meanwhile.
type swept struct {
	took          time.Duration
	beside        besides
	longest       *samples // transactions that write
	history, open int
}

// sweep starts a run of retention and follows it to its end.
func (d *aged) sweep(ctx context.Context, b *bench) (s swept, err error) {
	begin, ended := time.Now(), make(chan struct{})
	var due client.RetentionDue
	if err := d.server.send(ctx, "POST", "/workspaces/default/retention/run", map[string]any{}, &due); err != nil {
		return s, err
	}
	fmt.Fprintf(b.out, "the due documents were counted and the run was accepted after %.1f s\n\n", time.Since(begin).Seconds())
	writes := make(chan *samples, 1)
	go func() { writes <- d.rows.watchWrites(ctx, ended) }()
	followed := make(chan error, 1)
	go func() {
		defer close(ended)
		followed <- d.follow(ctx, b, due.RunID, &s)
	}()
	if s.beside, err = d.beside(ctx, 0, ended); err != nil {
		return s, err
	}
	if err = <-followed; err != nil {
		return s, err
	}
	s.took, s.longest = time.Since(begin), <-writes
	s.history, err = d.longestHistory(ctx)
	return s, err
}

// follow waits for the end of a run and notes how many workflows are open meanwhile.
func (d *aged) follow(ctx context.Context, b *bench, id string, s *swept) error {
	c, err := d.server.temporal(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	begin := time.Now()
	for shown := begin; ; time.Sleep(time.Second) {
		var run struct {
			Status knowledge.RunStatus
			Result knowledge.RetentionProgress
		}
		if err := d.server.send(ctx, "GET", "/runs/"+id, nil, &run); err != nil {
			return err
		}
		if run.Status != knowledge.RunRunning {
			if done := run.Result.Removed + run.Result.Inactive; run.Status != knowledge.RunCompleted || done != b.aged {
				return fmt.Errorf("the run is %s and has done %d documents, want %d", run.Status, done, b.aged)
			}
			return nil
		}
		if time.Since(shown) > time.Minute {
			shown = time.Now()
			fmt.Fprintf(b.out, "%.0f s: %.0f MB\n\n", time.Since(begin).Seconds(), d.server.residentMB())
		}
		open, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: "cairn", Query: "ExecutionStatus = 'Running'"})
		if err != nil {
			return err
		}
		s.open = max(s.open, int(open.GetCount()))
	}
}

// longestHistory is the number of events of the longest history of a run of retention.
func (d *aged) longestHistory(ctx context.Context) (longest int, err error) {
	c, err := d.server.temporal(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for e, err := range endedWorkflows(ctx, c) {
		if err != nil {
			return 0, err
		}
		if e.GetType().GetName() == "ApplyRetention" {
			longest = max(longest, int(e.HistoryLength))
		}
	}
	return longest, nil
}

// besides is how long requests took that others made.
type besides struct{ writes, searches *samples }

// beside makes small requests, count of them or until ended is closed.
func (d *aged) beside(ctx context.Context, count int, ended <-chan struct{}) (besides, error) {
	took := besides{&samples{}, &samples{}}
	for i := 0; count == 0 || i < count; i++ {
		begin := time.Now()
		if _, err := d.other.AddDocument(ctx, client.NewDocument{Project: "default", Name: fmt.Sprint("note ", i), Content: client.Content{Text: fmt.Sprintf("Note %d beside the others.", i)}}); err != nil {
			return took, err
		}
		took.writes.add(time.Since(begin))
		begin = time.Now()
		search := map[string]any{"text": "a note", "projectId": "default"}
		if err := d.server.send(ctx, "POST", "/workspaces/other/webhooks/retrieve-context", search, nil); err != nil {
			return took, err
		}
		took.searches.add(time.Since(begin))
		select {
		case <-ended:
			return took, nil
		case <-time.After(besideEvery):
		}
	}
	return took, nil
}
