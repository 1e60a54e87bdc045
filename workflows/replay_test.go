package workflows_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/cairn-rag/cairn/workflows"
)

// TestReplay replays recorded histories against the current code. A change that
// running workflows would not survive fails here. After an intended change, make
// histories records the histories again from the built binary.
func TestReplay(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	want := []string{
		"answer_query", "answer_query_agent", "answer_query_as_agent", "answer_query_attachments", "answer_query_summarized", "answer_query_tools", "bulk_import", "bulk_import_retry", "deep_research", "deliver_webhook", "import_page", "ingest_document", "reindex_project", "remove_document", "research_question", "research_question_web", "run_log", "run_tool", "sweep",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatalf("histories (-want +recorded):\n%s", diff)
	}
	for i, path := range paths {
		t.Run(names[i], func(t *testing.T) {
			t.Parallel()
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflow(workflows.IngestDocument)
			replayer.RegisterWorkflow(workflows.RemoveDocument)
			replayer.RegisterWorkflow(workflows.ReindexProject)
			replayer.RegisterWorkflow(workflows.BulkImport)
			replayer.RegisterWorkflow(workflows.ImportPage)
			replayer.RegisterWorkflow(workflows.AnswerQuery)
			replayer.RegisterWorkflow(workflows.RunTool)
			replayer.RegisterWorkflow(workflows.DeepResearch)
			replayer.RegisterWorkflow(workflows.ResearchQuestion)
			replayer.RegisterWorkflow(workflows.RunLog)
			replayer.RegisterWorkflow(workflows.DeliverWebhook)
			replayer.RegisterWorkflow(workflows.Sweep)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), path); err != nil {
				t.Errorf("%s can no longer be replayed: %v", names[i], err)
			}
		})
	}
}
