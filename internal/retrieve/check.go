package retrieve

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// checked is the result of rechecking a list of candidates.
type checked struct {
	pool    []Context
	dropped int             // candidates that SQL did not show or that were duplicates: more candidates could replace them
	hidden  []knowledge.Hit // hits that SQL did not show, of documents of which it showed no hit

	texts   duplicates      // of the pool
	parents map[parent]bool // of the pool
	of      map[string]int  // passages of the pool by document
}

// enough reports whether n passages can be chosen from the pool, or more candidates could
// not replace one. perDocument is how many a document may have, 0 = no bound.
func (c *checked) enough(n, perDocument int) bool {
	usable := len(c.pool)
	if perDocument > 0 {
		usable = 0
		for _, passages := range c.of {
			usable += min(passages, perDocument)
		}
	}
	return usable >= n || c.dropped == 0 && usable == len(c.pool)
}

// check goes through the candidates, best first. It keeps those that SQL
// shows, that reach the minimum score and that are no duplicates, as many as the
// later stages need. Of the chunks of one parent it keeps the best, because the model
// reads the parent.
func (s *search) check(ctx context.Context, groups []*group, candidates []knowledge.Hit) (checked, error) {
	c := checked{parents: map[parent]bool{}, of: map[string]int{}}
	shown := map[string]bool{} // ids of documents and of their chunks
	want := s.poolSize()
	batch := 2 * want // few candidates are dropped, so one batch is mostly enough
	for first := true; len(candidates) > 0 && (len(c.pool) < want || s.trace != nil); first = false {
		if !first && s.trace != nil {
			batch = len(candidates) // each is explained
		}
		hits := candidates[:min(batch, len(candidates))]
		candidates = candidates[len(hits):]
		scores := map[string]float64{}
		for _, h := range hits {
			scores[h.ChunkID] = h.Score
		}
		views, err := s.recheck(ctx, hits)
		if err != nil {
			return checked{}, err
		}
		c.dropped += len(hits) - len(views)
		for _, v := range views {
			shown[v.ID], shown[v.DocumentID] = true, true
		}
		for _, h := range hits {
			if !shown[h.ChunkID] {
				c.hidden = append(c.hidden, h)
			}
		}
		if first {
			s.compareWords(groups, views, scores)
			s.preferNumbers(views, scores)
		}
		for _, v := range views {
			s.sift(&c, v, scores[v.ID])
		}
	}
	c.hidden = slices.DeleteFunc(c.hidden, func(h knowledge.Hit) bool { return shown[h.DocumentID] })
	return c, nil
}

// sift adds a passage that SQL shows to the pool, or drops it.
func (s *search) sift(c *checked, v store.ChunkView, score float64) {
	limits, want, share := s.request.Config, s.poolSize(), s.share()
	switch {
	case !s.reranks() && score < limits.MinScore:
		s.trace.drop(v, DropMinScore)
	case len(c.pool) == want:
		s.trace.drop(v, DropNumber)
	case v.Parent != (knowledge.Span{}) && c.parents[parentOf(v)]:
		c.dropped++
		s.trace.drop(v, DropParent)
	case share > 0 && c.of[v.DocumentID] == share:
		c.dropped++
		s.trace.drop(v, DropPerDocument)
	case c.texts.seen(v.Text):
		c.dropped++
		s.trace.drop(v, DropDuplicate)
	default:
		c.parents[parentOf(v)] = true
		c.of[v.DocumentID]++
		c.pool = append(c.pool, Context{ChunkView: v, Score: score})
	}
}

// poolSize returns how many passages the later stages choose from.
func (s *search) poolSize() int {
	n := s.request.Config.NumberOfChunks
	if s.reranks() || s.selects() {
		n = max(n, min(s.request.Config.Candidates, maxReranked))
	}
	return n
}

// share returns how many passages of the pool may be of one document, 0 = no bound: more
// than are chosen, and so few that those that the later stages drop leave enough of others.
func (s *search) share() int {
	c := s.request.Config
	return c.PerDocument * max(1, s.poolSize()/c.NumberOfChunks)
}

// parent names what the model reads in place of a chunk.
type parent struct {
	document string
	version  int
	span     knowledge.Span
}

func parentOf(v store.ChunkView) parent { return parent{v.DocumentID, v.Version, v.Parent} }

func (s *search) recheck(ctx context.Context, hits []knowledge.Hit) ([]store.ChunkView, error) {
	defer s.clock.start("recheck")()
	views, err := s.chunks.VisibleChunks(ctx, s.request.Principal, s.request.Projects, hits)
	if err != nil {
		return nil, fmt.Errorf("check %d passages: %w", len(hits), err)
	}
	return views, nil
}
