package e2e_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
)

// picturesOfEvaluations writes pictures of the pages of evaluations, with an experiment over questions
// that are made of the sample documents.
func (s *server) picturesOfEvaluations(t *testing.T, page context.Context, folder string) {
	t.Helper()
	var set struct{ ID string }
	if status := s.call(t, "POST", "/workspaces/default/test_sets/generate", map[string]any{"project_id": "default", "name": "service desk", "count": 30}, &set); status != http.StatusCreated {
		t.Fatalf("a test set: status %d", status)
	}
	grid := map[string]any{"ai.retrieval.strategy": []string{"hybrid", "bm25"}, "ai.retrieval.numberOfChunks": []int{1, 10}}
	e := s.evaluate(t, map[string]any{"test_set_id": set.ID, "grid": grid})
	s.evaluated(t, e.ID, "it has ended", hasEnded)
	for _, shown := range []struct{ name, path, there string }{
		{"evaluations-list", "/evaluations", `!!document.querySelector("tbody tr")`},
		{"experiment", "/evaluations/" + e.ID, `!!document.querySelector(".experiment tbody tr")`},
		{"test-sets", "/evaluations/sets", `!!document.querySelector("tbody tr")`},
		{"test-set", "/evaluations/sets/" + set.ID, `!!document.querySelector("tbody tr")`},
		{"evaluation-new", "/evaluations/new?kind=grid", `!!document.querySelector(".grid")`},
		{"evaluation-compare", "/evaluations/compare?a=" + e.ID + "&b=" + e.ID + "&bc=2", `!!document.querySelector('table[aria-label="Differences"]')`},
		{"evaluation-review", "/evaluations/" + e.ID + "/review?sampling=low_score", `!!document.querySelector(".review h2")`},
		{"evaluation-calibration", "/evaluations/" + e.ID + "/calibration", `!!document.querySelector("main .notice")`},
		{"insights", "/evaluations/insights", `!!document.querySelector("main section")`},
	} {
		open(t, page, s.ends.API+shown.path)
		awaitPage(t, page, shown.there)
		if shown.name == "evaluation-compare" {
			do(t, page, chromedp.Evaluate(`document.querySelector(".changed details")?.setAttribute("open", "")`, nil))
		}
		if shown.name == "evaluation-review" {
			do(t, page, chromedp.KeyEvent("1"))
			awaitPage(t, page, `!!document.querySelector(".review .notice")`)
		}
		pictures(t, page, folder, shown.name)
	}
}
