package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// selectionPage is how many documents are read at a time.
const selectionPage = 500

// chosenDocument is a document on which a request acts.
type chosenDocument struct {
	id      string
	project string
	refused bool // the action would refuse it
	moved   bool // a filter for stale documents chose it because of its project's embedding model
}

// choose returns the documents on which a request acts. refused names the ids of
// documents that do not exist.
func (dar *documentActionRoutes) choose(ctx context.Context, p knowledge.Principal, action documentAction, b documentSelection) (chosen []chosenDocument, refused []documentRefusal, err error) {
	refused = []documentRefusal{}
	if b.Filter != nil {
		chosen, err = dar.filteredDocuments(ctx, p, action, *b.Filter)
		return chosen, refused, err
	}
	ids := slices.Clone(b.IDs)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		d, err := dar.store.Document(ctx, p, id)
		switch {
		case knowledge.IsCode(err, knowledge.CodeNotFound):
			refused = append(refused, documentRefusal{ID: id, Code: knowledge.CodeNotFound})
		case err != nil:
			return nil, nil, fmt.Errorf("read document %s: %w", id, err)
		default:
			chosen = append(chosen, chosenDocument{id: id, project: d.Project, refused: action.refuses(d)})
		}
	}
	return chosen, refused, nil
}

// filteredDocuments lists the documents that a filter chooses.
func (dar *documentActionRoutes) filteredDocuments(ctx context.Context, p knowledge.Principal, action documentAction, f documentFilter) (list []chosenDocument, err error) {
	query := store.DocumentQuery{Status: f.Status, Code: f.Code, Tags: f.Tags, Page: store.Page{Limit: selectionPage}}
	if query.Project, err = projectID(ctx, dar.store, p, f.ProjectID); err != nil {
		return nil, err
	}
	outdated := map[string]store.OutdatedSet{} // by project
	for {
		page, next, err := dar.store.Documents(ctx, p, query)
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		for _, d := range page {
			if f.Status == "" && !action.fits(d) {
				continue
			}
			one := chosenDocument{id: d.ID, project: d.Project, refused: action.refuses(d)}
			if f.Stale {
				set, err := dar.outdatedDocuments(ctx, p, d.Project, outdated)
				if err != nil {
					return nil, err
				}
				if !set.IDs[d.ID] {
					continue
				}
				one.moved = set.Moved
			}
			list = append(list, one)
		}
		if query.Cursor = next; next == "" {
			return list, nil
		}
	}
}

// outdatedDocuments returns the documents of a project that a reindex would make again. known
// holds the documents of the projects that were read before.
func (dar *documentActionRoutes) outdatedDocuments(ctx context.Context, p knowledge.Principal, id string, known map[string]store.OutdatedSet) (store.OutdatedSet, error) {
	if set, ok := known[id]; ok {
		return set, nil
	}
	project, err := dar.store.Project(ctx, p, id)
	if err != nil {
		return store.OutdatedSet{}, fmt.Errorf("read project %s: %w", id, err)
	}
	set, err := dar.store.OutdatedIDs(ctx, p, project.ID, project.Config)
	if err != nil {
		return set, fmt.Errorf("list outdated documents of project %s: %w", id, err)
	}
	known[id] = set
	return set, nil
}
