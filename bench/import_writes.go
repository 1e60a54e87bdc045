package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// importWrites are the sums of cairn_import_write_seconds: the writes of the groups of
// all imports so far.
type importWrites map[writePhase]writeSum

type writePhase struct{ step, phase string }

type writeSum struct {
	seconds float64
	count   uint64
}

// importWrites reads the writes of imports from the metrics of the server. A version that
// does not measure them has none.
func (s *server) importWrites(ctx context.Context) (importWrites, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoints().API+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read the metrics: %s", response.Status)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	sums := importWrites{}
	for _, m := range families["cairn_import_write_seconds"].GetMetric() {
		var p writePhase
		for _, label := range m.GetLabel() {
			switch label.GetName() {
			case "step":
				p.step = label.GetValue()
			case "phase":
				p.phase = label.GetValue()
			}
		}
		sums[p] = writeSum{m.GetHistogram().GetSampleSum(), m.GetHistogram().GetSampleCount()}
	}
	return sums, nil
}

// since returns the writes since before.
func (w importWrites) since(before importWrites) importWrites {
	more := importWrites{}
	for p, now := range w {
		more[p] = writeSum{now.seconds - before[p].seconds, now.count - before[p].count}
	}
	return more
}

// writeSteps are the writes of a group, in their order.
var writeSteps = [...]string{"claim", "index", "publish"}

// figures are how long the writes of n objects took, and how many objects share one.
func (w importWrites) figures(n int) (figures []figure) {
	for _, step := range writeSteps {
		if work := w[writePhase{step, "work"}]; work.count > 0 {
			figures = append(figures, lower("ms an object, "+step, work.seconds*1000/float64(n)),
				higher("objects a write, "+step, float64(n)/float64(work.count)))
		}
	}
	return figures
}

// print writes how long the groups of n objects waited for their turns. Groups wait side by
// side, so the sum says what the writers are short of, and not how long the import took.
func (w importWrites) print(out io.Writer, n int) {
	for _, step := range writeSteps {
		if wait := w[writePhase{step, "wait"}]; wait.count > 0 {
			fmt.Fprintf(out, "a group waited %.1f ms for its %s, %.2f ms an object\n", wait.seconds*1000/float64(wait.count), step, wait.seconds*1000/float64(n))
		}
	}
}
