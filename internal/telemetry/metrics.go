package telemetry

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts what a process does. It is safe for concurrent use. Label
// values come only from Cairn (a route's pattern, a stage, a status), so that
// clients cannot create new series.
type Metrics struct {
	registry      *prometheus.Registry
	requests      *prometheus.HistogramVec
	streams       prometheus.Gauge
	workflows     *prometheus.CounterVec
	documents     *prometheus.CounterVec
	stages        *prometheus.HistogramVec
	modelCalls    *prometheus.HistogramVec
	modelTokens   *prometheus.CounterVec
	retrievalLegs *prometheus.HistogramVec
	webhooks      *prometheus.CounterVec
}

// Bucket limits in seconds: quick for work that should take milliseconds, slow
// for work that may take minutes.
var (
	quick = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
	slow  = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
)

// NewMetrics returns metrics with a registry of their own, which also has those
// of the Go runtime and the process.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: histogram("cairn_http_request_seconds", "Time from a request to the end of its answer, streams included.", slow, "method", "route", "status"),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cairn_open_streams", Help: "Event streams that clients follow now.",
		}),
		workflows:     counter("cairn_workflows_total", "Workflows that ended, by type and status.", "workflow", "status"),
		documents:     counter("cairn_documents_total", "Versions of documents whose ingest ended, by outcome.", "outcome"),
		stages:        histogram("cairn_ingest_stage_seconds", "Time of the stages of an ingest.", slow, "stage"),
		modelCalls:    histogram("cairn_model_call_seconds", "Time of calls of models.", slow, "provider", "kind", "outcome"),
		modelTokens:   counter("cairn_model_tokens_total", "Tokens that models read (prompt) and wrote (completion).", "provider", "kind", "direction"),
		webhooks:      counter("cairn_webhook_attempts_total", "Requests to webhooks, by type of event and what became of the delivery.", "type", "outcome"),
		retrievalLegs: histogram("cairn_retrieval_seconds", "Time of the legs of a retrieval.", quick, "leg"),
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.streams, m.workflows, m.documents, m.stages, m.modelCalls, m.modelTokens, m.retrievalLegs, m.webhooks,
	)
	return m
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Handler serves the metrics in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// Request counts one HTTP request. route is the pattern that matched, never the
// path. Methods that HTTP does not define count as "other".
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	m.requests.WithLabelValues(knownMethod(method), route, strconv.Itoa(status)).Observe(took.Seconds())
}

func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}

// OpenStreams sets the number of open event streams.
func (m *Metrics) OpenStreams(n int) { m.streams.Set(float64(n)) }

// WorkflowDone counts a workflow that ended, by its type and status.
func (m *Metrics) WorkflowDone(workflow, status string) {
	m.workflows.WithLabelValues(workflow, status).Inc()
}

// DocumentDone counts a version whose ingest ended, by outcome.
func (m *Metrics) DocumentDone(outcome string) { m.documents.WithLabelValues(outcome).Inc() }

// WebhookAttempt counts a request to a webhook, by the type of the event and the
// status of the delivery after it.
func (m *Metrics) WebhookAttempt(kind, outcome string) {
	m.webhooks.WithLabelValues(kind, outcome).Inc()
}

// IngestStage records the duration of one stage of an ingest.
func (m *Metrics) IngestStage(stage string, seconds float64) {
	m.stages.WithLabelValues(stage).Observe(seconds)
}

// ModelCall records one call of a model (kind "chat" or "embedding") and the
// tokens that its provider counted.
func (m *Metrics) ModelCall(provider, kind, outcome string, seconds float64, promptTokens, completionTokens int) {
	m.modelCalls.WithLabelValues(provider, kind, outcome).Observe(seconds)
	for direction, tokens := range map[string]int{"prompt": promptTokens, "completion": completionTokens} {
		if tokens > 0 { // a counter panics below 0, and a provider may report any number
			m.modelTokens.WithLabelValues(provider, kind, direction).Add(float64(tokens))
		}
	}
}

// Retrieval records the duration of each leg of one retrieval.
func (m *Metrics) Retrieval(legs map[string]time.Duration) {
	for leg, took := range legs {
		m.retrievalLegs.WithLabelValues(leg).Observe(took.Seconds())
	}
}
