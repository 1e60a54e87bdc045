package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/view"
)

type projectView struct {
	view.Project
	Webhooks []webhookView      `json:"webhooks,omitempty" doc:"Only for keys with the scope write"`
	Pipeline knowledge.Pipeline `json:"pipeline,omitempty" doc:"Only for keys with the scope write"`
	APIKey   string             `json:"apiKey,omitempty" doc:"The API key of a new project, with the scopes read and write; shown once"`

	CallbackSecret string `json:"callbackSecret,omitempty" doc:"The generated secret that signs callbacks; shown once"`

	SameName []string `json:"sameName,omitempty" doc:"After a project is created or renamed: the ids of other projects with the same name, oldest first, at most 100"`

	Notices []settingNotice `json:"notices,omitempty" doc:"After a change of ai.prompt or ai.promptRules: what the prompt lacks. After a change of ai.model or ai.failover: models that could not be checked, because the endpoint did not list its models. After a change of privacy: that older documents are as they were"`

	OutdatedDocuments *int `json:"outdatedDocuments,omitempty" doc:"After a change of privacy, ai.embeddings, ai.textSplitter, ai.enrichment, ai.multimodal, ai.tables or pipeline: the number of published documents that were processed with other settings. POST …/projects/{id}/reindex processes them again"`
}

// ProjectChange is what a project can be made of, or what is to change of it.
type ProjectChange struct {
	Name    *string                           `json:"name,omitempty" minLength:"1" maxLength:"200"`
	AI      changeOf[knowledge.AIConfig]      `json:"ai,omitempty"`
	Tools   changeOf[knowledge.ToolsConfig]   `json:"tools,omitempty"`
	Limits  changeOf[knowledge.LimitsConfig]  `json:"limits,omitempty"`
	Privacy changeOf[knowledge.PrivacyConfig] `json:"privacy,omitempty"`

	Retention changeOf[knowledge.RetentionConfig] `json:"retention,omitempty"`

	Pipeline changeOf[knowledge.Pipeline] `json:"pipeline,omitempty" maxItems:"10" doc:"The steps of the project's own at four places of ingestion and answering, in their order (docs/pipeline.md); null or an empty list removes all"`

	Webhooks changeOf[[]webhookBody] `json:"webhooks,omitempty" doc:"All webhooks of the project; a webhook that is not in the list is removed"`

	CallbackSecret changeOf[string] `json:"callbackSecret,omitempty" doc:"The secret that signs the callbacks of questions: whsec_ and 24 to 64 bytes in base64. null: a new one is generated and shown once"`
}

type projectBody struct {
	ID   string `json:"id,omitempty" maxLength:"63" doc:"The id of the project to change; without it a project is created"`
	Slug string `json:"slug,omitempty" maxLength:"63" doc:"The id of a new project. Default: derived from the name"`
	ProjectChange
}

type projectOutput struct {
	ETag string `header:"ETag"`
	Body projectView
}

func newProjectOutput(shown projectView) *projectOutput {
	return &projectOutput{ETag: etagOf(shown.UpdatedAt), Body: shown}
}

// ProjectPath is the path of a project.
type ProjectPath struct {
	WorkspacePath
	ID string `path:"id" maxLength:"200" doc:"The project's id, or its name"`
}

// projectRoutes holds the routes of projects.
type projectRoutes struct {
	store    Store
	settings *projectSettings
	now      func() time.Time
}

func (pr *projectRoutes) mount(e *edge.Edge) {
	tags := []string{"projects"}
	edge.Handle(e, edge.Route{Secret: true, Operation: huma.Operation{
		OperationID: "save-project", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/webhooks/projects",
		Summary: "Create or change a project", Description: "With `id`, the given fields of that project change, and null resets a setting to its default. Without `id`, a project is created and its API key is shown once.", Tags: tags,
	}}, pr.saveProject)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-projects", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/projects", Summary: "List the vector stores (projects)", Tags: tags,
	}}, pr.listProjects)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-project", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/projects/{id}", Summary: "Read a vector store (a project)", Tags: tags,
	}}, pr.getProject)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "patch-project", Method: http.MethodPatch, Path: "/workspaces/{workspaceId}/projects/{id}", Summary: "Change a project",
		Description: "Only the given fields change; null resets a setting to its default.", Tags: tags,
	}}, func(ctx context.Context, p knowledge.Principal, in *struct {
		ProjectPath
		MatchHeader
		Body ProjectChange
	}) (*projectOutput, error) {
		since, err := in.since()
		if err != nil {
			return nil, err
		}
		return pr.changeProject(ctx, p, in.ID, in.Body, projectUpdate{since: since})
	})
}

