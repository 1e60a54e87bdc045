package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/internal/view"
	"github.com/cairn-rag/cairn/internal/webhook"
	"github.com/cairn-rag/cairn/internal/websearch"
)

type projectView struct {
	view.Project
	Webhooks []webhookView `json:"webhooks,omitempty" doc:"Only for keys with the scope write"`
	APIKey   string        `json:"apiKey,omitempty" doc:"The API key of a new project, with the scopes read and write; shown once"`

	CallbackSecret string `json:"callbackSecret,omitempty" doc:"The generated secret that signs callbacks; shown once"`

	SameName []string `json:"sameName,omitempty" doc:"After a project is created or renamed: the ids of other projects with the same name, oldest first, at most 100"`

	OutdatedDocuments *int `json:"outdatedDocuments,omitempty" doc:"After a change of ai.embeddings, ai.textSplitter, ai.enrichment or ai.multimodal: the number of published documents that were processed with other settings. POST …/projects/{id}/reindex processes them again"`
}

// ProjectChange is what a project can be made of, or what is to change of it.
type ProjectChange struct {
	Name   *string                          `json:"name,omitempty" minLength:"1" maxLength:"200"`
	AI     changeOf[knowledge.AIConfig]     `json:"ai,omitempty"`
	Tools  changeOf[knowledge.ToolsConfig]  `json:"tools,omitempty"`
	Limits changeOf[knowledge.LimitsConfig] `json:"limits,omitempty"`

	Webhooks changeOf[[]webhookBody] `json:"webhooks,omitempty" doc:"All webhooks of the project; a webhook that is not in the list is removed"`

	CallbackSecret changeOf[string] `json:"callbackSecret,omitempty" doc:"The secret that signs the callbacks of questions: whsec_ and 24 to 64 bytes in base64. null: a new one is generated and shown once"`
}

type projectBody struct {
	ID   string `json:"id,omitempty" maxLength:"63" doc:"The id of the project to change; without it a project is created"`
	Slug string `json:"slug,omitempty" maxLength:"63" doc:"The id of a new project. Default: derived from the name"`
	ProjectChange
}

type projectOutput struct{ Body projectView }

// ProjectPath is the path of a project.
type ProjectPath struct {
	WorkspacePath
	ID string `path:"id" maxLength:"200" doc:"The project's id, or its name"`
}

func (s *Server) registerProjects() {
	tags := []string{"projects"}
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeAdmin, Secret: true, Operation: huma.Operation{
		OperationID: "save-project", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/webhooks/projects",
		Summary: "Create or change a project", Description: "With `id`, the given fields of that project change, and null resets a setting to its default. Without `id`, a project is created and its API key is shown once.", Tags: tags,
	}}, s.saveProject)
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeRead, Operation: huma.Operation{
		OperationID: "list-projects", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/projects", Summary: "List the projects", Tags: tags,
	}}, s.listProjects)
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeRead, Operation: huma.Operation{
		OperationID: "get-project", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/projects/{id}", Summary: "Read a project", Tags: tags,
	}}, s.getProject)
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeAdmin, Operation: huma.Operation{
		OperationID: "patch-project", Method: http.MethodPatch, Path: "/workspaces/{workspaceId}/projects/{id}", Summary: "Change a project",
		Description: "Only the given fields change; null resets a setting to its default.", Tags: tags,
	}}, func(ctx context.Context, p knowledge.Principal, in *struct {
		ProjectPath
		Body ProjectChange
	}) (*projectOutput, error) {
		return s.changeProject(ctx, p, in.ID, in.Body, false)
	})
	s.registerProjectRemoval()
	s.registerProjectUsage()
}

func (s *Server) saveProject(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	Body projectBody
}) (*projectOutput, error) {
	b := in.Body
	if b.ID != "" {
		if b.Slug != "" && b.Slug != b.ID {
			return nil, knowledge.Invalid("body.slug", "cannot change: it is the id of the project")
		}
		_, again := edge.RunID(ctx)
		return s.changeProject(ctx, p, b.ID, b.ProjectChange, again)
	}
	return s.createProject(ctx, p, b)
}

