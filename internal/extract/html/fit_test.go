package html_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/html"
)

var fitWeights = flag.Bool("fit", false, "fit the weights of the evidence of main text, and print them")

// judged is a page with the evidence about its units.
type judged struct {
	page     goldPage
	texts    []string
	evidence [][]float64
}

// sample is a unit that a person judged.
type sample struct {
	evidence []float64
	isMain   float64 // 1 or 0
}

// TestFitWeights fits the weights of the evidence: to four fifths of the pages, which
// are measured on the last fifth, five times over, and then to all pages.
func TestFitWeights(t *testing.T) {
	if !*fitWeights {
		t.Skip("run with -fit to fit the weights again")
	}
	random := rand.New(rand.NewPCG(1, 1))
	var pages []judged
	for _, page := range goldPages(t) {
		texts, found := html.Evidence(page.content)
		pages = append(pages, judged{page, texts, found})
	}
	random.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	const folds = 5
	var unseen tally
	for fold := range folds {
		var rest []judged
		for i, p := range pages {
			if i%folds != fold {
				rest = append(rest, p)
			}
		}
		weights := fit(rest, random)
		for i := fold; i < len(pages); i += folds {
			unseen.add(pages[i].page, pages[i].mainText(weights))
		}
	}
	precision, recall, f1 := unseen.rates()
	t.Logf("pages that were not used for fitting: precision %.3f, recall %.3f, F1 %.3f", precision, recall, f1)
	for i, w := range fit(pages, random) {
		t.Logf("weight %2d: %5.2f, now %5.2f", i, w, html.Weights()[i])
	}
}

// bias favours recall: text that is lost is worse than text too much.
const bias = 0.5

func (p judged) mainText(weights []float64) string {
	var b strings.Builder
	for i, text := range p.texts {
		if sum(weights, p.evidence[i]) > 0 {
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}

func (p judged) samples() (out []sample) {
	for _, piece := range p.page.inside {
		best, at := -1.0, -1 // of the units with this text, the one that the programs found
		for i, text := range p.texts {
			if votes := p.evidence[i][1] + p.evidence[i][2] + p.evidence[i][3]; strings.Contains(text, piece) && votes > best {
				best, at = votes, i
			}
		}
		if at >= 0 {
			out = append(out, sample{p.evidence[at], 1})
		}
	}
	for _, piece := range p.page.outside {
		for i, text := range p.texts {
			if strings.Contains(text, piece) {
				out = append(out, sample{p.evidence[i], 0})
			}
		}
	}
	return out
}

// fit returns the weights of a logistic regression.
func fit(pages []judged, random *rand.Rand) []float64 {
	var samples []sample
	for _, p := range pages {
		samples = append(samples, p.samples()...)
	}
	weights := make([]float64, len(html.Weights()))
	for epoch := range 10 {
		rate := .05 / (1 + .3*float64(epoch))
		random.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
		for _, s := range samples {
			gap := 1/(1+math.Exp(-sum(weights, s.evidence))) - s.isMain
			for i, x := range s.evidence {
				weights[i] -= rate * (gap*x + 1e-5*weights[i])
			}
		}
	}
	weights[0] += bias
	return weights
}

func sum(weights, evidence []float64) (total float64) {
	for i, x := range evidence {
		total += weights[i] * x
	}
	return total
}
