package retrieve

import (
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Trace says how each candidate of a search was ranked, and which ones were dropped.
type Trace struct {
	Rankings map[string]*Ranking // by chunk id
	Dropped  []Drop              // in the order of the stages
}

// Ranking says where the stages ranked one candidate. A nil field is a stage that did
// not rank it.
type Ranking struct {
	Dense, BM25   *LegRank
	Linked        *LegRank // among the documents that name an entity of the question
	Web           *LegRank // among the pages of the web
	Fused, Rerank *float64
}

// LegRank is the rank of a candidate in one leg, 1 = first, with the score of the index.
type LegRank struct {
	Rank  int
	Score float64
}

// Drop is a candidate that the principal may see and that is not among the results.
type Drop struct {
	Chunk  store.ChunkView
	Reason DropReason
}

// URL returns the address of a page of the web, "" for a passage of a document.
func (d Drop) URL() string {
	if d.Chunk.DocumentID == "" {
		return d.Chunk.ID
	}
	return ""
}

// DropReason says why a candidate is not among the results.
type DropReason string

// The reasons for which candidates are dropped.
const (
	DropDuplicate DropReason = "duplicate"      // a better candidate has nearly the same text
	DropParent    DropReason = "same_parent"    // a better candidate has the same parent, which the model reads
	DropMinScore  DropReason = "minScore"       // its score is below ai.retrieval.minScore
	DropNumber    DropReason = "numberOfChunks" // there are enough better candidates

	DropPerDocument DropReason = "perDocument"   // there are enough better candidates of its document
	DropNeighbour   DropReason = "neighbour"     // the model reads it beside a better candidate
	DropCompress    DropReason = "compress"      // the chat model found no sentence of it that matters
	DropTokens      DropReason = "contextTokens" // it does not fit into ai.retrieval.contextTokens
)

// The methods of a Trace do nothing on nil, which is the trace of a search that is not
// to be explained.

// reset forgets an earlier attempt of the search.
func (t *Trace) reset() {
	if t != nil {
		*t = Trace{Rankings: map[string]*Ranking{}}
	}
}

func (t *Trace) of(chunk string) *Ranking {
	r, ok := t.Rankings[chunk]
	if !ok {
		r = &Ranking{}
		t.Rankings[chunk] = r
	}
	return r
}

// legs notes the hits of the two legs. A candidate that several queries found keeps its
// best rank.
func (t *Trace) legs(dense, words []knowledge.Hit) {
	if t == nil {
		return
	}
	for i, h := range dense {
		better(&t.of(h.ChunkID).Dense, LegRank{i + 1, h.Score})
	}
	for i, h := range words {
		better(&t.of(h.ChunkID).BM25, LegRank{i + 1, h.Score})
	}
}

func better(have **LegRank, found LegRank) {
	if *have == nil || found.Rank < (*have).Rank {
		*have = &found
	}
}

func (t *Trace) linked(hits []knowledge.Hit) {
	if t == nil {
		return
	}
	for i, h := range hits {
		t.of(h.ChunkID).Linked = &LegRank{i + 1, h.Score}
	}
}

// web notes the pages that the search engine found, with its scores.
func (t *Trace) web(pages []Context) {
	if t == nil {
		return
	}
	for i, c := range pages {
		t.of(c.ID).Web = &LegRank{i + 1, c.Score}
	}
}

// placed notes the scores of pages among the passages of documents.
func (t *Trace) placed(fused []Context) {
	if t == nil {
		return
	}
	for _, c := range fused {
		if c.Page != nil {
			t.of(c.ID).Fused = &c.Score
		}
	}
}

func (t *Trace) fused(hits []knowledge.Hit) {
	if t == nil {
		return
	}
	for _, h := range hits {
		t.of(h.ChunkID).Fused = &h.Score
	}
}

// weighed notes the score of a candidate whose fused score was changed.
func (t *Trace) weighed(chunk string, score float64) {
	if t != nil {
		t.of(chunk).Fused = &score
	}
}

func (t *Trace) reranked(chunk string, score float64) {
	if t != nil {
		t.of(chunk).Rerank = &score
	}
}

func (t *Trace) drop(v store.ChunkView, reason DropReason) {
	if t != nil {
		t.Dropped = append(t.Dropped, Drop{v, reason})
	}
}

// keep forgets the rankings of candidates that the principal was not shown.
func (t *Trace) keep(contexts []Context) {
	if t == nil {
		return
	}
	for id := range t.Rankings {
		chosen := slices.ContainsFunc(contexts, func(c Context) bool { return c.ID == id })
		if !chosen && !slices.ContainsFunc(t.Dropped, func(d Drop) bool { return d.Chunk.ID == id }) {
			delete(t.Rankings, id)
		}
	}
}
