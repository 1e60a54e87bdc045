package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/namespace"
	"github.com/cairn-rag/cairn/worker"
	"github.com/cairn-rag/cairn/workflows"
)

type workerCmd struct {
	Data         string   `placeholder:"DIR" help:"In a cluster, the folder for temporary files; else the data folder of the server. Default: ./cairn-data."`
	Queues       []string `placeholder:"QUEUE" help:"The task queues to work on: query, ingest, fetch, parse, embed, transcribe, write, bulk (small objects of imports), bulk-large (large objects of imports), webhook. Default: all of them, or bulk and bulk-large without a cluster."`
	HealthListen string   `placeholder:"ADDRESS" help:"In a cluster, the address of /healthz, /readyz and /metrics; port 0 selects a free port. Default: none."`
	Config       string   `type:"path" placeholder:"FILE" help:"The configuration file of the server or cluster. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (workerCmd) Help() string {
	return "With temporal.address in the configuration, the process is a worker of a cluster: any number of cairn api and cairn worker processes that " +
		"use the same Temporal server and the same stores. Run cairn migrate first.\n\n" +
		"Without it, the process shares the work of imports with a server (cairn up) on this machine. It needs the data folder and " +
		"the configuration of the server, and reconnects when the server restarts.\n\n" +
		"A worker may be killed at any moment: the other processes take over its work within seconds.\n\n" +
		"Example:\n\n    cairn worker --config cluster.yaml --queues query,ingest --health-listen 0.0.0.0:8081\n    cairn worker --data /var/lib/cairn"
}

// besideQueues are the queues of a worker beside cairn up. The words of a streaming
// answer and the pace of each model provider are in the memory of the server.
var besideQueues = []string{workflows.QueueBulk, workflows.QueueBulkLarge}

// Run works until ctx ends.
func (c workerCmd) Run(ctx context.Context, a *app) error {
	cfg, log, err := configure(ctx, a, c.Config, map[string]string{"data": c.Data, "health_listen": c.HealthListen})
	if err != nil {
		return err
	}
	if err := checkQueues(c.Queues, worker.Queues()); err != nil {
		return err
	}
	if cfg.Temporal.Embedded() {
		return c.workBeside(ctx, a, cfg, log)
	}
	return runRole(ctx, cfg, log, "cairn worker", func(p *platform) []part { return p.workerParts(c.Queues) }, func(p *platform) {
		fmt.Fprintf(a.stdout, "Cairn's worker is ready.\n  Temporal   %s\n  Queues     %s\n", cfg.Temporal.Address, strings.Join(or(c.Queues, worker.Queues()), ", "))
		if p.ends.API != "" {
			fmt.Fprintf(a.stdout, "  Health     %s/readyz\n", p.ends.API)
		}
	})
}

// checkQueues refuses queues that are not among those that there are.
func checkQueues(queues, known []string) error {
	for _, q := range queues {
		if !slices.Contains(known, q) {
			return usageError{fmt.Sprintf("--queues has %q: choose from %s", q, strings.Join(known, ", "))}
		}
	}
	return nil
}

func or(list, other []string) []string {
	if len(list) == 0 {
		return other
	}
	return list
}

// workBeside works for the server of a data folder until ctx ends.
func (c workerCmd) workBeside(ctx context.Context, a *app, cfg config.Config, log *slog.Logger) error {
	c.Queues = or(c.Queues, besideQueues)
	if err := checkQueues(c.Queues, besideQueues); err != nil {
		return fmt.Errorf("%w beside cairn up; a worker of a cluster needs temporal.address", err)
	}
	defer tuneCollector()()
	for joined := false; ; joined = true {
		err := c.work(ctx, a, cfg, log)
		switch _, gone := errors.AsType[noServerError](err); {
		case ctx.Err() != nil:
			return nil // stopped
		case err != nil && (!gone || !joined):
			return err
		}
		select {
		case <-time.After(serverCheck):
		case <-ctx.Done():
			return nil
		}
	}
}

const (
	// serverCheck is how often a worker looks whether the server was started anew.
	serverCheck = time.Second
	// serverPatience bounds how long a worker tries to reach the server.
	serverPatience = 10 * time.Second
)

// work works for the server that has the data folder, until ctx ends, or until another
// server has the folder.
func (c workerCmd) work(ctx context.Context, a *app, cfg config.Config, log *slog.Logger) error {
	ends, err := childserver.ReadEndpoints(cfg.Data)
	if err != nil {
		return noServerError{fmt.Sprintf("no server has the data folder %s: start one with cairn up, or name its folder with --data", cfg.Data)}
	}
	p := newPlatform(cfg, log)
	p.ends = ends
	if err := p.start(ctx, p.besideParts(c.Queues)...); err != nil {
		return errors.Join(err, p.close())
	}
	fmt.Fprintf(a.stdout, "Cairn's worker is ready.\n  Server     %s\n  Queues     %s\n", ends.API, strings.Join(c.Queues, ", "))
	err = p.awaitOtherServer(ctx)
	fmt.Fprintln(a.stdout, "Stopping; other processes do what is left.")
	return errors.Join(err, p.close())
}

// awaitOtherServer blocks until ctx ends, or until another process is the server. Its
// error is that of a part that gave up.
func (p *platform) awaitOtherServer(ctx context.Context) error {
	ticker := time.NewTicker(serverCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case err := <-p.failed:
			return err
		case <-ctx.Done():
			return nil
		}
		if now, err := childserver.ReadEndpoints(p.cfg.Data); err == nil && now.PID != p.ends.PID {
			return nil
		}
	}
}

// joinFolder registers this process as one that works on the data folder.
func (p *platform) joinFolder(context.Context) error {
	if err := os.MkdirAll(p.cfg.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	m, err := joinMembers(p.cfg.Data)
	if err != nil {
		return err
	}
	p.members, p.tmp = m.members, m.temporary
	p.foreground.Others = m.members
	p.onClose(m.leave)
	return nil
}

// joinModels uses the server's offline model for each model without an endpoint.
func (p *platform) joinModels(context.Context) error {
	if p.offline = p.ends.Offline; p.offline == "" && p.usesOffline() {
		return usageError{"a model has no endpoint here, and the server serves no offline model: give the worker the server's configuration"}
	}
	p.connectModels()
	return nil
}

func (p *platform) joinTemporal(ctx context.Context) error {
	p.identity = "cairn-worker/" + rand.Text()
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	quiet := slog.New(atLeast{p.log.Handler(), slog.LevelWarn})
	target := namespace.Target{Address: p.ends.Temporal, Name: p.cfg.Temporal.Namespace}
	c, err := namespace.Dial(ctx, target, quiet, func(o *client.Options) { o.Identity = p.identity }, namespace.Yield(workflows.QueueQuery))
	if err != nil {
		return noServerError{fmt.Sprintf("the server at %s, which had the data folder %s last, does not answer: start it with cairn up", p.ends.Temporal, p.cfg.Data)}
	}
	p.useTemporal(c)
	return nil
}
