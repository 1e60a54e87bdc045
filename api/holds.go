package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// holdView is a legal hold as it is shown.
type holdView struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	Reason     string      `json:"reason"`
	Filter     *HoldFilter `json:"filter" doc:"null: its documents were named"`
	Documents  int         `json:"documents" doc:"How many documents it holds, or has held"`
	CreatedAt  time.Time   `json:"created_at"`
	CreatedBy  string      `json:"created_by"`
	LiftedAt   *time.Time  `json:"lifted_at" doc:"null: it holds"`
	LiftedBy   *string     `json:"lifted_by"`
	LiftReason *string     `json:"lift_reason"`
}

type holdOutput struct{ Body holdView }

// placedHold is a hold that was placed, or what it would hold.
type placedHold struct {
	Status int
	Body   holdView
}

// HoldFilter selects the documents of a hold.
type HoldFilter struct {
	ProjectID  string           `json:"project_id,omitempty" maxLength:"200" doc:"The project of the documents: its id or name. Default: every project of the caller"`
	Tags       []string         `json:"tags,omitempty" maxItems:"64" doc:"Documents with one of these tags"`
	Conditions knowledge.Filter `json:"conditions,omitempty" doc:"Documents that meet all of these, as in filters of a question"`
}

// filterOrConditions is a HoldFilter as a request sends it: the object, or the list of its
// conditions alone.
type filterOrConditions struct{ HoldFilter }

// Schema implements huma.SchemaProvider.
func (filterOrConditions) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[HoldFilter](), true, ""), r.Schema(reflect.TypeFor[knowledge.Filter](), true, "")}}
}

// UnmarshalJSON reads either form.
func (f *filterOrConditions) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return json.Unmarshal(data, &f.Conditions)
	}
	return json.Unmarshal(data, &f.HoldFilter)
}

type newHoldInput struct {
	WorkspacePath
	Body struct {
		Name        string              `json:"name" minLength:"1" maxLength:"200"`
		Reason      string              `json:"reason" minLength:"1" maxLength:"2000"`
		DocumentIDs []string            `json:"document_ids,omitempty" minItems:"1" maxItems:"10000" doc:"The documents. Give these or a filter"`
		Filter      *filterOrConditions `json:"filter,omitempty" doc:"Documents that meet this when the hold begins, and those that come to meet it while it holds. It must not be empty"`
		DryRun      bool                `json:"dry_run,omitempty" doc:"Count the documents, and place no hold: the answer has no id"`
	} `nameHint:"NewHold"`
}

// HoldPath is the path of a hold.
type HoldPath struct {
	WorkspacePath
	ID string `path:"id" maxLength:"64" doc:"The hold"`
}

// holdRoutes holds the routes of legal holds.
type holdRoutes struct {
	store Store
	now   func() time.Time
}

func (hr *holdRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/holds"
	route := tagged("documents")
	create := route("create-hold", http.MethodPost, path, "Place a legal hold on documents",
		"Whatever would remove a document under hold is refused with conflict, and the answer names the hold. Originals of replaced versions stay, from then on.")
	create.DefaultStatus = http.StatusCreated
	create.Responses = map[string]*huma.Response{"200": {Description: "The result of a dry run; no hold was placed"}}
	edge.Handle(e, create, hr.create)
	edge.Handle(e, route("list-holds", http.MethodGet, path, "List the legal holds, newest first", ""), hr.list)
	edge.Handle(e, route("get-hold", http.MethodGet, path+"/{id}", "Read a legal hold", ""), hr.get)
	edge.Handle(e, route("list-held-documents", http.MethodGet, path+"/{id}/documents", "List the ids of the documents of a legal hold", ""), hr.documents)
	edge.Handle(e, route("lift-hold", http.MethodDelete, path+"/{id}", "Lift a legal hold",
		"Its documents can be removed again, unless another hold has them. The hold stays in the list."), hr.lift)
}

