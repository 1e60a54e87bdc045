package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/stream"
)

// errClosed is the error for a workflow that is not open.
var errClosed = errors.New("the workflow is closed")

// How often a query is tried. A worker that is busy with the workflow refuses
// for as long as its task takes. A workflow that a worker fails to replay fails
// each time, one whose history could not be fetched does not.
const (
	triesWhileBusy   = 20
	triesWhileFailed = 5
)

// Events reads a page of the log in a workflow, also of a closed one. It fails
// with stream.ErrLogLost if the log cannot be read any more, by anybody: Temporal
// does not know the workflow, or its workers fail to replay it.
func (d *Dispatcher) Events(ctx context.Context, workflowID string, from int64) (stream.EventsPage, error) {
	return d.events(ctx, workflowID, from, enumspb.QUERY_REJECT_CONDITION_NONE)
}

// openEvents reads a page of the log in an open workflow. It fails with errClosed
// if the workflow is closed, so that one which was ended from outside does not
// look like one that has no news.
func (d *Dispatcher) openEvents(ctx context.Context, workflowID string, from int64) (stream.EventsPage, error) {
	return d.events(ctx, workflowID, from, enumspb.QUERY_REJECT_CONDITION_NOT_OPEN)
}

func (d *Dispatcher) events(ctx context.Context, workflowID string, from int64, reject enumspb.QueryRejectCondition) (stream.EventsPage, error) {
	var page stream.EventsPage
	request := &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: workflowID, QueryType: stream.QueryEvents, QueryRejectCondition: reject,
		Args: []any{stream.PollInput{Topics: []string{}, FromOffset: from}},
	}
	busy, failed := 0, 0
	for {
		response, err := d.client.QueryWorkflowWithOptions(ctx, request)
		switch {
		case err == nil && response.QueryRejected != nil:
			return page, fmt.Errorf("query %s: %w", workflowID, errClosed)
		case err == nil:
			if err := response.QueryResult.Get(&page); err != nil {
				return page, fmt.Errorf("query %s: %w", workflowID, err)
			}
			return page, nil
		case isMissing(err):
			return page, fmt.Errorf("query %s: %w: %w", workflowID, stream.ErrLogLost, err)
		case isBusy(err) && busy < triesWhileBusy:
			busy++
		case isQueryFailure(err) && failed < triesWhileFailed-1:
			failed++
		case isQueryFailure(err):
			return page, fmt.Errorf("query %s: %w: %w", workflowID, stream.ErrLogLost, err)
		default:
			return page, wrap(err, "query", workflowID)
		}
		select {
		case <-time.After(10*time.Millisecond + rand.N(40*time.Millisecond)):
		case <-ctx.Done():
			return page, ctx.Err()
		}
	}
}

func isBusy(err error) bool {
	var exhausted *serviceerror.ResourceExhausted
	return errors.As(err, &exhausted)
}

// isQueryFailure reports whether a worker answered that it cannot replay the
// workflow, or the server that no worker ever could: it closed before its first
// task, or its tasks fail.
func isQueryFailure(err error) bool {
	var failed *serviceerror.QueryFailed
	var notReady *serviceerror.WorkflowNotReady
	return errors.As(err, &failed) || errors.As(err, &notReady)
}
