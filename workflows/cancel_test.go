package workflows_test

import (
	"context"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/workflows"
)

// steps returns the activities of IngestDocument for a document of one batch that is
// not small. embed embeds its chunks. The inputs of FinishVersion are sent to ends.
func steps(embed any, ends chan<- ingestion.FinishInput) map[string]any {
	return map[string]any{
		"PrepareDocument": returning[ingestion.PrepareInput](ingestion.PrepareResult{}),
		"ExtractDocument": returning[ingestion.ExtractInput](ingestion.ExtractResult{Pages: 1, Chunks: 1}),
		"EmbedChunks":     embed,
		"PublishDocument": returning[ingestion.PublishInput](ingestion.PublishResult{Published: true}),
		"FinishVersion":   finish(ends),
		"DiscardVersion":  func(ingestion.DiscardInput) error { return nil },
	}
}

// returning returns an activity that always returns result.
func returning[In, Out any](result Out) func(In) (Out, error) {
	return func(In) (Out, error) { return result, nil }
}

// finish returns an activity that sends its input to ends.
func finish[T any](ends chan<- T) func(context.Context, T) error {
	return func(_ context.Context, in T) error {
		ends <- in
		return nil
	}
}

// failing returns an activity that fails when it is canceled.
func failing[In any](began chan<- struct{}) func(context.Context, In) error {
	return func(ctx context.Context, _ In) error {
		began <- struct{}{}
		untilCanceled(ctx)
		return temporal.NewApplicationError("the endpoint failed", "provider_failed")
	}
}

// TestCancel cancels running workflows. It is not parallel: while a server starts,
// the SDK's test environments report deadlocks.
func TestCancel(t *testing.T) {
	server := newServerTest(t)
	ingest := workflows.IngestInput{Workspace: "w", Project: "p", Document: "d", Tasks: []workflows.IngestTask{{Version: 1, Run: "r"}}}
	question := record.AnswerInput{RunRef: knowledge.RunRef{Workspace: "w", Project: "p", Run: "r"}, MaxToolTurns: 5}

	t.Run("a version whose worker died is canceled", func(t *testing.T) {
		began, over, ends := make(chan struct{}, 1), make(chan struct{}), make(chan ingestion.FinishInput, 1)
		run := server.start(t, workflows.IngestDocument, ingest, steps(func(ingestion.EmbedInput) error {
			began <- struct{}{}
			<-over // without a heartbeat, as in a process that is gone
			return nil
		}, ends))
		t.Cleanup(func() { close(over) })
		next(t, began)
		if err := server.client.SignalWorkflow(t.Context(), run.GetID(), "", workflows.SignalStop, workflows.IngestStop{Run: "r"}); err != nil {
			t.Fatal(err)
		}
		server.end(t, run)
		if end := next(t, ends); end.Status != "canceled" || end.Error.Code != knowledge.CodeCanceled {
			t.Errorf("the run ended as %s, error %+v", end.Status, end.Error)
		}
	})

	t.Run("a version ends only after its local step has ended", func(t *testing.T) { endsAfterItsLocalStep(t, server, ingest) })

	t.Run("a question whose model call fails after the cancel is canceled", func(t *testing.T) {
		began, ends := make(chan struct{}, 1), make(chan answering.FinishAnswerInput, 1)
		run := server.start(t, workflows.AnswerQuery, question, map[string]any{"CallModel": failing[answering.ModelCallInput](began), "FinishAnswer": finish(ends)})
		next(t, began)
		if err := server.client.CancelWorkflow(t.Context(), run.GetID(), ""); err != nil {
			t.Fatal(err)
		}
		server.end(t, run)
		if end := next(t, ends); end.Status != "canceled" || end.Code != knowledge.CodeCanceled {
			t.Errorf("the run ended as %s, code %s", end.Status, end.Code)
		}
	})

	t.Run("a question whose model call succeeds after the cancel is canceled, and the call is counted", func(t *testing.T) { countsTheCompletedCall(t, server, question) })

	t.Run("a question is answered anew for a message, although its model call has ended", func(t *testing.T) { answersAnew(t, server, question) })

	for _, test := range []struct {
		name      string
		published bool
		want      knowledge.RunStatus
	}{
		{"a version that is canceled before the switch to it is not published", false, "canceled"},
		{"a version that is canceled after the switch to it is published", true, "completed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			began, ends := make(chan struct{}, 1), make(chan ingestion.FinishInput, 1)
			acts := steps(func(ingestion.EmbedInput) error { return nil }, ends)
			acts["PublishDocument"] = func(ctx context.Context, _ ingestion.PublishInput) (ingestion.PublishResult, error) {
				began <- struct{}{}
				<-ctx.Done()
				return ingestion.PublishResult{Published: test.published}, nil
			}
			run := server.start(t, workflows.IngestDocument, ingest, acts)
			next(t, began)
			if err := server.client.SignalWorkflow(t.Context(), run.GetID(), "", workflows.SignalStop, workflows.IngestStop{Run: "r"}); err != nil {
				t.Fatal(err)
			}
			server.end(t, run)
			if end := next(t, ends); end.Status != test.want {
				t.Errorf("the run ended as %s", end.Status)
			}
		})
	}

	t.Run("a removal whose workflow is canceled is completed", func(t *testing.T) { completesTheRemoval(t, server) })
}

