package telemetry_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/telemetry"
)

func TestLogger(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger, err := telemetry.NewLogger(&out, "info")
	if err != nil {
		t.Fatal(err)
	}
	logger.Debug("below the level")
	if out.Len() > 0 {
		t.Errorf("logged %q", out.String())
	}
	logger.With("stage", "embed").Info("done", "chunks", 3)
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	if stamp, _ := got["time"].(string); !strings.HasSuffix(stamp, "Z") {
		t.Errorf("time %v is not in UTC", got["time"])
	}
	delete(got, "time")
	want := map[string]any{"level": "INFO", "msg": "done", "stage": "embed", "chunks": 3.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := telemetry.NewLogger(&out, "loud"); err == nil {
		t.Error("an unknown level was accepted")
	}
}

func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("got status %d", w.Code)
	}
	return w.Body.String()
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1")
	m.Request("GET", "/chunks/{id}", 200, 3*time.Millisecond)
	m.Request("BREW", "none", 405, time.Second)
	m.OpenStreams(7)
	m.WorkflowDone("AnswerQuery", "completed")
	m.DocumentDone("published")
	m.DocumentDone("published")
	m.IngestStage("embed", 1.5)
	m.ImportWrite("index", time.Second, 2*time.Second)
	m.ModelCall("offline", "chat", "ok", .2, 100, 20)
	m.ModelCall("offline", "chat", "ok", .2, -1, 1)
	m.Retrieval(map[string]time.Duration{"dense": time.Millisecond, "bm25": 2 * time.Millisecond})
	text := scrape(t, m)
	for _, want := range []string{
		`cairn_http_request_seconds_bucket{method="GET",route="/chunks/{id}",status="200",le="0.005"} 1`,
		`cairn_http_request_seconds_count{method="other",route="none",status="405"} 1`,
		`cairn_open_streams 7`,
		`cairn_workflows_total{status="completed",workflow="AnswerQuery"} 1`,
		`cairn_documents_total{outcome="published"} 2`,
		`cairn_ingest_stage_seconds_sum{stage="embed"} 1.5`,
		`cairn_import_write_seconds_sum{phase="wait",step="index"} 1`,
		`cairn_import_write_seconds_sum{phase="work",step="index"} 2`,
		`cairn_model_call_seconds_count{kind="chat",outcome="ok",provider="offline"} 2`,
		`cairn_model_tokens_total{direction="prompt",kind="chat",provider="offline"} 100`,
		`cairn_model_tokens_total{direction="completion",kind="chat",provider="offline"} 21`,
		`cairn_retrieval_seconds_count{leg="dense"} 1`,
		`cairn_retrieval_seconds_count{leg="bm25"} 1`,
		`go_goroutines`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestMetricsDoNotShareARegistry(t *testing.T) {
	t.Parallel()
	a, b := telemetry.NewMetrics("v1"), telemetry.NewMetrics("v1")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { a.DocumentDone("error") })
	}
	all.Wait()
	if text := scrape(t, a); !strings.Contains(text, `cairn_documents_total{outcome="error"} 8`) {
		t.Error("some were lost")
	}
	if text := scrape(t, b); strings.Contains(text, `outcome="error"`) {
		t.Error("they share a registry")
	}
}
