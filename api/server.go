package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/intake"
)

// Server is the HTTP edge: it puts the routes of the resources together. Safe for
// concurrent use.
type Server struct {
	edge     *edge.Edge
	late     *intake.Late
	removals *removalQueue
	stop     func()
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
	p := newParts(cfg, deps)
	for _, r := range p.routes(cfg, deps) {
		r.mount(p.edge)
	}
	if err := p.mountOpenAI(cfg, deps); err != nil {
		return nil, err
	}
	description := &pages{edge: p.edge, links: deps.Links, models: deps.Models, views: p.views}
	description.mount(p.edge) // of the routes before it
	if err := p.edge.CheckRoutes(); err != nil {
		return nil, err
	}
	return &Server{p.edge, p.late, p.removals, p.stop}, nil
}

// Handler serves all routes.
func (s *Server) Handler() http.Handler { return s.edge.Handler() }

// StartLate starts the workflows of accepted documents that could not be started, as soon as
// the workflow service answers again, and the workflows that remove many documents. It
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

func (d Deps) check() error {
	switch {
	case d.Store == nil, d.Followed == nil, d.Blobs == nil, d.Access == nil:
		return errors.New("api: Store, Followed, Blobs and Access are required")
	case d.Imports == nil, d.NamedSecrets == nil, d.Quotations == nil:
		return errors.New("api: Imports, NamedSecrets and Quotations are required")
	case d.Retriever == nil, d.Pages == nil, d.Attributes == nil, d.Dispatch == nil, d.Answers == nil, d.Relay == nil:
		return errors.New("api: Retriever, Pages, Attributes, Dispatch, Answers and Relay are required")
	case d.Links == nil, d.Log == nil, d.Addresses == nil, d.Audit == nil, d.AuditChain == nil:
		return errors.New("api: Links, Log, Addresses, Audit and AuditChain are required")
	}
	return nil
}
