package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/worker"
)

// woken receives the webhooks whose workflow is to be woken.
type woken chan string

func (w woken) DeliverWebhook(_ context.Context, q store.WebhookQueue) error {
	w <- q.Webhook
	return errors.New("the server is busy")
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	events, calls := make(chan store.WebhookQueue), make(woken)
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	w := worker.Webhooks{Woken: events, Workflows: calls, Log: slog.New(slog.NewTextHandler(&log, nil))}
	go func() { w.Run(ctx); close(done) }()
	for _, name := range []string{"a", "b"} { // an error does not end it
		events <- store.WebhookQueue{Workspace: "w", Webhook: name}
		if got := <-calls; got != name {
			t.Errorf("woke %s, want %s", got, name)
		}
	}
	events <- store.WebhookQueue{Workspace: "w", Webhook: "c"}
	cancel()
	<-calls
	<-done
	if strings.Count(log.String(), "busy") < 2 {
		t.Errorf("log %q", log.String())
	}
}
