package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/api/openai"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/importing"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/question"
)

// Server is the HTTP edge. Safe for concurrent use.
type Server struct {
	cfg       Config
	deps      Deps
	edge      *edge.Edge
	questions *question.Starter
	intake    *intake.Intake
	late      *intake.Late
	removals  *removalQueue
	imports   *importing.Starter
	streams   *streams
	leases    *leases
	turns     turns
	health    *Health
	stopping  chan struct{}
	stop      func()
}

// New returns the HTTP edge with all its routes.
func New(cfg Config, deps Deps) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := deps.check(); err != nil {
		return nil, err
	}
	if deps.Metrics == nil {
		deps.Metrics = noMetrics{}
	}
	if deps.Clock == nil {
		deps.Clock = time.Now
	}
	s := &Server{
		cfg: cfg, deps: deps, streams: newStreams(cfg.Streams, deps.Metrics), turns: turns{waiting: map[string]*turn{}}, stopping: make(chan struct{}),
	}
	s.leases = &leases{ended: deps.Access.Lapsed, now: s.now, log: deps.Log, open: map[*lease]struct{}{}}
	keys := idempotency.New(deps.Store, cfg.Process, deps.Clock)
	s.edge = edge.New(edge.Config{Version: cfg.Version, BodyMemory: cfg.BodyMemory}, edge.Deps{
		Access: deps.Access, Keys: keys, Metrics: deps.Metrics, Log: deps.Log,
	})
	s.questions = question.New(question.Config{
		UserQueriesPerMinute: cfg.UserQueriesPerMinute, KeyQueriesPerMinute: cfg.KeyQueriesPerMinute, Shared: cfg.Process != "",
		Reranker: cfg.Reranker, ChatModels: cfg.ChatModels, Tools: cfg.Tools, Components: cfg.Components, WebProvider: cfg.WebProvider,
	}, question.Deps{
		Store: deps.Store, Blobs: deps.Blobs, Keys: keys, Workflows: deps.Answers, Relay: deps.Relay, Log: deps.Log, Now: s.now,
		Attachments: attachments{s},
	})
	s.removals = newRemovalQueue(deps.Dispatch.Remove, deps.Log)
	s.late = intake.NewLate(deps.Dispatch, deps.Log)
	s.intake = intake.New(intake.Config{FileBytes: cfg.FileBytes, TextBytes: cfg.TextBytes, RequestFiles: cfg.RequestFiles}, intake.Deps{
		Store: deps.Store, Blobs: deps.Blobs, Conversations: deps.Access, Workflows: s.late, Secrets: deps.Secrets, Log: deps.Log, Now: s.now,
	})
	s.imports = importing.New(importing.Deps{
		Store: deps.Store, Blobs: deps.Blobs, Workflows: deps.Dispatch, Sources: deps.Imports, Secrets: deps.NamedSecrets, Log: deps.Log, Now: s.now,
	})
	s.health = NewHealth(deps.Ready, deps.Details, deps.MetricsPage, deps.Log)
	s.stop = sync.OnceFunc(func() { s.health.Stop(); close(s.stopping) })
	s.register()
	if err := openai.Register(openai.Deps{Edge: s.edge, Store: deps.Store, Questions: s.questions, Models: deps.Models, Runs: openaiRuns{s}, Blobs: openaiLibrary{deps.Blobs, s}, FileBytes: cfg.FileBytes, Addresses: deps.Addresses, WriteAllowance: writeAllowance, Address: s.address}); err != nil {
		return nil, err
	}
	s.describe()
	return s, nil
}

// register adds all routes.
func (s *Server) register() {
	s.registerWorkspaces()
	s.registerKeys()
	s.registerSecrets()
	s.registerProjects()
	s.registerWebhookDeliveries()
	s.registerDocuments()
	s.registerDocumentActions()
	s.registerDocumentParts()
	s.registerPagePictures()
	s.registerUpload()
	s.registerFiles()
	s.registerChunks()
	s.registerConversations()
	s.registerForget()
	s.registerAttachments()
	s.registerPreferences()
	s.registerRuns()
	s.registerRunFiles()
	s.registerImports()
	s.registerReindex()
	s.registerApprovals()
	s.registerResearch()
	s.registerRetrieve()
	s.registerQuestions()
	s.registerWebSocket()
	s.registerMCP()
	s.registerHealth()
}

// Handler serves all routes.
func (s *Server) Handler() http.Handler { return s.edge.Handler() }

// StartLate starts the workflows of accepted documents that could not be started, as soon as
// the workflow service answers again, and those of the removals of many documents. It
// returns when ctx ends.
func (s *Server) StartLate(ctx context.Context) {
	var removals sync.WaitGroup
	removals.Go(func() { s.removals.run(ctx) })
	s.late.Run(ctx)
	removals.Wait()
}

// Stop ends the open event streams and makes /readyz answer 503, so that clients
// go elsewhere. Other requests that were begun continue.
func (s *Server) Stop() { s.stop() }

func (s *Server) now() time.Time { return s.deps.Clock().UTC() }

func (d Deps) check() error {
	switch {
	case d.Store == nil, d.Followed == nil, d.Blobs == nil, d.Access == nil:
		return errors.New("api: Store, Followed, Blobs and Access are required")
	case d.Imports == nil, d.NamedSecrets == nil, d.Quotations == nil:
		return errors.New("api: Imports, NamedSecrets and Quotations are required")
	case d.Retriever == nil, d.Pages == nil, d.Attributes == nil, d.Dispatch == nil, d.Answers == nil, d.Relay == nil:
		return errors.New("api: Retriever, Pages, Attributes, Dispatch, Answers and Relay are required")
	case d.Links == nil, d.Log == nil, d.Addresses == nil:
		return errors.New("api: Links, Log and Addresses are required")
	}
	return nil
}