func (pr *projectRoutes) saveProject(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	Body projectBody
}) (*projectOutput, error) {
	b := in.Body
	if b.ID != "" {
		if b.Slug != "" && b.Slug != b.ID {
			return nil, knowledge.Invalid("body.slug", "cannot change: it is the id of the project")
		}
		_, again := edge.RunID(ctx)
		return pr.changeProject(ctx, p, b.ID, b.ProjectChange, projectUpdate{renew: again})
	}
	return pr.createProject(ctx, p, b)
}

func (pr *projectRoutes) createProject(ctx context.Context, p knowledge.Principal, b projectBody) (*projectOutput, error) {
	switch {
	case p.Project() != "":
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "a key for one project cannot create another project")
	case b.Name == nil && b.Slug == "":
		return nil, knowledge.Invalid("body.name", "is required for a new project")
	case b.Slug != "" && !knowledge.ValidSlug(b.Slug):
		return nil, knowledge.Invalid("body.slug", "must be 1 to 63 lower case letters, digits, - or _, and begin with a letter or digit")
	}
	project := knowledge.Project{ID: b.Slug, Workspace: p.Workspace(), Name: b.Slug, CreatedAt: storedTime(pr.now()), UpdatedAt: storedTime(pr.now())}
	if b.Name != nil {
		project.Name = *b.Name
	}
	if b.Slug == "" {
		project.ID = slugOf(project.Name)
	}
	if len(b.CallbackSecret) == 0 {
		b.CallbackSecret = changeOf[string]("null")
	}
	notices, err := pr.settings.checkModels(ctx, knowledge.ProjectConfig{}, b.ProjectChange)
	if err != nil {
		return nil, err
	}
	made, err := pr.settings.apply(ctx, b.ProjectChange, &project, false)
	if err == nil {
		err = pr.settings.checkAgents(ctx, p, nil, project)
	}
	if err != nil {
		return nil, err
	}
	audit.Made(ctx, project.ID)
	run, again := edge.RunID(ctx)
	key := store.Key{
		ID: knowledge.DerivedID("key", run), Name: "project " + project.ID,
		Scopes: []knowledge.Scope{knowledge.ScopeRead, knowledge.ScopeWrite}, CreatedAt: pr.now(),
	}
	if err := setMaker(p, &key); err != nil {
		return nil, err
	}
	secret, earlier, err := giveSecret(ctx, pr.store, p, &key, again)
	switch {
	case err != nil:
	case earlier:
		project, made, err = pr.updateProject(ctx, p, key.Project, ProjectChange{Webhooks: b.Webhooks, CallbackSecret: b.CallbackSecret}, projectUpdate{renew: true})
	default:
		err = pr.store.CreateProject(ctx, project, key)
		if b.Slug == "" && knowledge.IsCode(err, knowledge.CodeConflict) {
			project.ID += "-" + strings.ToLower(rand.Text()[:6])
			key.Name = "project " + project.ID
			err = pr.store.CreateProject(ctx, project, key)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("create project %s: %w", project.ID, err)
	}
	shown := viewProject(p, project, made)
	shown.APIKey, shown.SameName, shown.Notices = secret, pr.sameName(ctx, p, project), append(promptNotices(project.Config.AI), notices...)
	return newProjectOutput(shown), nil
}

// projectUpdate says how a project is changed.
type projectUpdate struct {
	renew bool       // as in setWebhooks
	since *time.Time // when the caller's project was changed last; nil = whenever
}

