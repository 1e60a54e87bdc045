package retrieve

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// choice is the result of rechecking a list of candidates.
type choice struct {
	chosen  []Context
	dropped int             // candidates that SQL did not show or that were duplicates: more candidates could replace them
	hidden  []knowledge.Hit // hits that SQL did not show, of documents of which it showed no hit
}

// choose goes through the candidates, best first. It keeps those that SQL
// shows, that reach the minimum score and that are no duplicates, up to the
// requested number. Of the chunks of one parent it keeps the best, because the model
// reads the parent.
func (s *search) choose(ctx context.Context, candidates []knowledge.Hit) (choice, error) {
	var c choice
	shown := map[string]bool{} // ids of documents and of their chunks
	want := s.request.Config.NumberOfChunks
	var texts duplicates
	parents := map[parent]bool{}
	batch := 2 * want // few candidates are dropped, so one batch is mostly enough
	if s.trace != nil {
		batch = max(1, len(candidates)) // each is explained
	}
	for len(candidates) > 0 && len(c.chosen) < want {
		hits := candidates[:min(batch, len(candidates))]
		candidates = candidates[len(hits):]
		scores := map[string]float64{}
		for _, h := range hits {
			scores[h.ChunkID] = h.Score
		}
		views, err := s.recheck(ctx, hits)
		if err != nil {
			return choice{}, err
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
		for _, v := range views {
			score := scores[v.ID]
			switch {
			case score < s.request.Config.MinScore:
				s.trace.drop(v, DropMinScore)
			case len(c.chosen) == want:
				s.trace.drop(v, DropNumber)
			case v.Parent != (knowledge.Span{}) && parents[parentOf(v)]:
				c.dropped++
				s.trace.drop(v, DropParent)
			case texts.seen(v.Text):
				c.dropped++
				s.trace.drop(v, DropDuplicate)
			default:
				parents[parentOf(v)] = true
				c.chosen = append(c.chosen, Context{ChunkView: v, Score: score, Rank: len(c.chosen) + 1})
			}
		}
	}
	c.hidden = slices.DeleteFunc(c.hidden, func(h knowledge.Hit) bool { return shown[h.DocumentID] })
	return c, nil
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
