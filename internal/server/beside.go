package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
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

// besideQueues are the queues of a worker beside cairn up. The words of a streaming
// answer and the pace of each model provider are in the memory of the server.
var besideQueues = []string{workflows.QueueBulk, workflows.QueueBulkLarge}

// Work runs the worker of task queues, nil = of all that there are, until ctx ends. The
// worker is one of a cluster if the configuration names a Temporal server. Otherwise it
// works beside Up, for the server that has the data folder, and joins the next one too.
func Work(ctx context.Context, cfg config.Config, queues []string, o Options) error {
	if err := checkQueues(queues, worker.Queues()); err != nil {
		return err
	}
	defer tuneCollector(o.Environ)()
	if cfg.Temporal.Embedded() {
		return workBeside(ctx, cfg, queues, o)
	}
	p := newPlatform(cfg, o)
	p.queues = or(queues, worker.Queues())
	return p.run(ctx, o, p.workerParts(queues))
}

// checkQueues refuses queues that are not among those that there are.
func checkQueues(queues, known []string) error {
	for _, q := range queues {
		if !slices.Contains(known, q) {
			return ConfigError{fmt.Sprintf("--queues has %q: choose from %s", q, strings.Join(known, ", "))}
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
func workBeside(ctx context.Context, cfg config.Config, queues []string, o Options) error {
	queues = or(queues, besideQueues)
	if err := checkQueues(queues, besideQueues); err != nil {
		return fmt.Errorf("%w beside cairn up; a worker of a cluster needs temporal.address", err)
	}
	for joined := false; ; joined = true {
		err := workFor(ctx, cfg, queues, o)
		switch _, gone := errors.AsType[NoServerError](err); {
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

// workFor works for the server that has the data folder, until ctx ends, or until another
// server has the folder.
func workFor(ctx context.Context, cfg config.Config, queues []string, o Options) error {
	ends, err := childserver.ReadEndpoints(cfg.Data)
	if err != nil {
		return NoServerError{fmt.Sprintf("no server has the data folder %s: start one with cairn up, or name its folder with --data", cfg.Data)}
	}
	p := newPlatform(cfg, o)
	p.ends, p.queues = ends, queues
	if err := p.start(ctx, p.besideParts(queues)...); err != nil {
		return errors.Join(err, p.close())
	}
	o.Ready(p.ready(ctx))
	err = p.awaitOtherServer(ctx)
	o.stopping()
	return errors.Join(err, p.close())
}

// awaitOtherServer blocks until ctx ends, or until another process is the server. Its
// error is the error of a part that gave up.
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

// joinModels uses the server's offline model for each model without an endpoint.
func (p *platform) joinModels(context.Context) error {
	if p.offline = p.ends.Offline; p.offline == "" && p.usesOffline() {
		return ConfigError{"a model has no endpoint here, and the server serves no offline model: give the worker the server's configuration"}
	}
	if err := p.startEncoder(); err != nil {
		return err
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
	c, err := namespace.Dial(ctx, target, quiet, func(o *client.Options) { o.Identity = p.identity }, namespace.Yield(workflows.QueueQuery), namespace.Encrypt(p.ring))
	if err != nil {
		return NoServerError{fmt.Sprintf("the server at %s, which had the data folder %s last, does not answer: start it with cairn up", p.ends.Temporal, p.cfg.Data)}
	}
	p.useTemporal(c)
	return nil
}
