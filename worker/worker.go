package worker

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/workflows"
)

// heartbeatThrottle lets heartbeats through often enough for the heartbeat
// time-out of 3 s; the SDK would hold them back for 80 % of it.
const heartbeatThrottle = time.Second

// How many activities of a queue run at the same time.
const (
	questionsAtATime = 128
	ingestsAtATime   = 16
)

// Config sizes the workers of a process.
type Config struct {
	StopTimeout time.Duration // how long running activities may go on at a stop. Defaults to 10 s.
	Build       string        // what workers say they are, in histories and lists; "" = the program's checksum, which takes a moment to reckon
}

func (c Config) withDefaults() Config {
	if c.StopTimeout == 0 {
		c.StopTimeout = 10 * time.Second
	}
	return c
}

// Worker runs the workflows and activities of its task queues.
type Worker struct {
	workers []sdk.Worker
}

// New makes a worker for every task queue.
func New(c client.Client, cfg Config, ingestion *activities.Ingestion, answering *activities.Answering) *Worker {
	cfg = cfg.withDefaults()
	if cfg.Build != "" {
		sdk.SetBinaryChecksum(cfg.Build)
	}
	query := sdk.New(c, workflows.QueueQuery, options(cfg, questionsAtATime))
	query.RegisterWorkflow(workflows.AnswerQuery)
	query.RegisterWorkflow(workflows.RunTool)
	query.RegisterActivity(answering)
	ingest := sdk.New(c, workflows.QueueIngest, options(cfg, ingestsAtATime))
	ingest.RegisterWorkflow(workflows.IngestDocument)
	ingest.RegisterWorkflow(workflows.RemoveDocument)
	ingest.RegisterActivity(ingestion)
	return &Worker{workers: []sdk.Worker{query, ingest}}
}

func options(cfg Config, concurrency int) sdk.Options {
	return sdk.Options{
		MaxConcurrentActivityExecutionSize:      concurrency,
		MaxConcurrentLocalActivityExecutionSize: concurrency,
		MaxConcurrentEagerActivityExecutionSize: concurrency,
		MaxHeartbeatThrottleInterval:            heartbeatThrottle,
		DefaultHeartbeatThrottleInterval:        heartbeatThrottle,
		StickyScheduleToStartTimeout:            time.Second,
		WorkerStopTimeout:                       cfg.StopTimeout,
	}
}

// Start begins to take tasks.
func (w *Worker) Start() error {
	for i, x := range w.workers {
		if err := x.Start(); err != nil {
			for _, started := range w.workers[:i] {
				started.Stop()
			}
			return fmt.Errorf("start worker: %w", err)
		}
	}
	return nil
}

// Stop takes no new tasks and lets running activities end within StopTimeout.
func (w *Worker) Stop() {
	done := make(chan struct{})
	for _, x := range w.workers {
		go func() {
			x.Stop()
			done <- struct{}{}
		}()
	}
	for range w.workers {
		<-done
	}
}
