package dispatch_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/dispatch"
	"github.com/cairn-rag/cairn/internal/embedded"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/workflows"
)

// histories is a Temporal server and a worker that runs ingests which end at once, unless
// their document is "failed" or "running".
type histories struct {
	*testing.T
	client client.Client
}

func startHistories(t *testing.T) histories {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := embedded.Start(t.Context(), embedded.Config{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", UIListen: "127.0.0.1:0", Logger: log,
		SearchAttributes: map[string]enumspb.IndexedValueType{
			workflows.AttributeStatus: enumspb.INDEXED_VALUE_TYPE_KEYWORD, workflows.AttributeWorkspace: enumspb.INDEXED_VALUE_TYPE_KEYWORD,
			workflows.AttributeProject: enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	c, err := server.Dial(t.Context(), log, func(*client.Options) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w := worker.New(c, workflows.QueueIngest, worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, document string) error {
		switch document {
		case "failed":
			return workflow.UpsertTypedSearchAttributes(ctx, workflows.KeyStatus.ValueSet("failed"))
		case "running":
			return workflow.Sleep(ctx, time.Hour)
		}
		return nil
	}, workflow.RegisterOptions{Name: "IngestDocument"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return histories{t, c}
}

func (h histories) ingest(document string) {
	h.Helper()
	h.ingestInto("", document)
}

func (h histories) ingestInto(project, document string) {
	h.Helper()
	options := client.StartWorkflowOptions{ID: knowledge.KindIngest.WorkflowID("w", document), TaskQueue: workflows.QueueIngest}
	if project != "" {
		options.TypedSearchAttributes = temporal.NewSearchAttributes(workflows.KeyWorkspace.ValueSet("w"), workflows.KeyProject.ValueSet(project))
	}
	run, err := h.client.ExecuteWorkflow(h.Context(), options, "IngestDocument", document)
	if err == nil && document != "running" {
		err = run.Get(h.Context(), nil)
	}
	if err != nil {
		h.Fatal(err)
	}
}

// await calls work until Temporal knows of the ingests of the documents or not.
func (h histories) await(d *dispatch.Dispatcher, work func(context.Context) error, want map[string]bool) {
	h.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if err := work(h.Context()); err != nil {
			h.Fatal(err)
		}
		different := ""
		for document, known := range want {
			_, got, err := d.Running(h.Context(), knowledge.KindIngest.WorkflowID("w", document))
			if err != nil {
				h.Fatal(err)
			}
			if got != known {
				different = document
			}
		}
		if different == "" {
			return
		}
		if time.Now().After(end) {
			h.Fatalf("the history of the ingest of %s is there: %t", different, !want[different])
		}
	}
}

func TestHistoriesAreDeleted(t *testing.T) {
	t.Parallel()
	h := startHistories(t)
	for _, document := range []string{"a", "b", "b", "failed", "running"} {
		h.ingest(document)
	}
	d := dispatch.New(h.client, "cairn", "test")
	forget := func(ctx context.Context) error { return d.ForgetIngests(ctx, "w", "b") }
	if err := forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.await(d, func(context.Context) error { return nil }, map[string]bool{"b": true}) // somebody else owns them
	d.OwnsHistories()
	h.await(d, forget, map[string]bool{"a": true, "b": false})
	running := func(ctx context.Context) error { return d.ForgetIngests(ctx, "w", "running") }
	h.await(d, running, map[string]bool{"running": true})
	older := func(ctx context.Context) error { return d.DropHistories(ctx, time.Now().Add(-time.Hour)) }
	h.await(d, older, map[string]bool{"a": true})
	all := func(ctx context.Context) error { return d.DropHistories(ctx, time.Now()) }
	h.await(d, all, map[string]bool{"a": false, "failed": true, "running": true})
}

func TestHistoriesOfAProjectAreDeleted(t *testing.T) {
	t.Parallel()
	h := startHistories(t)
	for _, document := range []string{"a", "failed", "running"} {
		h.ingestInto("it's gone", document)
	}
	h.ingestInto("stays", "b")
	d := dispatch.New(h.client, "cairn", "test") // in a cluster too, which owns its histories
	open := 0
	forget := func(ctx context.Context) (err error) {
		open, err = d.ForgetProject(ctx, "w", "it's gone")
		return err
	}
	h.await(d, forget, map[string]bool{"a": false, "failed": false, "running": true, "b": true})
	if open != 1 {
		t.Errorf("%d workflows of the project are open, want 1", open)
	}
	if err := h.client.TerminateWorkflow(t.Context(), knowledge.KindIngest.WorkflowID("w", "running"), "", ""); err != nil {
		t.Fatal(err)
	}
	h.await(d, forget, map[string]bool{"running": false, "b": true})
	if err := forget(t.Context()); err != nil || open != 0 {
		t.Errorf("a second time %d workflows are open, %v", open, err)
	}
}

func TestHistoryOfARunIsDeleted(t *testing.T) {
	t.Parallel()
	h := startHistories(t)
	h.ingest("a")
	d := dispatch.New(h.client, "cairn", "test")
	r := store.Run{Workspace: "w", ID: "r", Kind: knowledge.KindIngest, WorkflowID: knowledge.KindIngest.WorkflowID("w", "a")}
	forget := func(ctx context.Context) error { return d.ForgetRun(ctx, r) } // again and again
	h.await(d, forget, map[string]bool{"a": false})
}
