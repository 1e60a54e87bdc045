package access

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// DefaultWorkspace is the workspace of the instance's administrator if the
// request names none.
const DefaultWorkspace = "default"

// maxName is the longest name of an end user, in bytes.
const maxName = 256

// Store reads what access needs from the database.
type Store interface {
	// KeyByHash returns the key with this hash. An unknown, revoked or expired
	// key is CodeNotFound.
	KeyByHash(ctx context.Context, hash string) (store.Key, error)
	// KeyByID is KeyByHash for the id of a key.
	KeyByID(ctx context.Context, id string) (store.Key, error)
	// KeyBySession returns a session by the hash of its cookie, with its key; that of a person
	// has none. One that has ended, or whose key is no longer valid, is CodeNotFound.
	KeyBySession(ctx context.Context, hash string) (store.Session, store.Key, error)
	CreateSession(ctx context.Context, s store.Session) error
	// CreateSignIn stores a sign-in that a browser begins, and TakeSignIn removes and returns it:
	// to one caller. Others, and one that comes too late, get CodeNotFound.
	CreateSignIn(ctx context.Context, in store.SignIn) error
	TakeSignIn(ctx context.Context, hash string) (store.SignIn, error)
	ExtendSession(ctx context.Context, s store.Session) error
	EndSession(ctx context.Context, hash string) error
	// EndedKeys returns which of these keys are no longer valid.
	EndedKeys(ctx context.Context, ids []string) ([]string, error)
	// EndedSessions returns which of these sessions have ended, by their hashes.
	EndedSessions(ctx context.Context, hashes []string) ([]string, error)
	// MarkKeysUsed stores when keys were used last.
	MarkKeysUsed(ctx context.Context, used map[string]time.Time) error
	// RolesOf lists the roles that a workspace has defined.
	RolesOf(ctx context.Context, workspace string) ([]store.Role, error)
	// MemberBySubject returns the member whom a token calls subject. there is false if there is none.
	MemberBySubject(ctx context.Context, workspace, subject string) (m store.Member, there bool, err error)
	// ConnectionGroups returns the groups of services in which a person is.
	ConnectionGroups(ctx context.Context, workspace, member string) ([]string, error)
	// EndedMembers returns which of these users are not, or no longer, people of a workspace.
	EndedMembers(ctx context.Context, workspace string, users []string) ([]string, error)
	// PublicationBySlug returns the publication that the address of an agent names. One that
	// nobody has published is CodeNotFound.
	PublicationBySlug(ctx context.Context, slug string) (knowledge.Publication, error)
	// WorkspaceExists reports whether a workspace with this id exists.
	WorkspaceExists(ctx context.Context, id string) (bool, error)
	// Conversation returns the principal's conversation. Another owner's
	// conversation is CodeNotFound.
	Conversation(ctx context.Context, p knowledge.Principal, id string) (store.Conversation, error)
}

// Config configures the JWTs that are accepted: those signed with Secret, or by a key of
// the JSON Web Key Set at JWKSURL. Without both none are. Issuer and Audience are
// checked if they are set.
type Config struct {
	Issuer   string
	Audience string
	Secret   string
	JWKSURL  string
	// Levels are the levels of classification. Defaults to those of knowledge.Levels.
	Levels knowledge.Levels
	// OIDC is the identity provider with which browsers sign in.
	OIDC OIDC
}

// Authenticator creates principals. It is safe for concurrent use.
type Authenticator struct {
	cfg       Config
	store     Store
	secret    []byte            // signs the tokens of links
	remote    *remoteKeys       // of JWTs that a key of JWKSURL has signed; nil = none
	rights    rights            // of the roles that every workspace has
	uses      uses              // of keys
	directory *directory        // of roles and members
	once      onceToken         // that signs a browser in
	provider  *identityProvider // that signs browsers in; nil = none
}

// New returns an Authenticator. secret signs run tokens and must not change
// across restarts.
func New(cfg Config, s Store, secret []byte) *Authenticator {
	return &Authenticator{cfg: cfg, store: s, secret: secret, remote: newRemote(cfg), rights: newRights(), directory: newDirectory(s), provider: newIdentityProvider(cfg.OIDC)}
}

// Credentials are the credentials of a request.
type Credentials struct {
	Key       string // header knowledge-project-apikey
	Bearer    string // Authorization: Bearer, a key or a JWT
	Session   string // the cookie of a browser; read if there is neither Key nor Bearer
	Workspace string // header Cairn-Workspace
}

// None reports that there are no credentials.
func (c Credentials) None() bool { return c.Key == "" && c.Bearer == "" && c.Session == "" }

func (c Credentials) byJWT() bool { return c.Key == "" && isJWT(c.Bearer) }

