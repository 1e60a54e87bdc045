package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/view"
)

// runHeader names the run that an answer started.
const runHeader = "Cairn-Run-Id"

// eventsHeader has that run's eventsUrl, if the answer's body has no place for it: a
// browser's EventSource continues there.
const eventsHeader = "Cairn-Events-Url"

// removePatience bounds the start of a removal's workflow.
const removePatience = 10 * time.Second

type documentOutput struct {
	Run  string `header:"Cairn-Run-Id"`
	Body view.Document
}

// taggedDocument is a document with its ETag.
type taggedDocument struct {
	ETag string `header:"ETag"`
	Body view.Document
}

func newTaggedDocument(shown view.Document) *taggedDocument {
	return &taggedDocument{ETag: etagOf(shown.UpdatedAt), Body: shown}
}

// removedOutput is the answer to a removal.
type removedOutput struct {
	Run    string `header:"Cairn-Run-Id"`
	Events string `header:"Cairn-Events-Url"`
	Body   struct {
		ID     string           `json:"id"`
		Status knowledge.Status `json:"status"`
		RunID  string           `json:"runId"`
	} `nameHint:"RemovedDocument"`
}

// DocumentPath is the path of a document.
type DocumentPath struct {
	WorkspacePath
	edge.ActingQuery
	ID string `path:"id" maxLength:"200"`
}

// DocumentFilter are the query parameters by which documents are chosen.
type DocumentFilter struct {
	Status knowledge.Status `query:"status" enum:"pending,published,error,inactive,deleting"`
	Tags   []string         `query:"tags,explode" maxItems:"64" doc:"Documents with at least one of these tags; may be repeated"`
}

type documentChange struct {
	Tags           *[]string         `json:"tags,omitempty"`
	Metadata       *map[string]any   `json:"metadata,omitempty" doc:"Replaces the metadata of the uploads. What was found in the file stays, unless its key is named; null as the value removes it"`
	Status         *knowledge.Status `json:"status,omitempty" enum:"inactive,published" doc:"inactive hides the document, published shows it again"`
	Access         *accessBody       `json:"access,omitempty"`
	Classification *string           `json:"classification,omitempty" maxLength:"128"`
	Subjects       *[]string         `json:"subjects,omitempty" maxItems:"64" doc:"The people whom the document is about; replaces those of the uploads"`
	LegalHold      *bool             `json:"legal_hold,omitempty" doc:"Prevents the removal of the document"`
}

// documentRoutes holds the routes that list, read, change and remove documents.
type documentRoutes struct {
	store      Store
	attributes Attributes
	removals   *documentRemovals
	views      *views
	levels     knowledge.Levels
	log        *slog.Logger
}

func (dr *documentRoutes) mount(e *edge.Edge) {
	tags := []string{"documents"}
	const hooks, base = "/workspaces/{workspaceId}/webhooks", "/workspaces/{workspaceId}/documents"
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-project-documents", Method: http.MethodGet, Path: hooks + "/documents", Summary: "List documents by page", Tags: tags,
	}}, dr.pageDocuments)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "delete-project-document", Method: http.MethodDelete, Path: hooks + "/document", Summary: "Remove a file from a vector store (a document)", Tags: tags,
		Description: whatRemovalKeeps,
	}}, func(ctx context.Context, p knowledge.Principal, in *struct {
		WorkspacePath
		Project string `query:"projectId" maxLength:"200"`
		ID      string `query:"id" required:"true" maxLength:"200"`
	}) (*removedOutput, error) {
		return dr.removals.removeDocument(ctx, p, in.Project, in.ID)
	})
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-documents", Method: http.MethodGet, Path: base, Summary: "List documents", Tags: tags,
	}}, dr.listDocuments)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-document", Method: http.MethodGet, Path: base + "/{id}", Summary: "Read a document", Tags: tags,
	}}, func(ctx context.Context, p knowledge.Principal, in *DocumentPath) (*taggedDocument, error) {
		d, err := dr.store.Document(ctx, p, in.ID)
		if err != nil {
			return nil, fmt.Errorf("read document %s: %w", in.ID, err)
		}
		return newTaggedDocument(dr.views.document(d)), nil
	})
	edge.Handle(e, edge.Route{ByGrant: true, Operation: huma.Operation{
		OperationID: "patch-document", Method: http.MethodPatch, Path: base + "/{id}", Summary: "Change a document", Tags: tags,
		Description: "A document also changes while it is processed, so an If-Match is refused then too.",
	}}, dr.patchDocument)
	edge.Handle(e, edge.Route{ByGrant: true, Operation: huma.Operation{
		OperationID: "delete-document", Method: http.MethodDelete, Path: base + "/{id}", Summary: "Remove a file from a vector store (a document)", Tags: tags,
		Description: whatRemovalKeeps,
	}}, func(ctx context.Context, p knowledge.Principal, in *DocumentPath) (*removedOutput, error) {
		return dr.removals.removeDocument(ctx, p, "", in.ID)
	})
}

// whatRemovalKeeps describes the words of a document that outlive its removal.
const whatRemovalKeeps = "Earlier answers keep their text, including quotations of the document; their sources are marked removed and lose their text. POST /workspaces/{workspaceId}/conversations/forget cuts these quotations."

// documentPage is a page of documents by number.
type documentPage struct {
	Body struct {
		Documents []view.Document `json:"documents"`
		Page      int             `json:"page"`
		Limit     int             `json:"limit"`
		Total     int             `json:"total"`

		StaleEmbeddings *staleEmbeddings `json:"staleEmbeddings,omitempty" doc:"On the first page of a list of one project: its published documents that were embedded with another model than the configured one"`
	} `nameHint:"DocumentPage"`
}

