package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/dispatch"
	"github.com/cairn-rag/cairn/internal/embedded"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/worker"
	"github.com/cairn-rag/cairn/workflows"
)

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
	if p.client, err = p.temporal.Dial(ctx, slog.New(atLeast{p.log.Handler(), slog.LevelWarn}), func(o *client.Options) { o.Identity = p.identity }); err != nil {
		return err
	}
	p.onClose(func() error { p.client.Close(); return nil })
	p.workflow = dispatch.New(p.client, versionName())
	p.source = dispatch.NewSource(p.workflow, p.store, p.blobs, p.hub)
	p.relay = stream.NewRelay(p.source, p.hub)
	return nil
}

func (p *platform) startWorker(ctx context.Context) error {
	if err := p.startQueues(nil); err != nil {
		return err
	}
	sweepCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	sweep := worker.Sweep{Store: p.store, Workflows: p.workflow, Settler: p.source, Attributes: p.attributes, Alone: true, Log: p.log}
	orphans := worker.Orphans{Store: p.store, Client: p.client, Namespace: p.temporal.Namespace(), Identity: p.identity, Log: p.log}
	uploads := worker.Uploads{Store: p.store, Blobs: p.blobs, Log: p.log}
	started := time.Now() // the API serves later: an older upload was left by another process
	var repairs sync.WaitGroup
	repairs.Go(func() {
		orphans.Release(sweepCtx)
		sweep.Run(sweepCtx)
	})
	if !p.members.others { // else an original may be stored and not named yet
		repairs.Go(func() { uploads.Drop(sweepCtx, started) })
	}
	p.onClose(func() error {
		stop()
		repairs.Wait()
		return nil
	})
	return nil
}

// startQueues starts the parsers, and the worker of task queues, nil = of all.
func (p *platform) startQueues(queues []string) error {
	if err := p.startParsers(); err != nil {
		return err
	}
	limits := p.cfg.Limits
	p.worker = worker.New(p.client, worker.Config{Build: versionName(), StopTimeout: p.grace(), Parsers: limits.Parsers, Queues: queues}, p.activities())
	if err := p.worker.Start(); err != nil {
		return err
	}
	p.onClose(func() error { p.worker.Stop(); return nil })
	p.wakeWebhooks()
	return nil
}

func (p *platform) startParsers() error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	limits, tools := p.cfg.Limits, format.FindTools()
	for pool, size := range map[**extract.Pool]int{&p.parsers: limits.Parsers, &p.textParsers: textParsers, &p.drawers: drawers} {
		documents := 0 // the default
		if pool == &p.textParsers {
			documents = textsPerParser
		}
		*pool, err = extract.NewPool(extract.PoolConfig{
			Command: []string{program, "parse"}, Size: size, DocumentsPerChild: documents, Memory: int64(limits.ParseMemory),
			Timeout: time.Duration(limits.ParseSeconds) * time.Second, CacheDir: filepath.Join(p.cfg.Data, "cache"),
			TempDir: p.temporary(), Tools: tools, UniofficeLicense: p.cfg.Extract.UniofficeLicense, Logger: p.log,
		})
		if err != nil {
			return fmt.Errorf("prepare the parsers: %w", err)
		}
		p.onClose((*pool).Close)
	}
	return nil
}

// wakeWebhooks wakes the workflows of webhooks for the events that this process writes.
func (p *platform) wakeWebhooks() {
	ctx, stop := context.WithCancel(context.Background())
	var waking sync.WaitGroup
	webhooks := worker.Webhooks{Woken: p.woken, Workflows: p.workflow, Log: p.log}
	waking.Go(func() { webhooks.Run(ctx) })
	p.onClose(func() error {
		stop()
		waking.Wait()
		return nil
	})
}

// textParsers is how many small texts are parsed at the same time. Each takes
// about a millisecond.
const textParsers = 2

// textsPerParser is the number of small texts after which their parser is replaced:
// starting one takes as long as parsing some hundreds.
const textsPerParser = 5000

// drawers is how many pages are drawn at the same time. Those who look at a page do
// not wait for documents that are parsed.
const drawers = 2
