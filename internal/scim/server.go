package scim

import (
	"bytes"
	"context"
	stderrors "errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	scim "github.com/elimity-com/scim"
	"github.com/elimity-com/scim/errors"
	"github.com/elimity-com/scim/optional"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// maxResults is how many resources one answer lists.
const maxResults = 200

// Store holds provisioned users and groups. Every method takes the principal that asks; what is
// not in its workspace is CodeNotFound.
type Store interface {
	// ProvisionedUsers lists the users that a query selects, oldest first, and counts all of them.
	ProvisionedUsers(ctx context.Context, p knowledge.Principal, q store.ProvisionedQuery) ([]store.ProvisionedUser, int, error)
	ProvisionedUser(ctx context.Context, p knowledge.Principal, id string) (store.ProvisionedUser, error)
	// AddProvisionedUser stores a new user with roles, or defaultRole if he has none. A name
	// that is taken is CodeConflict.
	AddProvisionedUser(ctx context.Context, p knowledge.Principal, u store.ProvisionedUser, roles []string, defaultRole string) (store.ProvisionedUser, error)
	// ChangeProvisionedUser changes a user in one transaction. change may run several times.
	ChangeProvisionedUser(ctx context.Context, p knowledge.Principal, id string, change func(*store.ProvisionedUser) (roles []string, err error)) (store.ProvisionedUser, error)
	// RemoveProvisionedUser removes a user, who is let in nowhere from then on.
	RemoveProvisionedUser(ctx context.Context, p knowledge.Principal, id string) error
	// ProvisionedGroups lists the groups that a query selects, oldest first, and counts all of them.
	ProvisionedGroups(ctx context.Context, p knowledge.Principal, q store.ProvisionedQuery, withUsers bool) ([]store.ProvisionedGroup, int, error)
	ProvisionedGroup(ctx context.Context, p knowledge.Principal, id string) (store.ProvisionedGroup, error)
	// AddProvisionedGroup stores a new group. A name that is taken is CodeConflict.
	AddProvisionedGroup(ctx context.Context, p knowledge.Principal, g store.ProvisionedGroup) (store.ProvisionedGroup, error)
	// ChangeProvisionedGroup changes a group in one transaction. change may run several times.
	ChangeProvisionedGroup(ctx context.Context, p knowledge.Principal, id string, change func(*store.ProvisionedGroup) error) (store.ProvisionedGroup, error)
	RemoveProvisionedGroup(ctx context.Context, p knowledge.Principal, id string) error
}

// Rights knows the roles of workspaces.
type Rights interface {
	// PermissionsOf returns the permissions of a role. One that the workspace does not have is
	// CodeNotFound.
	PermissionsOf(ctx context.Context, workspace, role string) ([]knowledge.Permission, error)
}

// Config configures a Server. All fields are required.
type Config struct {
	Store  Store
	Rights Rights
	// DefaultRole is the role of a user to whom the identity provider gives none.
	DefaultRole string
}

// Server serves SCIM. It is safe for concurrent use.
type Server struct {
	cfg     Config
	schemas schemas
}

// New returns a Server.
func New(cfg Config) *Server { return &Server{cfg, newSchemas()} }

// Request is a request of an identity provider.
type Request struct {
	Principal knowledge.Principal
	Path      string // below the base, such as /Users
	Base      string // the address of the service, such as https://cairn.example.com/scim/v2
	Log       *slog.Logger
}

// Serve answers a request.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, in Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	call := &call{Server: s, Request: in}
	server, err := scim.NewServer(s.args(call), scim.WithBaseURL(in.Base))
	if err != nil {
		return fmt.Errorf("make the SCIM server: %w", err)
	}
	inner := r.Clone(r.Context())
	inner.URL = &url.URL{Path: in.Path, RawQuery: r.URL.RawQuery}
	inner.Body = io.NopCloser(bytes.NewReader(reform(body, s.schemas.enterprise)))
	server.ServeHTTP(w, inner)
	return nil
}

