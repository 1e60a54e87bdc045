package server

import (
	"context"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/worker"
)

// This file has the parts that only the process with the embedded Temporal server has.
// No other process of the instance accepts uploads or answers questions, so what an
// earlier process left unfinished at its end can be repaired at once.

// repair repairs what a crash left, at the start and every minute.
func (p *platform) repair(ctx context.Context) error {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	sweep := p.sweep()
	sweep.Alone = true
	orphans := worker.Orphans{Store: p.store, Client: p.client, Namespace: p.cfg.Temporal.Namespace, Identity: p.identity, Log: p.log}
	uploads := p.uploads()
	started := time.Now() // the API serves later: an older upload was left by another process
	var repairs sync.WaitGroup
	repairs.Go(func() {
		orphans.Release(ctx)
		sweep.Run(ctx)
	})
	// Beside a worker an original may be stored and not named yet, and a write may be
	// under way.
	repairs.Go(func() { uploads.Run(ctx, !p.members.others, started) })
	if !p.members.others {
		repairs.Go(func() { p.sweepBlobs(ctx, started) })
	}
	if p.cfg.Temporal.Embedded() {
		repairs.Go(func() { p.dropHistories(ctx) })
	}
	p.onClose(func() error {
		stop()
		repairs.Wait()
		return nil
	})
	return nil
}

// dropHistories deletes the histories that are older than their retention, every hour, or
// as often as the retention is long.
func (p *platform) dropHistories(ctx context.Context) {
	retention := p.cfg.Temporal.IngestRetention
	for {
		select {
		case <-time.After(min(retention, time.Hour)):
		case <-ctx.Done():
			return
		}
		if err := p.workflow.DropHistories(ctx, time.Now().Add(-retention)); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "histories of ended ingests were not deleted; the next try is in an hour at the latest", "error", err)
		}
	}
}

// sweepBlobs deletes the unfinished writes of an earlier process. It walks through all
// blobs.
func (p *platform) sweepBlobs(ctx context.Context, began time.Time) {
	if _, err := p.blobs.SweepTemporary(ctx, began); err != nil && ctx.Err() == nil {
		p.log.Warn("blobs of unfinished writes stay until the next start", "error", err)
	}
}
