package api

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// readyPatience is how long a dependency may take to say that it is there.
const readyPatience = 2 * time.Second

type readiness struct {
	Status       string            `json:"status" enum:"ready,unavailable"`
	Dependencies []dependencyState `json:"dependencies"`
}

type dependencyState struct {
	Name   string `json:"name"`
	Status string `json:"status" enum:"up,down"`
}

// Health answers whether a process can work, at /healthz, /readyz and /metrics. Make it
// with NewHealth. Safe for concurrent use.
type Health struct {
	ready    []Dependency
	metrics  http.Handler
	log      *slog.Logger
	stopping chan struct{}
	stop     func()
}

// NewHealth returns the health of a process that needs dependencies. metrics serves
// /metrics; nil means that there is none.
func NewHealth(ready []Dependency, metrics http.Handler, log *slog.Logger) *Health {
	h := &Health{ready: ready, metrics: metrics, log: log, stopping: make(chan struct{})}
	h.stop = sync.OnceFunc(func() { close(h.stopping) })
	return h
}

// Stop makes /readyz answer 503.
func (h *Health) Stop() { h.stop() }

// Handler serves the three paths for a process that has no API.
func (h *Health) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.alive)
	mux.HandleFunc("GET /readyz", h.readyz)
	mux.HandleFunc("GET /metrics", h.counted)
	return mux
}

func (h *Health) alive(w http.ResponseWriter, _ *http.Request) {
	edge.WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (h *Health) readyz(w http.ResponseWriter, r *http.Request) {
	state := h.readiness(r.Context())
	status := http.StatusOK
	if state.Status != "ready" {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	}
	edge.WriteJSON(w, status, state)
}

func (h *Health) counted(w http.ResponseWriter, r *http.Request) {
	if h.metrics == nil {
		edge.WriteError(w, r, knowledge.Errorf(knowledge.CodeNotFound, "this server keeps no metrics"))
		return
	}
	h.metrics.ServeHTTP(w, r)
}

func (s *Server) registerHealth() {
	get := func(path, id, summary string, responses map[string]*huma.Response, h http.HandlerFunc) {
		edge.HandleRaw(s.edge, edge.Route{Public: true, Operation: huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Tags: []string{"server"}, Responses: responses,
		}}, func(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) { h(w, r) })
	}
	body := map[string]*huma.MediaType{"application/json": {Schema: schemaOf[readiness](s.edge.OpenAPI().Components.Schemas)}}
	get("/healthz", "health", "Whether the process runs", map[string]*huma.Response{"200": {Description: "It does"}}, s.health.alive)
	get("/readyz", "readiness", "Whether requests can be served", map[string]*huma.Response{
		"200": {Description: "They can", Content: body}, "503": {Description: "They cannot", Content: body},
	}, s.health.readyz)
	get("/metrics", "metrics", "What was counted, for Prometheus", map[string]*huma.Response{"200": {
		Description: "OK", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}, s.health.counted)
}

// readiness asks every dependency, all at once.
func (h *Health) readiness(ctx context.Context) readiness {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	state := readiness{Status: "ready", Dependencies: make([]dependencyState, len(h.ready))}
	var wg sync.WaitGroup
	for i, d := range h.ready {
		wg.Go(func() {
			state.Dependencies[i] = dependencyState{Name: d.Name, Status: "up"}
			if err := d.Ping(ctx); err != nil {
				state.Dependencies[i].Status = "down"
				h.log.WarnContext(ctx, "dependency is down", "dependency", d.Name, "error", err)
			}
		})
	}
	wg.Wait()
	for _, d := range state.Dependencies {
		if d.Status != "up" {
			state.Status = "unavailable"
		}
	}
	select {
	case <-h.stopping:
		state.Status = "unavailable"
	default:
	}
	return state
}
