package server

import (
	"context"

	"github.com/cairn-rag/cairn/internal/telemetry"
)

// backlog reads the work that waits, for the metrics.
func (p *platform) backlog(ctx context.Context) (telemetry.Backlog, error) {
	pending, err := p.store.PendingCounts(ctx)
	if err != nil {
		return telemetry.Backlog{}, err
	}
	var b telemetry.Backlog
	if b.SecretEnds, err = p.store.EndsOfSecrets(ctx); err != nil {
		return b, err
	}
	for _, c := range pending {
		b.Documents = append(b.Documents, telemetry.PendingDocuments{Stage: string(c.Stage), Code: string(c.Code), Count: c.Count, Oldest: c.Oldest})
	}
	// Without Temporal the gauges of documents remain.
	if b.Queues, err = p.workflow.Backlog(ctx); err != nil {
		p.log.WarnContext(ctx, "cannot read the backlog of the task queues", "error", err)
	}
	return b, nil
}