func (hr *holdRoutes) create(ctx context.Context, p knowledge.Principal, in *newHoldInput) (*placedHold, error) {
	b := in.Body
	run, _ := edge.RunID(ctx)
	h := knowledge.Hold{ID: knowledge.DerivedID("hold", run), Name: strings.TrimSpace(b.Name), Reason: strings.TrimSpace(b.Reason), CreatedAt: hr.now()}
	var err error
	switch {
	case h.Name == "" || knowledge.HasControl(h.Name):
		return nil, knowledge.Invalid("body.name", "must be a name without control characters")
	case h.Reason == "":
		return nil, knowledge.Invalid("body.reason", "must not be empty")
	case (len(b.DocumentIDs) > 0) == (b.Filter != nil):
		return nil, knowledge.Invalid("body", "must have one of document_ids and filter")
	case b.Filter != nil:
		if h.Filter, err = hr.filter(ctx, p, b.Filter.HoldFilter); err != nil {
			return nil, err
		}
	}
	if b.DryRun {
		h.ID = ""
		if h.Documents, err = hr.store.CountHold(ctx, p, h, b.DocumentIDs); err != nil {
			return nil, err
		}
		return &placedHold{http.StatusOK, viewHold(h)}, nil
	}
	placed, err := hr.store.AddHold(ctx, p, h, b.DocumentIDs)
	if err != nil {
		return nil, fmt.Errorf("place a hold: %w", err)
	}
	return &placedHold{http.StatusCreated, viewHold(placed)}, nil
}

// filter checks a filter, and finds its project.
func (hr *holdRoutes) filter(ctx context.Context, p knowledge.Principal, f HoldFilter) (*knowledge.HoldFilter, error) {
	filter := &knowledge.HoldFilter{Project: f.ProjectID, Tags: f.Tags, Conditions: f.Conditions}
	if filter.IsEmpty() {
		return nil, knowledge.Invalid("body.filter", "must not be empty: name a project_id to hold all of its documents")
	}
	wrong := knowledge.TagFields("body.filter.tags", f.Tags)
	if err := knowledge.InvalidFields(append(wrong, f.Conditions.ConditionFields("body.filter.conditions")...)); err != nil {
		return nil, err
	}
	if f.ProjectID != "" {
		project, err := hr.store.Project(ctx, p, f.ProjectID)
		if err != nil {
			return nil, fmt.Errorf("read project %s: %w", f.ProjectID, err)
		}
		filter.Project = project.ID
	}
	return filter, nil
}

func (hr *holdRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	Active     bool   `query:"active" doc:"Those alone that nobody has lifted"`
	DocumentID string `query:"document_id" maxLength:"200" doc:"Those that hold this document, or have held it"`
}) (*listOutput[holdView], error) {
	holds, next, err := hr.store.Holds(ctx, p, store.HoldQuery{Active: in.Active, Document: in.DocumentID, Page: store.Page(in.PageQuery)})
	if err != nil {
		return nil, fmt.Errorf("list holds: %w", err)
	}
	return page(convert(holds, viewHold), next), nil
}

func (hr *holdRoutes) get(ctx context.Context, p knowledge.Principal, in *HoldPath) (*holdOutput, error) {
	h, err := hr.store.Hold(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read hold %s: %w", in.ID, err)
	}
	return &holdOutput{viewHold(h)}, nil
}

func (hr *holdRoutes) documents(ctx context.Context, p knowledge.Principal, in *struct {
	HoldPath
	PageQuery
}) (*listOutput[string], error) {
	ids, next, err := hr.store.HeldDocuments(ctx, p, in.ID, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list the documents of hold %s: %w", in.ID, err)
	}
	return page(notNil(ids), next), nil
}

func (hr *holdRoutes) lift(ctx context.Context, p knowledge.Principal, in *struct {
	HoldPath
	Body struct {
		Reason string `json:"reason" minLength:"1" maxLength:"2000" doc:"Why the hold is lifted"`
	} `nameHint:"LiftedHold"`
}) (*holdOutput, error) {
	if strings.TrimSpace(in.Body.Reason) == "" {
		return nil, knowledge.Invalid("body.reason", "must not be empty")
	}
	lifted, err := hr.store.LiftHold(ctx, p, in.ID, strings.TrimSpace(in.Body.Reason))
	if err != nil {
		return nil, fmt.Errorf("lift hold %s: %w", in.ID, err)
	}
	return &holdOutput{viewHold(lifted)}, nil
}

func viewHold(h knowledge.Hold) holdView {
	view := holdView{
		ID: h.ID, Name: h.Name, Reason: h.Reason, Documents: h.Documents, CreatedAt: h.CreatedAt, CreatedBy: h.CreatedBy,
		LiftedAt: orNull(h.LiftedAt), LiftedBy: orNull(h.LiftedBy), LiftReason: orNull(h.LiftReason),
	}
	if f := h.Filter; f != nil {
		view.Filter = &HoldFilter{ProjectID: f.Project, Tags: f.Tags, Conditions: f.Conditions}
	}
	return view
}
