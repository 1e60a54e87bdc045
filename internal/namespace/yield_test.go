package namespace_test

import (
	"context"
	"net"
	"slices"
	"testing"

	commandpb "go.temporal.io/api/command/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/common/headers"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/cairn-rag/cairn/internal/namespace"
)

func TestYield(t *testing.T) {
	t.Parallel()
	on := func(queue string) *taskqueuepb.TaskQueue { return &taskqueuepb.TaskQueue{Name: queue} }
	completed := func(force bool, commands ...*commandpb.Command) *workflowservice.RespondWorkflowTaskCompletedRequest {
		return &workflowservice.RespondWorkflowTaskCompletedRequest{ForceCreateNewWorkflowTask: force, Commands: commands}
	}
	step := func(queue string) *commandpb.Command {
		return &commandpb.Command{Attributes: &commandpb.Command_ScheduleActivityTaskCommandAttributes{
			ScheduleActivityTaskCommandAttributes: &commandpb.ScheduleActivityTaskCommandAttributes{TaskQueue: on(queue)},
		}}
	}
	end := &commandpb.Command{Attributes: &commandpb.Command_CompleteWorkflowExecutionCommandAttributes{
		CompleteWorkflowExecutionCommandAttributes: &commandpb.CompleteWorkflowExecutionCommandAttributes{},
	}}
	for name, at := range map[string]struct {
		request any
		yields  bool
	}{
		"the start of a question":           {&workflowservice.StartWorkflowExecutionRequest{TaskQueue: on("first")}, false},
		"another start":                     {&workflowservice.StartWorkflowExecutionRequest{TaskQueue: on("other")}, true},
		"a start by a signal":               {&workflowservice.SignalWithStartWorkflowExecutionRequest{TaskQueue: on("other")}, true},
		"the first task":                    {&workflowservice.PollWorkflowTaskQueueRequest{TaskQueue: on("first")}, false},
		"a later task":                      {&workflowservice.PollWorkflowTaskQueueRequest{TaskQueue: &taskqueuepb.TaskQueue{Name: "host:1", NormalName: "first"}}, true},
		"a task that begins a step":         {completed(false, step("first")), false},
		"a task that begins another step":   {completed(false, step("other")), true},
		"a task that ends the workflow":     {completed(false, end), true},
		"a task that takes more time":       {completed(true), false},
		"the words of a model":              {&workflowservice.SignalWorkflowExecutionRequest{}, false},
		"the result of a step":              {&workflowservice.RespondActivityTaskCompletedRequest{}, false},
		"a sign that a step is still alive": {&workflowservice.RecordActivityTaskHeartbeatRequest{}, false},
	} {
		if got := namespace.Yields(at.request, "first"); got != at.yields {
			t.Errorf("%s: yields = %t, want %t", name, got, at.yields)
		}
	}
}

// frontend keeps the callers of the starts it gets.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer

	callers []string
}

func (f *frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (f *frontend) StartWorkflowExecution(ctx context.Context, _ *workflowservice.StartWorkflowExecutionRequest) (*workflowservice.StartWorkflowExecutionResponse, error) {
	f.callers = append(f.callers, metadata.ValueFromIncomingContext(ctx, headers.CallerTypeHeaderName)...)
	return &workflowservice.StartWorkflowExecutionResponse{RunId: "1"}, nil
}

func TestYieldReachesTheServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, service := grpc.NewServer(), &frontend{}
	workflowservice.RegisterWorkflowServiceServer(server, service)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	t.Cleanup(server.Stop)
	o := client.Options{HostPort: listener.Addr().String()}
	namespace.Yield("first")(&o)
	c, err := client.DialContext(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, queue := range []string{"first", "other"} {
		if _, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: queue}, "Any"); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{headers.CallerTypePreemptable}; !slices.Equal(service.callers, want) {
		t.Errorf("the server was told of the callers %q, want %q", service.callers, want)
	}
}
