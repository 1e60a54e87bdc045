package api

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Publications holds the projects that are published as agents.
type Publications interface {
	// PutPublication stores the publication of a project in the place of an earlier one, which
	// change receives. created reports that there was none. A slug that another one has is
	// CodeConflict.
	PutPublication(ctx context.Context, p knowledge.Principal, project string, change func(*knowledge.Publication) error) (stored knowledge.Publication, created bool, err error)
	// Publication returns the publication of a project.
	Publication(ctx context.Context, p knowledge.Principal, project string) (knowledge.Publication, error)
	// Publications lists those of the projects that the principal covers.
	Publications(ctx context.Context, p knowledge.Principal) ([]knowledge.Publication, error)
	// RemovePublication deletes the publication of a project.
	RemovePublication(ctx context.Context, p knowledge.Principal, project string) error
}

// Secrets seals what requests must not leave readable, and opens it again.
type Secrets interface {
	intake.Secrets
	// Open returns a sealed value.
	Open(sealed, context string) (string, error)
}

// publicationView is a publication as those see it who administer its project.
type publicationView struct {
	ProjectID string `json:"project_id"`
	Slug      string `json:"slug"`
	knowledge.PublicationSettings
	URL       string    `json:"url" doc:"The page to ask on"`
	CardURL   string    `json:"card_url" doc:"The card of the agent, for clients of the A2A protocol"`
	ScriptURL string    `json:"script_url" doc:"The script that shows the chat on a page, which names the agent: <script src=\"…/embed.js\" data-agent=\"SLUG\">"`
	Secret    string    `json:"secret,omitempty" doc:"The secret with which you sign the tokens of your users (JWT, HS256); shown once"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type publicationOutput struct{ Body publicationView }

// agentView is an agent in the gallery of a workspace.
type agentView struct {
	Slug        string               `json:"slug"`
	ProjectID   string               `json:"project_id"`
	Visibility  knowledge.Visibility `json:"visibility" enum:"public,workspace"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	Avatar      string               `json:"avatar"`
	URL         string               `json:"url" doc:"The page to ask on"`
}

type publicationInput struct {
	ProjectPath
	BrowserRequest
	Body struct {
		Slug string `json:"slug,omitempty" maxLength:"63" doc:"The name of the agent in its address: lower case letters, digits, - or _, and unique in the instance. Default: unchanged, at first the id of the project"`
		knowledge.PublicationSettings
		RotateSecret bool `json:"rotate_secret,omitempty" doc:"Make a new secret and show it once: tokens that were signed with the earlier one are refused"`
	} `nameHint:"NewPublication"`
}

// publicationRoutes holds the routes by which projects are published.
type publicationRoutes struct {
	store  Store
	sealer Secrets
	views  *views
}

func (pr *publicationRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/projects/{id}/publication"
	route := tagged("agents")
	put := route("put-publication", http.MethodPut, path, "Publish a project as an agent, or change how it is published",
		"The agent has a page to ask on, a card and an endpoint of the A2A protocol, and a chat for other pages (docs/agents.md). The secret is shown by the first answer, and with rotate_secret.")
	put.Secret = true
	edge.Handle(e, put, pr.put)
	edge.Handle(e, route("get-publication", http.MethodGet, path, "Read how a project is published", ""), func(ctx context.Context, p knowledge.Principal, in *struct {
		ProjectPath
		BrowserRequest
	}) (*publicationOutput, error) {
		found, err := pr.store.Publication(ctx, p, in.ID)
		if err != nil {
			return nil, err
		}
		return pr.output(in.request, found, ""), nil
	})
	edge.Handle(e, route("delete-publication", http.MethodDelete, path, "Publish a project no longer", "Its address answers nobody from then on. The conversations of its visitors stay with the project."), func(ctx context.Context, p knowledge.Principal, in *ProjectPath) (*struct{}, error) {
		return nil, pr.store.RemovePublication(ctx, p, in.ID)
	})
	edge.Handle(e, route("list-agents", http.MethodGet, "/workspaces/{workspaceId}/agents", "List the agents of the workspace", "The published ones of the projects that the caller covers, at most 1,000."), pr.list)
}

func (pr *publicationRoutes) put(ctx context.Context, p knowledge.Principal, in *publicationInput) (*publicationOutput, error) {
	if err := knowledge.InvalidFields(in.Body.Fields()); err != nil {
		return nil, err
	}
	project, err := pr.store.Project(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", in.ID, err)
	}
	secret := ""
	stored, _, err := pr.store.PutPublication(ctx, p, project.ID, func(pub *knowledge.Publication) error {
		isNew := pub.Slug == ""
		switch {
		case in.Body.Slug != "":
			pub.Slug = in.Body.Slug
		case isNew:
			pub.Slug = project.ID
		}
		if !knowledge.ValidSlug(pub.Slug) {
			return knowledge.Invalid("body.slug", "must be 1 to 63 lower case letters, digits, - or _, and begin with a letter or digit")
		}
		pub.PublicationSettings = in.Body.PublicationSettings
		if secret = ""; !isNew && !in.Body.RotateSecret {
			return nil
		}
		secret = rand.Text() + rand.Text()
		var err error
		pub.Sealed, err = pr.sealer.Seal(secret, agentSecret(*pub))
		return err
	})
	if err != nil {
		return nil, err
	}
	return pr.output(in.request, stored, secret), nil
}

// agentSecret is the context for which the secret of a publication is sealed.
func agentSecret(pub knowledge.Publication) string {
	return "agent secret " + pub.Workspace + "/" + pub.Project
}

func (pr *publicationRoutes) output(r *http.Request, pub knowledge.Publication, secret string) *publicationOutput {
	at := pr.views.address(r)
	return &publicationOutput{publicationView{
		ProjectID: pub.Project, Slug: pub.Slug, PublicationSettings: pub.PublicationSettings, Secret: secret, CreatedAt: pub.CreatedAt, UpdatedAt: pub.UpdatedAt,
		URL: at + agentPath(pub), CardURL: at + agentPath(pub) + cardPath, ScriptURL: at + "/embed.js",
	}}
}

func (pr *publicationRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	ShortList
	BrowserRequest
}) (*listOutput[agentView], error) {
	list, err := pr.store.Publications(ctx, p)
	if err != nil {
		return nil, err
	}
	at := pr.views.address(in.request)
	return shortPage(convert(list, func(pub knowledge.Publication) agentView {
		return agentView{
			Slug: pub.Slug, ProjectID: pub.Project, Visibility: pub.Visibility, Title: pub.Title, Description: pub.Description, Avatar: pub.Avatar, URL: at + agentPath(pub),
		}
	}), in.ShortList)
}
