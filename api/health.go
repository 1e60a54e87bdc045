package api

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/sync/semaphore"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/advice"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// readyPatience is how long a dependency may take to say that it is there.
const readyPatience = 2 * time.Second

type readiness struct {
	Status       string            `json:"status" enum:"ready,unavailable"`
	Dependencies []dependencyState `json:"dependencies"`

	StaleEmbeddings []staleEmbeddings `json:"staleEmbeddings,omitempty" doc:"Documents of all projects that were embedded with another model than the configured one. The server stays ready"`

	UncomparedEmbeddings []UncomparedEmbeddings `json:"uncomparedEmbeddings,omitempty" doc:"Embedding models whose endpoint has changed its address since documents were embedded, and could not be compared with the stored vectors. The server stays ready"`

	DiskProblem *DiskProblem `json:"diskProblem,omitempty" doc:"Why this process cannot store uploads. The server stays ready, because searches still work"`

	Models          []ModelCall `json:"models,omitempty" doc:"With ?verbose: the last call of each model endpoint by this process. Failures do not make the server unready"`
	IndexIncomplete bool        `json:"indexIncomplete,omitempty" doc:"With ?verbose: the index lacks published documents, because it was lost or vector.url has changed. cairn rebuild-index fills it. The server stays ready"`
	Disk            *DiskSpace  `json:"disk,omitempty" doc:"With ?verbose: the disk of this process's data folder, at most 15 seconds old"`
}

// DiskSpace is the free space of the disk of a data folder, and the use of it.
type DiskSpace struct {
	FreeBytes int64            `json:"freeBytes"`
	UsedBytes map[string]int64 `json:"usedBytes" doc:"Bytes by file or folder of the data folder, for those with at least 1 MB"`
}

// DiskProblem is the reason for which a disk takes no uploads.
type DiskProblem struct {
	Code        string `json:"code" enum:"full,read_only"`
	FreeBytes   int64  `json:"freeBytes" doc:"0 if a quota or the disk of a database server is full"`
	NeededBytes int64  `json:"neededBytes" doc:"The free space below which uploads and questions may be refused or fail"`
	Message     string `json:"message" doc:"What to do"`

	RefusesQuestions bool `json:"refusesQuestions,omitempty" doc:"There is no room for a question, or a write has failed, so questions too get 503 unavailable until there is space"`
}

// ModelCall is the last call of a model endpoint by this process.
type ModelCall struct {
	Provider string    `json:"provider" doc:"The host of the endpoint, with its port if the address names one, or offline"`
	Kind     string    `json:"kind" doc:"chat, embedding, rerank or transcription"`
	Outcome  string    `json:"outcome" doc:"ok or error"`
	Seconds  float64   `json:"seconds"`
	At       time.Time `json:"at"`
}

// UncomparedEmbeddings is an embedding model whose endpoint has another address than the one
// that embedded the documents. Nothing is embedded there until its vectors were compared.
type UncomparedEmbeddings struct {
	Model   string `json:"model" doc:"The model and its dimensions, as in embeddedWith"`
	Message string `json:"message" doc:"Why the endpoint could not be compared, and what to do"`
}

// HealthDetails is what /readyz shows beside the dependencies. Each field may be nil.
type HealthDetails struct {
	// Stale counts the documents that were embedded with another model, by project.
	Stale func(ctx context.Context) ([]store.StaleProject, error)
	// Uncompared returns the embedding models whose endpoints could not be compared.
	Uncompared func() []UncomparedEmbeddings
	// Models returns the last calls of the model endpoints.
	Models func() []ModelCall
	// IndexIncomplete reports whether the index lacks a document that is published.
	IndexIncomplete func(ctx context.Context) (bool, error)
	// DiskProblem returns the reason for which the disk takes no uploads, nil if it takes
	// them. It is called for each probe.
	DiskProblem func(ctx context.Context) *DiskProblem
	// Disk measures the data folder. It returns nil if there is none.
	Disk func() *DiskSpace
	// Machine checks the machine of the process, for GET /machine.
	Machine func(ctx context.Context) []MachineCheck
}

// staleFor is how long the count of stale documents and the use of the disk are shown
// before they are read again.
const staleFor = 15 * time.Second

type dependencyState struct {
	Name   string `json:"name"`
	Status string `json:"status" enum:"up,down"`
	Next   string `json:"next,omitempty" doc:"What to do while it is down"`
}

// Health answers whether a process can work, at /healthz, /readyz and /metrics. Make it
// with NewHealth. Safe for concurrent use.
type Health struct {
	ready    []Dependency
	details  HealthDetails
	metrics  http.Handler
	log      *slog.Logger
	stopping chan struct{}
	stop     func()

	counting *semaphore.Weighted // of 1, held while stale is read

	mu      sync.Mutex
	stale   []staleEmbeddings
	staleAt time.Time // when stale was read
	disk    *DiskSpace
	diskAt  time.Time // when disk was read
}

// NewHealth returns the health of a process that needs dependencies. metrics serves
// /metrics; nil means that there is none.
func NewHealth(ready []Dependency, details HealthDetails, metrics http.Handler, log *slog.Logger) *Health {
	h := &Health{ready: ready, details: details, metrics: metrics, log: log, stopping: make(chan struct{}), counting: semaphore.NewWeighted(1)}
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
	mux.HandleFunc("GET /metrics", h.serveMetrics)
	return mux
}