func (s *Server) createProject(ctx context.Context, p knowledge.Principal, b projectBody) (*projectOutput, error) {
	switch {
	case p.Project() != "":
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "a key for one project cannot create another project")
	case b.Name == nil && b.Slug == "":
		return nil, knowledge.Invalid("body.name", "is required for a new project")
	case b.Slug != "" && !knowledge.ValidSlug(b.Slug):
		return nil, knowledge.Invalid("body.slug", "must be 1 to 63 lower case letters, digits, - or _, and begin with a letter or digit")
	}
	project := knowledge.Project{ID: b.Slug, Workspace: p.Workspace(), Name: b.Slug, CreatedAt: s.now(), UpdatedAt: s.now()}
	if b.Name != nil {
		project.Name = *b.Name
	}
	if b.Slug == "" {
		project.ID = slugOf(project.Name)
	}
	if len(b.CallbackSecret) == 0 {
		b.CallbackSecret = changeOf[string]("null")
	}
	made, err := s.apply(ctx, b.ProjectChange, &project, false)
	if err == nil {
		err = s.checkAgents(ctx, p, nil, project)
	}
	if err != nil {
		return nil, err
	}
	run, again := edge.RunID(ctx)
	key := store.Key{
		ID: knowledge.DerivedID("key", run), Name: "project " + project.ID,
		Scopes: []knowledge.Scope{knowledge.ScopeRead, knowledge.ScopeWrite}, CreatedAt: s.now(),
	}
	if err := within(p, &key); err != nil {
		return nil, err
	}
	secret, earlier, err := s.giveSecret(ctx, p, &key, again)
	switch {
	case err != nil:
	case earlier:
		project, made, err = s.updateProject(ctx, p, key.Project, ProjectChange{Webhooks: b.Webhooks, CallbackSecret: b.CallbackSecret}, true)
	default:
		err = s.deps.Store.CreateProject(ctx, project, key)
		if b.Slug == "" && knowledge.IsCode(err, knowledge.CodeConflict) {
			project.ID += "-" + strings.ToLower(rand.Text()[:6])
			key.Name = "project " + project.ID
			err = s.deps.Store.CreateProject(ctx, project, key)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("create project %s: %w", project.ID, err)
	}
	shown := viewProject(p, project, made)
	shown.APIKey, shown.SameName = secret, s.sameName(ctx, p, project)
	return &projectOutput{shown}, nil
}

// changeProject changes a project. renew is that of setWebhooks.
func (s *Server) changeProject(ctx context.Context, p knowledge.Principal, id string, change ProjectChange, renew bool) (*projectOutput, error) {
	project, err := s.deps.Store.Project(ctx, p, id)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", id, err)
	}
	project, made, err := s.updateProject(ctx, p, project.ID, change, renew)
	if err != nil {
		return nil, fmt.Errorf("update project %s: %w", id, err)
	}
	shown := viewProject(p, project, made)
	if change.Name != nil {
		shown.SameName = s.sameName(ctx, p, project)
	}
	if change.concernsDocuments() {
		outdated, err := s.deps.Store.CountOutdated(ctx, p, project.ID, project.Config)
		if err != nil { // the change is stored all the same
			edge.RequestLog(ctx).WarnContext(ctx, "outdated documents are not counted", "project", project.ID, "error", err)
		} else {
			shown.OutdatedDocuments = &outdated
		}
	}
	return &projectOutput{shown}, nil
}

// concernsDocuments reports whether the change names a setting with which documents
// are made.
func (c ProjectChange) concernsDocuments() bool {
	if string(c.AI) == "null" {
		return true
	}
	var named map[string]json.RawMessage
	if json.Unmarshal(c.AI, &named) != nil { // no ai
		return false
	}
	for _, setting := range []string{"embeddings", "textSplitter", "enrichment", "multimodal"} {
		if _, ok := named[setting]; ok {
			return true
		}
	}
	return false
}

// updateProject stores a change, and returns the secrets that it made.
func (s *Server) updateProject(ctx context.Context, p knowledge.Principal, id string, change ProjectChange, renew bool) (knowledge.Project, map[string]string, error) {
	var made map[string]string
	project, err := s.deps.Store.UpdateProject(ctx, p, id, func(project *knowledge.Project) (err error) {
		if change.Name != nil {
			project.Name = *change.Name
		}
		project.UpdatedAt = s.now()
		before := project.Config.Tools.Custom
		if made, err = s.apply(ctx, change, project, renew); err != nil {
			return err
		}
		return s.checkAgents(ctx, p, before, *project)
	})
	return project, made, err
}

