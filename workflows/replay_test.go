package workflows_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
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
	paths := glob(t, "testdata", "histories", "*.json")
	var names []string
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	want := []string{
		"answer_query", "answer_query_agent", "answer_query_as_agent", "answer_query_attachments", "answer_query_steered", "answer_query_steps", "answer_query_summarized", "answer_query_tools", "apply_retention", "bulk_import", "bulk_import_retry", "deep_research", "deep_research_webhook", "deliver_webhook", "end_grants", "erase_subject", "evaluate_project", "evaluate_project_offline", "export_subject", "follow_place", "generate_test_set", "import_page", "ingest_document", "ingest_document_steps", "reindex_project", "remove_document", "remove_project", "reseal_blobs", "research_question", "research_question_given", "research_question_web", "run_log", "run_tool", "sweep",
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
			replayer.RegisterWorkflow(workflows.RemoveProject)
			replayer.RegisterWorkflow(workflows.ReindexProject)
			replayer.RegisterWorkflow(workflows.BulkImport)
			replayer.RegisterWorkflow(workflows.ImportPage)
			replayer.RegisterWorkflow(workflows.AnswerQuery)
			replayer.RegisterWorkflow(workflows.RunTool)
			replayer.RegisterWorkflow(workflows.DeepResearch)
			replayer.RegisterWorkflow(workflows.ResearchQuestion)
			replayer.RegisterWorkflow(workflows.RunLog)
			replayer.RegisterWorkflow(workflows.EvaluateProject)
			replayer.RegisterWorkflow(workflows.GenerateTestSet)
			replayer.RegisterWorkflow(workflows.DeliverWebhook)
			replayer.RegisterWorkflow(workflows.FollowPlace)
			replayer.RegisterWorkflow(workflows.Sweep)
			replayer.RegisterWorkflow(workflows.ApplyRetention)
			replayer.RegisterWorkflow(workflows.EraseSubject)
			replayer.RegisterWorkflow(workflows.ExportSubject)
			replayer.RegisterWorkflow(workflows.ResealBlobs)
			replayer.RegisterWorkflow(workflows.EndGrants)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), path); err != nil {
				t.Errorf("%s can no longer be replayed: %v", names[i], err)
			}
		})
	}
}

// TestEveryWorkflowIsReplayed looks for a history of each workflow of this package.
func TestEveryWorkflowIsReplayed(t *testing.T) {
	t.Parallel()
	recorded := map[string]bool{}
	for _, path := range glob(t, "testdata", "histories", "*.json") {
		var history struct {
			Events []struct {
				Started struct {
					Type struct {
						Name string `json:"name"`
					} `json:"workflowType"`
				} `json:"workflowExecutionStartedEventAttributes"`
			} `json:"events"`
		}
		if err := json.Unmarshal(read(t, path), &history); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		recorded[history.Events[0].Started.Type.Name] = true
	}
	workflow := regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(ctx workflow\.Context, `)
	found := 0
	for _, path := range glob(t, "*.go") {
		for _, match := range workflow.FindAllSubmatch(read(t, path), -1) {
			found++
			if name := string(match[1]); !recorded[name] {
				t.Errorf("the workflow %s has no history: let a test of e2e/history_test.go record one", name)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d workflows were found", found)
	}
}

func glob(t *testing.T, pattern ...string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
