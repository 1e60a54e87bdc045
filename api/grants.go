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

// GrantSubject is whom a grant means. One field is set.
type GrantSubject struct {
	User    string `json:"user,omitempty" maxLength:"256" doc:"A person of the workspace: the sub of a JWT, or the userId for whom a key acts"`
	Group   string `json:"group,omitempty" maxLength:"256" doc:"A group of JWTs or members"`
	Project string `json:"project,omitempty" maxLength:"200" doc:"The keys and members that are held to this project. It is the project of the object"`
}

// GrantObject is which documents a grant is about. One field is set.
type GrantObject struct {
	DocumentID string `json:"document_id,omitempty" maxLength:"200" doc:"One document"`
	Tag        string `json:"tag,omitempty" maxLength:"128" doc:"The documents with this tag, in every project of the workspace"`
	ProjectID  string `json:"project_id,omitempty" maxLength:"200" doc:"The documents of this project"`
}

// grantView is a grant as it is shown.
type grantView struct {
	ID         string                    `json:"id"`
	Subject    GrantSubject              `json:"subject"`
	Object     GrantObject               `json:"object"`
	Effect     knowledge.GrantEffect     `json:"effect" enum:"allow,deny"`
	Permission knowledge.GrantPermission `json:"permission" enum:"read,write"`
	Reason     string                    `json:"reason"`
	ExpiresAt  *time.Time                `json:"expires_at" doc:"null: never"`
	CreatedAt  time.Time                 `json:"created_at"`
	CreatedBy  string                    `json:"created_by" doc:"u: and a user, x: and an external user, or k: and the id of a key"`
}

type grantOutput struct{ Body grantView }

type newGrantInput struct {
	WorkspacePath
	Body struct {
		Subject    GrantSubject              `json:"subject"`
		Object     GrantObject               `json:"object"`
		Effect     knowledge.GrantEffect     `json:"effect" enum:"allow,deny" doc:"Of several grants, one that denies wins"`
		Permission knowledge.GrantPermission `json:"permission" enum:"read,write" doc:"To allow write allows read too, and to deny read denies write too"`
		ExpiresAt  *time.Time                `json:"expires_at,omitempty" doc:"When the grant ends. Default: never"`
		Reason     string                    `json:"reason,omitempty" maxLength:"1000"`
	} `nameHint:"NewGrant"`
}

// GrantPath is the path of a grant.
type GrantPath struct {
	WorkspacePath
	ID string `path:"id" maxLength:"64" doc:"The grant"`
}

// grantRoutes holds the routes of grants.
type grantRoutes struct {
	store Store
	now   func() time.Time
}

func (gr *grantRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/grants"
	route := tagged("documents")
	create := route("create-grant", http.MethodPost, path, "Allow or deny readers what access lists do not say",
		"A grant shows at once, and ends to the second. It does not lift the classification of a document, its status, or the boundary of a project.")
	create.DefaultStatus = http.StatusCreated
	edge.Handle(e, create, gr.create)
	edge.Handle(e, route("list-grants", http.MethodGet, path, "List the grants, newest first", "Those that have ended too."), gr.list)
	edge.Handle(e, route("get-grant", http.MethodGet, path+"/{id}", "Read a grant", ""), gr.get)
	edge.Handle(e, route("delete-grant", http.MethodDelete, path+"/{id}", "Remove a grant", "It has no effect from then on."), gr.remove)
}

func (gr *grantRoutes) create(ctx context.Context, p knowledge.Principal, in *newGrantInput) (*grantOutput, error) {
	b := in.Body
	run, _ := edge.RunID(ctx)
	g := knowledge.Grant{
		ID: knowledge.DerivedID("grant", run), Effect: b.Effect, Permission: b.Permission, Reason: strings.TrimSpace(b.Reason), CreatedAt: gr.now(),
	}
	var err error
	if g.Subject, err = gr.subject(ctx, p, b.Subject); err != nil {
		return nil, err
	}
	if g.Object, err = gr.object(ctx, p, b.Object); err != nil {
		return nil, err
	}
	if b.ExpiresAt != nil {
		if g.ExpiresAt = b.ExpiresAt.UTC(); !g.ExpiresAt.After(g.CreatedAt) {
			return nil, knowledge.Invalid("body.expires_at", "must be in the future")
		}
	}
	added, err := gr.store.AddGrant(ctx, p, g)
	if err != nil {
		return nil, fmt.Errorf("add a grant: %w", err)
	}
	return &grantOutput{viewGrant(added)}, nil
}

