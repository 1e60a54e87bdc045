package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// findingView is a place of personal data in a document. It does not show the value.
type findingView struct {
	Entity     string  `json:"entity" example:"EMAIL_ADDRESS" doc:"The kind of personal data (docs/privacy.md)"`
	PageNumber *int    `json:"page_number" doc:"null for formats without pages"`
	Start      int     `json:"start" doc:"Where it begins in the text of the document, in code points; of the placeholder, if it was redacted. The text is that of the blocks of documents/{id}/parsed without furniture, headers and footers, with two line breaks between them"`
	End        int     `json:"end"`
	Score      float64 `json:"score" doc:"0.5 to 1"`
	Recogniser string  `json:"recogniser" doc:"checksum: it has a valid checksum. pattern: it has the form. context: a label beside it decided"`
}

// personalDataRoutes holds the routes of the personal data of documents.
type personalDataRoutes struct {
	store     Store
	originals *originals
	blobs     Blobs
}

func (r *personalDataRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-document-pii", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/documents/{id}/pii",
		Summary: "List the personal data of a document", Tags: []string{"documents"},
		Description: "Where the published version has personal data, in the order of its text, without the values. Empty if its project did not look for any (privacy.pii: off) when the version was added.",
	}}, r.list)
	r.mountCounts(e)
}

// report returns what was found in the version of a document that readers see, nothing if its
// project looked for none.
func (r *personalDataRoutes) report(ctx context.Context, p knowledge.Principal, document string) (report privacy.Report, err error) {
	v, err := r.originals.readableVersion(ctx, p, document)
	if err != nil {
		return report, err
	}
	if err := r.blobs.GetJSON(ctx, parsed.PrivacyKey(v.VersionRef), &report); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return report, fmt.Errorf("read the personal data of document %s: %w", document, err)
	}
	return report, nil
}

// defaultFindings is the number of entries of a page without a limit.
const defaultFindings = 50

func (r *personalDataRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	DocumentPath
	PageQuery
}) (*listOutput[findingView], error) {
	first, err := strconv.Atoi("0" + in.Cursor)
	if err != nil {
		return nil, knowledge.Invalid("query.cursor", "must be next_cursor of the previous page")
	}
	report, err := r.report(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	limit := in.Limit
	if limit == 0 {
		limit = defaultFindings
	}
	found, next := report.Findings[min(first, len(report.Findings)):], ""
	if len(found) > limit {
		found, next = found[:limit], strconv.Itoa(first+limit)
	}
	return page(convert(found, func(f privacy.Located) findingView {
		return findingView{Entity: f.Entity, PageNumber: orNull(f.Page), Start: f.Start, End: f.End, Score: f.Score, Recogniser: f.Recogniser}
	}), next), nil
}
