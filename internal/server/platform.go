package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/backup"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/browser"
	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/dispatch"
	"github.com/cairn-rag/cairn/internal/envelope"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/namespace"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/sandbox"
	"github.com/cairn-rag/cairn/internal/secret"
	"github.com/cairn-rag/cairn/internal/source/connect"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/telemetry"
	"github.com/cairn-rag/cairn/worker"
)

// platform holds the parts that a process runs, all of them for cairn up. They are
// closed in the opposite order of their start.
type platform struct {
	cfg     config.Config
	version string // of this build
	log     *slog.Logger
	metrics *telemetry.Metrics

	store       *store.Store
	woken       chan store.WebhookQueue // webhooks whose workflows have to be woken
	index       index.Index
	attributes  *ingestion.Attributes // of documents, in the index
	blobs       *blob.Store
	originals   *blob.Keyed // blobs, with the keys of originals
	secrets     *secret.Box // seals the secrets of users
	keeper      *audit.Keeper
	quota       *quota.Meter    // made by meter
	recorder    *audit.Recorder // of the requests of this process; nil = it serves none
	client      client.Client
	workflow    *dispatch.Dispatcher
	hub         *stream.Hub
	prices      *model.Prices // of models; nil = none is known
	chats       *model.Chats  // the endpoints of models.chat
	embed       *model.Client
	embeddings  *embeddings   // with the models of other generations
	transcribe  *model.Client // nil = no endpoint is configured
	paint       *model.Client // makes pictures; nil = there is no models.image
	parsers     *extract.Pool
	textParsers *extract.Pool       // for small texts alone
	queriers    *extract.Pool       // for queries of tables alone
	drawers     *extract.Pool       // of the pages of documents
	parsing     *extract.Budget     // the memory of all parsers and drawers
	confinement extract.Confinement // of parsers and drawers, and of the programs that they start
	refusal     error               // why programs that are installed cannot be in namespaces, nil if they can, or none is installed
	connector   *connect.Connector  // of the sources of imports
	syncs       *following.Runner   // of places that are followed
	foreground  ingestion.Foreground
	dialer      *safedial.Dialer
	box         *sandbox.Sandbox // runs code of models and of steps
	browser     *browser.Browser // nil = the scripts of pages are not run
	listener    net.Listener     // of the API
	offline     string           // address of the offline model, "" = not served
	encoder     encoderAddress   // of a model in the data folder
	worker      *worker.Worker
	queues      []string // of the worker
	identity    string   // of this start's workers

	ring          *envelope.Ring               // encrypts blobs and histories
	decodes       atomic.Pointer[http.Handler] // of the API, for Temporal's UI; nil before the API serves
	secretKey     []byte                       // that seals the secrets of users
	keepAdminKey  bool                         // an admin key that the database has stays
	drawnAdminKey string                       // by this process, "" = none
	instanceKey   string                       // the admin key that prepareInstance stored

	members *members              // other processes on the data folder
	tmp     string                // folder of temporary files, "" = the server's
	ends    childserver.Endpoints // of the server
	signIn  string                // the link of Ready
	failed  chan error            // of a listener that gave up
	closers []func() error
	stopBy  time.Time // for all that is closed, set when closing begins
}

// newPlatform returns a platform without parts. roles.go has the parts of each role.
func newPlatform(cfg config.Config, o Options) *platform {
	worker.NameBuild(o.Version)
	return &platform{
		cfg: cfg, ring: &envelope.Ring{}, prices: prices(cfg.Models), box: sandbox.New(sandbox.Config{}), version: o.Version, log: o.Log, metrics: telemetry.NewMetrics(o.Version), hub: stream.NewHub(),
		parsing: extract.NewBudget(2 * int64(cfg.Limits.ParseMemory)), failed: make(chan error, 4), woken: make(chan store.WebhookQueue, 1000),
		ends: childserver.Endpoints{PID: os.Getpid(), KeyFile: filepath.Join(cfg.Data, backup.AdminKeyName)},
	}
}

// start starts parts in their order. After an error the parts that were started before
// still run, until the caller closes the platform.
func (p *platform) start(ctx context.Context, parts ...part) error {
	for _, start := range parts {
		if err := start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// part starts a part of a platform.
type part func(context.Context) error

// nothing is a part that a role does without.
func nothing(context.Context) error { return nil }

// onClose adds a function that stops a part that was started.
func (p *platform) onClose(stop func() error) { p.closers = append(p.closers, stop) }

// background does work until the platform is closed, which waits for its end.
func (p *platform) background(work func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background()) // it outlives the start
	var working sync.WaitGroup
	working.Go(func() { work(ctx) })
	p.onClose(func() error {
		stop()
		working.Wait()
		return nil
	})
}

// close stops all parts that were started, the last one first, within one grace
// period.
func (p *platform) close() error {
	p.stopBy = time.Now().Add(p.grace())
	var errs []error
	for i := len(p.closers) - 1; i >= 0; i-- {
		errs = append(errs, p.closers[i]())
	}
	p.closers = nil
	return errors.Join(errs...)
}

// useTemporal makes what reaches workflows through a client.
func (p *platform) useTemporal(c client.Client) {
	p.client = c
	p.onClose(func() error { c.Close(); return nil })
	p.workflow = dispatch.New(c, p.cfg.Temporal.Namespace, p.version).Named(*p.cfg.Operator.Names).Reads(namespace.Converter(p.ring))
	if p.cfg.Temporal.Embedded() {
		p.workflow.OwnsHistories()
	}
	p.metrics.WatchBacklog(p.backlog)
}

func (p *platform) grace() time.Duration { return time.Duration(p.cfg.ShutdownSeconds) * time.Second }
