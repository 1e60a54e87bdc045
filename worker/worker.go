package worker

import (
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/workflows"
)

// heartbeatThrottle lets heartbeats through often enough for the heartbeat
// time-out of 3 s; the SDK would hold them back for 80 % of it.
const heartbeatThrottle = time.Second

// How many activities of a queue run at the same time in one process. That of the
// parsers is Config.Parsers.
const (
	questionsAtATime = 128
	ingestsAtATime   = 16 // steps on our own stores
	fetchesAtATime   = 16
	embedsAtATime    = 32
)

// smallDocumentsAtATime is how many workflow tasks of the ingest queue run at the
// same time, and local activities with them: a small document is ingested within
// one task. The others wait in the queue, where tasks do not time out.
const smallDocumentsAtATime = 32

// taskPollers and stickyTimeout keep the slowest answers near the others. A
// workflow task that nobody fetches in time from the queue of the process that has
// the workflow in memory goes to the common one, behind everything that starts,
// where it waits for many seconds. With the SDK's two pollers and a time-out of a
// second that befalls one question in a hundred as soon as 32 clients ask. With
// more pollers than these, tasks of later turns take the processor from those that
// give a reader the first word. After a kill, a task waits so long for the process
// that was killed.
const (
	taskPollers   = 5
	stickyTimeout = 3 * time.Second
)

// Config sizes the workers of a process.
type Config struct {
	StopTimeout time.Duration // how long running activities may go on at a stop. Defaults to 10 s.
	Parsers     int           // how many large documents are extracted at the same time. Defaults to 2.
	Build       string        // what workers call their build, in histories and lists; "" = the program's checksum, which takes a moment to compute
}

func (c Config) withDefaults() Config {
	if c.StopTimeout == 0 {
		c.StopTimeout = 10 * time.Second
	}
	if c.Parsers == 0 {
		c.Parsers = 2
	}
	return c
}

// Worker runs the workflows and activities of its task queues.
type Worker struct {
	workers   []sdk.Worker
	ingestion *activities.Ingestion
	patience  time.Duration
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

	steps := options(cfg, ingestsAtATime)
	steps.MaxConcurrentWorkflowTaskExecutionSize = smallDocumentsAtATime
	steps.MaxConcurrentLocalActivityExecutionSize = smallDocumentsAtATime
	ingest := sdk.New(c, workflows.QueueIngest, steps)
	ingest.RegisterWorkflow(workflows.IngestDocument)
	ingest.RegisterWorkflow(workflows.RemoveDocument)
	ingest.RegisterActivity(ingestion)

	w := &Worker{workers: []sdk.Worker{query, ingest}, ingestion: ingestion, patience: cfg.StopTimeout / 2}
	for queue, slots := range map[string]int{
		workflows.QueueFetch: fetchesAtATime, workflows.QueueParse: cfg.Parsers, workflows.QueueEmbed: embedsAtATime,
	} {
		activitiesOnly := options(cfg, slots)
		activitiesOnly.DisableWorkflowWorker = true
		x := sdk.New(c, queue, activitiesOnly)
		x.RegisterActivity(ingestion)
		w.workers = append(w.workers, x)
	}
	return w
}

func options(cfg Config, concurrency int) sdk.Options {
	return sdk.Options{
		MaxConcurrentActivityExecutionSize:      concurrency,
		MaxConcurrentLocalActivityExecutionSize: concurrency,
		MaxConcurrentEagerActivityExecutionSize: concurrency,
		MaxHeartbeatThrottleInterval:            heartbeatThrottle,
		DefaultHeartbeatThrottleInterval:        heartbeatThrottle,
		StickyScheduleToStartTimeout:            stickyTimeout,
		MaxConcurrentWorkflowTaskPollers:        taskPollers,
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
	var stopping sync.WaitGroup
	stopping.Go(func() { activities.Drain(w.ingestion, w.patience) })
	for _, x := range w.workers {
		stopping.Go(x.Stop)
	}
	stopping.Wait()
}
