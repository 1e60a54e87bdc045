package telemetry

import (
	"net/http"
	"runtime"
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
	described     []description
	requests      *prometheus.HistogramVec
	streams       prometheus.Gauge
	workflows     *prometheus.CounterVec
	documents     *prometheus.CounterVec
	stages        *prometheus.HistogramVec
	importWrites  *prometheus.HistogramVec
	modelCalls    *prometheus.HistogramVec
	modelTokens   *prometheus.CounterVec
	retrievalLegs *prometheus.HistogramVec
	webhooks      *prometheus.CounterVec
	faults        *prometheus.CounterVec
	last          lastCalls
}

// Bucket limits in seconds: quick for work that should take milliseconds, slow
// for work that may take minutes, long for work that may take hours.
var (
	quick = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
	slow  = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	long  = []float64{.005, .025, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600, 4 * 3600}
)

// NewMetrics returns metrics with a registry of their own, which also has the metrics
// of the Go runtime and the process. version is the program's.
func NewMetrics(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.requests = m.histogram("cairn_http_request_seconds", "Time from a request to the end of its answer, streams included; status 499 is a client that disconnected.", slow, "method", "route", "status")
	m.streams = m.gauge("cairn_open_streams", "Event streams that clients follow now.").WithLabelValues()
	m.workflows = m.counter("cairn_workflows_total", "Workflows that ended, by type and status.", "workflow", "status")
	m.documents = m.counter("cairn_documents_total", "Versions of documents whose ingest ended, by outcome.", "outcome")
	m.stages = m.histogram("cairn_ingest_stage_seconds", "Time of the stages of an ingest.", long, "stage")
	m.importWrites = m.histogram("cairn_import_write_seconds", "Time of the writes of imports of small texts, each of a group of documents: step claim and publish in the database, index in the index; phase wait is the time until the group's turn, work the time of the write.", quick, "step", "phase")
	m.modelCalls = m.histogram("cairn_model_call_seconds", "Time of calls of models.", slow, "provider", "kind", "outcome")
	m.modelTokens = m.counter("cairn_model_tokens_total", "Tokens that models read (prompt) and wrote (completion).", "provider", "kind", "direction")
	m.webhooks = m.counter("cairn_webhook_attempts_total", "Requests to webhooks, by type of event and what became of the delivery: delivered, pending (it is tried again) or failed.", "type", "outcome")
	m.retrievalLegs = m.histogram("cairn_retrieval_seconds", "Time of the legs of a retrieval: embed, dense, bm25, recheck, total.", quick, "leg")
	m.faults = m.counter("cairn_reader_faults_total", "Panics of readers of documents and ends of parser processes that no limit explains, by media type: defects of Cairn, whose stacks are in the log.", "media_type")
	m.gauge("cairn_build_info", "1, with the version of the program and of Go.", "version", "go_version").WithLabelValues(version, runtime.Version()).Set(1)
	return m
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.add(v, description{name, "histogram", help, labels})
	return v
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.add(v, description{name, "counter", help, labels})
	return v
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.add(v, description{name, "gauge", help, labels})
	return v
}

func (m *Metrics) add(c prometheus.Collector, d description) {
	m.registry.MustRegister(c)
	m.described = append(m.described, d)
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

// ReaderFault counts a fault of a reader, by the media type of its format.
func (m *Metrics) ReaderFault(mediaType string) { m.faults.WithLabelValues(mediaType).Inc() }

// WebhookAttempt counts a request to a webhook, by the type of the event and the
// status of the delivery after it.
func (m *Metrics) WebhookAttempt(kind, outcome string) {
	m.webhooks.WithLabelValues(kind, outcome).Inc()
}

// IngestStage records the duration of one stage of an ingest.
func (m *Metrics) IngestStage(stage string, seconds float64) {
	m.stages.WithLabelValues(stage).Observe(seconds)
}

// ImportWrite records one write of a group of an import's documents: how long it waited for
// its turn, and how long it took.
func (m *Metrics) ImportWrite(step string, wait, work time.Duration) {
	m.importWrites.WithLabelValues(step, "wait").Observe(wait.Seconds())
	m.importWrites.WithLabelValues(step, "work").Observe(work.Seconds())
}

// ModelCall records one call of a model (kind "chat" or "embedding") and the
// tokens that its provider counted.
func (m *Metrics) ModelCall(provider, kind, outcome string, seconds float64, promptTokens, completionTokens int) {
	m.last.add(ModelCall{Provider: provider, Kind: kind, Outcome: outcome, Seconds: seconds, At: time.Now()})
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
