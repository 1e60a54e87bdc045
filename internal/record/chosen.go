package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Chosen names the searches of a loop, whose passages the next model call gets.
type Chosen struct {
	Found    *Search  `json:"found,omitempty"`    // as in Loop
	Given    string   `json:"given,omitempty"`    // as in Loop
	Searches []string `json:"searches,omitempty"` // as in Loop
	Stepped  string   `json:"stepped,omitempty"`  // as in Loop
}

// Chosen names what was found so far.
func (l Loop) Chosen() Chosen {
	return Chosen{Found: l.Found, Given: l.Given, Searches: l.Searches, Stepped: l.Stepped}
}

// Entry returns the event that names what was found.
func (c Chosen) Entry() stream.Entry {
	return Entry(stream.TopicChosen, stream.Event{Data: stream.Data(c)})
}

// ReadSearch is a search that was read.
type ReadSearch struct {
	Search
	Key    string    // of its blob, "" = Loop.Found
	Ranked []Passage // its passages, under their ranks over all searches
}

// Read reads the searches. It returns them in their order, and the passages of all of them by
// rank. Of Found it has the passages only.
func (c Chosen) Read(ctx context.Context, blobs RequestBlobs) (searches []ReadSearch, all []Passage, err error) {
	if c.Found != nil {
		searches = append(searches, ReadSearch{Ranked: c.Found.Passages})
	}
	if c.Given != "" {
		given, err := ReadGiven(ctx, blobs, c.Given)
		if err != nil {
			return nil, nil, err
		}
		searches = append(searches, ReadSearch{Key: c.Given, Ranked: given})
	}
	for _, key := range c.Searches {
		found := ReadSearch{Key: key}
		if err := blobs.GetJSON(ctx, key, &found.Search); err != nil {
			return nil, nil, fmt.Errorf("read search %s: %w", key, err)
		}
		found.Ranked = slices.Concat(found.Passages, found.Contexts)
		searches = append(searches, found)
	}
	words, err := ReadStepWords(ctx, blobs, c.Stepped)
	if err != nil {
		return nil, nil, err
	}
	words.choose(searches)
	return searches, rank(searches), nil
}

// Sources returns the passages of the searches as an answer names them, by rank.
func (c Chosen) Sources(ctx context.Context, blobs RequestBlobs) ([]Source, error) {
	_, all, err := c.Read(ctx, blobs)
	sources := make([]Source, 0, len(all))
	for _, p := range all {
		sources = append(sources, p.Source(nil))
	}
	return sources, err
}

// rank ranks the passages of several searches as one list, in the order in which they were
// found, and returns that list. A passage that is found again keeps its rank.
func rank(searches []ReadSearch) (all []Passage) {
	ranks := map[string]int{}
	for i, found := range searches {
		own := make([]Passage, 0, len(found.Ranked))
		for _, p := range found.Ranked {
			rank, again := ranks[p.ID()]
			if !again {
				rank = len(all) + 1
				ranks[p.ID()] = rank
			}
			p.Rank = rank
			if !again {
				all = append(all, p)
			}
			own = append(own, p)
		}
		searches[i].Ranked = own
	}
	return all
}

// ReadGiven returns the passages that a webhook gave, whose record is under key.
func ReadGiven(ctx context.Context, blobs RequestBlobs, key string) ([]Passage, error) {
	var answers WebhookAnswers
	if err := blobs.GetJSON(ctx, key, &answers); err != nil {
		return nil, fmt.Errorf("read the passages of a webhook: %w", err)
	}
	list := make([]Passage, 0, len(answers.Chunks))
	for i, c := range answers.Chunks {
		known := answers.Known[i]
		if known.ChunkID != "" {
			list = append(list, Passage{Rank: i + 1, ChunkID: known.ChunkID, DocumentID: known.ID, Version: known.Version, Score: 1})
			continue
		}
		given := &GivenSource{Name: cmp.Or(c.Value.Name, known.Name, c.Value.KnowledgeID, "webhook"), URL: c.Value.URL, Text: c.Value.Content}
		list = append(list, Passage{Rank: i + 1, ChunkID: knowledge.DerivedID("given chunk", key, strconv.Itoa(i)), DocumentID: c.Value.KnowledgeID, Score: 1, Given: given})
	}
	return list, nil
}
