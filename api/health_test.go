package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestProbesDoNotWaitForEachOther has the count of stale documents of one probe hang:
// another probe is answered when its own time is over.
func TestProbesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}, 2), make(chan struct{})
	details := api.HealthDetails{Stale: func(context.Context) ([]store.StaleProject, error) {
		asked <- struct{}{}
		<-release // whatever its context does, as a call without an answer
		return []store.StaleProject{{Serving: "old/3", Wanted: "new/3", Documents: 3}}, nil
	}}
	health := api.NewHealth(nil, details, nil, slog.New(slog.DiscardHandler)).Handler()
	probe := func(ctx context.Context) <-chan int {
		ended := make(chan int, 1)
		go func() {
			w := httptest.NewRecorder()
			health.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil))
			ended <- w.Code
		}()
		return ended
	}
	first := probe(t.Context())
	<-asked
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	select {
	case status := <-probe(impatient):
		if status != http.StatusOK {
			t.Errorf("the other probe has status %d", status)
		}
	case <-time.After(20 * time.Second):
		t.Error("the other probe waits for the first one")
	}
	close(release)
	if status := <-first; status != http.StatusOK {
		t.Errorf("the first probe has status %d", status)
	}
}
