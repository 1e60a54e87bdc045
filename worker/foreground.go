package worker

import (
	"context"

	"go.temporal.io/sdk/interceptor"

	"github.com/cairn-rag/cairn/activities/ingestion"
)

// noteForeground notes the activities of a queue as steps that imports give way to.
type noteForeground struct {
	interceptor.WorkerInterceptorBase
	foreground *ingestion.Foreground
}

// InterceptActivity implements interceptor.WorkerInterceptor.
func (n *noteForeground) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	noted := &notedActivity{foreground: n.foreground}
	noted.Next = next
	return noted
}

// notedActivity is an activity whose begin and end are noted.
type notedActivity struct {
	interceptor.ActivityInboundInterceptorBase
	foreground *ingestion.Foreground
}

// ExecuteActivity implements interceptor.ActivityInboundInterceptor.
func (a *notedActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	a.foreground.Note()
	defer a.foreground.Note()
	return a.Next.ExecuteActivity(ctx, in)
}
