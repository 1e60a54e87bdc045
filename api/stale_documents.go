package api

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// staleEmbeddings counts documents that were embedded with another model than the one that
// is configured.
type staleEmbeddings struct {
	EmbeddedWith string `json:"embeddedWith" doc:"Model and dimensions, 0 = as many as the model gives"`
	Configured   string `json:"configured"`
	Documents    int    `json:"documents"`
	Reindexing   int    `json:"reindexing,omitempty" doc:"Those of documents that belong to projects whose reindex is running, which embeds them again"`
}

// viewStale returns nil if no document is stale.
func viewStale(stale store.StaleProject) *staleEmbeddings {
	if stale.Documents == 0 {
		return nil
	}
	shown := &staleEmbeddings{EmbeddedWith: stale.Serving, Configured: stale.Wanted}
	shown.add(stale)
	return shown
}

// add counts the stale documents of a project with the same models.
func (s *staleEmbeddings) add(project store.StaleProject) {
	s.Documents += project.Documents
	if project.Reindexing {
		s.Reindexing += project.Documents
	}
}

// countStale counts the stale documents of a project.
func (dr *documentRoutes) countStale(ctx context.Context, p knowledge.Principal, id string) (*staleEmbeddings, error) {
	project, err := dr.store.Project(ctx, p, id)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", id, err)
	}
	stale, err := dr.store.StaleProject(ctx, p, project)
	if err != nil {
		return nil, fmt.Errorf("count stale documents of project %s: %w", id, err)
	}
	return viewStale(stale), nil
}

// filterStale returns the filter for the stale documents of a project, or of every project
// that the principal covers.
func (dr *documentRoutes) filterStale(ctx context.Context, p knowledge.Principal, id string) (*store.OutdatedFilter, error) {
	var projects []knowledge.Project
	if id != "" {
		project, err := dr.store.Project(ctx, p, id)
		if err != nil {
			return nil, fmt.Errorf("read project %s: %w", id, err)
		}
		projects = append(projects, project)
	}
	for at := (store.Page{Limit: selectionPage}); id == ""; {
		found, next, err := dr.store.Projects(ctx, p, at)
		if err != nil {
			return nil, fmt.Errorf("list projects: %w", err)
		}
		projects = append(projects, found...)
		if at.Cursor = next; next == "" {
			break
		}
	}
	return dr.store.FilterOutdated(ctx, p, projects...)
}

// reindexMoved starts a reindex of each project whose embedding model has changed, if its
// documents were chosen: a new version of a single document would be embedded with the old
// model. It returns the other documents.
func (dar *documentActionRoutes) reindexMoved(ctx context.Context, p knowledge.Principal, f documentFilter, chosen []chosenDocument, out *selectionView) ([]chosenDocument, error) {
	whole := f.Status == "" && f.Code == "" && len(f.Tags) == 0
	var others []chosenDocument
	moved := map[string]int{} // documents by project
	for _, d := range chosen {
		switch {
		case !d.moved:
			others = append(others, d)
		case !whole || d.refused:
			out.refuse(d.id, knowledge.CodeConflict)
		default:
			moved[d.project]++
		}
	}
	request, _ := edge.RunID(ctx)
	for _, id := range slices.Sorted(maps.Keys(moved)) {
		project, err := dar.store.Project(ctx, p, id)
		if err != nil {
			return nil, fmt.Errorf("read project %s: %w", id, err)
		}
		run, err := dar.store.StartReindex(ctx, p, id, knowledge.DerivedID("reindex", request, id), project.Config)
		if err != nil {
			return nil, fmt.Errorf("reindex project %s: %w", id, err)
		}
		if run.Status == knowledge.RunRunning {
			dar.reindexes.start(ctx, run)
		}
		out.Started += moved[id]
		out.addRun(startedRun{RunID: run.ID, ProjectID: id, Documents: moved[id]})
	}
	return others, nil
}

// reindexing adds the reindexes that run, each with the chosen documents that it processes
// again.
func (dar *documentActionRoutes) reindexing(ctx context.Context, p knowledge.Principal, chosen []chosenDocument, out *selectionView) error {
	documents := map[string]int{} // by project
	for _, d := range chosen {
		documents[d.project]++
	}
	for _, id := range slices.Sorted(maps.Keys(documents)) {
		runs, _, err := dar.store.Runs(ctx, p, store.RunQuery{Kind: knowledge.KindReindex, Status: knowledge.RunRunning, Project: id, Page: store.Page{Limit: 1}})
		if err != nil {
			return fmt.Errorf("find the reindex of project %s: %w", id, err)
		}
		if len(runs) > 0 {
			out.addRun(startedRun{RunID: runs[0].ID, ProjectID: id, Documents: documents[id]})
		}
	}
	return nil
}