func (dr *documentRoutes) pageDocuments(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	edge.ActingQuery
	DocumentFilter
	Project    string `query:"projectId" maxLength:"200" doc:"Default: every project that the key covers"`
	ExternalID string `query:"externalId" maxLength:"1024"`
	Named      string `query:"named" maxLength:"1024" doc:"An id or at least its first 4 characters, an external id, or a name"`
	Page       int    `query:"page" minimum:"0" maximum:"1000000" doc:"0 = the first"`
	Limit      int    `query:"limit" minimum:"1" maximum:"500" default:"500"`
}) (*documentPage, error) {
	q, err := dr.documentQuery(ctx, p, in.Project, in.ExternalID, in.DocumentFilter)
	if err != nil {
		return nil, err
	}
	q.Named = in.Named
	q.Limit, q.Offset = in.Limit, in.Page*in.Limit
	documents, _, err := dr.store.Documents(ctx, p, q)
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	total, err := dr.store.CountDocuments(ctx, p, q)
	if err != nil {
		return nil, err
	}
	out := &documentPage{}
	out.Body.Documents = convert(documents, dr.views.document)
	out.Body.Page, out.Body.Limit, out.Body.Total = in.Page, in.Limit, total
	if in.Page == 0 && q.Project != "" && total > 0 {
		out.Body.StaleEmbeddings, err = dr.countStale(ctx, p, q.Project)
	}
	return out, err
}

func (dr *documentRoutes) listDocuments(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	edge.ActingQuery
	DocumentFilter
	Project    string `query:"project_id" maxLength:"200" doc:"Default: every project that the key covers"`
	ExternalID string `query:"external_id" maxLength:"1024"`
	Named      string `query:"named" maxLength:"1024" doc:"An id or at least its first 4 characters, an external id, or a name"`
	Limit      int    `query:"limit" minimum:"1" maximum:"500" default:"500"`
	Cursor     string `query:"cursor" maxLength:"1000" doc:"next_cursor of the previous page"`

	IDs      []string            `query:"id,explode" maxItems:"100" doc:"Only these documents; may be repeated"`
	Code     knowledge.Code      `query:"code" maxLength:"100" doc:"The code of the error, or of the failure for which a step waits"`
	Stage    knowledge.Stage     `query:"stage" enum:"fetch,check,extract,redact,enrich,chunk,embed,publish" doc:"The stage that the newest version has reached"`
	Language string              `query:"language" maxLength:"20" doc:"The language of the text, such as eng; und: it is not known"`
	Stale    bool                `query:"stale" doc:"Only documents that a reindex of their project would process again, as the filter of reingest; with the scope write"`
	Sort     store.DocumentOrder `query:"sort" enum:"updated,size,name" doc:"updated: changed last first; size: largest first; name: by name. Default: newest first"`
}) (*listOutput[view.Document], error) {
	q, err := dr.documentQuery(ctx, p, in.Project, in.ExternalID, in.DocumentFilter)
	if err != nil {
		return nil, err
	}
	q.IDs, q.Named, q.Code, q.Stage, q.Language, q.Sort = in.IDs, in.Named, in.Code, in.Stage, in.Language, in.Sort
	q.Page = store.Page{Limit: in.Limit, Cursor: in.Cursor}
	if in.Stale {
		if q.Outdated, err = dr.filterStale(ctx, p, q.Project); err != nil {
			return nil, err
		}
	}
	documents, next, err := dr.store.Documents(ctx, p, q)
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	return page(convert(documents, dr.views.document), next), nil
}

// documentQuery returns the query for the documents of a request, in which the
// project is an id or a name.
func (dr *documentRoutes) documentQuery(ctx context.Context, p knowledge.Principal, project, externalID string, f DocumentFilter) (store.DocumentQuery, error) {
	project, err := projectID(ctx, dr.store, p, project)
	return store.DocumentQuery{Project: project, ExternalID: externalID, Status: f.Status, Tags: f.Tags}, err
}

func (dr *documentRoutes) patchDocument(ctx context.Context, p knowledge.Principal, in *struct {
	DocumentPath
	MatchHeader
	Body documentChange
}) (*taggedDocument, error) {
	since, err := in.since()
	if err != nil {
		return nil, err
	}
	b := in.Body
	patch := store.DocumentPatch{Since: since, Tags: b.Tags, Metadata: b.Metadata, Status: b.Status, Classification: b.Classification, Subjects: b.Subjects, LegalHold: b.LegalHold}
	var wrong []knowledge.Field
	if b.Tags != nil {
		wrong = append(wrong, knowledge.TagFields("body.tags", *b.Tags)...)
	}
	if b.Classification != nil {
		wrong = append(wrong, dr.levels.Fields("body.classification", *b.Classification)...)
	}
	if b.Subjects != nil {
		wrong = append(wrong, knowledge.SubjectFields("body.subjects", *b.Subjects)...)
	}
	if b.Metadata != nil {
		wrong = append(wrong, knowledge.MetadataFields("body.metadata", *b.Metadata)...)
	}
	if patch.Access = b.Access.access(); patch.Access != nil {
		wrong = append(wrong, patch.Access.Fields("body.access")...)
	}
	if err := knowledge.InvalidFields(wrong); err != nil {
		return nil, err
	}
	d, err := dr.store.UpdateDocument(ctx, p, in.ID, patch)
	if err != nil {
		return nil, fmt.Errorf("update document %s: %w", in.ID, err)
	}
	// SQL has the change and is asked at every search, so what became narrower holds
	// already. If the index cannot follow now, the sweep repeats it.
	if err := dr.attributes.UpdateIndex(ctx, d.ID); err != nil {
		dr.log.WarnContext(ctx, "the index follows a changed document later", "document", d.ID, "error", err)
	}
	return newTaggedDocument(dr.views.document(d)), nil
}
