package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// versionView is one version of a document.
type versionView struct {
	Version     int                      `json:"version"`
	RunID       string                   `json:"run_id"`
	Status      knowledge.Status         `json:"status"`
	Stage       knowledge.Stage          `json:"stage"`
	Error       *knowledge.DocumentError `json:"error"`
	Name        string                   `json:"name"`
	MediaType   string                   `json:"media_type"`
	Bytes       int64                    `json:"bytes"`
	ChunkCount  int                      `json:"chunk_count"`
	PageCount   int                      `json:"page_count"`
	Language    string                   `json:"language"`
	SourceURL   string                   `json:"source_url,omitempty"`
	Splitter    knowledge.Splitter       `json:"text_splitter"`
	CreatedAt   time.Time                `json:"created_at"`
	UpdatedAt   time.Time                `json:"updated_at"`
	IsPublished bool                     `json:"published" doc:"Readers see this version"`
}

// documentPartRoutes holds the routes of the versions of documents.
type documentPartRoutes struct {
	store  Documents
	intake *intake.Intake
	views  *views
}

func (dpr *documentPartRoutes) mount(e *edge.Edge) {
	tags := []string{"documents"}
	const path = "/workspaces/{workspaceId}/documents/{id}"
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-document-versions", Method: http.MethodGet, Path: path + "/versions", Summary: "List a document's versions", Tags: tags,
	}}, dpr.listVersions)
	edge.Handle(e, edge.Route{Anew: true, Operation: huma.Operation{
		OperationID: "retry-document", Method: http.MethodPost, Path: path + "/retry", DefaultStatus: http.StatusAccepted,
		Summary: "Retry a failed or waiting document", Tags: tags,
	}}, dpr.retryDocument)
	edge.Handle(e, edge.Route{Anew: true, Operation: huma.Operation{
		OperationID: "reingest-document", Method: http.MethodPost, Path: path + "/reingest", DefaultStatus: http.StatusAccepted,
		Summary: "Process the stored original again, as a new version", Tags: tags,
	}}, dpr.reingestDocument)
}

func (dpr *documentPartRoutes) listVersions(ctx context.Context, p knowledge.Principal, in *struct {
	DocumentPath
	PageQuery
}) (*listOutput[versionView], error) {
	d, err := dpr.store.Document(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", in.ID, err)
	}
	versions, next, err := dpr.store.Versions(ctx, p, in.ID, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list versions of document %s: %w", in.ID, err)
	}
	return page(convert(versions, func(v store.Version) versionView {
		return versionView{
			Version: v.Version, RunID: v.RunID, Status: v.Status, Stage: v.Stage, Error: v.Error, Name: v.Name,
			MediaType: v.MediaType, Bytes: v.Bytes, ChunkCount: v.ChunkCount, PageCount: v.PageCount, Language: v.Language,
			SourceURL: v.SourceURL, Splitter: v.Splitter.WithDefaults(), CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
			IsPublished: v.Version == d.PublishedVersion,
		}
	}), next), nil
}

func (dpr *documentPartRoutes) retryDocument(ctx context.Context, p knowledge.Principal, in *DocumentPath) (*documentOutput, error) {
	d, run, err := dpr.intake.Retry(ctx, p, intakeRun(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &documentOutput{Run: run, Body: dpr.views.startedDocument(p, d, run)}, nil
}

func (dpr *documentPartRoutes) reingestDocument(ctx context.Context, p knowledge.Principal, in *DocumentPath) (*documentOutput, error) {
	run := intakeRun(ctx)
	d, err := dpr.intake.Reingest(ctx, p, run, in.ID)
	if err != nil {
		return nil, err
	}
	return &documentOutput{Run: run.ID, Body: dpr.views.startedDocument(p, d, run.ID)}, nil
}
