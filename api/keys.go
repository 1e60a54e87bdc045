package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

type keyView struct {
	ID          string                 `json:"id"`
	Key         string                 `json:"key,omitempty" doc:"The key itself; shown once, in the response that creates it"`
	Name        string                 `json:"name"`
	Prefix      string                 `json:"prefix" doc:"The first characters of the key, to recognise it"`
	ProjectID   *string                `json:"project_id" doc:"null: every project"`
	Scopes      []knowledge.Scope      `json:"scopes" doc:"Empty: the key has a role, permissions, or the roles of its service account"`
	Role        *string                `json:"role" doc:"null: the key has scopes or permissions"`
	Permissions []knowledge.Permission `json:"permissions" doc:"null: the key has scopes or a role"`
	Member      *string                `json:"member" doc:"The service account of the key; null: none"`
	Clearance   *string                `json:"clearance" doc:"The level of classification up to which the key reaches documents; null: not given"`
	LastUsedAt  *time.Time             `json:"last_used_at" doc:"To the minute; null: not recorded"`
	CreatedAt   time.Time              `json:"created_at"`
	CreatedBy   *string                `json:"created_by" doc:"The creator: the id of a key, or user: and the user of a JWT. null: the server, or not recorded"`
	ExpiresAt   *time.Time             `json:"expires_at" doc:"null: never"`
	RevokedAt   *time.Time             `json:"revoked_at" doc:"null: not revoked"`

	Limits *limitsView `json:"limits" doc:"What the key may use; null: limits.key of the instance"`

	QueriesPerMinute int `json:"queries_per_minute,omitempty" doc:"Questions that the key may ask in a minute. Absent: limits.key_queries_per_minute of the instance"`
}

type newKeyInput struct {
	WorkspacePath
	Body struct {
		Name        string                 `json:"name" minLength:"1" maxLength:"200"`
		ProjectID   string                 `json:"project_id,omitempty" maxLength:"200" doc:"Default: all projects of the key that creates it"`
		Scopes      []knowledge.Scope      `json:"scopes,omitempty" minItems:"1" maxItems:"3" enum:"read,write,admin" doc:"The scopes read, write and admin are the roles reader, editor and admin. Give either scopes, a role or permissions; at most what the key that creates it has"`
		Role        string                 `json:"role,omitempty" maxLength:"63" doc:"A role of the workspace, in place of scopes"`
		Permissions []knowledge.Permission `json:"permissions,omitempty" minItems:"1" maxItems:"100" doc:"Permissions, in place of scopes or a role"`
		Member      string                 `json:"member,omitempty" maxLength:"256" doc:"The service account to which the key belongs: it has its groups and, without scopes, role and permissions, its roles; it never has more than they allow, and is revoked with it"`
		Clearance   string                 `json:"clearance,omitempty" maxLength:"63" doc:"The level of classification up to which the key reaches documents; at most that of the key that creates it. Default: the highest for a key that may change members, else the level of documents without a classification"`
		ExpiresAt   *time.Time             `json:"expires_at,omitempty" doc:"Not later than the expiry of the key that creates it, which is the default"`

		QueriesPerMinute int `json:"queries_per_minute,omitempty" minimum:"1" maximum:"1000000" doc:"Questions that the key may ask in a minute; at most the limit of the key that creates it, against which they count too. Default: the limit of the creating key, else limits.key_queries_per_minute of the instance"`

		Limits knowledge.UseLimits `json:"limits,omitempty" doc:"What the key may use, beside the limits of its user, project and workspace; at most the limits of the key that creates it, against which its use counts too. Default: the limits of the creating key, else limits.key of the instance"`
	} `nameHint:"NewKey"`
}

type keyOutput struct{ Body keyView }

// keyRoutes holds the routes of API keys.
type keyRoutes struct {
	store   Tenants
	members Members
	rights  Rights
	levels  knowledge.Levels
	now     func() time.Time
}

