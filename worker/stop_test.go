package worker_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/worker"
)

// TestAWorkerIsStoppedOnce stops a worker twice, as a server does: when requests end, and when
// it closes its parts. The second stop waits for the first one and for nothing else.
func TestAWorkerIsStoppedOnce(t *testing.T) {
	t.Parallel()
	w := worker.New(nil, worker.Config{StopTimeout: time.Hour, Queues: []string{"none"}}, worker.Activities{
		Ingestion: ingestion.New(ingestion.Dependencies{Log: slog.New(slog.DiscardHandler)}), Importing: &ingestion.Importing{},
	})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		w.Stop()
		w.Stop()
	}()
	select {
	case <-stopped:
	case <-time.After(20 * time.Second):
		t.Fatal("the second stop waits for the whole time-out")
	}
}
