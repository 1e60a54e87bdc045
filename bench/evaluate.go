package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
)

// The sizes of the evaluate measure.
const (
	besideQuestions = 40  // questions of people, alone and beside two evaluations
	shortItems      = 100 // items of a short evaluation
)

// evaluations measures an evaluation by the judge that needs no model: a short one, a long one, and
// how much two of them delay the questions of people.
func evaluations(ctx context.Context, b *bench) (figures []figure, err error) {
	q, err := b.withDocuments(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	c, err := q.Client()
	if err != nil {
		return nil, err
	}
	if _, _, err := q.ask(ctx, 1, 20); err != nil { // to warm up
		return nil, err
	}
	alone, _, err := q.ask(ctx, 1, besideQuestions)
	if err != nil {
		return nil, err
	}
	_, short, err := q.evaluate(ctx, c, shortItems)
	if err != nil {
		return nil, err
	}
	busy, err := q.besideTwo(ctx, c, b.items/4)
	if err != nil {
		return nil, err
	}
	before := q.cpu()
	id, long, err := q.evaluate(ctx, c, b.items)
	if err != nil {
		return nil, err
	}
	used := q.cpu() - before
	longest, runs, err := q.longestEvaluation(ctx, id)
	if err != nil {
		return nil, err
	}
	n := fmt.Sprintf(", %d items", b.items)
	return []figure{
		lower(fmt.Sprintf("%d items s", shortItems), short.Seconds()),
		lower("s"+n, long.Seconds()),
		higher("items/s"+n, float64(b.items)/long.Seconds()),
		lower("CPU ms an item", 1000*used/float64(b.items)),
		lower("longest history, events"+n, float64(longest)).aim(8000),
		higher("runs of its workflow"+n, float64(runs)),
		lower("RSS highest MB, server", q.peakMB()),
		lower("first token p50 ms, alone", alone.token.quantile(.5)),
		lower("first token p50 ms, beside two evaluations", busy.token.quantile(.5)),
		lower("end p50 ms, alone", alone.end.quantile(.5)),
		lower("end p50 ms, beside two evaluations", busy.end.quantile(.5)),
		lower("end p95 ms, beside two evaluations", busy.end.quantile(.95)),
	}, nil
}

// startEvaluation starts an evaluation of so many questions, and returns its id.
func (q *questioned) startEvaluation(ctx context.Context, c *client.Client, count int) (string, error) {
	items := make([]map[string]string, 0, count)
	for i := range count {
		items = append(items, map[string]string{"id": fmt.Sprint("q", i), "question": fmt.Sprintf("%s (%d)", q.texts[i%len(q.texts)], i), "reference": "It is said in 12 words."})
	}
	encoded, err := json.Marshal(items)
	if err != nil {
		return "", err
	}
	set, err := c.AddTestSet(ctx, client.NewTestSet{ProjectID: "default", Name: fmt.Sprint("set ", count), Items: encoded})
	if err != nil {
		return "", err
	}
	e, err := c.StartEvaluation(ctx, client.NewEvaluation{TestSetID: set.ID})
	return e.ID, err
}

// evaluate evaluates so many questions, and returns how long that took.
func (q *questioned) evaluate(ctx context.Context, c *client.Client, count int) (id string, took time.Duration, err error) {
	begin := time.Now()
	if id, err = q.startEvaluation(ctx, c, count); err != nil {
		return "", 0, err
	}
	for {
		e, err := c.Evaluation(ctx, id, "", 1)
		switch {
		case err != nil:
			return id, 0, err
		case e.Status == "completed" && e.Progress.Failed == 0:
			return id, time.Since(begin), nil
		case e.Status != "running":
			return id, 0, fmt.Errorf("the evaluation is %s, %+v: %w", e.Status, e.Progress, e.Error)
		}
		select {
		case <-ctx.Done():
			return id, 0, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// besideTwo asks questions of people while two evaluations run, which it then cancels.
func (q *questioned) besideTwo(ctx context.Context, c *client.Client, count int) (*timings, error) {
	var ids []string
	for range 2 {
		id, err := q.startEvaluation(ctx, c, count)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if _, _, err := q.ask(ctx, 1, 5); err != nil { // until both run
		return nil, err
	}
	busy, _, err := q.ask(ctx, 1, besideQuestions)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		e, err := c.Evaluation(ctx, id, "", 1)
		if err == nil && e.Status != "running" {
			err = fmt.Errorf("the evaluation was %s before the questions had ended: evaluate more items", e.Status)
		}
		if err == nil {
			_, err = c.ControlEvaluation(ctx, id, "cancel")
		}
		if err != nil {
			return nil, err
		}
	}
	return busy, q.rest(ctx)
}

// longestEvaluation returns the length of the longest history of an evaluation's workflow, and the
// number of its runs.
func (q *questioned) longestEvaluation(ctx context.Context, id string) (longest, runs int, err error) {
	c, err := q.temporal(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	for e, err := range endedWorkflows(ctx, c) {
		if err != nil {
			return 0, 0, err
		}
		if e.Execution.WorkflowId == "evaluate/default/"+id {
			longest, runs = max(longest, int(e.HistoryLength)), runs+1
		}
	}
	return longest, runs, nil
}
