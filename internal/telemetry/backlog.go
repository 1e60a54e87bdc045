package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Backlog is the work that waits, over all workspaces.
type Backlog struct {
	Documents []PendingDocuments
	Queues    map[string]int64 // tasks that no worker has taken yet, by task queue
	// SecretEnds are when the secrets of connections expire, by the ids of the connections.
	SecretEnds map[string]time.Time
}

// PendingDocuments are the pending documents of one stage and cause.
type PendingDocuments struct {
	Stage, Code string // Code "" = they do not wait for a next try
	Count       int
	Oldest      time.Time // when the oldest was accepted
}

// backlogAge is how long a backlog that was read serves scrapes, and backlogPatience how
// long a scrape waits for it.
const (
	backlogAge      = 10 * time.Second
	backlogPatience = 3 * time.Second
)

// backlogCollector reads the backlog at a scrape, so that work pays nothing for it.
type backlogCollector struct {
	read                                    func(context.Context) (Backlog, error)
	pending, waiting, oldest, queue, secret *prometheus.Desc

	mu            sync.Mutex
	last          Backlog
	at            time.Time
	stages, codes map[string]bool // that a scrape has shown
}

// WatchBacklog adds gauges of the work that waits. read is called at most every 10 s; the
// gauges are missing while it fails. It must be called once.
func (m *Metrics) WatchBacklog(read func(context.Context) (Backlog, error)) {
	m.registry.MustRegister(&backlogCollector{
		read:    read,
		pending: backlogGauges[0].desc(), waiting: backlogGauges[1].desc(), oldest: backlogGauges[2].desc(), queue: backlogGauges[3].desc(), secret: backlogGauges[4].desc(),
	})
}

var backlogGauges = []description{
	{"cairn_pending_documents", "gauge", "Documents that are not published yet and have not failed.", []string{"stage"}},
	{"cairn_waiting_documents", "gauge", "Pending documents that wait for their next try, in imports too, by the code of the failure.", []string{"code"}},
	{"cairn_oldest_pending_seconds", "gauge", "Age of the oldest pending document; 0 if there is none.", nil},
	{"cairn_queue_tasks", "gauge", "Tasks that no worker has taken yet, by task queue.", []string{"queue"}},
	{"cairn_connection_secret_seconds", "gauge", "Time until the secret of a connection expires, by the id of the connection; below 0 it has expired. Only of connections whose services tell it.", []string{"connection"}},
}

// Describe implements prometheus.Collector.
func (c *backlogCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.pending, c.waiting, c.oldest, c.queue, c.secret} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *backlogCollector) Collect(out chan<- prometheus.Metric) {
	b, ok := c.backlog()
	if !ok {
		return
	}
	stages, codes, oldest := map[string]int{}, map[string]int{}, time.Duration(0)
	for _, d := range b.Documents {
		stages[d.Stage] += d.Count
		if d.Code != "" {
			codes[d.Code] += d.Count
		}
		oldest = max(oldest, time.Since(d.Oldest))
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	c.mu.Lock()
	shown(stages, &c.stages)
	shown(codes, &c.codes)
	c.mu.Unlock()
	for stage, n := range stages {
		gauge(c.pending, float64(n), stage)
	}
	for code, n := range codes {
		gauge(c.waiting, float64(n), code)
	}
	gauge(c.oldest, oldest.Seconds())
	for queue, n := range b.Queues {
		gauge(c.queue, float64(n), queue)
	}
	for connection, ends := range b.SecretEnds {
		gauge(c.secret, time.Until(ends).Seconds(), connection)
	}
}

// shown adds a count of 0 for each label that an earlier scrape has shown: a series that
// vanishes is no series that ends at 0. It remembers the labels of counts.
func shown(counts map[string]int, earlier *map[string]bool) {
	if *earlier == nil {
		*earlier = map[string]bool{}
	}
	for label := range counts {
		(*earlier)[label] = true
	}
	for label := range *earlier {
		counts[label] += 0
	}
}

func (c *backlogCollector) backlog() (Backlog, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at.IsZero() && time.Since(c.at) < backlogAge {
		return c.last, true
	}
	// A scrape has no context that reaches a collector.
	ctx, cancel := context.WithTimeout(context.Background(), backlogPatience)
	defer cancel()
	b, err := c.read(ctx)
	if err != nil {
		return b, false
	}
	c.last, c.at = b, time.Now()
	return b, true
}
