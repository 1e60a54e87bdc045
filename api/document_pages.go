package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/paged"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/store"
)

// documentPages are the pages of documents: those with which a document was read, and those
// that LibreOffice makes for a reader. It holds their route.
type documentPages struct {
	originals *originals
	blobs     Blobs
	maker     *paged.Maker
}

// pageSizeView is a page of a document.
type pageSizeView struct {
	PageNumber int     `json:"page_number" doc:"1 = first"`
	Width      float64 `json:"width" doc:"In points"`
	Height     float64 `json:"height" doc:"In points"`
}

// pageListView is the pages of a document.
type pageListView struct {
	Data        []pageSizeView   `json:"data" doc:"In their order. Empty if the document has no pages"`
	Unavailable *unavailablePage `json:"unavailable" doc:"Why an office document has no pages; null if it has some, or if its format has none"`
}

type unavailablePage struct {
	Code    knowledge.Code `json:"code" example:"needs_component"`
	Message string         `json:"message" doc:"A sentence for people"`
}

func (dp *documentPages) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-document-pages", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/documents/{id}/pages",
		Summary: "List the pages of a document", Tags: []string{"documents"},
		Description: "The pages whose pictures `documents/{id}/pages/{n}.png` shows. The first request for an office document that was read without pages has LibreOffice make them, which takes seconds; " +
			"from then on its passages have lines and boxes too, where their words were found on the pages.",
	}}, dp.list)
}

func (dp *documentPages) list(ctx context.Context, p knowledge.Principal, in *struct {
	DocumentPath
}) (*struct{ Body pageListView }, error) {
	v, err := dp.originals.readableVersion(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	view := pageListView{Data: []pageSizeView{}}
	sizes, err := dp.sizes(ctx, p, v)
	if reason := unavailable(err); reason != nil {
		view.Unavailable, err = reason, nil
	}
	if err != nil {
		return nil, err
	}
	for _, size := range sizes {
		view.Data = append(view.Data, pageSizeView{size.Page, size.Width, size.Height})
	}
	return &struct{ Body pageListView }{view}, nil
}

// sizes returns the pages of a version, none if its format has none.
func (dp *documentPages) sizes(ctx context.Context, p knowledge.Principal, v store.Version) (knowledge.Pages, error) {
	f, _ := extract.FormatOf(v.MediaType)
	if !f.HasPages() && !extract.MakesPages(v.MediaType) {
		return nil, nil
	}
	layout, err := parsed.Stored(ctx, dp.blobs, v.VersionRef, v.Enrichment.Privacy.Redacts())
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return nil, err
	}
	if len(layout.Pages) > 0 || !extract.MakesPages(v.MediaType) {
		return layout.Pages, nil
	}
	made, err := dp.made(ctx, p, v)
	return made.Sizes, err
}

// made returns the pages that LibreOffice makes of a version that the principal may read.
func (dp *documentPages) made(ctx context.Context, p knowledge.Principal, v store.Version) (paged.Pages, error) {
	if v.Enrichment.Privacy.Redacts() {
		return paged.Pages{}, knowledge.Errorf(knowledge.CodeForbidden, "the pages of document %q are not shown, because its personal data was redacted: read documents/{id}/parsed", v.Document)
	}
	if v.Status != knowledge.StatusPublished {
		return paged.Pages{}, knowledge.Errorf(knowledge.CodeNotFound, "document %q has no pages before it is published", v.Document)
	}
	made, err := dp.maker.Make(ctx, paged.Source{
		Ref: v.VersionRef, Name: v.Name, MediaType: v.MediaType,
		Open: func(ctx context.Context) (io.ReadCloser, error) { return dp.originals.open(ctx, v) },
		IsThere: func(ctx context.Context) bool {
			now, err := dp.originals.readableVersion(ctx, p, v.Document)
			return err == nil && now.Version == v.Version
		},
	})
	if err != nil {
		return paged.Pages{}, fmt.Errorf("make the pages of document %s: %w", v.Document, err)
	}
	return made, made.Failure.Err()
}

// unavailable returns the reason that an error is for readers of an office document without
// pages, nil for an error of another kind and for none.
func unavailable(err error) *unavailablePage {
	var e *knowledge.Error
	if !errors.As(err, &e) {
		return nil
	}
	message := e.Message
	switch e.Code {
	case knowledge.CodeForbidden, knowledge.CodeCorrupt, knowledge.CodeParseLimit, knowledge.CodeTooLarge, knowledge.CodeEmpty, knowledge.CodeNotFound, knowledge.CodeNeedsComponent:
	case knowledge.CodeEncrypted:
		message = encryptedPages
	default:
		return nil
	}
	return &unavailablePage{e.Code, message}
}

// encryptedPages is why the pages of an encrypted document are not shown.
const encryptedPages = "the pages of an encrypted document cannot be shown, because its password is not kept"

// place sets the lines of passages of an office document from the pages that were made of
// it.
func (dp *documentPages) place(ctx context.Context, d knowledge.Document, chunks ...*knowledge.Chunk) error {
	known := map[int]paged.Pages{}
	for _, c := range chunks {
		if len(c.Lines) > 0 || !extract.MakesPages(d.MediaType) {
			continue
		}
		pages, ok := known[c.Version]
		if !ok {
			var err error
			ref := knowledge.VersionRef{Workspace: d.Workspace, Project: d.Project, Document: d.ID, Version: c.Version}
			if pages, _, err = dp.maker.Known(ctx, ref); err != nil {
				return err
			}
			known[c.Version] = pages
		}
		pages.Place(c)
	}
	return nil
}