func endsAfterItsLocalStep(t *testing.T, server *serverTest, ingest workflows.IngestInput) {
	began, over, ends := make(chan struct{}, 1), make(chan struct{}), make(chan ingestion.FinishInput, 1)
	acts := steps(func(ingestion.EmbedInput) error { return nil }, ends)
	acts["PrepareDocument"] = func(ingestion.PrepareInput) (ingestion.PrepareResult, error) {
		began <- struct{}{}
		<-over // as on a disk that hangs
		return ingestion.PrepareResult{}, nil
	}
	run := server.start(t, workflows.IngestDocument, ingest, acts)
	next(t, began)
	if err := server.client.SignalWorkflow(t.Context(), run.GetID(), "", workflows.SignalStop, workflows.IngestStop{Run: "r"}); err != nil {
		t.Fatal(err)
	}
	server.awaitSignal(t, run)
	select {
	case end := <-ends:
		t.Fatalf("it ended as %s while a step ran", end.Status)
	default:
	}
	close(over)
	server.end(t, run)
	if end := next(t, ends); end.Status != "canceled" {
		t.Errorf("it ended as %s", end.Status)
	}
}

func countsTheCompletedCall(t *testing.T, server *serverTest, question record.AnswerInput) {
	began, ends := make(chan struct{}, 1), make(chan answering.FinishAnswerInput, 1)
	run := server.start(t, workflows.AnswerQuery, question, map[string]any{
		"CallModel": func(ctx context.Context, _ answering.ModelCallInput) (answering.ModelCallResult, error) {
			began <- struct{}{}
			<-ctx.Done() // without a heartbeat: the server tells the worker
			return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "the answer", Usage: knowledge.Usage{ModelCalls: 1}}, nil
		},
		"FinishAnswer": finish(ends),
	})
	next(t, began)
	if err := server.client.CancelWorkflow(t.Context(), run.GetID(), ""); err != nil {
		t.Fatal(err)
	}
	server.end(t, run)
	if end := next(t, ends); end.Status != "canceled" || end.Loop.Usage.ModelCalls != 1 {
		t.Errorf("the run ended as %s after %d model calls", end.Status, end.Loop.Usage.ModelCalls)
	}
}

func completesTheRemoval(t *testing.T, server *serverTest) {
	began, asked, ends := make(chan struct{}, 1), make(chan struct{}), make(chan ingestion.FinishInput, 1)
	done := func(ingestion.RemoveInput) error { return nil }
	in := workflows.RemoveInput{RemoveInput: ingestion.RemoveInput{Workspace: "w", Project: "p", Document: "d", Run: "r"}}
	run := server.start(t, workflows.RemoveDocument, in, map[string]any{
		"StopIngest": func(ctx context.Context, _ ingestion.StopInput) (ingestion.StopResult, error) {
			began <- struct{}{}
			<-asked
			return ingestion.StopResult{}, ctx.Err()
		},
		"RemoveEntries": done, "RemoveBlobs": done, "RemoveRows": done, "FinishRemoval": finish(ends),
	})
	next(t, began)
	if err := server.client.CancelWorkflow(t.Context(), run.GetID(), ""); err != nil {
		t.Fatal(err)
	}
	close(asked)
	server.end(t, run)
	if end := next(t, ends); end.Status != "completed" || end.Items[0].Topic != "runEnded" {
		t.Errorf("the run ended as %s, with a %s", end.Status, end.Items[0].Topic)
	}
}
