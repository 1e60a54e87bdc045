package retrieve_test

import (
	"context"
	"slices"
	"sync"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// chunks is a ChunkReader that shows all its chunks to everybody.
type chunks map[string]store.ChunkView

func (c chunks) put(id, text string) {
	c[id] = store.ChunkView{Chunk: knowledge.Chunk{ID: id, DocumentID: id, Version: 1, Text: text}, Document: knowledge.Document{ID: id}}
}

func (c chunks) VisibleChunks(_ context.Context, _ knowledge.Principal, _ []string, hits []knowledge.Hit) ([]store.ChunkView, error) {
	var views []store.ChunkView
	for _, h := range hits {
		if v, ok := c[h.ChunkID]; ok {
			views = append(views, v)
		}
	}
	return views, nil
}

func (c chunks) Granted(context.Context, knowledge.Principal) (knowledge.Granted, error) {
	return knowledge.Granted{}, nil
}

func (c chunks) Superseded(context.Context, knowledge.Principal, []string, []knowledge.Hit) (bool, error) {
	return false, nil
}

// republished is a ChunkReader whose document "old" has just been replaced by
// "new".
type republished struct {
	chunks
	index *scripted
}

func (r republished) Superseded(_ context.Context, _ knowledge.Principal, _ []string, hidden []knowledge.Hit) (bool, error) {
	r.index.dense = hits("new", .9, "a", .8)
	return len(hidden) == 1 && hidden[0].ChunkID == "old", nil
}

// alwaysRepublished is a ChunkReader in which a document has a newer version at each look.
type alwaysRepublished struct{ chunks }

func (alwaysRepublished) Superseded(context.Context, knowledge.Principal, []string, []knowledge.Hit) (bool, error) {
	return true, nil
}

// scripted is an Index whose legs return the first hits of fixed lists.
type scripted struct {
	dense, words       []knowledge.Hit
	denseErr, wordsErr error
	wait               chan struct{} // if set, the word leg waits until wait is closed or ctx canceled

	mu      sync.Mutex
	queries []index.Query
	asked   []string // of the word leg
}

func (s *scripted) Dense(_ context.Context, q index.Query, _ []float32) ([]knowledge.Hit, error) {
	s.note(q)
	return slices.Clone(s.dense[:min(q.Limit, len(s.dense))]), s.denseErr
}

func (s *scripted) BM25(ctx context.Context, q index.Query, text string) ([]knowledge.Hit, error) {
	s.note(q, text)
	if s.wait != nil {
		select {
		case <-s.wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return slices.Clone(s.words[:min(q.Limit, len(s.words))]), s.wordsErr
}

func (s *scripted) note(q index.Query, asked ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, asked...)
	s.queries = append(s.queries, q)
}

// counting is an Embedder that records its texts.
type counting struct {
	mu    sync.Mutex
	texts []string
	err   error
}

func (c *counting) Embed(_ context.Context, texts []string) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts = append(c.texts, texts...)
	if c.err != nil {
		return nil, c.err
	}
	return slices.Repeat([][]float32{{1, 0}}, len(texts)), nil
}
