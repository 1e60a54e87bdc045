package telemetry

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// description is a metric as the reference shows it.
type description struct {
	name, kind, help string
	labels           []string
}

func (d description) desc() *prometheus.Desc {
	return prometheus.NewDesc(d.name, d.help, d.labels, nil)
}

const referenceHead = `# Metrics

<!-- Made from internal/telemetry by: go test ./internal/telemetry -run Reference -update -->

` + "`GET /metrics`" + ` of the API, and of a worker at its ` + "`--health-listen`" + `, serves these in the
Prometheus text format, beside the metrics of the Go runtime (` + "`go_…`" + `) and the process
(` + "`process_…`" + `). Labels never hold text of clients, documents or providers. The gauges of
documents and queues are read at a scrape, at most every 10 s, and count over all
workspaces and processes: take them from one process. All others count what their process
does.

| metric | type | labels | meaning |
|---|---|---|---|
`

// Reference is the description of every metric as Markdown, as it stands in
// docs/metrics.md.
func Reference() string {
	var out strings.Builder
	out.WriteString(referenceHead)
	for _, d := range append(NewMetrics("").described, backlogGauges...) {
		labels := "–"
		if len(d.labels) > 0 {
			labels = "`" + strings.Join(d.labels, "`, `") + "`"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", d.name, d.kind, labels, d.help)
	}
	return out.String()
}
