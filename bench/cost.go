package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
)

// cost counts what a document and a question write: events in the histories of
// their workflows, transactions of the Temporal server, and calls of fsync. The
// server's own regular work in that time is counted too; it is little.
func cost(ctx context.Context, b *bench) (figures []figure, err error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, err
	}
	q, err := b.withDocuments(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	if err := q.rest(ctx); err != nil { // until Temporal's lists have the documents
		return nil, err
	}
	const documents, questions = 100, 60
	for _, part := range []struct {
		name string
		n    int
		work func() error
	}{
		{"document", documents, func() error { _, err := q.upload(ctx, list[200:200+documents]); return err }},
		{"question", questions, func() error { _, _, err := q.ask(ctx, 1, questions); return err }},
	} {
		before, err := q.histories(ctx)
		if err != nil {
			return nil, err
		}
		syncs, traced := q.traceSyncs(ctx, func() error { return errors.Join(part.work(), q.rest(ctx)) })
		if traced != nil && !errors.Is(traced, errNotTraced) {
			return nil, traced
		}
		after, err := q.histories(ctx)
		if err != nil {
			return nil, err
		}
		each := func(count int) float64 { return float64(count) / float64(part.n) }
		figures = append(figures, lower("history events a "+part.name, each(after.events-before.events)), lower("history KB a "+part.name, each(after.bytes-before.bytes)/1000))
		if traced != nil {
			fmt.Fprintf(b.out, "fsyncs of a %s were not counted: %v\n\n", part.name, traced)
			continue
		}
		figures = append(figures, lower("commits of Temporal a "+part.name, each(syncs.history)), lower("fsyncs a "+part.name, each(syncs.all)))
	}
	return figures, nil
}

// written is the length and the size of histories.
type written struct{ events, bytes int }

// histories adds up the histories of the workflows that have ended, once no workflow is open
// and the sums stay the same.
func (s *server) histories(ctx context.Context) (written, error) {
	if err := s.rest(ctx); err != nil {
		return written{}, err
	}
	c, err := s.temporal(ctx)
	if err != nil {
		return written{}, err
	}
	defer c.Close()
	last := written{events: -1}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		now, err := addHistories(ctx, c)
		if err != nil || now == last {
			return now, err
		}
		last = now
		if err := s.rest(ctx); err != nil {
			return written{}, err
		}
	}
	return written{}, errors.New("the histories still grew after a minute")
}

// temporal returns a client of the server's Temporal, which the caller closes.
func (s *server) temporal(ctx context.Context) (client.Client, error) {
	return client.DialContext(ctx, client.Options{
		HostPort: s.Endpoints().Temporal, Namespace: "cairn", Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
}

// addHistories adds up the histories of all ended workflows.
func addHistories(ctx context.Context, c client.Client) (sum written, err error) {
	for e, err := range endedWorkflows(ctx, c) {
		if err != nil {
			return written{}, err
		}
		sum.events += int(e.HistoryLength)
		sum.bytes += int(e.HistorySizeBytes)
	}
	return sum, nil
}

// endedWorkflows yields all workflows. The length and the size of the history of one
// that is open are 0.
func endedWorkflows(ctx context.Context, c client.Client) iter.Seq2[*workflow.WorkflowExecutionInfo, error] {
	return func(yield func(*workflow.WorkflowExecutionInfo, error) bool) {
		request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: "cairn", PageSize: 1000}
		for {
			page, err := c.ListWorkflow(ctx, request)
			if err != nil {
				yield(nil, fmt.Errorf("list workflows: %w", err))
				return
			}
			for _, e := range page.Executions {
				if !yield(e, nil) {
					return
				}
			}
			if request.NextPageToken = page.NextPageToken; len(page.NextPageToken) == 0 {
				return
			}
		}
	}
}
