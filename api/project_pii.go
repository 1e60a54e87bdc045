package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// countedView is a document with the personal data that was found in it, without the values.
type countedView struct {
	DocumentID string         `json:"document_id"`
	Name       string         `json:"name"`
	Total      int            `json:"total" doc:"How many places of the document have personal data"`
	Entities   map[string]int `json:"entities" doc:"How many of them by kind (docs/privacy.md); a kind without one is absent"`
}

func (r *personalDataRoutes) mountCounts(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-project-pii", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/projects/{id}/pii",
		Summary: "Count the personal data of the documents of a project", Tags: []string{"documents"},
		Description: "The published documents that the caller sees, newest first, each with what was found when its version was added. documents/{id}/pii has the places. All counts are 0 if the project looked for none (privacy.pii: off).",
	}}, r.counts)
}

// counts counts the personal data of the documents of a project.
func (r *personalDataRoutes) counts(ctx context.Context, p knowledge.Principal, in *struct {
	ProjectPath
	PageQuery
}) (*listOutput[countedView], error) {
	project, err := r.store.Project(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", in.ID, err)
	}
	documents, next, err := r.store.Documents(ctx, p, store.DocumentQuery{Project: project.ID, Status: knowledge.StatusPublished, Page: store.Page(in.PageQuery)})
	if err != nil {
		return nil, fmt.Errorf("list the documents of project %s: %w", project.ID, err)
	}
	counted := make([]countedView, 0, len(documents))
	for _, d := range documents {
		view, err := r.count(ctx, p, d)
		if knowledge.IsCode(err, knowledge.CodeNotFound) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		counted = append(counted, view)
	}
	return page(counted, next), nil
}

// count returns a document with what was found in the version that readers see.
func (r *personalDataRoutes) count(ctx context.Context, p knowledge.Principal, d knowledge.Document) (countedView, error) {
	view := countedView{DocumentID: d.ID, Name: d.Name, Entities: map[string]int{}}
	report, err := r.report(ctx, p, d.ID)
	if err != nil {
		return view, err
	}
	view.Total = len(report.Findings)
	for _, found := range report.Findings {
		view.Entities[found.Entity]++
	}
	return view, nil
}
