package knowledge

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Scope is what a principal may do beside reading what it sees.
type Scope string

// The scopes of a key; a JWT's roles reader, editor and admin map to them.
const (
	ScopeRead  Scope = "read"
	ScopeWrite Scope = "write"
	ScopeAdmin Scope = "admin"
)

// Claims are what a Principal is made of, once access has proved them.
type Claims struct {
	Workspace string  `json:"workspace"`
	Project   string  `json:"project,omitempty"` // "" = every project of the workspace
	Scopes    []Scope `json:"scopes"`
	// Permissions are what the router and the handlers check. A principal that nobody gave
	// any may do nothing that needs one.
	Permissions    []Permission `json:"permissions,omitempty"`
	Member         bool         `json:"member,omitempty"`       // the claims come from a membership of the user, too
	NoDocuments    bool         `json:"no_documents,omitempty"` // it lacks DocumentsRead, so it has no tokens
	Instance       bool         `json:"instance,omitempty"`     // the instance's admin: may make workspaces
	KeyID          string       `json:"key_id,omitempty"`
	KeyQueries     int          `json:"key_queries,omitempty"` // questions a minute that the key may ask; 0 = the instance's limit
	KeyMakers      []KeyLimit   `json:"key_makers,omitempty"`  // the keys that made the key, the nearest first
	KeyLimits      UseLimits    `json:"key_limits,omitzero"`   // that the key has itself
	Service        string       `json:"service,omitempty"`     // the service account of the key
	ServiceLimits  UseLimits    `json:"service_limits,omitzero"`
	UserLimits     UseLimits    `json:"user_limits,omitzero"` // of the member whom User means
	Expires        int64        `json:"expires,omitempty"`    // when the key or the JWT ends, in Unix seconds; 0 = never
	User           string       `json:"user,omitempty"`
	Groups         []string     `json:"groups,omitempty"`
	ExternalUser   string       `json:"external_user,omitempty"`
	ConversationID string       `json:"conversation_id,omitempty"` // proved to be this principal's
	// Clearance is the level up to which documents are reached, "" = the base of the default
	// levels. Covered are the classifications that it covers, nil = those of that base.
	Clearance string   `json:"clearance,omitempty"`
	Covered   []string `json:"covered,omitempty"`
	// Implied says that nobody gave the clearance: it comes with the right to give one.
	Implied bool `json:"implied,omitempty"`
	// Given is what a JWT, or an identity provider at a sign-in, gave beside a membership.
	Given Given `json:"given,omitzero"`
}

// Given is what somebody beside Cairn says about a user.
type Given struct {
	Roles     []string `json:"roles,omitempty"`
	Groups    []string `json:"groups,omitempty"`
	Clearance string   `json:"clearance,omitempty"`
}

// KeyLimit is the limit of a key that made another one.
type KeyLimit struct {
	ID               string `json:"id"`
	QueriesPerMinute int    `json:"queries_per_minute,omitempty"` // 0 = none of its own

	Limits UseLimits `json:"limits,omitzero"`
}

// Principal is who asks. Every read takes one. It can be made by package access
// only (NewPrincipal, which the import rules keep to that package); the zero
// Principal may see nothing.
type Principal struct{ claims Claims }

// NewPrincipal turns proved claims into a Principal. Only package access, and
// the stored snapshot of a run, make principals.
func NewPrincipal(c Claims) Principal { return Principal{claims: c} }

// Claims returns what the principal was made of.
func (p Principal) Claims() Claims {
	c := p.claims
	c.Scopes, c.Groups, c.KeyMakers = slices.Clone(c.Scopes), slices.Clone(c.Groups), slices.Clone(c.KeyMakers)
	c.Permissions, c.Covered = slices.Clone(c.Permissions), slices.Clone(c.Covered)
	return c
}

// Workspace is the one workspace in which the principal acts.
func (p Principal) Workspace() string { return p.claims.Workspace }

// Project is the one project that the principal is held to, "" = all.
func (p Principal) Project() string { return p.claims.Project }

// User is the end user for whom the request acts, "" = none.
func (p Principal) User() string { return p.claims.User }

// ExternalUser is the application's own user id, "" = none.
func (p Principal) ExternalUser() string { return p.claims.ExternalUser }

// ConversationID is the conversation whose attachments the principal sees.
func (p Principal) ConversationID() string { return p.claims.ConversationID }

// KeyID is the id of the API key that was used, "" = a JWT.
func (p Principal) KeyID() string { return p.claims.KeyID }

// KeyQueriesPerMinute is how many questions a minute the key may ask, 0 = the instance's
// limit.
func (p Principal) KeyQueriesPerMinute() int { return p.claims.KeyQueries }

// KeyMakers are the keys that made the key, the nearest first.
func (p Principal) KeyMakers() []KeyLimit { return slices.Clone(p.claims.KeyMakers) }

// ExpiresAt is when the key or the JWT ends, zero = never.
func (p Principal) ExpiresAt() time.Time {
	if p.claims.Expires == 0 {
		return time.Time{}
	}
	return time.Unix(p.claims.Expires, 0).UTC()
}

// Instance reports whether this is the instance's administrator.
func (p Principal) Instance() bool { return p.claims.Instance }

// Owner names whose conversations and preferences these are: the user, else
// the external user, else the key itself.
func (p Principal) Owner() string {
	switch c := p.claims; {
	case c.User != "":
		return "u:" + c.User
	case c.ExternalUser != "":
		return "x:" + c.ExternalUser
	default:
		return "k:" + c.KeyID
	}
}

