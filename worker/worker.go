package worker

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/delivery"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/workflows"
)

// heartbeatThrottle is how often the SDK sends heartbeats. Its default, 80 % of the
// heartbeat time-out of 3 s, is too rare.
const heartbeatThrottle = time.Second

// The number of activities of a queue that run at the same time in one process. For
// the parsers it is Config.Parsers.
const (
	questionsAtATime  = 128
	ingestsAtATime    = 16 // steps on Cairn's own stores
	fetchesAtATime    = 16
	embedsAtATime     = 32
	recordingsAtATime = 4 // each is in a request for minutes
	writesAtATime     = 4 // of long documents: each takes minutes, and one writes at a time
	webhooksAtATime   = 32
)

// The number of batches of imports that run at the same time in one process: as many as it has
// processors, within these bounds. One reads while another is embedded and a third is written.
const (
	leastImports = 3
	mostImports  = 8
)

func importsAtATime() int { return min(max(runtime.GOMAXPROCS(0), leastImports), mostImports) }

// importStepsAtATime is how many local activities of imports run at the same time.
const importStepsAtATime = 16

// smallDocumentsAtATime is how many workflow tasks of the ingest queue, and their
// local activities, run at the same time: a small document is ingested within one
// task. The others wait in the queue, where tasks do not time out.
const smallDocumentsAtATime = 32

// stickyTimeout keeps the slowest answers near the others. A process polls a sticky
// queue for the workflows that it has in memory. A task that waits there for longer
// than stickyTimeout moves to the common queue, behind all new workflows, where it may
// wait for many seconds. With a time-out of one second, that happens to one question
// in a hundred of 32 clients. More pollers than the SDK's two avoid it too, but then
// the tasks of later turns delay the tasks that lead to a reader's first word. After a
// kill, a task waits for stickyTimeout at most before another process runs it.
const stickyTimeout = 5 * time.Second

// Config sizes the workers of a process.
type Config struct {
	// StopTimeout is how long running activities may continue after Stop. Defaults to
	// 10 s.
	StopTimeout time.Duration
	// Parsers is how many large documents are extracted at the same time. Defaults
	// to 2.
	Parsers int
	// Queues are the task queues whose work is done. Defaults to all of them.
	Queues []string
	// Version pins each run to the workers of the version that began it: these workers have
	// this one. "" = any worker continues any run.
	Version string
}

// Deployment names the workers whose versions a Temporal server tells apart.
const Deployment = "cairn"

func (c Config) withDefaults() Config {
	if c.StopTimeout == 0 {
		c.StopTimeout = 10 * time.Second
	}
	if c.Parsers == 0 {
		c.Parsers = 2
	}
	return c
}

// NameBuild names the build of the program in histories and in the list of workers. It must
// be called before the first worker of the process is made, of which the embedded Temporal
// server has one of its own: that worker would read the whole program for a checksum.
func NameBuild(name string) { sdk.SetBinaryChecksum(name) }

// Worker runs the workflows and activities of its task queues.
type Worker struct {
	workers   []sdk.Worker
	ingestion *ingestion.Activities
	patience  time.Duration
	stop      sync.Once
}

// Activities are the activities that a worker runs.
type Activities struct {
	Ingestion  *ingestion.Activities
	Answering  *answering.Activities
	Importing  *ingestion.Importing
	Delivering *delivery.Delivering
	Sweeping   *ingestion.Sweeping
	Resealing  *ingestion.Resealing
}

// New returns a worker for the task queues of cfg.
func New(c client.Client, cfg Config, a Activities) *Worker {
	cfg = cfg.withDefaults()
	w := &Worker{ingestion: a.Ingestion, patience: cfg.StopTimeout / 2}
	for _, q := range queues(cfg, a) {
		if len(cfg.Queues) > 0 && !slices.Contains(cfg.Queues, q.name) {
			continue
		}
		x := sdk.New(c, q.name, q.options)
		q.register(x)
		w.workers = append(w.workers, x)
	}
	return w
}

// Queues returns the names of all task queues.
func Queues() []string {
	var names []string
	for _, q := range queues(Config{}, Activities{Importing: &ingestion.Importing{}}) {
		names = append(names, q.name)
	}
	return names
}

// queue is a task queue, with what its worker runs.
type queue struct {
	name     string
	options  sdk.Options
	register func(sdk.Worker)
}

