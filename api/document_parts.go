package api

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
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

func (s *Server) registerDocumentParts() {
	tags := []string{"documents"}
	const path = "/workspaces/{workspaceId}/documents/{id}"
	edge.Handle(s.edge, edge.Route{Public: true, Proves: true, Operation: huma.Operation{
		OperationID: "get-document-content", Method: http.MethodGet, Path: path + "/content", Summary: "Read the original file", Tags: tags,
		Description: "The url of a source contains a token, with which no key is needed. Range, If-Range and If-None-Match are supported.",
		Responses: map[string]*huma.Response{
			"200": {Description: "The uploaded file, unchanged", Content: originals()},
			"206": {Description: "The part of the file that Range names"},
			"304": {Description: "Not modified: If-None-Match has the ETag of the file"},
			"307": {Description: "If blob.presign is set: the file is at the URL in Location, for five minutes"},
		},
	}}, s.getOriginal)
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeRead, Operation: huma.Operation{
		OperationID: "list-document-chunks", Method: http.MethodGet, Path: path + "/chunks", Summary: "List the passages of a document in order", Tags: tags,
	}}, s.listChunks)
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeRead, Operation: huma.Operation{
		OperationID: "list-document-versions", Method: http.MethodGet, Path: path + "/versions", Summary: "List a document's versions", Tags: tags,
	}}, s.listVersions)
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeWrite, Anew: true, Operation: huma.Operation{
		OperationID: "retry-document", Method: http.MethodPost, Path: path + "/retry", DefaultStatus: http.StatusAccepted,
		Summary: "Retry a failed or waiting document", Tags: tags,
	}}, s.retryDocument)
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeWrite, Anew: true, Operation: huma.Operation{
		OperationID: "reingest-document", Method: http.MethodPost, Path: path + "/reingest", DefaultStatus: http.StatusAccepted,
		Summary: "Process the stored original again, as a new version", Tags: tags,
	}}, s.reingestDocument)
}

// originals describes the bytes of every kind of file that is read, and of those
// whose kind is not known.
func originals() map[string]*huma.MediaType {
	content := map[string]*huma.MediaType{}
	for _, f := range extract.Formats() {
		if f.IsRead() && f.Name != "source code" {
			content[f.MediaType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		}
	}
	content["application/octet-stream"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	return content
}

// readableVersion returns the version that readers see. If none is published, it
// returns the newest one to a principal with the write scope.
func (s *Server) readableVersion(ctx context.Context, p knowledge.Principal, id string) (store.Version, error) {
	d, err := s.deps.Store.Document(ctx, p, id)
	if err != nil {
		return store.Version{}, fmt.Errorf("read document %s: %w", id, err)
	}
	wanted := d.PublishedVersion
	if wanted == 0 && p.Can(knowledge.ScopeWrite) {
		wanted = d.Version
	}
	v, err := s.deps.Store.VersionFor(ctx, p, id, wanted)
	if err != nil {
		return v, fmt.Errorf("read version %d of document %s: %w", wanted, id, err)
	}
	return v, nil
}

// openOriginal opens the original of a version.
func (s *Server) openOriginal(ctx context.Context, v store.Version) (*blob.Content, error) {
	if v.SourceKey == "" { // it was refused at the upload
		return nil, knowledge.Errorf(knowledge.CodeNotFound, "the original of document %q was not stored", v.Document)
	}
	original, err := s.deps.Blobs.OpenContent(ctx, v.SourceKey)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, knowledge.Errorf(knowledge.CodeNotFound, "the original of document %q has not arrived yet", v.Document).WithCause(err)
	}
	if err != nil {
		return nil, fmt.Errorf("open original of document %s: %w", v.Document, err)
	}
	return original, nil
}

// shownAs returns the Content-Type and the Content-Disposition of a version's original.
func shownAs(v store.Version) (mediaType, disposition string) {
	mediaType, disposition = v.MediaType, "attachment"
	if mediaType == "" {
		mediaType = "application/octet-stream"
	}
	if f, ok := extract.FormatOf(mediaType); ok && f.IsSafe {
		disposition = "inline"
	}
	return mediaType, mime.FormatMediaType(disposition, map[string]string{"filename": v.Name})
}

func (s *Server) listVersions(ctx context.Context, p knowledge.Principal, in *struct {
	DocumentPath
	PageQuery
}) (*listed[versionView], error) {
	d, err := s.deps.Store.Document(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", in.ID, err)
	}
	versions, next, err := s.deps.Store.Versions(ctx, p, in.ID, store.Page(in.PageQuery))
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

func (s *Server) retryDocument(ctx context.Context, p knowledge.Principal, in *DocumentPath) (*documentOutput, error) {
	d, run, err := s.intake.Retry(ctx, p, intakeRun(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &documentOutput{Run: run, Body: s.startedView(p, d, run)}, nil
}

func (s *Server) reingestDocument(ctx context.Context, p knowledge.Principal, in *DocumentPath) (*documentOutput, error) {
	run := intakeRun(ctx)
	d, err := s.intake.Reingest(ctx, p, run, in.ID)
	if err != nil {
		return nil, err
	}
	return &documentOutput{Run: run.ID, Body: s.startedView(p, d, run.ID)}, nil
}
