package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/store"
)

// TextReader reads files whose layout is not stored.
type TextReader interface {
	// Extract reads a file. It blocks until there is a free process for it.
	Extract(ctx context.Context, in extract.Input) (format.Result, error)
}

// parsedRoutes holds the route of documents as they were read.
type parsedRoutes struct {
	originals *originals
	blobs     Blobs
	reader    TextReader
	tempDir   string
}

func (pr *parsedRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-document-parsed", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/documents/{id}/parsed",
		Summary: "Read a document as it was parsed", Tags: []string{"documents"},
		Description: "The headings, paragraphs, tables and other blocks of the published version or of an earlier one, in reading order. The text of passages is made of them.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The document, in the format that was asked for",
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: schemaOf[parsed.Content](e.OpenAPI().Components.Schemas)},
				"text/markdown":    {Schema: &huma.Schema{Type: huma.TypeString}},
			},
		}},
	}}, pr.parsedDocument)
}

func (pr *parsedRoutes) parsedDocument(ctx context.Context, p knowledge.Principal, in *struct {
	DocumentPath
	Version int    `query:"version" minimum:"0" doc:"The version to read. The texts of the published version and of the ten versions before it are kept; of versions that were made of the same file, only the newest has one. Default: the published version"`
	Format  string `query:"format" enum:"json,markdown" default:"json" doc:"json: all blocks, with their kind, level, page and box. markdown: the text without headers, footers and furniture"`
}) (*huma.StreamResponse, error) {
	v, err := pr.originals.chosenVersion(ctx, p, in.ID, in.Version)
	if err != nil {
		return nil, err
	}
	layout, err := pr.layout(ctx, v)
	if err != nil {
		return nil, err
	}
	audit.Left(ctx, v.Document)
	contentType, body := "text/markdown; charset=utf-8", []byte(parsed.Markdown(layout))
	if in.Format == "json" {
		contentType = "application/json"
		if body, err = json.Marshal(parsed.NewContent(v.VersionRef, layout)); err != nil {
			return nil, fmt.Errorf("encode document %s: %w", in.ID, err)
		}
	}
	return &huma.StreamResponse{Body: func(out huma.Context) {
		out.SetHeader("Content-Type", contentType)
		out.SetHeader("Content-Security-Policy", "sandbox; default-src 'none'")
		_, _ = out.BodyWriter().Write(body) // the client may be gone
	}}, nil
}

// notRead returns the error of a version that has no stored text.
func notRead(v store.Version, cause error) error {
	if v.Status == knowledge.StatusInactive {
		return knowledge.Errorf(knowledge.CodeNotFound, "the text of version %d of document %q is not kept: it is too old, was made of the same file as a newer version, "+
			"or was replaced by a version whose personal data is removed", v.Version, v.Document).WithCause(cause)
	}
	return knowledge.Errorf(knowledge.CodeNotFound, "document %q has not been read yet", v.Document).WithCause(cause)
}

// layout returns the stored layout of a version, or reads a small text again.
func (pr *parsedRoutes) layout(ctx context.Context, v store.Version) (knowledge.Layout, error) {
	layout, err := parsed.Stored(ctx, pr.blobs, v.VersionRef, v.Enrichment.Privacy.Redacts())
	if v.Enrichment.Privacy.Redacts() && v.Status != knowledge.StatusInactive && errors.Is(err, blob.ErrNotFound) {
		return layout, knowledge.Errorf(knowledge.CodeNotFound, "the personal data of document %q has not been redacted yet", v.Document).WithCause(err)
	}
	if err == nil || !errors.Is(err, blob.ErrNotFound) {
		return layout, err
	}
	if v.Status == knowledge.StatusPending || v.Status == knowledge.StatusError || !extract.IsText(v.MediaType) || v.Enrichment.Privacy.Redacts() {
		return layout, notRead(v, err)
	}
	original, err := pr.originals.open(ctx, v)
	if v.Status == knowledge.StatusInactive && knowledge.IsCode(err, knowledge.CodeNotFound) {
		return layout, notRead(v, err)
	}
	if err != nil {
		return layout, err
	}
	defer func() { _ = original.Close() }() // it was only read
	in, remove, err := localInput(extract.Input{Name: v.Name, MediaType: v.MediaType}, pr.tempDir, v.Document, original)
	if err != nil {
		return layout, err
	}
	defer remove()
	result, err := pr.reader.Extract(ctx, in)
	return result.Layout, err
}
