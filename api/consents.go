package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// consentView is a consent as it is shown.
type consentView struct {
	ID          string     `json:"id"`
	Subject     string     `json:"subject"`
	Purpose     string     `json:"purpose"`
	Evidence    string     `json:"evidence"`
	CreatedAt   time.Time  `json:"created_at"`
	CreatedBy   string     `json:"created_by"`
	WithdrawnAt *time.Time `json:"withdrawn_at" doc:"null: it holds"`
	WithdrawnBy *string    `json:"withdrawn_by"`
}

type consentOutput struct{ Body consentView }

type newConsentInput struct {
	WorkspacePath
	Body struct {
		Subject  string `json:"subject" minLength:"1" maxLength:"256" doc:"The person, as documents name it in their subjects"`
		Purpose  string `json:"purpose" minLength:"1" maxLength:"2000" doc:"What the person has agreed to"`
		Evidence string `json:"evidence,omitempty" maxLength:"2000" doc:"Where the agreement is kept, such as the number of a signed form"`
	} `nameHint:"NewConsent"`
}

// ConsentPath is the path of a consent.
type ConsentPath struct {
	WorkspacePath
	ID string `path:"id" maxLength:"64" doc:"The consent"`
}

// withdrawalOutput is what the withdrawal of a consent did.
type withdrawalOutput struct {
	Body struct {
		Consent    consentView              `json:"consent"`
		Removed    int                      `json:"removed" doc:"Documents that nobody finds any more, each of which a run removes"`
		KeptByHold []knowledge.HeldDocument `json:"kept_by_hold" doc:"Documents that a legal hold keeps. They are hidden from readers, and removed when the hold is lifted"`
	} `nameHint:"WithdrawnConsent"`
}

// consentRoutes holds the routes of consents.
type consentRoutes struct {
	store    Store
	removals *removalQueue
	now      func() time.Time
}

func (cr *consentRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/consents"
	route := tagged("privacy")
	create := route("create-consent", http.MethodPost, path, "Record a consent",
		"With privacy.consentRequired a project publishes a document only while there is a consent of each of its subjects. The key must be for every project.")
	create.DefaultStatus = http.StatusCreated
	edge.Handle(e, create, cr.create)
	edge.Handle(e, route("list-consents", http.MethodGet, path, "List consents, newest first", ""), cr.list)
	edge.Handle(e, route("get-consent", http.MethodGet, path+"/{id}", "Read a consent", ""), cr.get)
	edge.Handle(e, route("withdraw-consent", http.MethodDelete, path+"/{id}", "Withdraw a consent",
		"The documents that name its subject vanish from searches and reads before the answer, and runs remove them. The consent stays in the list."), cr.withdraw)
}

func (cr *consentRoutes) create(ctx context.Context, p knowledge.Principal, in *newConsentInput) (*consentOutput, error) {
	b := in.Body
	run, _ := edge.RunID(ctx)
	c := knowledge.Consent{ID: knowledge.DerivedID("consent", run), Subject: b.Subject, Purpose: strings.TrimSpace(b.Purpose), Evidence: strings.TrimSpace(b.Evidence), CreatedAt: cr.now()}
	wrong := knowledge.UserFields("body.subject", c.Subject)
	if c.Purpose == "" {
		wrong = append(wrong, knowledge.Field{Location: "body.purpose", Message: "must not be empty"})
	}
	if err := knowledge.InvalidFields(wrong); err != nil {
		return nil, err
	}
	c, err := cr.store.AddConsent(ctx, p, c)
	if err != nil {
		return nil, fmt.Errorf("record a consent: %w", err)
	}
	return &consentOutput{viewConsent(c)}, nil
}

func (cr *consentRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	Subject string `query:"subject" maxLength:"256" doc:"Those of this person alone"`
	Active  bool   `query:"active" doc:"Those alone that nobody has withdrawn"`
}) (*listOutput[consentView], error) {
	list, next, err := cr.store.Consents(ctx, p, store.ConsentQuery{Subject: in.Subject, Active: in.Active}, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list consents: %w", err)
	}
	return page(convert(list, viewConsent), next), nil
}

func (cr *consentRoutes) get(ctx context.Context, p knowledge.Principal, in *ConsentPath) (*consentOutput, error) {
	c, err := cr.store.Consent(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read consent %s: %w", in.ID, err)
	}
	return &consentOutput{viewConsent(c)}, nil
}

func (cr *consentRoutes) withdraw(ctx context.Context, p knowledge.Principal, in *ConsentPath) (*withdrawalOutput, error) {
	w, err := cr.store.WithdrawConsent(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("withdraw consent %s: %w", in.ID, err)
	}
	cr.removals.add(w.Removals)
	out := &withdrawalOutput{}
	out.Body.Consent, out.Body.Removed, out.Body.KeptByHold = viewConsent(w.Consent), len(w.Removals), notNil(w.Kept)
	return out, nil
}

func viewConsent(c knowledge.Consent) consentView {
	return consentView{
		ID: c.ID, Subject: c.Subject, Purpose: c.Purpose, Evidence: c.Evidence, CreatedAt: c.CreatedAt, CreatedBy: c.CreatedBy,
		WithdrawnAt: orNull(c.WithdrawnAt), WithdrawnBy: orNull(c.WithdrawnBy),
	}
}