func queues(cfg Config, a Activities) []queue {
	steps := options(cfg, ingestsAtATime)
	steps.MaxConcurrentWorkflowTaskExecutionSize = smallDocumentsAtATime
	steps.MaxConcurrentLocalActivityExecutionSize = smallDocumentsAtATime
	asked := options(cfg, questionsAtATime)
	noted := []interceptor.WorkerInterceptor{&noteForeground{foreground: a.Importing.Foreground}}
	asked.Interceptors, steps.Interceptors = noted, noted
	batches := options(cfg, importsAtATime())
	batches.MaxConcurrentLocalActivityExecutionSize = importStepsAtATime
	return []queue{
		{workflows.QueueQuery, asked, func(x sdk.Worker) {
			x.RegisterWorkflow(workflows.AnswerQuery)
			x.RegisterWorkflow(workflows.RunTool)
			x.RegisterWorkflow(workflows.DeepResearch)
			x.RegisterWorkflow(workflows.ResearchQuestion)
			x.RegisterWorkflow(workflows.RunLog)
			x.RegisterWorkflow(workflows.EvaluateProject)
			x.RegisterWorkflow(workflows.GenerateTestSet)
			x.RegisterActivity(a.Answering)
		}},
		{workflows.QueueIngest, steps, func(x sdk.Worker) {
			x.RegisterWorkflow(workflows.IngestDocument)
			x.RegisterWorkflow(workflows.RemoveDocument)
			x.RegisterWorkflow(workflows.ReindexProject)
			x.RegisterWorkflow(workflows.RemoveProject)
			x.RegisterWorkflow(workflows.ApplyRetention)
			x.RegisterWorkflow(workflows.EraseSubject)
			x.RegisterWorkflow(workflows.ExportSubject)
			x.RegisterWorkflow(workflows.ResealBlobs)
			x.RegisterWorkflow(workflows.EndGrants)
			x.RegisterActivity(a.Ingestion)
			x.RegisterActivity(a.Resealing)
		}},
		{workflows.QueueBulk, batches, func(x sdk.Worker) {
			x.RegisterWorkflow(workflows.BulkImport)
			x.RegisterWorkflow(workflows.ImportPage)
			x.RegisterActivity(a.Importing)
			x.RegisterWorkflow(workflows.FollowPlace)
			x.RegisterWorkflow(workflows.Sweep)
			x.RegisterActivity(a.Sweeping)
		}},
		{workflows.QueueWebhook, options(cfg, webhooksAtATime), func(x sdk.Worker) {
			x.RegisterWorkflow(workflows.DeliverWebhook)
			x.RegisterActivity(a.Delivering)
		}},
		activitiesOnly(workflows.QueueBulkLarge, options(cfg, importsAtATime()), a.Importing),
		activitiesOnly(workflows.QueueFetch, options(cfg, fetchesAtATime), a.Ingestion),
		activitiesOnly(workflows.QueueParse, options(cfg, cfg.Parsers), a.Ingestion),
		activitiesOnly(workflows.QueueEmbed, options(cfg, embedsAtATime), a.Ingestion),
		activitiesOnly(workflows.QueueTranscribe, options(cfg, recordingsAtATime), a.Ingestion),
		activitiesOnly(workflows.QueueWrite, options(cfg, writesAtATime), a.Ingestion),
	}
}

// activitiesOnly returns a queue whose worker runs no workflows.
func activitiesOnly(name string, o sdk.Options, activities any) queue {
	o.DisableWorkflowWorker = true
	return queue{name, o, func(x sdk.Worker) { x.RegisterActivity(activities) }}
}

func options(cfg Config, concurrency int) sdk.Options {
	return sdk.Options{
		DeploymentOptions:                       deployment(cfg.Version),
		MaxConcurrentActivityExecutionSize:      concurrency,
		MaxConcurrentLocalActivityExecutionSize: concurrency,
		MaxConcurrentEagerActivityExecutionSize: concurrency,
		MaxHeartbeatThrottleInterval:            heartbeatThrottle,
		DefaultHeartbeatThrottleInterval:        heartbeatThrottle,
		StickyScheduleToStartTimeout:            stickyTimeout,
		WorkerStopTimeout:                       cfg.StopTimeout,
	}
}

func deployment(version string) sdk.DeploymentOptions {
	if version == "" {
		return sdk.DeploymentOptions{}
	}
	return sdk.DeploymentOptions{
		UseVersioning:             true,
		Version:                   sdk.WorkerDeploymentVersion{DeploymentName: Deployment, BuildID: version},
		DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
	}
}

// Start begins to poll the task queues. If one worker cannot start, Start stops the
// others and returns the error.
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

// Stop ends the polling and blocks until running activities have ended, at most for
// StopTimeout. Each caller waits for the same end.
func (w *Worker) Stop() {
	w.stop.Do(func() {
		var stopping sync.WaitGroup
		stopping.Go(func() { ingestion.Drain(w.ingestion, w.patience) })
		for _, x := range w.workers {
			stopping.Go(x.Stop)
		}
		stopping.Wait()
	})
}
