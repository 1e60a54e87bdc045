package activities

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// SearchRecord is the stored result of a search. It names passages and holds none
// of a document's words, which go with the document: lookUp reads them.
type SearchRecord struct {
	Passages  []Passage `json:"passages"`
	Retrieved int       `json:"retrieved"`
	// Contexts are the passages of a record from before there were Passages.
	Contexts []Passage `json:"contexts,omitempty"`
}

// Passage names a passage that a search found. Rank, 1 = first, counts over all
// searches of a run; numbered sets it.
type Passage struct {
	Rank       int            `json:"-"`
	ChunkID    string         `json:"chunk_id"`
	DocumentID string         `json:"document_id"`
	Version    int            `json:"version,omitempty"`
	Span       knowledge.Span `json:"span,omitzero"` // code points of the document's text
	Score      float64        `json:"score"`
}

// newSearchRecord returns the record of a search.
func newSearchRecord(found retrieve.Result) SearchRecord {
	record := SearchRecord{Passages: make([]Passage, 0, len(found.Contexts)), Retrieved: found.Retrieved}
	for _, c := range found.Contexts {
		record.Passages = append(record.Passages, Passage{
			ChunkID: c.ID, DocumentID: c.DocumentID, Version: c.Version, Span: c.Span, Score: c.Score,
		})
	}
	return record
}

// searches reads the searches of a loop and ranks what they found.
func (a *Answering) searches(ctx context.Context, loop Loop) (all []Passage, each [][]Passage, err error) {
	searches := make([][]Passage, 0, len(loop.Searches))
	for _, key := range loop.Searches {
		var record SearchRecord
		if err := a.Blobs.GetJSON(ctx, key, &record); err != nil {
			return nil, nil, fmt.Errorf("read search %s: %w", key, err)
		}
		searches = append(searches, append(record.Passages, record.Contexts...))
	}
	all, each = numbered(searches)
	return all, each, nil
}

// numbered ranks the passages of several searches as one list, in the order in
// which they were found. A passage that is found again keeps its rank. It returns
// the list, and each search's own passages under their ranks in it.
func numbered(searches [][]Passage) (all []Passage, each [][]Passage) {
	ranks := map[string]int{}
	for _, found := range searches {
		own := make([]Passage, 0, len(found))
		for _, p := range found {
			rank, again := ranks[p.ChunkID]
			if !again {
				rank = len(all) + 1
				ranks[p.ChunkID] = rank
			}
			p.Rank = rank
			if !again {
				all = append(all, p)
			}
			own = append(own, p)
		}
		each = append(each, own)
	}
	return all, each
}

// given is what a model is given of the searches of a run.
type given struct {
	all  []citation.Context
	each [][]citation.Context // of each search
	left []int                // ranks of the passages that are left out
}

// lookUp reads the words of a loop's passages, with the permission that the run's
// principal has now. A passage that is gone or no longer allowed is left out, and
// no other passage takes its rank.
func (a *Answering) lookUp(ctx context.Context, p knowledge.Principal, loop Loop) (given, error) {
	all, each, err := a.searches(ctx, loop)
	if err != nil {
		return given{}, err
	}
	hits := make([]knowledge.Hit, 0, len(all))
	for _, x := range all {
		hits = append(hits, knowledge.Hit{ChunkID: x.ChunkID, DocumentID: x.DocumentID, Version: x.Version})
	}
	if len(hits) == 0 {
		return given{each: make([][]citation.Context, len(each))}, nil
	}
	chunks, err := retrieve.Lookup(ctx, a.Passages, p, hits)
	if err != nil {
		return given{}, err
	}
	var g given
	words := func(list []Passage) []citation.Context {
		contexts := make([]citation.Context, 0, len(list))
		for _, x := range list {
			if c, ok := chunks[x.ChunkID]; ok {
				contexts = append(contexts, retrieve.Passage(x.Rank, x.Score, c))
			}
		}
		return contexts
	}
	g.all = words(all)
	for _, own := range each {
		g.each = append(g.each, words(own))
	}
	for _, x := range all {
		if _, ok := chunks[x.ChunkID]; !ok {
			g.left = append(g.left, x.Rank)
		}
	}
	return g, nil
}
