package answering

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// passages reads what the searches of a run found.
type passages struct {
	Blobs    step.Blobs
	Passages retrieve.PassageReader
	Library  Library
}

func newSearchRecord(found retrieve.Result) record.Search {
	search := record.Search{Passages: make([]record.Passage, 0, len(found.Contexts)), Retrieved: found.Retrieved, Reranking: found.Reranking, Choices: found.Choices, Usage: found.Usage}
	for _, c := range found.Contexts {
		if p := c.Page; p != nil {
			page := record.WebPage{URL: p.URL, Title: p.Title, Snippet: p.Snippet, Text: p.Text}
			search.Passages = append(search.Passages, record.Passage{Page: &page, Score: c.Score})
			continue
		}
		search.Passages = append(search.Passages, record.Passage{
			ChunkID: c.ID, DocumentID: c.DocumentID, Version: c.Version, Span: c.Span, Score: c.Score,
			Around: c.Around, Kept: c.Kept, Length: c.Length,
		})
	}
	return search
}

// searched are the searches of a loop.
type searched struct {
	all     []record.Passage            // of all searches, ranked
	by      map[string][]record.Passage // by the key of the search; "" = Loop.Found
	choices []retrieve.Choices          // of the searches that chose something by themselves
	records map[string]record.Search    // those with a note, a list or an answer
	web     *record.WebCounts
}

// searches reads the searches of a loop and ranks what they found.
func (a *passages) searches(ctx context.Context, loop record.Loop) (searched, error) {
	read, all, err := loop.Chosen().Read(ctx, a.Blobs)
	s := searched{all: all, by: map[string][]record.Passage{}, records: map[string]record.Search{}}
	for _, found := range read {
		s.by[found.Key] = found.Ranked
		if found.Note != "" || found.Listed != nil || found.Answer != "" {
			s.records[found.Key] = found.Search
		}
		if !found.Choices.IsZero() {
			s.choices = append(s.choices, found.Choices)
		}
		if found.Web != nil {
			s.web = found.Web
		}
	}
	return s, err
}

// firstSearch returns the key in searched.by of the search before the first model call,
// if there was one.
func firstSearch(loop record.Loop) string {
	if loop.Found != nil || len(loop.Searches) == 0 {
		return ""
	}
	return loop.Searches[0]
}

// foundWords are the passages of a run's searches with their words.
type foundWords struct {
	all     []citation.Context
	by      map[string][]citation.Context // by the key of the search; "" = Loop.Found
	leftOut []int                         // ranks of the passages that are left out
	chunks  []retrieve.Context            // of all
	marked  bool                          // citations stream as marks
	more    map[string]string             // what follows the passages of a search: its list and its note, or an answer
}

// lookUp returns the words of a loop's passages, with the permission that the run's
// principal has now. It leaves out passages that are gone or no longer allowed, and
// no other passage takes their rank.
func (a *passages) lookUp(ctx context.Context, p knowledge.Principal, loop record.Loop) (foundWords, error) {
	searches, err := a.searches(ctx, loop)
	if err != nil {
		return foundWords{}, err
	}
	more, err := a.lists(ctx, p, searches)
	if err != nil || len(searches.all) == 0 {
		return foundWords{more: more}, err
	}
	found, err := a.chunkWords(ctx, p, searches.all)
	if err != nil {
		return foundWords{}, err
	}
	found.more = more
	for _, x := range searches.all {
		if x.Page != nil {
			found.all = append(found.all, x.Page.Context(x))
		}
		if g := x.Given; g != nil {
			found.all = append(found.all, citation.Context{Rank: x.Rank, ChunkID: x.ChunkID, DocumentID: x.DocumentID, DocumentName: g.Name, Text: g.Text, Score: x.Score})
		}
	}
	slices.SortFunc(found.all, func(a, b citation.Context) int { return cmp.Compare(a.Rank, b.Rank) })
	words := map[int]citation.Context{}
	for _, c := range found.all {
		words[c.Rank] = c
	}
	for key, own := range searches.by {
		contexts := make([]citation.Context, 0, len(own))
		for _, x := range own {
			if c, ok := words[x.Rank]; ok {
				c.Score = x.Score
				contexts = append(contexts, c)
			}
		}
		found.by[key] = contexts
	}
	return found, nil
}

// lists returns what follows the passages of searches: the documents that they list, as
// far as the principal may read them now, their notes, and the answers of agents.
func (a *passages) lists(ctx context.Context, p knowledge.Principal, s searched) (map[string]string, error) {
	more := map[string]string{}
	for key, record := range s.records {
		if record.Answer != "" {
			words, err := agentWords(ctx, a.Blobs, record.Answer, s.by[key])
			if err != nil {
				return nil, err
			}
			more[key] = words
			continue
		}
		var b strings.Builder
		for _, id := range record.Listed {
			d, err := a.Library.Document(ctx, p.Reader(), id)
			if knowledge.IsCode(err, knowledge.CodeNotFound) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read document %s: %w", id, err)
			}
			b.WriteString(prompt.Listed(d))
		}
		more[key] = b.String() + record.Note
	}
	return more, nil
}

// output returns what the model reads of a search. passages are those that it may read,
// in their order.
func (f foundWords) output(search string, passages []citation.Context) string {
	if more, ok := f.more[search]; ok && len(passages) == 0 {
		return more
	}
	return prompt.Sources(passages) + f.more[search]
}

// chunkWords returns the words of those passages that are chunks of documents.
func (a *passages) chunkWords(ctx context.Context, p knowledge.Principal, passages []record.Passage) (foundWords, error) {
	found := foundWords{by: map[string][]citation.Context{}}
	var hits []knowledge.Hit
	for _, x := range passages {
		if x.Page == nil && x.Given == nil {
			hits = append(hits, knowledge.Hit{ChunkID: x.ChunkID, DocumentID: x.DocumentID, Version: x.Version})
		}
	}
	if len(hits) == 0 {
		return found, nil
	}
	chunks, err := retrieve.Lookup(ctx, a.Passages, p, hits)
	if err != nil {
		return foundWords{}, err
	}
	for _, x := range passages {
		if x.Page != nil || x.Given != nil {
			continue
		}
		if c, ok := chunks[x.ChunkID]; ok {
			found.chunks = append(found.chunks, retrieve.Context{ChunkView: c, Score: x.Score, Rank: x.Rank, Around: x.Around, Kept: x.Kept, Length: x.Length})
		} else {
			found.leftOut = append(found.leftOut, x.Rank)
		}
	}
	if found.all, err = retrieve.Passages(ctx, a.Passages, p, found.chunks); err != nil {
		return found, err
	}
	return found, a.readTables(ctx, passages, found.all)
}