// OwnersOf returns as what Owner names a person of a workspace, and a user of an application.
func OwnersOf(person string) []string { return []string{"u:" + person, "x:" + person} }

// PersonOf returns the person, or the user of an application, that Owner names; "" = it is a key.
func PersonOf(owner string) string {
	kind, name, _ := strings.Cut(owner, ":")
	if kind == "k" {
		return ""
	}
	return name
}

// Can reports whether the principal has the scope.
func (p Principal) Can(s Scope) bool { return Includes(p.claims.Scopes, s) }

// IsMember reports whether a membership of the principal's user is among what let it in.
func (p Principal) IsMember() bool { return p.claims.Member }

// May reports whether the principal has the permission.
func (p Principal) May(permission Permission) bool {
	return slices.Contains(p.claims.Permissions, permission)
}

// Includes reports whether scopes include a scope; admin includes write, and write
// includes read.
func Includes(scopes []Scope, s Scope) bool {
	has := func(x Scope) bool { return slices.Contains(scopes, x) }
	switch s {
	case ScopeRead:
		return has(ScopeRead) || has(ScopeWrite) || has(ScopeAdmin)
	case ScopeWrite:
		return has(ScopeWrite) || has(ScopeAdmin)
	default:
		return has(s)
	}
}

// Reader returns the principal without what its scopes and permissions let it manage: it
// sees what its tokens reach, and changes nothing.
func (p Principal) Reader() Principal {
	p.claims.Scopes, p.claims.Permissions, p.claims.Instance = []Scope{ScopeRead}, nil, false
	return p
}

// Within returns the principal held to a project that it covers. One of another project may see
// nothing.
func (p Principal) Within(project string) Principal {
	if !p.CoversProject(project) {
		return Principal{}
	}
	p.claims.Project = project
	return p
}

// CoversProject reports whether the principal may act in the project.
func (p Principal) CoversProject(project string) bool {
	return p.claims.Workspace != "" && (p.claims.Project == "" || p.claims.Project == project)
}

// Tokens are the ACL tokens that the principal holds; a document is visible to
// it if they share one. No tokens means no result, never every result.
func (p Principal) Tokens() []string {
	c := p.claims
	if c.Workspace == "" || c.NoDocuments {
		return nil
	}
	tokens := []string{"w:" + c.Workspace}
	if c.User != "" {
		tokens = append(tokens, "u:"+c.User)
	}
	for _, g := range c.Groups {
		tokens = append(tokens, "g:"+g)
	}
	if c.ExternalUser != "" {
		tokens = append(tokens, "x:"+c.ExternalUser)
	}
	if c.ConversationID != "" {
		tokens = append(tokens, "s:"+c.ConversationID)
	}
	return tokens
}

// Clearance is the level up to which the principal reaches documents.
func (p Principal) Clearance() string {
	if p.claims.Clearance == "" {
		return Levels{}.Base()
	}
	return p.claims.Clearance
}

// Covered are the classifications of documents that the principal reaches, with "" for
// documents without one, and EveryLevel for all.
func (p Principal) Covered() []string {
	if len(p.claims.Covered) == 0 {
		return Levels{}.Covered("")
	}
	return slices.Clone(p.claims.Covered)
}

// CoversEveryLevel reports whether the classification of a document hides it from the
// principal never.
func (p Principal) CoversEveryLevel() bool { return slices.Contains(p.Covered(), EveryLevel) }

// Covers reports whether the principal's clearance reaches a classification.
func (p Principal) Covers(classification string) bool {
	covered := p.Covered()
	return slices.Contains(covered, classification) || slices.Contains(covered, EveryLevel)
}

// SubjectTokens are the names by which grants mean the principal: its user, its groups, and
// the project that it is held to.
func (p Principal) SubjectTokens() []string {
	var subjects []string
	for _, t := range p.Tokens() {
		if strings.HasPrefix(t, "u:") || strings.HasPrefix(t, "g:") {
			subjects = append(subjects, t)
		}
	}
	if p.claims.Project != "" {
		subjects = append(subjects, "p:"+p.claims.Project)
	}
	return subjects
}

// Sees reports whether the principal shares a token with a document's ACL.
func (p Principal) Sees(workspace string, acl []string) bool {
	if workspace != p.claims.Workspace {
		return false
	}
	return slices.ContainsFunc(p.Tokens(), func(t string) bool { return slices.Contains(acl, t) })
}

// MarshalJSON lets the snapshot of a run carry its principal in the blob store.
func (p Principal) MarshalJSON() ([]byte, error) { return json.Marshal(p.claims) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Principal) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &p.claims) }

// Access says who may see a document.
type Access struct {
	Workspace bool     `json:"workspace"`
	Users     []string `json:"users,omitempty"`
	Groups    []string `json:"groups,omitempty"`
}

// ACL returns the tokens of a document: the tokens of its one external user or its one
// conversation if it has one, else the tokens of its access.
func ACL(workspace string, a Access, externalUser, conversation string) []string {
	switch {
	case externalUser != "":
		return []string{"x:" + externalUser}
	case conversation != "":
		return []string{"s:" + conversation}
	}
	tokens := []string{}
	if a.Workspace {
		tokens = append(tokens, "w:"+workspace)
	}
	for _, u := range a.Users {
		tokens = append(tokens, "u:"+u)
	}
	for _, g := range a.Groups {
		tokens = append(tokens, "g:"+g)
	}
	return tokens
}
