package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// staleDays is after how many days without a change a document is stale.
const staleDays = 365

// uncitedPassage is a passage that models were given and that no answer cites.
type uncitedPassage struct {
	ChunkID    string   `json:"chunk_id"`
	DocumentID string   `json:"document_id"`
	Name       string   `json:"name" doc:"Of the document"`
	Text       string   `json:"text" doc:"How the passage begins"`
	Shown      int      `json:"shown" doc:"The number of answers whose model was given it"`
	Runs       []string `json:"runs"`
}

// staleDocument is a document that answers cite and that may no longer be right.
type staleDocument struct {
	DocumentID string    `json:"document_id"`
	Name       string    `json:"name"`
	Reason     string    `json:"reason" enum:"replaced,old" doc:"replaced: an answer cites a version that is no longer the published one; old: it has not changed for stale_days"`
	ChangedAt  time.Time `json:"changed_at"`
	Runs       []string  `json:"runs" doc:"The runs whose answer cites it; with replaced, those that cite an earlier version"`
}

// The bounds of a passage that insights show.
const (
	uncitedRead  = 200 // of which the words are read
	uncitedShown = 200 // code points of each
	leastShown   = 2   // answers whose model was given it
)

// ofDocuments returns the sources of an answer that are passages of documents.
func (a askedRun) ofDocuments() []record.Source {
	if a.answer == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.answer.Sources), func(s record.Source) bool { return s.ChunkID == "" || s.Given != nil || s.Page != nil })
}

// cites reports whether the answer cites a source of its own.
func (a askedRun) cites(s record.Source) bool { return slices.Contains(a.answer.Used, s.Rank) }

// uncited returns the passages that models were given several times and that no answer cites.
func (ir *insightRoutes) uncited(ctx context.Context, p knowledge.Principal, asked []askedRun) ([]uncitedPassage, error) {
	cited, runs := map[string]bool{}, map[string][]string{}
	var sources []record.Source
	for _, a := range asked {
		for _, s := range a.ofDocuments() {
			cited[s.ChunkID] = cited[s.ChunkID] || a.cites(s)
			if runs[s.ChunkID] == nil {
				sources = append(sources, s)
			}
			runs[s.ChunkID] = append(runs[s.ChunkID], a.ID)
		}
	}
	sources = slices.DeleteFunc(sources, func(s record.Source) bool { return cited[s.ChunkID] || len(runs[s.ChunkID]) < leastShown })
	slices.SortStableFunc(sources, func(a, b record.Source) int { return cmp.Compare(len(runs[b.ChunkID]), len(runs[a.ChunkID])) })
	sources = sources[:min(len(sources), uncitedRead)]
	chunks, err := ir.passages.passages(ctx, p, sources)
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	var list []uncitedPassage
	for _, s := range sources {
		c, there := chunks[s.ChunkID]
		if !there || c.Superseded {
			continue
		}
		text := []rune(c.Text)
		list = append(list, uncitedPassage{
			ChunkID: c.ID, DocumentID: c.DocumentID, Name: c.Document.Name, Text: string(text[:min(len(text), uncitedShown)]), Shown: len(runs[c.ID]), Runs: runs[c.ID],
		})
	}
	return shown(list), nil
}

// stale returns the documents that answers cite and that were replaced since, or are old.
func (ir *insightRoutes) stale(ctx context.Context, p knowledge.Principal, asked []askedRun, days int) ([]staleDocument, error) {
	var order []string
	citing, versions := map[string][]string{}, map[string][]int{}
	for _, a := range asked {
		for _, s := range a.ofDocuments() {
			if !a.cites(s) {
				continue
			}
			if citing[s.DocumentID] == nil {
				order = append(order, s.DocumentID)
			}
			citing[s.DocumentID], versions[s.DocumentID] = append(citing[s.DocumentID], a.ID), append(versions[s.DocumentID], s.Version)
		}
	}
	limit := ir.now().AddDate(0, 0, -days)
	var list []staleDocument
	for _, id := range order {
		if len(list) == insightsShown {
			break
		}
		d, err := ir.store.Document(ctx, p, id)
		if knowledge.IsCode(err, knowledge.CodeNotFound) || knowledge.IsCode(err, knowledge.CodeGone) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read document %s: %w", id, err)
		}
		one := staleDocument{DocumentID: id, Name: d.Name, ChangedAt: d.UpdatedAt}
		for i, version := range versions[id] {
			if version > 0 && version < d.PublishedVersion && !slices.Contains(one.Runs, citing[id][i]) {
				one.Reason, one.Runs = "replaced", append(one.Runs, citing[id][i])
			}
		}
		if one.Reason == "" && d.UpdatedAt.Before(limit) {
			one.Reason, one.Runs = "old", slices.Compact(citing[id])
		}
		if one.Reason != "" {
			list = append(list, one)
		}
	}
	return shown(list), nil
}
