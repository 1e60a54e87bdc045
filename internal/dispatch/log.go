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

// errClosed says that a workflow has ended, one way or another.
var errClosed = errors.New("the workflow is closed")

// Events reads the log in a workflow, also of one that has closed.
func (d *Dispatcher) Events(ctx context.Context, workflowID string, from int64) (stream.EventsPage, error) {
	return d.events(ctx, workflowID, from, enumspb.QUERY_REJECT_CONDITION_NONE)
}

// openEvents reads the log in a workflow that is open; otherwise it gives
// errClosed, so that a workflow which was ended from outside does not look like
// one that has nothing to say.
func (d *Dispatcher) openEvents(ctx context.Context, workflowID string, from int64) (stream.EventsPage, error) {
	return d.events(ctx, workflowID, from, enumspb.QUERY_REJECT_CONDITION_NOT_OPEN)
}

// events queries a log. A worker that is busy with the workflow answers one
// query at a time: a refusal means again, with jitter.
func (d *Dispatcher) events(ctx context.Context, workflowID string, from int64, reject enumspb.QueryRejectCondition) (stream.EventsPage, error) {
	var page stream.EventsPage
	request := &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: workflowID, QueryType: stream.QueryEvents, QueryRejectCondition: reject,
		Args: []any{stream.PollInput{Topics: []string{}, FromOffset: from}},
	}
	for tries := 0; ; tries++ {
		response, err := d.client.QueryWorkflowWithOptions(ctx, request)
		var busy *serviceerror.ResourceExhausted
		if errors.As(err, &busy) && tries < 20 {
			select {
			case <-time.After(10*time.Millisecond + rand.N(40*time.Millisecond)):
				continue
			case <-ctx.Done():
				return page, ctx.Err()
			}
		}
		if err == nil && response.QueryRejected != nil {
			err = errClosed
		}
		if err != nil {
			return page, fmt.Errorf("query %s: %w", workflowID, err)
		}
		if err := response.QueryResult.Get(&page); err != nil {
			return page, fmt.Errorf("query %s: %w", workflowID, err)
		}
		return page, nil
	}
}
