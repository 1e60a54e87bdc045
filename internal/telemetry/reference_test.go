package telemetry_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/cairn-rag/cairn/internal/telemetry"
)

var update = flag.Bool("update", false, "write docs/metrics.md")

func TestReference(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "metrics.md")
	if *update {
		if err := os.WriteFile(path, []byte(telemetry.Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(page), telemetry.Reference()); diff != "" {
		t.Errorf("%s is not what the code says; go test ./internal/telemetry -run Reference -update writes it:\n%s", path, diff)
	}
}

func TestBacklog(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1")
	reads, fails := 0, errors.New("the database is down")
	m.WatchBacklog(func(context.Context) (telemetry.Backlog, error) {
		reads++
		return telemetry.Backlog{
			Documents: []telemetry.PendingDocuments{
				{Stage: "embed", Code: "provider_failed", Count: 3, Oldest: time.Now().Add(-time.Hour)},
				{Stage: "embed", Count: 2, Oldest: time.Now()},
			},
			Queues:     map[string]int64{"parse": 7},
			SecretEnds: map[string]time.Time{"c1": time.Now().Add(-90 * time.Second)},
		}, fails
	})
	if text := scrape(t, m); strings.Contains(text, "cairn_pending_documents") {
		t.Error("a backlog that cannot be read is shown")
	}
	fails = nil
	scrape(t, m)
	text := scrape(t, m)
	for _, want := range []string{
		`cairn_pending_documents{stage="embed"} 5`, `cairn_waiting_documents{code="provider_failed"} 3`,
		`cairn_queue_tasks{queue="parse"} 7`, `cairn_connection_secret_seconds{connection="c1"} -9`, `cairn_oldest_pending_seconds 36`, `cairn_build_info{go_version="go`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if reads != 2 {
		t.Errorf("%d reads, want one that fails and one for two scrapes", reads)
	}
	m.Request("GET", "/x", 200, time.Second)
	m.WorkflowDone("IngestDocument", "failed")
	m.DocumentDone("failed")
	m.IngestStage("embed", 7200)
	m.ImportWrite("claim", time.Second, time.Second)
	m.ModelCall("offline", "chat", "ok", 1, 1, 1)
	m.WebhookAttempt("documents", "failed")
	m.Retrieval(map[string]time.Duration{"dense": 1})
	problems, err := testutil.GatherAndLint(m.Gatherer())
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// TestBacklogThatEnds has documents that are published: their series end at 0.
func TestBacklogThatEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := telemetry.NewMetrics("v1")
		pending := []telemetry.PendingDocuments{{Stage: "embed", Code: "provider_failed", Count: 3, Oldest: time.Now()}}
		m.WatchBacklog(func(context.Context) (telemetry.Backlog, error) { return telemetry.Backlog{Documents: pending}, nil })
		scrape(t, m)
		pending = nil
		time.Sleep(time.Minute)
		text := scrape(t, m)
		for _, want := range []string{`cairn_pending_documents{stage="embed"} 0`, `cairn_waiting_documents{code="provider_failed"} 0`, "cairn_oldest_pending_seconds 0"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s", want)
			}
		}
	})
}
