package retrieve

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Text is something to rerank that is not a passage of a document.
type Text struct {
	ID   string // different for each
	Text string
}

// RerankTexts returns the texts that the reranker of the request keeps, best first with
// their scores: those that reach the least score, at most as many as the configuration
// gives a model. Without a reranker, or after its failure, it returns nil, and the order
// of the caller stands. Its error is the caller's cancellation or an error of the memory.
func (r *Retriever) RerankTexts(ctx context.Context, req Request, texts []Text) (ids []string, scores map[string]float64, done *Reranking, usage Usage, err error) {
	req.Query = knowledge.Visible(req.Query)
	req.Config = req.Config.WithDefaults()
	req.Config.Reranker = req.Config.RerankedBy(r.models.RerankerName)
	s := &search{Retriever: r, request: req, clock: newClock()}
	if !s.reranks() {
		return nil, nil, nil, usage, nil
	}
	pool := make([]Context, 0, min(len(texts), maxReranked))
	for _, t := range texts[:min(len(texts), maxReranked)] {
		pool = append(pool, Context{ChunkView: store.ChunkView{Chunk: knowledge.Chunk{ID: t.ID, Text: t.Text}}})
	}
	ranked, done, err := s.rerank(ctx, pool)
	if err != nil {
		return nil, nil, nil, usage, fmt.Errorf("rerank texts: %w", err)
	}
	if done.Failure != "" {
		return nil, nil, done, s.usage, nil
	}
	scores = map[string]float64{}
	for _, c := range ranked {
		if len(ids) < req.Config.NumberOfChunks && c.Score >= req.Config.MinScore {
			ids = append(ids, c.ID)
			scores[c.ID] = c.Score
		}
	}
	return ids, scores, done, s.usage, nil
}
