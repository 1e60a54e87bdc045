package knowledge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestRunKinds(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]knowledge.RunKind{"query", "tool", "research"}, knowledge.AnswerKinds()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]knowledge.RunKind{"ingest", "remove", "import", "reindex", "remove_project", "evaluate", "retention", "generate", "export", "erase"}, knowledge.DocumentKinds()); diff != "" {
		t.Error(diff)
	}
	for _, kind := range []knowledge.RunKind{knowledge.KindRemove, "unknown"} {
		if got := kind.Traits().Kind; got != kind {
			t.Errorf("the row of %q is the row of %q", kind, got)
		}
	}
}

// TestKeys holds the ids and keys to what stored data has.
func TestKeys(t *testing.T) {
	t.Parallel()
	r := knowledge.RunRef{Workspace: "w", Project: "p", Run: "r"}
	i := knowledge.ImportRef{Workspace: "w", Project: "p", Import: "i"}
	for got, want := range map[string]string{
		knowledge.KindIngest.WorkflowID("w", "d"): "ingest/w/d",
		knowledge.KindQuery.WorkflowID("w", "r"):  "query/w/r",
		i.WorkflowID("i"):                         "import/w/i",
		i.WorkflowID("r"):                         "import/w/i/retry-r",
		i.PageWorkflowID(12):                      "import/w/i/page-000012",
		i.ManifestKey(12):                         "w/imports/i/manifest-000012.json",
		i.StateKey("queue"):                       "w/imports/i/state/queue",
		r.LogWorkflowID():                         "log/w/r",
		r.RequestKey():                            "w/runs/r/request.json",
		r.AnswerKey():                             "w/runs/r/answer.json",
		r.LogKey():                                "w/runs/r/log.json",
		r.SegmentKey(7):                           "w/runs/r/log-000007.json",
		r.TurnKey(2):                              "w/runs/r/turn-2.json",
		r.FirstSearchKey():                        "w/runs/r/search-0.json",
		r.SearchKey(2, 1):                         "w/runs/r/search-2-1.json",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
