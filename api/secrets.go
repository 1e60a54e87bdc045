package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// The places that a secret comes from.
const (
	secretStored     = "stored"
	secretConfigured = "configuration"
)

// secretBody is the body of PUT /secrets/{name}.
type secretBody struct {
	Value     string                `json:"value" minLength:"1" doc:"The value, at most 64 KiB; it is never shown. docs/sources.md has the form for buckets"`
	ProjectID string                `json:"project_id,omitempty" maxLength:"200" doc:"The id or name of the only project that may use it. Default: the project of the key, or all projects of the workspace"`
	Uses      []knowledge.SecretUse `json:"uses" minItems:"1" maxItems:"4" enum:"header,import,webhook,model" doc:"header: for the requests of custom tools. import: for the credentials of imports"`
	Hosts     []string              `json:"hosts" minItems:"1" maxItems:"50" doc:"The hosts to which the secret may be sent, such as api.example.com, or *.example.com for all subdomains. For an import, the host of its endpoint, or of the provider"`
}

// secretView is a secret as clients see it: without its value.
type secretView struct {
	Name      string                `json:"name"`
	ProjectID *string               `json:"project_id" doc:"null: all projects of the workspace may use it"`
	Uses      []knowledge.SecretUse `json:"uses" enum:"header,import,webhook,model"`
	Hosts     []string              `json:"hosts"`
	From      string                `json:"from" enum:"stored,configuration" doc:"stored: stored by this API. configuration: set in the server's configuration"`
	Shadowed  bool                  `json:"shadowed,omitempty" doc:"A secret of the same name in the configuration is used instead of this one"`
	CreatedAt *time.Time            `json:"created_at" doc:"null: the secret is in the configuration"`
	UpdatedAt *time.Time            `json:"updated_at" doc:"null: the secret is in the configuration"`
}

// SecretPath is the path of a secret.
type SecretPath struct {
	WorkspacePath
	Name string `path:"name" maxLength:"63" doc:"Lower case letters, digits, - and _"`
}

// OwnedSecretPath is the path of a secret with its project.
type OwnedSecretPath struct {
	SecretPath
	Project string `query:"project_id" maxLength:"200" doc:"The id or the name of the project. Default: the key's project, or none"`
}

type secretOutput struct {
	ETag string `header:"ETag"`
	Body secretView
}

func newSecretOutput(s knowledge.Secret, from string) *secretOutput {
	return &secretOutput{ETag: etagOf(s.UpdatedAt), Body: viewSecret(s, from)}
}

// secretRoutes holds the routes of named secrets.
type secretRoutes struct {
	store        Tenants
	namedSecrets NamedSecrets
	now          func() time.Time
}

func (s *secretRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/secrets"
	route := tagged("secrets")
	edge.Handle(e, route("put-secret", http.MethodPut, path+"/{name}", "Store or replace a secret",
		"Tools and imports refer to a secret by its name. Its value is encrypted with the instance's key, is sent only to its hosts, and is never shown. "+
			"A secret of a project takes precedence over one of the workspace. If the configuration has a secret of this name for the same projects, the answer is 409."), s.putSecret)
	edge.Handle(e, route("list-secrets", http.MethodGet, path, "List the secrets, without their values",
		"Lists the secrets that the projects of the key may use, by name: at most 1,000 stored ones, and the secrets of the configuration."), s.listSecrets)
	edge.Handle(e, route("get-secret", http.MethodGet, path+"/{name}", "Read a secret, without its value",
		"The answer is the secret of the project or, if it has none, of the workspace."), s.getSecret)
	edge.Handle(e, route("delete-secret", http.MethodDelete, path+"/{name}", "Remove a stored secret", "Tools and imports that use it fail from then on."), s.deleteSecret)
}