func (kr *keyRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/keys"
	edge.Handle(e, edge.Route{Secret: true, Operation: huma.Operation{
		OperationID: "create-key", Method: http.MethodPost, Path: path, DefaultStatus: http.StatusCreated,
		Summary: "Create an API key", Tags: []string{"keys"},
	}}, kr.createKey)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-keys", Method: http.MethodGet, Path: path, Summary: "List the API keys", Tags: []string{"keys"},
	}}, kr.listKeys)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "revoke-key", Method: http.MethodDelete, Path: path + "/{id}", Summary: "Revoke an API key at once", Tags: []string{"keys"},
	}}, kr.revokeKey)
}

func (kr *keyRoutes) createKey(ctx context.Context, p knowledge.Principal, in *newKeyInput) (*keyOutput, error) {
	b := in.Body
	run, again := edge.RunID(ctx)
	k := store.Key{
		ID: knowledge.DerivedID("key", run), Workspace: p.Workspace(), Project: p.Project(), Name: b.Name, Scopes: b.Scopes, CreatedAt: kr.now(),
		QueriesPerMinute: b.QueriesPerMinute, Role: b.Role, Permissions: b.Permissions, Member: b.Member, Limits: b.Limits,
	}
	if err := kr.checkRights(ctx, p, &k); err != nil {
		return nil, err
	}
	var err error
	if k.Clearance, err = givenClearance(p, kr.levels, b.Clearance); err != nil {
		return nil, err
	}
	if b.ProjectID != "" {
		project, err := kr.store.Project(ctx, p, b.ProjectID)
		if err != nil {
			return nil, fmt.Errorf("read project %s: %w", b.ProjectID, err)
		}
		k.Project = project.ID
	}
	if b.ExpiresAt != nil {
		if k.ExpiresAt = b.ExpiresAt.UTC(); !k.ExpiresAt.After(k.CreatedAt) {
			return nil, knowledge.Invalid("body.expires_at", "must be in the future")
		}
	}
	if err := setMaker(p, &k); err != nil {
		return nil, err
	}
	secret, earlier, err := giveSecret(ctx, kr.store, p, &k, again)
	if err == nil && !earlier {
		err = kr.store.CreateKey(ctx, k)
	}
	if err != nil {
		return nil, fmt.Errorf("create key %s: %w", k.ID, err)
	}
	audit.Made(ctx, k.ID)
	view := viewKey(k)
	view.Key = secret
	return &keyOutput{view}, nil
}

// checkRights refuses a key with rights that its maker lacks, or of more than one kind.
func (kr *keyRoutes) checkRights(ctx context.Context, p knowledge.Principal, k *store.Key) error {
	kinds := 0
	for _, isGiven := range []bool{len(k.Scopes) > 0, k.Role != "", len(k.Permissions) > 0} {
		if isGiven {
			kinds++
		}
	}
	if kinds > 1 || kinds == 0 && k.Member == "" {
		return knowledge.Invalid("body.scopes", "give either scopes, a role or permissions: a key has one of the three")
	}
	if k.Role != "" {
		if err := mayGive(ctx, kr.rights, p, k.Role, "body.role"); err != nil {
			return err
		}
	}
	permissions, err := given(p, k.Permissions)
	k.Permissions = permissions
	if err == nil && k.Member != "" {
		err = kr.checkMember(ctx, p, k.Member)
	}
	return err
}

// checkMember refuses a service account with roles that the maker of a key lacks.
func (kr *keyRoutes) checkMember(ctx context.Context, p knowledge.Principal, name string) error {
	m, err := kr.members.Member(ctx, p, name)
	if knowledge.IsCode(err, knowledge.CodeNotFound) || err == nil && m.Kind != store.ServiceMember {
		return knowledge.Invalid("body.member", "is not a service account of this workspace: PUT members/{user} with the kind service makes one")
	}
	if err != nil {
		return fmt.Errorf("read member %s: %w", name, err)
	}
	for _, role := range m.Roles {
		if err := mayGive(ctx, kr.rights, p, role, "body.member"); err != nil {
			return err
		}
	}
	return nil
}

