package server

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/worker"
)

// startQueues returns the start of the worker of task queues, nil = of all.
func (p *platform) startQueues(queues []string) part {
	return func(ctx context.Context) error { return p.work(ctx, queues) }
}

func (p *platform) work(ctx context.Context, queues []string) error {
	authenticator, err := p.access(ctx)
	if err != nil {
		return err
	}
	acts := p.activities()
	acts.Delivering.Answers = api.NewAnswers(p.apiConfig(), api.Deps{Store: p.store, Blobs: p.originals, Access: authenticator, Links: links{p}, Clock: time.Now, Log: p.log})
	workers := worker.Config{StopTimeout: p.grace(), Parsers: p.cfg.Limits.Parsers, Queues: queues}
	if p.cfg.Temporal.PinVersions {
		workers.Version = p.version
	}
	p.worker = worker.New(p.client, workers, acts)
	if err := p.worker.Start(); err != nil {
		return err
	}
	p.onClose(func() error { p.worker.Stop(); return nil })
	if workers.Version != "" {
		p.background(p.beginFirst)
	}
	return nil
}

// sweep returns the sweep of accepted work.
func (p *platform) sweep() *worker.Sweep {
	return &worker.Sweep{Store: p.store, Workflows: p.workflow, Settler: p.source(), Attributes: p.attributes, Syncs: p.runner(), Log: p.log}
}

// uploads returns the sweep of interrupted uploads.
func (p *platform) uploads() *worker.Uploads {
	return &worker.Uploads{Store: p.store, Blobs: p.blobs, Log: p.log}
}

// startParsers prepares the parsers of a worker.
func (p *platform) startParsers(context.Context) (err error) {
	if p.parsers, err = p.pool(p.cfg.Limits.Parsers, 0); err != nil {
		return err
	}
	if p.textParsers, err = p.pool(textParsers, textsPerParser); err != nil {
		return err
	}
	p.queriers, err = p.pool(queriers, 0)
	return err
}

// startDrawers prepares the parsers that draw pages for the API.
func (p *platform) startDrawers(context.Context) (err error) {
	p.drawers, err = p.pool(drawers, 0)
	return err
}

// pool returns parsers, each for a number of documents, 0 = the default.
func (p *platform) pool(size, documents int) (*extract.Pool, error) {
	command, err := child(parseCommand)
	if err != nil {
		return nil, err
	}
	limits := p.cfg.Limits
	pool, err := extract.NewPool(extract.PoolConfig{
		Command: command, Size: size, DocumentsPerChild: documents, Memory: int64(limits.ParseMemory), Budget: p.parsing,
		Timeout: time.Duration(limits.ParseSeconds) * time.Second, CacheDir: filepath.Join(p.cfg.Data, "cache"),
		TempDir: p.temporary(), Tools: format.FindTools(), Confinement: p.confinement, Hidden: storageFolders(p.cfg),
		UniofficeLicense: p.cfg.Extract.UniofficeLicense, OnFault: p.metrics.ReaderFault, Logger: p.log,
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the parsers: %w", err)
	}
	p.onClose(pool.Close)
	return pool, nil
}

// wakeWebhooks wakes the workflows of webhooks for the events that this process writes.
func (p *platform) wakeWebhooks(context.Context) error {
	webhooks := worker.Webhooks{Woken: p.woken, Workflows: p.workflow, Log: p.log}
	p.background(webhooks.Run)
	return nil
}

// textParsers is how many small texts are parsed at the same time. Each takes
// about a millisecond.
const textParsers = 2

// queriers is how many queries of tables run at the same time. Questions do not wait for
// documents that are parsed.
const queriers = 2

// textsPerParser is the number of small texts after which their parser is replaced:
// starting one takes as long as parsing some hundreds.
const textsPerParser = 5000

// drawers is how many pages are drawn at the same time. Those who look at a page do
// not wait for documents that are parsed.
const drawers = 2