func (s *secretRoutes) putSecret(ctx context.Context, p knowledge.Principal, in *struct {
	SecretPath
	MatchHeader
	IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"*: if there is a secret of this name and project, the answer is 409 and nothing is changed"`
	Body        secretBody
}) (*secretOutput, error) {
	b := in.Body
	replaces, err := in.since()
	if err != nil {
		return nil, err
	}
	if in.IfNoneMatch != "" {
		replaces = &time.Time{}
	}
	if err := b.check(in.Name); err != nil {
		return nil, err
	}
	project, err := s.secretProject(ctx, p, b.ProjectID)
	if err != nil {
		return nil, err
	}
	if shadows(s.namedSecrets.Configured(p), knowledge.Secret{Name: in.Name, Workspace: p.Workspace(), Project: project}) {
		return nil, knowledge.Errorf(knowledge.CodeConflict, "the configuration has a secret %q for these projects: choose another name, or ask an operator to remove it", in.Name)
	}
	secret := store.Secret{Secret: knowledge.Secret{
		Name: in.Name, Workspace: p.Workspace(), Project: project, Uses: removeRepeats(b.Uses), Hosts: removeRepeats(b.Hosts), UpdatedAt: storedTime(s.now()),
	}, Replaces: replaces}
	if secret.Sealed, err = s.namedSecrets.Seal(secret.Secret, b.Value); err != nil {
		return nil, err
	}
	stored, _, err := s.store.PutSecret(ctx, p, secret)
	if err != nil {
		return nil, fmt.Errorf("store secret %s: %w", in.Name, err)
	}
	return newSecretOutput(stored, secretStored), nil
}

// check returns what is wrong with a secret of a name.
func (b secretBody) check(name string) error {
	if !knowledge.IsSecretName(name) {
		return knowledge.Invalid("path.name", "must be 1 to 63 lower case letters, digits, - or _, and begin with a letter or digit")
	}
	wrong := knowledge.SecretFields("body", b.Uses, b.Hosts)
	value := strings.TrimSpace(b.Value)
	switch {
	case len(b.Value) > knowledge.MaxSecretBytes:
		wrong = append(wrong, knowledge.Field{Location: "body.value", Message: "must be at most 64 KiB"})
	case value == "":
		wrong = append(wrong, knowledge.Field{Location: "body.value", Message: "must not be empty"})
	case slices.Contains(b.Uses, knowledge.SecretInHeader) && strings.ContainsFunc(value, unicode.IsControl):
		wrong = append(wrong, knowledge.Field{Location: "body.value", Message: "must be on one line, without control characters, to be sent in a header"})
	}
	return knowledge.InvalidFields(wrong)
}

// secretProject returns the id of the project that a request about secrets is of, "" = the
// workspace.
func (s *secretRoutes) secretProject(ctx context.Context, p knowledge.Principal, idOrName string) (string, error) {
	return projectID(ctx, s.store, p, cmp.Or(idOrName, p.Project()))
}

// removeRepeats returns a list without repetitions, in its order.
func removeRepeats[T comparable](list []T) []T {
	kept := []T{}
	for _, item := range list {
		if !slices.Contains(kept, item) {
			kept = append(kept, item)
		}
	}
	return kept
}

// shadows reports whether a secret of the configuration is used in the place of a stored
// one wherever that could be.
func shadows(configured []knowledge.Secret, stored knowledge.Secret) bool {
	return slices.ContainsFunc(configured, func(c knowledge.Secret) bool {
		return c.Name == stored.Name && c.BelongsTo(stored.Workspace, stored.Project)
	})
}

func (s *secretRoutes) listSecrets(ctx context.Context, p knowledge.Principal, in *ShortList) (*listOutput[secretView], error) {
	views, err := s.secrets(ctx, p)
	if err != nil {
		return nil, err
	}
	return shortPage(views, *in)
}

// secrets returns the secrets that a principal may name, by name and project, the secrets of the
// configuration before those that are stored.
func (s *secretRoutes) secrets(ctx context.Context, p knowledge.Principal) ([]secretView, error) {
	stored, err := s.store.Secrets(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("list secrets: %w", err)
	}
	configured := s.namedSecrets.Configured(p)
	views := convert(configured, func(c knowledge.Secret) secretView { return viewSecret(c, secretConfigured) })
	for _, one := range stored {
		view := viewSecret(one, secretStored)
		view.Shadowed = shadows(configured, one)
		views = append(views, view)
	}
	slices.SortStableFunc(views, func(a, b secretView) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.project(), b.project()))
	})
	return views, nil
}

func (s *secretRoutes) getSecret(ctx context.Context, p knowledge.Principal, in *OwnedSecretPath) (*secretOutput, error) {
	project, err := s.secretProject(ctx, p, in.Project)
	if err != nil {
		return nil, err
	}
	views, err := s.secrets(ctx, p)
	if err != nil {
		return nil, err
	}
	var found *secretView
	for i, v := range views { // the workspace's secret comes before the project's
		if v.Name != in.Name || v.project() != "" && v.project() != project {
			continue
		}
		if found == nil || found.From == secretStored || v.From == secretConfigured {
			found = &views[i]
		}
	}
	if found == nil {
		return nil, knowledge.NotFound("secret", in.Name)
	}
	out := &secretOutput{Body: *found}
	if found.UpdatedAt != nil {
		out.ETag = etagOf(*found.UpdatedAt)
	}
	return out, nil
}

func (s *secretRoutes) deleteSecret(ctx context.Context, p knowledge.Principal, in *OwnedSecretPath) (*struct{}, error) {
	project, err := s.secretProject(ctx, p, in.Project)
	if err != nil {
		return nil, err
	}
	err = s.store.RemoveSecret(ctx, p, project, in.Name)
	if knowledge.IsCode(err, knowledge.CodeNotFound) && shadows(s.namedSecrets.Configured(p), knowledge.Secret{Name: in.Name, Workspace: p.Workspace(), Project: project}) {
		return nil, knowledge.Errorf(knowledge.CodeConflict, "the secret %q is in the server's configuration: ask an operator to remove it", in.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("remove secret %s: %w", in.Name, err)
	}
	return nil, nil
}

func (v secretView) project() string {
	if v.ProjectID == nil {
		return ""
	}
	return *v.ProjectID
}

func viewSecret(s knowledge.Secret, from string) secretView {
	return secretView{
		Name: s.Name, ProjectID: orNull(s.Project), Uses: notNil(s.Uses), Hosts: notNil(s.Hosts), From: from,
		CreatedAt: orNull(s.CreatedAt), UpdatedAt: orNull(s.UpdatedAt),
	}
}
