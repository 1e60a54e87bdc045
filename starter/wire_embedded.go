package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/embedded"
	"github.com/cairn-rag/cairn/worker"
	"github.com/cairn-rag/cairn/workflows"
)

// This file has the parts that only the process with the embedded Temporal server has.
// No other process of the instance accepts uploads or answers questions, so what an
// earlier process left unfinished at its end can be repaired at once.

// startTemporal starts the Temporal server.
func (p *platform) startTemporal(ctx context.Context) (err error) {
	p.temporal, err = embedded.Start(ctx, embedded.Config{
		Dir: filepath.Join(p.cfg.Data, "temporal"), Listen: p.cfg.Temporal.Listen, UIListen: p.cfg.Temporal.UIListen,
		SearchAttributes: searchAttributes(), ListedBy: []string{workflows.AttributeDocument}, Sync: embedded.Sync(p.cfg.Temporal.Sync), Logger: p.log,
	})
	if err != nil {
		return fmt.Errorf("start the Temporal server: %w", err)
	}
	p.onClose(func() error { p.temporal.Stop(); return nil })
	p.ends.Temporal, p.ends.UI = p.temporal.Address(), p.temporal.UIURL()
	p.ends.Listeners = append(p.temporal.Listeners(), addresses(p.listener.Addr().String(), p.offline)...)
	p.identity = "cairn/" + rand.Text() // no other start's, also where process numbers repeat
	c, err := p.temporal.Dial(ctx, slog.New(atLeast{p.log.Handler(), slog.LevelWarn}), func(o *client.Options) { o.Identity = p.identity })
	if err != nil {
		return err
	}
	p.useTemporal(c)
	return nil
}

// sweepBlobs deletes the unfinished writes of an earlier process, if no other process
// may be writing. It walks through all blobs, so the start does not wait for it.
func (p *platform) sweepBlobs(context.Context) error {
	if p.members.others {
		return nil
	}
	began := time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	var sweep sync.WaitGroup
	sweep.Go(func() {
		if _, err := p.blobs.SweepTemporary(ctx, began); err != nil && ctx.Err() == nil {
			p.log.Warn("blobs of unfinished writes stay until the next start", "error", err)
		}
	})
	p.onClose(func() error { cancel(); sweep.Wait(); return nil })
	return nil
}

// repair repairs what a crash left, at the start and every minute.
func (p *platform) repair(ctx context.Context) error {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	sweep := worker.Sweep{Store: p.store, Workflows: p.workflow, Settler: p.source(), Attributes: p.attributes, Alone: true, Log: p.log}
	orphans := worker.Orphans{Store: p.store, Client: p.client, Namespace: p.temporal.Namespace(), Identity: p.identity, Log: p.log}
	uploads := worker.Uploads{Store: p.store, Blobs: p.blobs, Log: p.log}
	started := time.Now() // the API serves later: an older upload was left by another process
	var repairs sync.WaitGroup
	repairs.Go(func() {
		orphans.Release(ctx)
		sweep.Run(ctx)
	})
	if !p.members.others { // else an original may be stored and not named yet
		repairs.Go(func() { uploads.Drop(ctx, started) })
	}
	p.onClose(func() error {
		stop()
		repairs.Wait()
		return nil
	})
	return nil
}
