package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// TestDoctorOnSyncs names the syncs that need somebody, and what to do.
func TestDoctorOnSyncs(t *testing.T) {
	t.Parallel()
	begun := time.Now().Add(-90 * time.Minute).UTC().Format(time.RFC3339)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"data": [
			{"id": "s1", "connection_id": "c1", "place": "https://cloud/a", "status": "failed", "last_run": {"started_at": "` + begun + `", "error": {"code": "forbidden", "message": "the server refused"}}},
			{"id": "s2", "connection_id": "c1", "place": "https://cloud/b", "status": "failed", "last_run": {"started_at": "` + begun + `", "error": {"code": "not_found", "message": "there is no folder"}}},
			{"id": "s3", "place": "https://cloud/c", "status": "waiting", "waits_until": "2020-01-01T00:00:00Z"},
			{"id": "s4", "place": "https://cloud/d", "status": "idle", "failed": 2},
			{"id": "s5", "place": "https://cloud/e", "status": "idle"},
			{"id": "s6", "place": "https://cloud/f", "status": "running", "failed": 1}]}`))
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{URL: server.URL, Key: "cairn_k"})
	if err != nil {
		t.Fatal(err)
	}
	want := []finding{
		{"sync https://cloud/a", findingBad, "the run of 1 h 30 min ago failed: forbidden: the server refused", "cairn connections secret c1 < FILE, then cairn syncs run s1"},
		{"sync https://cloud/b", findingBad, "the run of 1 h 30 min ago failed: not_found: there is no folder", "after a repair: cairn syncs run s2"},
		{"sync https://cloud/c", findingNote, "the service asked for fewer requests: it waits until " + terminal.Time(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)), ""},
		{"sync https://cloud/d", findingNote, "2 files of the last run failed", "cairn syncs show s4"},
	}
	if diff := cmp.Diff(want, checkSyncs(context.Background(), c)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
