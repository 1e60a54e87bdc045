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
	refused bool // the action would refuse it
}

// choose returns the documents on which a request acts. refused names the ids of
// documents that do not exist.
func (s *Server) choose(ctx context.Context, p knowledge.Principal, action documentAction, b documentSelection) (chosen []chosenDocument, refused []documentRefusal, err error) {
	refused = []documentRefusal{}
	if b.Filter != nil {
		chosen, err = s.filteredDocuments(ctx, p, action, *b.Filter)
		return chosen, refused, err
	}
	ids := slices.Clone(b.IDs)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		d, err := s.deps.Store.Document(ctx, p, id)
		switch {
		case knowledge.IsCode(err, knowledge.CodeNotFound):
			refused = append(refused, documentRefusal{ID: id, Code: knowledge.CodeNotFound})
		case err != nil:
			return nil, nil, fmt.Errorf("read document %s: %w", id, err)
		default:
			chosen = append(chosen, chosenDocument{id, action.refuses(d)})
		}
	}
	return chosen, refused, nil
}

// filteredDocuments lists the documents that a filter chooses.
func (s *Server) filteredDocuments(ctx context.Context, p knowledge.Principal, action documentAction, f documentFilter) (list []chosenDocument, err error) {
	query := store.DocumentQuery{Status: f.Status, Code: f.Code, Tags: f.Tags, Page: store.Page{Limit: selectionPage}}
	if query.Project, err = s.projectID(ctx, p, f.ProjectID); err != nil {
		return nil, err
	}
	outdated := map[string]map[string]bool{} // ids by project
	for {
		page, next, err := s.deps.Store.Documents(ctx, p, query)
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		for _, d := range page {
			if f.Status == "" && !action.fits(d) {
				continue
			}
			if f.Stale {
				stale, err := s.isOutdated(ctx, p, d, outdated)
				if err != nil {
					return nil, err
				}
				if !stale {
					continue
				}
			}
			list = append(list, chosenDocument{d.ID, action.refuses(d)})
		}
		if query.Cursor = next; next == "" {
			return list, nil
		}
	}
}

// isOutdated reports whether a reindex would make a document again. known holds the
// outdated documents of the projects that were read before.
func (s *Server) isOutdated(ctx context.Context, p knowledge.Principal, d knowledge.Document, known map[string]map[string]bool) (bool, error) {
	ids, ok := known[d.Project]
	if !ok {
		project, err := s.deps.Store.Project(ctx, p, d.Project)
		if err != nil {
			return false, fmt.Errorf("read project %s: %w", d.Project, err)
		}
		if ids, err = s.deps.Store.OutdatedIDs(ctx, p, project.ID, project.Config); err != nil {
			return false, fmt.Errorf("list outdated documents of project %s: %w", d.Project, err)
		}
		known[d.Project] = ids
	}
	return ids[d.ID], nil
}