// Authenticate verifies credentials and returns their principal. Missing or
// wrong credentials are CodeUnauthorized, a token without a role is
// CodeForbidden, and a workspace that the principal does not belong to is
// CodeNotFound. A token whose key set cannot be fetched is CodeUnavailable.
func (a *Authenticator) Authenticate(ctx context.Context, c Credentials) (knowledge.Principal, error) {
	claims, err := a.claims(ctx, c)
	if err != nil {
		return knowledge.Principal{}, err
	}
	return a.named(ctx, claims, c)
}

// named returns the principal of claims in the workspace that the credentials name.
func (a *Authenticator) named(ctx context.Context, claims knowledge.Claims, c Credentials) (knowledge.Principal, error) {
	if claims.Instance && c.Workspace == "" {
		c.Workspace = DefaultWorkspace
	}
	return a.in(ctx, claims, c.Workspace)
}

func (a *Authenticator) claims(ctx context.Context, c Credentials) (knowledge.Claims, error) {
	claims, _, err := a.claimsAndName(ctx, c)
	return claims, err
}

// claimsAndName returns what credentials may do, and the name under which a page shows their
// sender: that of the user or of the key.
func (a *Authenticator) claimsAndName(ctx context.Context, c Credentials) (knowledge.Claims, string, error) {
	if c.byJWT() {
		claims, err := a.fromJWT(ctx, c.Bearer)
		return claims, claims.User, err
	}
	key, session, err := a.key(ctx, c)
	if err != nil {
		return knowledge.Claims{}, "", err
	}
	if session.User != "" {
		claims, err := a.ofSession(ctx, session)
		return claims, claims.User, err
	}
	claims, err := a.claimsOf(ctx, key)
	return claims, key.Name, err
}

// key returns the API key of credentials that are no JWT, or the session of a person.
func (a *Authenticator) key(ctx context.Context, c Credentials) (store.Key, store.Session, error) {
	switch {
	case c.Key != "" || c.Bearer != "":
		key, err := a.plainKey(ctx, cmp.Or(c.Key, c.Bearer))
		return key, store.Session{}, err
	case c.Session != "":
		return a.sessionKey(ctx, c.Session)
	}
	return store.Key{}, store.Session{}, unauthorized("send an API key in the header knowledge-project-apikey, or Authorization: Bearer with a key or a token")
}

// plainKey returns a key by its plain text.
func (a *Authenticator) plainKey(ctx context.Context, plain string) (store.Key, error) {
	key, err := a.store.KeyByHash(ctx, HashKey(plain))
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return store.Key{}, unauthorized("this API key is not known, or was revoked, or has expired")
	}
	if err != nil {
		return store.Key{}, fmt.Errorf("look up API key: %w", err)
	}
	return key, nil
}

// claimsOf returns what a key may do now, and notes its use.
func (a *Authenticator) claimsOf(ctx context.Context, key store.Key) (knowledge.Claims, error) {
	a.uses.note(key.ID, time.Now())
	return a.keyClaims(ctx, key)
}

// keyClaims returns what a key may do now.
func (a *Authenticator) keyClaims(ctx context.Context, key store.Key) (knowledge.Claims, error) {
	claims := knowledge.Claims{
		Workspace: key.Workspace, Project: key.Project, Scopes: key.Scopes, Instance: key.Instance,
		KeyID: key.ID, KeyQueries: key.QueriesPerMinute, KeyMakers: key.Makers, KeyLimits: key.Limits,
	}
	if !key.ExpiresAt.IsZero() {
		claims.Expires = key.ExpiresAt.Unix()
	}
	permissions, member, err := a.keyPermissions(ctx, key)
	if err != nil {
		return claims, err
	}
	if claims.Permissions = permissions; key.Instance {
		claims.Permissions = union(permissions, []knowledge.Permission{knowledge.InstanceAdmin})
	}
	if member != nil {
		claims.Groups, claims.Service, claims.ServiceLimits = member.Groups, member.Name, member.Limits
		holdTo(&claims, member)
	}
	if len(key.Scopes) == 0 || len(key.Bounds) > 0 || key.Member != "" {
		claims = a.rights.grant(claims, claims.Permissions)
	}
	a.clear(&claims, a.ofKeyAndAccount(key, member))
	return claims, nil
}

// In returns the principal for a workspace. The instance's administrator may
// act in every workspace that exists, all others only in their own. Any other
// workspace is CodeNotFound.
func (a *Authenticator) In(ctx context.Context, p knowledge.Principal, workspace string) (knowledge.Principal, error) {
	claims := p.Claims()
	if claims.Workspace == "" || workspace == "" {
		return knowledge.Principal{}, knowledge.NotFound("workspace", workspace)
	}
	return a.in(ctx, claims, workspace)
}

