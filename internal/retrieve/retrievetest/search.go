package retrievetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// few is the number of chunks of a search that asks for fewer than there are.
// Its first candidates may all be hidden, so it must ask for more.
const few = 3

// search searches with every strategy for all chunks and for a few, and checks
// what it finds.
func (w *world) search(c knowledge.Claims) {
	request := retrieve.Request{Principal: knowledgetest.Principal(c), Query: fmt.Sprint("common passages ", w.IntN(100))}
	if c.Project == "" && w.one(3) {
		request.Projects = []string{pick(w, projects)}
	}
	visible, certain := w.visible(c, request.Projects)
	for _, strategy := range []string{knowledge.StrategyDense, knowledge.StrategyBM25, knowledge.StrategyHybrid} {
		for _, count := range []int{few, index.MaxLimit} {
			request.Config = knowledge.RetrievalConfig{Strategy: strategy, NumberOfChunks: count, Candidates: count}
			result, err := w.retriever.Retrieve(w.Context(), request)
			if err != nil {
				w.Fatalf("%s search of %+v: %v", strategy, c, err)
			}
			w.compare(fmt.Sprintf("%s search for %d of %+v in %v", strategy, count, c, request.Projects), result.Contexts, visible, certain, count)
			if strategy == knowledge.StrategyDense && len(certain) == len(visible) {
				w.nearest(result.Contexts, visible, hashOf(request.Query))
			}
		}
	}
}

// visible returns the chunks that a search may return, by id, and the ones among them
// that it must return: all whose access the index knows.
func (w *world) visible(c knowledge.Claims, projects []string) (visible map[string]passage, certain map[string]bool) {
	visible, certain = map[string]passage{}, map[string]bool{}
	for _, d := range w.documents {
		if !d.sees(c, projects) {
			w.hidden += len(d.published.chunks)
			continue
		}
		for _, p := range d.published.chunks {
			visible[p.ID] = p
			if len(d.lag) == 0 {
				certain[p.ID] = true
			}
		}
	}
	return visible, certain
}

// searchIndex searches an index that has caught up, without the recheck: it
// returns exactly the entries whose versions the claims open.
func (w *world) searchIndex(c knowledge.Claims) {
	granted, err := w.store.Granted(w.Context(), knowledgetest.Principal(c))
	w.must(err)
	q := index.Query{Principal: knowledgetest.Principal(c), Granted: granted, Limit: index.MaxLimit}
	dense, err := w.index.Dense(w.Context(), q, hashOf("question"))
	w.must(err)
	words, err := w.index.BM25(w.Context(), q, "common")
	w.must(err)
	want := map[string]bool{}
	for _, d := range w.documents {
		for _, v := range []version{d.published, d.pending} {
			if d.removed || c.Workspace != d.workspace || c.Project != "" && c.Project != d.project || !d.with(v.rights).admits(c) {
				continue
			}
			for _, p := range v.chunks {
				want[p.ID] = true
			}
		}
	}
	for leg, hits := range map[string][]knowledge.Hit{"dense": dense, "bm25": words} {
		for _, h := range hits {
			if !want[h.ChunkID] {
				w.Errorf("the %s leg leaks chunk %s of version %d to %+v", leg, h.ChunkID, h.Version, c)
			}
		}
		if len(hits) != len(want) {
			w.Errorf("the %s leg finds %d chunks for %+v, and %d are visible", leg, len(hits), c, len(want))
		}
	}
}

// compare checks that a search found only visible chunks, and as many of those
// that it must find as were asked for.
func (w *world) compare(search string, found []retrieve.Context, visible map[string]passage, certain map[string]bool, count int) {
	w.Helper()
	got := map[string]bool{}
	for _, context := range found {
		got[context.ID] = true
		if _, ok := visible[context.ID]; !ok {
			w.Errorf("%s leaks %s: %s", search, context.ID, context.Text)
		}
	}
	if len(found) < min(count, len(certain)) {
		w.Errorf("%s finds %d chunks, and %d are visible", search, len(found), len(certain))
	}
	if count == index.MaxLimit {
		for id := range certain {
			if !got[id] {
				w.Errorf("%s hides %s", search, visible[id].Text)
			}
		}
	}
	w.shown += len(found)
}

// nearest checks that a dense search found the nearest of the visible chunks.
func (w *world) nearest(found []retrieve.Context, visible map[string]passage, question []float32) {
	w.Helper()
	var scores []float64
	for _, p := range visible {
		scores = append(scores, cosine(p.vector, question))
	}
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	for i, context := range found {
		if got := cosine(visible[context.ID].vector, question); math.Abs(got-scores[i]) > 1e-5 {
			w.Errorf("chunk %d has the cosine %.6f, and the nearest visible one %.6f", i+1, got, scores[i])
		}
	}
}

func cosine(a, b []float32) float64 {
	var product, x, y float64
	for i := range a {
		product += float64(a[i]) * float64(b[i])
		x += float64(a[i]) * float64(a[i])
		y += float64(b[i]) * float64(b[i])
	}
	return product / math.Sqrt(x*y)
}
