// Package edge is what stands around the handlers of the HTTP API, whatever they
// serve: Handle and HandleRaw register a route; guard authenticates its callers,
// checks scope and parameters, reads the body and claims the Idempotency-Key;
// problem.go is the one place where error codes become statuses; middleware.go
// counts and logs requests. It knows no route: those stand in package api.
package edge

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/sync/semaphore"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
)

// Config is the part of the API's configuration that concerns every route. All
// fields but PublicURL and AuditQuestions are required.
type Config struct {
	Version    string // of the program, in openapi.json
	BodyMemory int64  // bytes of large bodies that are held in memory at a time; further requests wait
	PublicURL  string // at which clients reach the API; "" = as the request says

	AuditQuestions bool // keep the words of questions in the audit
}

// Deps is what an Edge works with. All fields but Audit and Quota are required, and safe for
// concurrent use.
type Deps struct {
	Access  Access
	Keys    Keys
	Metrics Metrics
	Audit   *audit.Recorder // nil = there is no audit
	Quota   *quota.Meter    // nil = no request is counted
	Log     *slog.Logger
}

// Access makes the principals of requests.
type Access interface {
	// Authenticate proves credentials. Missing or wrong ones are CodeUnauthorized.
	Authenticate(ctx context.Context, c access.Credentials) (knowledge.Principal, error)
	// In returns the principal as it acts in a workspace. One that is not its own
	// is CodeNotFound.
	In(ctx context.Context, p knowledge.Principal, workspace string) (knowledge.Principal, error)
	// As returns the principal as it acts for a user, in a conversation. A
	// conversation that is not that user's is CodeNotFound.
	As(ctx context.Context, p knowledge.Principal, as access.Acting) (knowledge.Principal, error)
}

// Keys claims the Idempotency-Keys of requests.
type Keys interface {
	// Claim returns the request's claim. It blocks while another request of this
	// process holds the same key.
	Claim(ctx context.Context, p knowledge.Principal, r idempotency.Request) (*idempotency.Claim, error)
}

// Metrics counts requests. Its methods do not block.
type Metrics interface {
	// Request counts one request; route is its pattern, never its path.
	Request(method, route string, status int, took time.Duration)
}

// Edge registers routes and serves them. Routes are registered before the first
// request; from then on it is safe for concurrent use.
type Edge struct {
	deps    Deps
	cfg     Config
	mux     *http.ServeMux
	paths   *http.ServeMux      // the paths of mux, without methods
	methods map[string][]string // of each path
	api     huma.API
	schemas *bodySchemas
	memory  *semaphore.Weighted             // bytes of large bodies
	needs   map[string]knowledge.Permission // of each route, by its access.RouteName
	faults  []error                         // of routes and the table of permissions

	failures failures // to authenticate
}

// New returns an Edge without routes.
func New(cfg Config, deps Deps) *Edge {
	e := &Edge{
		cfg: cfg, deps: deps, needs: access.Needs(), mux: http.NewServeMux(), paths: http.NewServeMux(), methods: map[string][]string{}, schemas: newBodySchemas(), memory: semaphore.NewWeighted(cfg.BodyMemory),
	}
	e.api = newAPI(cfg.Version, &adapter{e})
	return e
}

// OpenAPI returns the description of the routes that are registered by now.
func (e *Edge) OpenAPI() *huma.OpenAPI { return e.api.OpenAPI() }

// Handler serves the routes.
func (e *Edge) Handler() http.Handler { return e.observe(e.routes()) }