func (h *Health) alive(w http.ResponseWriter, _ *http.Request) {
	edge.WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (h *Health) readyz(w http.ResponseWriter, r *http.Request) {
	state := h.readiness(r.Context())
	query := r.URL.Query()
	verbose := query.Has("verbose") && query.Get("verbose") != "false"
	state.StaleEmbeddings = h.staleEmbeddings(r.Context(), verbose)
	if h.details.Uncompared != nil {
		state.UncomparedEmbeddings = h.details.Uncompared()
	}
	if h.details.DiskProblem != nil {
		state.DiskProblem = h.diskProblem(r.Context())
	}
	if verbose && h.details.Models != nil {
		state.Models = h.details.Models()
	}
	if verbose && h.details.IndexIncomplete != nil {
		state.IndexIncomplete = h.indexIncomplete(r.Context())
	}
	if verbose && h.details.Disk != nil {
		state.Disk = h.diskSpace()
	}
	status := http.StatusOK
	if state.Status != "ready" {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	}
	edge.WriteJSON(w, status, state)
}

// staleEmbeddings returns the documents of another embedding model, added up by model.
// Unless fresh is set it reads them at most once in staleFor: probes come often. One that
// cannot read them in time returns the documents of an earlier one.
func (h *Health) staleEmbeddings(ctx context.Context, fresh bool) []staleEmbeddings {
	if h.details.Stale == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	if h.counting.Acquire(ctx, 1) != nil { // a database that does not answer holds each probe for itself
		return h.lastStale()
	}
	defer h.counting.Release(1)
	if !fresh && h.staleIsNew() {
		return h.lastStale()
	}
	projects, err := h.details.Stale(ctx)
	if err != nil {
		return h.lastStale() // the dependencies tell why
	}
	var stale []staleEmbeddings
	for _, p := range projects {
		at := slices.IndexFunc(stale, func(s staleEmbeddings) bool { return s.EmbeddedWith == p.Serving && s.Configured == p.Wanted })
		if at < 0 {
			at, stale = len(stale), append(stale, staleEmbeddings{EmbeddedWith: p.Serving, Configured: p.Wanted})
		}
		stale[at].add(p)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stale, h.staleAt = stale, time.Now()
	return stale
}

func (h *Health) lastStale() []staleEmbeddings {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stale
}

func (h *Health) staleIsNew() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.staleAt.IsZero() && time.Since(h.staleAt) < staleFor
}

// indexIncomplete reports whether the index lacks a published document, as far as the
// dependencies answer in time.
func (h *Health) indexIncomplete(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	incomplete, err := h.details.IndexIncomplete(ctx)
	return err == nil && incomplete // the dependencies tell why
}

func (h *Health) diskProblem(ctx context.Context) *DiskProblem {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	return h.details.DiskProblem(ctx)
}

// diskSpace returns the space on the disk. It measures at most once in staleFor.
func (h *Health) diskSpace() *DiskSpace {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.diskAt.IsZero() || time.Since(h.diskAt) >= staleFor {
		h.disk, h.diskAt = h.details.Disk(), time.Now()
	}
	return h.disk
}

func (h *Health) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if h.metrics == nil {
		edge.WriteError(w, r, knowledge.Errorf(knowledge.CodeNotFound, "this server keeps no metrics"))
		return
	}
	h.metrics.ServeHTTP(w, r)
}

// mount adds the routes.
func (h *Health) mount(e *edge.Edge) {
	get := func(path, id, summary string, responses map[string]*huma.Response, serve http.HandlerFunc, parameters ...*huma.Param) {
		edge.HandleRaw(e, edge.Route{Public: true, Operation: huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Tags: []string{"server"}, Responses: responses, Parameters: parameters,
		}}, func(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) { serve(w, r) })
	}
	body := map[string]*huma.MediaType{"application/json": {Schema: schemaOf[readiness](e.OpenAPI().Components.Schemas)}}
	get("/healthz", "health", "Check that the process is alive", map[string]*huma.Response{"200": {Description: "The process is alive"}}, h.alive)
	get("/readyz", "readiness", "Check that the server is ready", map[string]*huma.Response{
		"200": {Description: "The server is ready", Content: body}, "503": {Description: "The server is not ready", Content: body},
	}, h.readyz, &huma.Param{Name: "verbose", In: "query", AllowEmptyValue: true, Schema: &huma.Schema{Type: huma.TypeString}, Description: "Also report the last call of each model endpoint by this process and its disk, compare the index with the published documents, and count staleEmbeddings again"})
	get("/metrics", "metrics", "Prometheus metrics", map[string]*huma.Response{"200": {
		Description: "OK", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}, h.serveMetrics)
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
				state.Dependencies[i].Status, state.Dependencies[i].Next = "down", advice.OnService(d.Name)
				h.log.WarnContext(ctx, "dependency is down", "dependency", d.Name, "error", err)
			}
		})
	}
	wg.Wait()
	for i, d := range state.Dependencies {
		if d.Status != "up" && !h.ready[i].Optional {
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
