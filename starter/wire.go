package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/blob"
	blobs "github.com/cairn-rag/cairn/internal/blob/connect"
	"github.com/cairn-rag/cairn/internal/browser"
	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/dispatch"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/safedial"
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
	log     *slog.Logger
	metrics *telemetry.Metrics

	store       *store.Store
	woken       chan store.WebhookQueue // webhooks whose workflows have to be woken
	index       index.Index
	attributes  *ingestion.Attributes // of documents, in the index
	blobs       *blob.Store
	secrets     *secret.Box // seals the secrets of users
	client      client.Client
	workflow    *dispatch.Dispatcher
	hub         *stream.Hub
	chats       *model.Chats // the endpoints of models.chat
	embed       *model.Client
	embeddings  *embeddings   // with those of other generations
	transcribe  *model.Client // nil = no endpoint is configured
	paint       *model.Client // makes pictures; nil = there is no models.image
	parsers     *extract.Pool
	textParsers *extract.Pool       // for small texts alone
	drawers     *extract.Pool       // of the pages of documents
	confinement extract.Confinement // of parsers and drawers, and of the programs that they start
	refusal     error               // why programs that are installed cannot be in namespaces, nil if they can, or none is installed
	connector   *connect.Connector  // of the sources of imports
	foreground  ingestion.Foreground
	dialer      *safedial.Dialer
	browser     *browser.Browser // nil = the scripts of pages are not run
	listener    net.Listener     // of the API
	offline     string           // address of the offline model, "" = not served
	worker      *worker.Worker
	identity    string // of this start's workers

	secretKey     []byte // that seals the secrets of users
	keepAdminKey  bool   // an admin key that the database has stays
	drawnAdminKey string // by this process, "" = none

	members *members              // other processes on the data folder
	tmp     string                // folder of temporary files, "" = that of the server
	ends    childserver.Endpoints // of the server
	failed  chan error            // of a listener that gave up
	closers []func() error
	stopBy  time.Time // for all that is closed, set when closing begins
}

// newPlatform returns a platform without parts. roles.go has the parts of each role.
func newPlatform(cfg config.Config, log *slog.Logger) *platform {
	worker.NameBuild(versionName())
	return &platform{
		cfg: cfg, log: log, metrics: telemetry.NewMetrics(versionName()), hub: stream.NewHub(), failed: make(chan error, 4), woken: make(chan store.WebhookQueue, 1000),
		ends: childserver.Endpoints{PID: os.Getpid(), KeyFile: filepath.Join(cfg.Data, "admin.key")},
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

// temporary is the folder of copies that live for one step or request.
func (p *platform) temporary() string {
	if p.tmp != "" {
		return p.tmp
	}
	return filepath.Join(p.cfg.Data, "tmp")
}

// hostFolder finds out whether workers of another start are alive.
func (p *platform) hostFolder(context.Context) (err error) {
	if p.members, err = hostMembers(p.cfg.Data); err != nil {
		return err
	}
	p.onClose(p.members.close)
	p.foreground.Others = p.members
	return nil
}

// emptyTemporary deletes the copies that a killed process left: text that was
// removed from the stores must not survive there. This process holds the lock of
// the folder.
func (p *platform) emptyTemporary(context.Context) error {
	if err := os.RemoveAll(p.temporary()); err != nil {
		return fmt.Errorf("empty the folder for temporary files: %w", err)
	}
	if err := os.Mkdir(p.temporary(), 0o700); err != nil {
		return fmt.Errorf("make the folder for temporary files: %w", err)
	}
	return nil
}

// openStores opens the stores, and creates or migrates what is missing or older.
func (p *platform) openStores(ctx context.Context) error {
	if p.cfg.Database.Postgres() {
		if err := store.Migrate(ctx, p.cfg.Database.URL); err != nil {
			return fmt.Errorf("open the database: %w", err)
		}
	}
	return p.storesWith(ctx, store.Config{})
}

// joinStores opens stores that another process has prepared.
func (p *platform) joinStores(ctx context.Context) error {
	return p.storesWith(ctx, store.Config{Joined: true})
}

// openBlobs opens the store of blobs.
func (p *platform) openBlobs(ctx context.Context) (err error) {
	cfg := blobs.Config{URL: p.cfg.Blob.URL, Shared: p.members.shared, Logger: p.log}
	if p.cfg.Blob.Credentials != "" {
		cfg.Credentials = []byte(p.cfg.Blob.Credentials)
	}
	if p.blobs, err = blobs.Open(ctx, cfg); err != nil {
		return fmt.Errorf("open the blob store: %w", err)
	}
	p.onClose(p.blobs.Close)
	return nil
}

func (p *platform) storesWith(ctx context.Context, cfg store.Config) (err error) {
	if err := p.openBlobs(ctx); err != nil {
		return err
	}
	generation := instanceEmbeddings(p.cfg.Models.Embedding).Generation()
	cfg.URL, cfg.Generation, cfg.Logger, cfg.Woken = p.cfg.Database.URL, generation, p.log, p.woken
	if p.store, err = store.Open(ctx, cfg); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	p.onClose(p.store.Close)
	if p.index, err = openIndex(ctx, p.cfg.Vector, generation, p.log); err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	p.onClose(p.index.Close)
	p.attributes = &ingestion.Attributes{Store: p.store, Index: p.index}
	return nil
}

// useTemporal makes what reaches workflows through a client.
func (p *platform) useTemporal(c client.Client) {
	p.client = c
	p.onClose(func() error { c.Close(); return nil })
	p.workflow = dispatch.New(c, p.cfg.Temporal.Namespace, versionName()).Named(*p.cfg.Operator.Names)
	if p.cfg.Temporal.Embedded() {
		p.workflow.OwnsHistories()
	}
	p.metrics.WatchBacklog(p.backlog)
}

// startModels creates the clients of the configured endpoints, and serves the
// offline model for each model without an endpoint.
func (p *platform) startModels(context.Context) error {
	if err := p.serveOffline(); err != nil {
		return err
	}
	p.connectModels()
	return nil
}

// usesOffline reports whether a model has no endpoint.
func (p *platform) usesOffline() bool {
	return p.cfg.Models.Chat.Offline() || p.cfg.Models.Embedding.Offline()
}

func (p *platform) grace() time.Duration { return time.Duration(p.cfg.ShutdownSeconds) * time.Second }

// serve serves a handler until the platform is closed.
func (p *platform) serve(l net.Listener, handler http.Handler, stopping func()) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug), ConnContext: smallSendBuffer,
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			p.failed <- fmt.Errorf("serve %s: %w", l.Addr(), err)
		}
	}()
	p.onClose(func() error {
		stopping()
		ctx, cancel := context.WithDeadline(context.Background(), p.stopBy)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			return server.Close() // the runs behind open requests resume at the next start
		}
		return nil
	})
}

// sendBuffer is what the kernel holds of an answer, in bytes. It grows to 4 MB
// otherwise, and tells the server of room only when a third of it is free: a
// client that reads 20 KB a second would look for a minute as if it did not read.
const sendBuffer = 128 << 10

func smallSendBuffer(ctx context.Context, c net.Conn) context.Context {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // without it only slow clients are dropped early
	}
	return ctx
}

// atLeast lets log lines through from a level on.
type atLeast struct {
	slog.Handler
	level slog.Level
}

// Enabled implements slog.Handler.
func (h atLeast) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

// WithAttrs implements slog.Handler.
func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(attrs), h.level}
}

// WithGroup implements slog.Handler.
func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Handler.WithGroup(name), h.level}
}