// changeProject changes a project.
func (pr *projectRoutes) changeProject(ctx context.Context, p knowledge.Principal, id string, change ProjectChange, how projectUpdate) (*projectOutput, error) {
	project, err := pr.store.Project(ctx, p, id)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", id, err)
	}
	notices, err := pr.settings.checkModels(ctx, project.Config, change) // before the transaction of the change
	if err != nil {
		return nil, err
	}
	project, made, err := pr.updateProject(ctx, p, project.ID, change, how)
	if err != nil {
		return nil, fmt.Errorf("update project %s: %w", id, err)
	}
	shown := viewProject(p, project, made)
	if change.Name != nil {
		shown.SameName = pr.sameName(ctx, p, project)
	}
	if change.names("prompt", "promptRules") {
		shown.Notices = promptNotices(project.Config.AI)
	}
	shown.Notices = append(shown.Notices, notices...)
	if change.Privacy != nil || len(change.Pipeline) > 0 || change.names("embeddings", "textSplitter", "enrichment", "multimodal", "tables") {
		outdated, err := pr.store.CountOutdated(ctx, p, project.ID, project.Config)
		if err != nil { // the change is stored all the same
			edge.RequestLog(ctx).WarnContext(ctx, "outdated documents are not counted", "project", project.ID, "error", err)
		} else {
			shown.OutdatedDocuments = &outdated
			shown.Notices = append(shown.Notices, privacyNotices(change, project.Config.Privacy, outdated)...)
		}
	}
	return newProjectOutput(shown), nil
}

// names reports whether the change names one of these settings of ai, or all of them.
func (c ProjectChange) names(settings ...string) bool {
	if string(c.AI) == "null" {
		return true
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(c.AI, &named) != nil { // no ai
		return false
	}
	return slices.ContainsFunc(settings, func(setting string) bool {
		_, ok := named[setting]
		return ok
	})
}

// updateProject stores a change, and returns the secrets that it made.
func (pr *projectRoutes) updateProject(ctx context.Context, p knowledge.Principal, id string, change ProjectChange, how projectUpdate) (knowledge.Project, map[string]string, error) {
	var made map[string]string
	project, err := pr.store.UpdateProject(ctx, p, id, func(project *knowledge.Project) (err error) {
		if how.since != nil && !how.since.Equal(project.UpdatedAt) {
			return changedMeanwhile("project", project.ID, project.UpdatedAt)
		}
		if change.Name != nil {
			project.Name = *change.Name
		}
		project.UpdatedAt = storedTime(pr.now())
		before := project.Config.Tools.Custom
		if made, err = pr.settings.apply(ctx, change, project, how.renew); err != nil {
			return err
		}
		return pr.settings.checkAgents(ctx, p, before, *project)
	})
	return project, made, err
}

// madeCallback is where the secrets that a change made have the secret of callbacks.
const madeCallback = "callback"

func (pr *projectRoutes) listProjects(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	Q string `query:"q" maxLength:"200" doc:"Only projects whose name and id together contain each of these words, whatever their case. A page of this list may have fewer entries than limit, or none, and yet a next_cursor"`
}) (*listOutput[projectView], error) {
	list := pr.store.Projects
	if strings.TrimSpace(in.Q) != "" {
		list = func(ctx context.Context, p knowledge.Principal, page store.Page) ([]knowledge.Project, string, error) {
			return pr.store.FindProjects(ctx, p, in.Q, page)
		}
	}
	projects, next, err := list(ctx, p, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	return page(convert(projects, func(project knowledge.Project) projectView { return viewProject(p, project, nil) }), next), nil
}

func (pr *projectRoutes) getProject(ctx context.Context, p knowledge.Principal, in *ProjectPath) (*projectOutput, error) {
	project, err := pr.store.Project(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", in.ID, err)
	}
	return newProjectOutput(viewProject(p, project, nil)), nil
}

// viewProject shows a project to a principal, with the defaults that hold for it and
// the secrets that were made for its webhooks.
func viewProject(p knowledge.Principal, project knowledge.Project, made map[string]string) projectView {
	shown := projectView{Project: view.NewProject(project), CallbackSecret: made[madeCallback]}
	if p.Can(knowledge.ScopeWrite) {
		shown.Webhooks, shown.Pipeline = viewWebhooks(project.Webhooks, made), project.Config.Pipeline
	} else {
		shown.Tools.Custom = nil // addresses and headers are for those who manage the project
	}
	return shown
}
