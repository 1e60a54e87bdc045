package worker

import (
	"context"
	"log/slog"

	"github.com/cairn-rag/cairn/internal/store"
)

// Webhooks wakes the workflows of webhooks for new events.
type Webhooks struct {
	Woken     <-chan store.WebhookQueue // from the store
	Workflows interface {
		// DeliverWebhook starts the workflow of a webhook, or wakes it.
		DeliverWebhook(ctx context.Context, q store.WebhookQueue) error
	}
	Log *slog.Logger
}

// Run wakes workflows until ctx ends. It logs an error: the sweep wakes them later.
func (w *Webhooks) Run(ctx context.Context) {
	for {
		select {
		case q := <-w.Woken:
			if err := w.Workflows.DeliverWebhook(ctx, q); err != nil && ctx.Err() == nil {
				w.Log.WarnContext(ctx, "cannot wake a webhook; the sweep will", "workspace", q.Workspace, "webhook", q.Webhook, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}