// apply lays what is given over the project's configuration and its webhooks.
func (s *Server) apply(ctx context.Context, c ProjectChange, project *knowledge.Project, renew bool) (made map[string]string, err error) {
	if made, err = s.setWebhooks(project, c.Webhooks, renew); err != nil {
		return nil, err
	}
	if len(c.CallbackSecret) > 0 {
		if made, err = s.setCallbackSecret(project, c.CallbackSecret, made); err != nil {
			return nil, err
		}
	}
	c.Name, c.Webhooks, c.CallbackSecret = nil, nil, nil // the rest is of the configuration
	change, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode change: %w", err)
	}
	before := project.Config
	changed, err := project.Config.With(change)
	if err != nil {
		return nil, fmt.Errorf("configure project %s: %w", project.ID, err)
	}
	project.Config = changed
	if err := changed.Tools.ComponentError(before.Tools, s.cfg.Components); err != nil {
		return nil, err
	}
	wrong := append(changed.AI.Fields("body.ai"), changed.Tools.MissingFields("body.tools", before.Tools, s.cfg.Tools)...)
	wrong = append(wrong, tool.ApprovalFields("body.tools.approval", before.Tools, changed.Tools)...)
	wrong = append(wrong, websearch.SettingFields("body.tools.web_search", before.Tools.WebSearch, changed.Tools.WebSearch, s.cfg.WebProvider)...)
	custom, err := s.customFields(ctx, before, *project)
	if err != nil {
		return nil, err
	}
	wrong = append(wrong, custom...)
	wrong = append(wrong, websearch.SourceFields("body.ai.retrieval.web", before.AI.Retrieval.Web, changed.AI.Retrieval.Web, s.cfg.WebProvider)...)
	if changed.AI.Retrieval.Reranker != before.AI.Retrieval.Reranker {
		wrong = append(wrong, changed.AI.Retrieval.RerankerFields("body.ai.retrieval.reranker", s.cfg.Reranker)...)
	}
	if wrong == nil {
		wrong = s.embeddingsFields(changed.AI.Embeddings)
	}
	return made, knowledge.InvalidFields(wrong)
}

// customFields returns what is wrong with the custom tools of a project, unless they are as
// before.
func (s *Server) customFields(ctx context.Context, before knowledge.ProjectConfig, project knowledge.Project) ([]knowledge.Field, error) {
	custom := project.Config.Tools.Custom
	if reflect.DeepEqual(custom, before.Tools.Custom) {
		return nil, nil
	}
	var failed error
	wrongSecret := func(name, host string) string {
		need := knowledge.SecretNeed{Workspace: project.Workspace, Project: project.ID, Use: knowledge.SecretInHeader, Host: host}
		usable, err := s.deps.NamedSecrets.Usable(ctx, name, need)
		if err != nil {
			failed = err
		}
		if usable {
			return ""
		}
		return knowledge.NoSecret(need)
	}
	wrong := tool.CustomFields("body.tools.custom", custom, wrongSecret, s.deps.Addresses.CheckURL)
	return wrong, failed
}

// madeCallback is where the secrets that a change made have that of callbacks.
const madeCallback = "callback"

// setCallbackSecret seals the secret of a change into the project. It adds one that it
// makes to made.
func (s *Server) setCallbackSecret(project *knowledge.Project, change changeOf[string], made map[string]string) (map[string]string, error) {
	var given *string
	err := json.Unmarshal(change, &given)
	if err != nil {
		return nil, fmt.Errorf("read the secret of callbacks: %w", err)
	}
	secret := ""
	if given == nil {
		secret = webhook.NewSecret()
		made = maps.Clone(made)
		if made == nil {
			made = map[string]string{}
		}
		made[madeCallback] = secret
	} else if secret, err = webhook.CheckSecret(*given, "body.callbackSecret"); err != nil {
		return nil, err
	}
	if project.CallbackSecret, err = s.deps.Secrets.Seal(secret, webhook.CallbackContext(project.Workspace)); err != nil {
		return nil, fmt.Errorf("seal the secret of callbacks: %w", err)
	}
	return made, nil
}

// embeddingsFields returns what an instance without an endpoint for embeddings cannot do.
func (s *Server) embeddingsFields(e knowledge.Embeddings) []knowledge.Field {
	const location = "body.ai.embeddings"
	switch offline := s.cfg.Offline; {
	case offline.Model == "":
		return nil
	case e.Model != "" && e.Model != offline.Model:
		return []knowledge.Field{{Location: location + ".model", Message: "must be " + offline.Model + ": this instance has no endpoint for embeddings; set models.embedding"}}
	case e.Dimensions > offline.Dimensions:
		return []knowledge.Field{{Location: location + ".dimensions", Message: fmt.Sprintf("must be at most %d, which the offline model has", offline.Dimensions)}}
	}
	return nil
}

func (s *Server) listProjects(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
}) (*listed[projectView], error) {
	projects, next, err := s.deps.Store.Projects(ctx, p, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	return page(convert(projects, func(project knowledge.Project) projectView { return viewProject(p, project, nil) }), next), nil
}

func (s *Server) getProject(ctx context.Context, p knowledge.Principal, in *ProjectPath) (*projectOutput, error) {
	project, err := s.deps.Store.Project(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", in.ID, err)
	}
	return &projectOutput{viewProject(p, project, nil)}, nil
}

// viewProject shows a project to a principal, with the defaults that hold for it and
// the secrets that were made for its webhooks.
func viewProject(p knowledge.Principal, project knowledge.Project, made map[string]string) projectView {
	shown := projectView{Project: view.NewProject(project), CallbackSecret: made[madeCallback]}
	if p.Can(knowledge.ScopeWrite) {
		shown.Webhooks = viewWebhooks(project.Webhooks, made)
	} else {
		shown.Tools.Custom = nil // addresses and headers are for those who manage the project
	}
	return shown
}
