package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// TestDoctorOnSecrets names the connection whose secret expires within a week, and no other.
func TestDoctorOnSecrets(t *testing.T) {
	t.Parallel()
	soon, later := time.Now().AddDate(0, 0, 6).UTC(), time.Now().AddDate(0, 0, 8).UTC()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/check") {
			t.Error("a service is asked")
		}
		answer := `{"data": [{"id": "soon", "secret_ends": "` + soon.Format(time.RFC3339Nano) + `"}, {"id": "later", "secret_ends": "` + later.Format(time.RFC3339Nano) + `"}, {"id": "unknown", "secret_ends": null}]}`
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{URL: server.URL, Key: "cairn_k"})
	if err != nil {
		t.Fatal(err)
	}
	want := []finding{{"connection soon", findingBad, "its secret expires on " + terminal.Time(soon), "cairn connections secret soon < FILE"}}
	if diff := cmp.Diff(want, checkSecrets(context.Background(), c)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