// in checks that claims may act in a workspace, "" for their own, and returns
// their principal there.
func (a *Authenticator) in(ctx context.Context, claims knowledge.Claims, workspace string) (knowledge.Principal, error) {
	if workspace == "" || workspace == claims.Workspace {
		return knowledge.NewPrincipal(claims), nil
	}
	if !claims.Instance {
		return knowledge.Principal{}, knowledge.NotFound("workspace", workspace)
	}
	exists, err := a.store.WorkspaceExists(ctx, workspace)
	if err != nil {
		return knowledge.Principal{}, fmt.Errorf("look up workspace: %w", err)
	}
	if !exists {
		return knowledge.Principal{}, knowledge.NotFound("workspace", workspace)
	}
	claims.Workspace, claims.ConversationID = workspace, ""
	return knowledge.NewPrincipal(claims), nil
}

// Acting names the end user and the conversation for which a request acts.
type Acting struct {
	User         string // the platform's user
	ExternalUser string // the application's own user
	Session      string // the conversation whose attachments are searched
}

// As returns the principal acting for an end user, in a conversation. A key may
// name any user. A JWT may only name its own user; another one is
// CodeForbidden. A conversation that is not this principal's is CodeNotFound.
func (a *Authenticator) As(ctx context.Context, p knowledge.Principal, acting Acting) (knowledge.Principal, error) {
	if acting == (Acting{}) {
		return p, nil
	}
	claims := p.Claims()
	if claims.Workspace == "" {
		return knowledge.Principal{}, unauthorized("only a request with an API key or a token can act for a user")
	}
	if err := acting.check(); err != nil {
		return knowledge.Principal{}, err
	}
	limits, err := a.resolve(ctx, claims.Workspace, &acting)
	if err != nil {
		return knowledge.Principal{}, err
	}
	byToken := claims.KeyID == ""
	switch {
	case byToken && acting.User != "" && acting.User != claims.User:
		return knowledge.Principal{}, knowledge.Errorf(knowledge.CodeForbidden, "a token acts for its own user: leave userId out, or use an API key")
	case byToken && acting.ExternalUser != "" && acting.ExternalUser != claims.ExternalUser:
		return knowledge.Principal{}, knowledge.Errorf(knowledge.CodeForbidden, "a token cannot act for an external user: use an API key")
	}
	if acting.User != "" {
		claims.User, claims.UserLimits = acting.User, limits
		if err := a.addServiceGroups(ctx, &claims); err != nil {
			return knowledge.Principal{}, err
		}
	}
	if acting.ExternalUser != "" {
		claims.ExternalUser = acting.ExternalUser
	}
	claims.ConversationID = ""
	if !byToken && (acting.User != "" || acting.ExternalUser != "") {
		if err := a.clearFor(ctx, &claims); err != nil {
			return knowledge.Principal{}, err
		}
	}
	p = knowledge.NewPrincipal(claims)
	if acting.Session == "" {
		return p, nil
	}
	if _, err := a.store.Conversation(ctx, p, acting.Session); err != nil {
		return knowledge.Principal{}, fmt.Errorf("check session: %w", err)
	}
	claims.ConversationID = acting.Session
	return knowledge.NewPrincipal(claims), nil
}

// resolve replaces the user for whom a request acts by the member whom it means, and returns
// the limits of that member. One who was deactivated is CodeForbidden.
func (a *Authenticator) resolve(ctx context.Context, workspace string, acting *Acting) (limits knowledge.UseLimits, err error) {
	if acting.User == "" {
		return limits, nil
	}
	member, err := a.person(ctx, workspace, acting.User)
	if err != nil || member == nil {
		return limits, err
	}
	if !member.DeactivatedAt.IsZero() {
		return limits, errDeactivated()
	}
	acting.User = member.Name
	return member.Limits, nil
}

// check refuses names that are too long or contain control characters.
func (acting Acting) check() error {
	for _, f := range []struct{ location, name string }{{"userId", acting.User}, {"external_user_id", acting.ExternalUser}} {
		if len(f.name) > maxName || !utf8.ValidString(f.name) || strings.ContainsFunc(f.name, unicode.IsControl) {
			message := "must be at most 256 bytes, without control characters"
			e := knowledge.Errorf(knowledge.CodeInvalid, "%s %s", f.location, message)
			e.Fields = []knowledge.Field{{Location: f.location, Message: message}}
			return e
		}
	}
	return nil
}

// ForDocumentRun returns the principal with which readers of a signed link see
// the events of a document's ingest or removal: it has the write scope for the
// project. The links that they show end with that link's key.
func ForDocumentRun(workspace, project string, link Link) knowledge.Principal {
	claims := knowledge.Claims{
		Workspace: workspace, Project: project, Scopes: []knowledge.Scope{knowledge.ScopeWrite}, KeyID: link.Key, Clearance: link.Clearance, Covered: link.Covered,
	}
	if !link.Ends.IsZero() {
		claims.Expires = link.Ends.Unix()
	}
	return knowledge.NewPrincipal(claims)
}

func unauthorized(message string) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeUnauthorized, "%s", message)
}
