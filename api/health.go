package api

import (
	"context"
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

func (s *Server) registerHealth() {
	get := func(path, id, summary string, responses map[string]*huma.Response, h http.HandlerFunc) {
		edge.HandleRaw(s.edge, edge.Route{Public: true, Operation: huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Tags: []string{"server"}, Responses: responses,
		}}, func(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) { h(w, r) })
	}
	body := map[string]*huma.MediaType{"application/json": {Schema: schemaOf[readiness](s.edge.OpenAPI().Components.Schemas)}}
	get("/healthz", "health", "Whether the process runs", map[string]*huma.Response{"200": {Description: "It does"}}, func(w http.ResponseWriter, _ *http.Request) {
		edge.WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	get("/readyz", "readiness", "Whether requests can be served", map[string]*huma.Response{
		"200": {Description: "They can", Content: body}, "503": {Description: "They cannot", Content: body},
	}, func(w http.ResponseWriter, r *http.Request) {
		state := s.readiness(r.Context())
		status := http.StatusOK
		if state.Status != "ready" {
			status = http.StatusServiceUnavailable
			w.Header().Set("Retry-After", "1")
		}
		edge.WriteJSON(w, status, state)
	})
	get("/metrics", "metrics", "What was counted, for Prometheus", map[string]*huma.Response{"200": {
		Description: "OK", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}, func(w http.ResponseWriter, r *http.Request) {
		if s.deps.MetricsPage == nil {
			edge.WriteError(w, r, knowledge.Errorf(knowledge.CodeNotFound, "this server keeps no metrics"))
			return
		}
		s.deps.MetricsPage.ServeHTTP(w, r)
	})
}

// readiness asks every dependency, all at once.
func (s *Server) readiness(ctx context.Context) readiness {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	state := readiness{Status: "ready", Dependencies: make([]dependencyState, len(s.deps.Ready))}
	var wg sync.WaitGroup
	for i, d := range s.deps.Ready {
		wg.Go(func() {
			state.Dependencies[i] = dependencyState{Name: d.Name, Status: "up"}
			if err := d.Ping(ctx); err != nil {
				state.Dependencies[i].Status = "down"
				s.deps.Log.WarnContext(ctx, "dependency is down", "dependency", d.Name, "error", err)
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
	case <-s.stopping:
		state.Status = "unavailable"
	default:
	}
	return state
}