// maxMakers is how many keys may stand above a key.
const maxMakers = 8

// setMaker notes the principal as the maker of a key, and holds the key to what the
// principal may do itself. A bound that the key does not name is inherited.
func setMaker(p knowledge.Principal, k *store.Key) error {
	for i, scope := range k.Scopes {
		if !p.Can(scope) {
			return knowledge.Invalid(fmt.Sprintf("body.scopes[%d]", i), "the maker of a key needs the scope %q itself", scope)
		}
	}
	if k.CreatedBy = p.KeyID(); k.CreatedBy == "" {
		k.CreatedBy = store.UserMaker + p.User() // whose roles are its scopes
		return nil
	}
	if len(p.KeyMakers()) >= maxMakers {
		return knowledge.Errorf(knowledge.CodeForbidden, "this key is of the last of %d generations of keys, which cannot create keys: use the key that created it", maxMakers+1)
	}
	end := p.ExpiresAt()
	switch {
	case end.IsZero():
	case k.ExpiresAt.IsZero():
		k.ExpiresAt = end
	case k.ExpiresAt.Truncate(time.Second).After(end):
		return knowledge.Invalid("body.expires_at", "must not be behind the end of the key that makes it, %s", end.Format(time.RFC3339))
	}
	own := p.KeyLimits()
	if k.Limits = k.Limits.Or(own); len(k.Limits.Above(own)) > 0 {
		return knowledge.Invalid("body.limits."+k.Limits.Above(own)[0], "must not be above the limit of the key that makes it")
	}
	switch limit := p.KeyQueriesPerMinute(); {
	case limit == 0:
	case k.QueriesPerMinute == 0:
		k.QueriesPerMinute = limit
	case k.QueriesPerMinute > limit:
		return knowledge.Invalid("body.queries_per_minute", "must not be above the limit of the key that makes it, %d", limit)
	}
	return nil
}

// giveSecret draws a key's secret, which is shown once. If an earlier try of the
// request made the key and did not show it, that key gets the new secret.
func giveSecret(ctx context.Context, tenants Tenants, p knowledge.Principal, k *store.Key, again bool) (secret string, earlier bool, err error) {
	secret, k.Hash, k.Prefix = access.NewKey()
	if !again {
		return secret, false, nil
	}
	made, err := tenants.RenewKey(ctx, p, k.ID, k.Hash, k.Prefix)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		return secret, false, nil
	case err != nil:
		return "", false, err
	}
	*k = made
	return secret, true, nil
}

func (kr *keyRoutes) listKeys(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
}) (*listOutput[keyView], error) {
	keys, next, err := kr.store.Keys(ctx, p, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return page(convert(keys, viewKey), next), nil
}

func (kr *keyRoutes) revokeKey(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	ID       string `path:"id" maxLength:"200"`
	Children bool   `query:"children" doc:"Also revoke the keys that were created with this key, and the keys created with those. Default: false"`
}) (*struct{}, error) {
	revoke := kr.store.RevokeKey
	if in.Children {
		revoke = kr.store.RevokeKeyTree
	}
	if err := revoke(ctx, p, in.ID); err != nil {
		return nil, fmt.Errorf("revoke key %s: %w", in.ID, err)
	}
	return nil, nil
}

func viewKey(k store.Key) keyView {
	return keyView{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, ProjectID: orNull(k.Project), Scopes: notNil(k.Scopes), CreatedAt: k.CreatedAt,
		Role: orNull(k.Role), Permissions: k.Permissions, Member: orNull(k.Member), LastUsedAt: orNull(k.LastUsedAt), Clearance: orNull(k.Clearance),
		ExpiresAt: orNull(k.ExpiresAt), RevokedAt: orNull(k.RevokedAt), QueriesPerMinute: k.QueriesPerMinute, CreatedBy: orNull(k.CreatedBy),
		Limits: limitsOrNull(k.Limits),
	}
}
