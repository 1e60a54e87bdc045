package namespace

import (
	"context"
	"slices"

	commandpb "go.temporal.io/api/command/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// The header by which a server with one shard tells which writes wait for others, and the
// value of those that wait.
const (
	CallerHeader = "caller-type"
	Preemptable  = "preemptable"
)

// Yield lets work of a client that nobody's first word waits for pass its turn. A server with
// one shard writes one transition of a workflow at a time. Starts, steps and words of
// workflows on the queue first go before all else: its own workflows' ends, and what happens
// on other queues, which keep their order.
func Yield(first string) func(*client.Options) {
	return func(o *client.Options) {
		o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, request, reply any, c *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
				if Yields(request, first) {
					ctx = metadata.AppendToOutgoingContext(ctx, CallerHeader, Preemptable)
				}
				return invoke(ctx, method, request, reply, c, options...)
			}))
	}
}

// Yields reports whether the transition that a request leads to waits for the transitions of the queue
// first. A poll of a sticky queue does: the first task of a workflow comes with its start, or
// from the queue itself.
func Yields(request any, first string) bool {
	switch r := request.(type) {
	case *workflowservice.StartWorkflowExecutionRequest:
		return r.GetTaskQueue().GetName() != first
	case *workflowservice.SignalWithStartWorkflowExecutionRequest:
		return r.GetTaskQueue().GetName() != first
	case *workflowservice.PollWorkflowTaskQueueRequest:
		return r.GetTaskQueue().GetName() != first
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		// The answer that asks for more time must not be late.
		return !r.GetForceCreateNewWorkflowTask() && !slices.ContainsFunc(r.GetCommands(), func(c *commandpb.Command) bool {
			return c.GetScheduleActivityTaskCommandAttributes().GetTaskQueue().GetName() == first
		})
	}
	return false
}