// subject returns the token of a subject.
func (gr *grantRoutes) subject(ctx context.Context, p knowledge.Principal, s GrantSubject) (string, error) {
	kind, name, err := oneOf("body.subject", "user, group and project", s.tokens())
	if err != nil || kind != knowledge.SubjectProject {
		return kind + name, err
	}
	id, err := gr.project(ctx, p, name)
	return kind + id, err
}

// object returns the token of an object.
func (gr *grantRoutes) object(ctx context.Context, p knowledge.Principal, o GrantObject) (string, error) {
	kind, name, err := oneOf("body.object", "document_id, tag and project_id", o.tokens())
	if err != nil || kind != knowledge.ObjectProject {
		return kind + name, err
	}
	id, err := gr.project(ctx, p, name)
	return kind + id, err
}

func (gr *grantRoutes) project(ctx context.Context, p knowledge.Principal, idOrName string) (string, error) {
	project, err := gr.store.Project(ctx, p, idOrName)
	if err != nil {
		return "", fmt.Errorf("read project %s: %w", idOrName, err)
	}
	return project.ID, nil
}

func (s GrantSubject) tokens() map[string]string {
	return map[string]string{knowledge.SubjectUser: s.User, knowledge.SubjectGroup: s.Group, knowledge.SubjectProject: s.Project}
}

func (o GrantObject) tokens() map[string]string {
	return map[string]string{knowledge.ObjectDocument: o.DocumentID, knowledge.ObjectTag: o.Tag, knowledge.ObjectProject: o.ProjectID}
}

// oneOf returns the one of several names that is given, with its kind.
func oneOf(location, fields string, names map[string]string) (kind, name string, err error) {
	given := 0
	for k, n := range names {
		if n != "" {
			kind, name = k, n
			given++
		}
	}
	switch {
	case given != 1:
		return "", "", knowledge.Invalid(location, "must have one of %s", fields)
	case strings.TrimSpace(name) == "" || knowledge.HasControl(name):
		return "", "", knowledge.Invalid(location, "must be a name without control characters")
	}
	return kind, name, nil
}

func (gr *grantRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	User       string `query:"user" maxLength:"256" doc:"Those that mean this person by name"`
	Group      string `query:"group" maxLength:"256" doc:"Those that mean this group"`
	DocumentID string `query:"document_id" maxLength:"200" doc:"Those on this document by its id"`
	Tag        string `query:"tag" maxLength:"128" doc:"Those on this tag"`
}) (*listOutput[grantView], error) {
	q := store.GrantQuery{Page: store.Page(in.PageQuery)}
	for _, f := range []struct {
		into       *string
		kind, name string
	}{
		{&q.Subject, knowledge.SubjectUser, in.User}, {&q.Subject, knowledge.SubjectGroup, in.Group},
		{&q.Object, knowledge.ObjectDocument, in.DocumentID}, {&q.Object, knowledge.ObjectTag, in.Tag},
	} {
		if f.name == "" {
			continue
		}
		if *f.into != "" {
			return nil, knowledge.Invalid("query", "takes one of user and group, and one of document_id and tag")
		}
		*f.into = f.kind + f.name
	}
	grants, next, err := gr.store.Grants(ctx, p, q)
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	return page(convert(grants, viewGrant), next), nil
}

func (gr *grantRoutes) get(ctx context.Context, p knowledge.Principal, in *GrantPath) (*grantOutput, error) {
	g, err := gr.store.Grant(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read grant %s: %w", in.ID, err)
	}
	return &grantOutput{viewGrant(g)}, nil
}

func (gr *grantRoutes) remove(ctx context.Context, p knowledge.Principal, in *GrantPath) (*struct{}, error) {
	if err := gr.store.RemoveGrant(ctx, p, in.ID); err != nil {
		return nil, fmt.Errorf("remove grant %s: %w", in.ID, err)
	}
	return nil, nil
}

func viewGrant(g knowledge.Grant) grantView {
	view := grantView{
		ID: g.ID, Effect: g.Effect, Permission: g.Permission, Reason: g.Reason, ExpiresAt: orNull(g.ExpiresAt), CreatedAt: g.CreatedAt, CreatedBy: g.CreatedBy,
	}
	subject, object := g.Subject[len(knowledge.SubjectUser):], g.Object[len(knowledge.ObjectTag):]
	switch g.Subject[:len(knowledge.SubjectUser)] {
	case knowledge.SubjectUser:
		view.Subject.User = subject
	case knowledge.SubjectGroup:
		view.Subject.Group = subject
	default:
		view.Subject.Project = subject
	}
	switch g.Object[:len(knowledge.ObjectTag)] {
	case knowledge.ObjectDocument:
		view.Object.DocumentID = object
	case knowledge.ObjectTag:
		view.Object.Tag = object
	default:
		view.Object.ProjectID = object
	}
	return view
}