// args returns the resources of a server, with the handlers of one request.
func (s *Server) args(c *call) *scim.ServerArgs {
	return &scim.ServerArgs{
		ServiceProviderConfig: &scim.ServiceProviderConfig{
			DocumentationURI: optional.NewString("https://www.rfc-editor.org/rfc/rfc7644"), MaxResults: maxResults, SupportFiltering: true, SupportPatch: true,
			AuthenticationSchemes: []scim.AuthenticationScheme{{
				Type: scim.AuthenticationTypeOauthBearerToken, Name: "API key", Primary: true,
				Description: "An API key of the workspace with the permissions members.read and members.write, as Authorization: Bearer",
				SpecURI:     optional.NewString("https://www.rfc-editor.org/rfc/rfc6750"), DocumentationURI: optional.NewString("https://www.rfc-editor.org/rfc/rfc6750"),
			}},
		},
		ResourceTypes: []scim.ResourceType{
			{
				ID: optional.NewString("User"), Name: "User", Endpoint: "/Users", Description: optional.NewString("A person of the workspace"),
				Schema: s.schemas.user, SchemaExtensions: []scim.SchemaExtension{{Schema: s.schemas.enterprise}}, Handler: &users{c, newResource(s.schemas.user, s.schemas.enterprise)},
			},
			{
				ID: optional.NewString("Group"), Name: "Group", Endpoint: "/Groups", Description: optional.NewString("A group that the access of documents can name"),
				Schema: s.schemas.group, Handler: &groupHandler{c, newResource(s.schemas.group)},
			},
		},
	}
}

// call is a request that is served.
type call struct {
	*Server
	Request
}

// refusal returns an error as the identity provider sees it. It logs what is no fault of the
// identity provider.
func (c *call) refusal(ctx context.Context, err error) error {
	if refused, ok := stderrors.AsType[errors.ScimError](err); ok {
		return refused
	}
	if err == nil {
		return nil
	}
	e := knowledge.AsError(err)
	detail := e.Message
	for _, field := range e.Fields {
		detail = field.Location + " " + field.Message
	}
	switch e.Code {
	case knowledge.CodeNotFound:
		return errors.ScimError{Status: http.StatusNotFound, Detail: detail}
	case knowledge.CodeConflict:
		return errors.ScimError{Status: http.StatusConflict, ScimType: errors.ScimTypeUniqueness, Detail: detail}
	case knowledge.CodeInvalid:
		return errors.ScimError{Status: http.StatusBadRequest, ScimType: errors.ScimTypeInvalidValue, Detail: detail}
	case knowledge.CodeForbidden:
		return errors.ScimError{Status: http.StatusForbidden, Detail: detail}
	case knowledge.CodeLimitReached:
		return errors.ScimError{Status: http.StatusBadRequest, ScimType: errors.ScimTypeTooMany, Detail: detail}
	}
	c.Log.ErrorContext(ctx, "SCIM request failed", "path", c.Path, "error", err)
	return errors.ScimError{Status: http.StatusInternalServerError, Detail: "something went wrong on our side; try again later"}
}

// metaOf returns the times of a resource and its version.
func metaOf(created, updated time.Time) scim.Meta {
	return scim.Meta{Created: &created, LastModified: &updated, Version: fmt.Sprintf(`W/"%x"`, updated.UnixMicro())}
}

// described returns attributes with those that a filter may name beside them.
func described(attributes object, id, external string, meta scim.Meta) object {
	all := object{"id": id, "meta": object{
		"created": meta.Created.UTC().Format(time.RFC3339), "lastModified": meta.LastModified.UTC().Format(time.RFC3339), "version": meta.Version,
	}}
	if external != "" {
		all[externalID] = external
	}
	for name, value := range attributes {
		all[name] = value
	}
	return all
}

// narrowed returns the attributes that the query of a request asks for.
func narrowed(r *http.Request, attributes object) object {
	wanted, unwanted := namesIn(r, "attributes"), namesIn(r, "excludedAttributes")
	kept := object{}
	for name, value := range attributes {
		if !unwanted[strings.ToLower(name)] && (len(wanted) == 0 || wanted[strings.ToLower(name)]) {
			kept[name] = value
		}
	}
	return kept
}

// namesIn returns the attributes that a query parameter lists, without their parts, in lower
// case.
func namesIn(r *http.Request, parameter string) map[string]bool {
	names := map[string]bool{}
	for name := range strings.SplitSeq(r.URL.Query().Get(parameter), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if at := strings.LastIndex(name, ":"); at >= 0 && !strings.HasSuffix(name, ":user") {
			name = name[at+1:]
		}
		if parameter == "attributes" {
			name, _, _ = strings.Cut(name, ".")
		}
		if name != "" {
			names[name] = true
		}
	}
	return names
}

// pageOf returns the part of a list that a request asks for.
func pageOf[T any](list []T, startIndex, count int) []T {
	first := min(startIndex-1, len(list))
	return list[first:min(first+count, len(list))]
}

// offset returns the place of a page in the store.
func offset(params scim.ListRequestParams) store.ProvisionedQuery {
	return store.ProvisionedQuery{Offset: params.StartIndex - 1, Limit: max(params.Count, 1)}
}
