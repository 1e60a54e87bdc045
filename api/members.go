package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// memberView is a member as it is shown.
type memberView struct {
	User      string   `json:"user" doc:"The sub of the user's JWT, or the name of a service account"`
	Kind      string   `json:"kind" enum:"person,service"`
	Roles     []string `json:"roles"`
	ProjectID *string  `json:"project_id" doc:"The project that the member is held to; null: every project"`
	Groups    []string `json:"groups"`

	ProvisionedGroups []string `json:"provisioned_groups" doc:"Groups in which an identity provider has put the user by SCIM"`
	Active            bool     `json:"active" doc:"false: the identity provider has deactivated the user, who is let in nowhere"`

	Clearance *string     `json:"clearance" doc:"The level of classification up to which the member reaches documents; null: not given"`
	Limits    *limitsView `json:"limits" doc:"What the member may use; null: limits.user of the instance"`

	ExpiresAt *time.Time `json:"expires_at" doc:"null: never"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	Keys      []keyView  `json:"keys,omitempty" doc:"The keys of a service account that are not revoked, newest first, at most 100; in the answer of GET members/{user} alone"`
}

type memberOutput struct{ Body memberView }

// MemberPath is the path of a member.
type MemberPath struct {
	WorkspacePath
	User string `path:"user" maxLength:"256" doc:"The sub of the user's JWT, or the name of a service account"`
}

type memberInput struct {
	MemberPath
	Body struct {
		Kind      string     `json:"kind,omitempty" enum:"person,service" default:"person" doc:"person: signs in with a JWT; service: a program, which has keys"`
		Roles     []string   `json:"roles,omitempty" maxItems:"20" doc:"Roles of the workspace; the caller needs their permissions itself"`
		ProjectID string     `json:"project_id,omitempty" maxLength:"200" doc:"Hold the member to this project, whatever the JWT says. Default: every project"`
		Groups    []string   `json:"groups,omitempty" maxItems:"200" doc:"Groups that the access of documents may name; those of the JWT count too"`
		Clearance string     `json:"clearance,omitempty" maxLength:"63" doc:"The level of classification up to which the member reaches documents, at most the caller's own; a higher claim clearance of the JWT counts. Default: the highest for members whose roles may change members, else the level of documents without a classification"`
		ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"When the membership ends, to the second. Default: never"`

		Limits knowledge.UseLimits `json:"limits,omitempty" doc:"What the member may use, with all its keys and tokens, beside the limits of the key, the project and the workspace. Default: limits.user of the instance"`
	} `nameHint:"NewMember"`
}

// memberRoutes holds the routes of members.
type memberRoutes struct {
	store  Members
	rights Rights
	levels knowledge.Levels
	now    func() time.Time
}

func (mr *memberRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/members"
	route := tagged("members")
	edge.Handle(e, route("list-members", http.MethodGet, path, "List the members, by name", ""), mr.list)
	edge.Handle(e, route("get-member", http.MethodGet, path+"/{user}", "Read a member", ""), mr.get)
	edge.Handle(e, route("put-member", http.MethodPut, path+"/{user}", "Add a member, or replace what it has",
		"Roles and groups of the user's JWT add to those of the member. A change shows within two seconds."), mr.put)
	edge.Handle(e, route("delete-member", http.MethodDelete, path+"/{user}", "Remove a member",
		"Within two seconds its user has no more than the JWT says. The keys of a service account are revoked at once."), mr.remove)
}

func (mr *memberRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
}) (*listOutput[memberView], error) {
	members, next, err := mr.store.Members(ctx, p, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	return page(convert(members, viewMember), next), nil
}

func (mr *memberRoutes) get(ctx context.Context, p knowledge.Principal, in *MemberPath) (*memberOutput, error) {
	m, err := mr.store.Member(ctx, p, in.User)
	if err != nil {
		return nil, fmt.Errorf("read member %s: %w", in.User, err)
	}
	view := viewMember(m)
	if m.Kind == store.ServiceMember {
		keys, err := mr.store.KeysOfMember(ctx, p, m.Name)
		if err != nil {
			return nil, fmt.Errorf("read member %s: %w", in.User, err)
		}
		view.Keys = convert(keys, viewKey)
	}
	return &memberOutput{view}, nil
}

func (mr *memberRoutes) put(ctx context.Context, p knowledge.Principal, in *memberInput) (*memberOutput, error) {
	b := in.Body
	m := store.Member{Name: in.User, Kind: b.Kind, Roles: named(b.Roles), Groups: named(b.Groups), Project: b.ProjectID, Limits: b.Limits}
	if err := checkNames(in.User, b.Groups); err != nil {
		return nil, err
	}
	if b.ExpiresAt != nil {
		if m.ExpiresAt = b.ExpiresAt.UTC(); !m.ExpiresAt.After(mr.now()) {
			return nil, knowledge.Invalid("body.expires_at", "must be in the future")
		}
	}
	for i, role := range m.Roles {
		if err := mayGive(ctx, mr.rights, p, role, fmt.Sprintf("body.roles[%d]", i)); err != nil {
			return nil, err
		}
	}
	var err error
	if m.Clearance, err = givenClearance(p, mr.levels, b.Clearance); err != nil {
		return nil, err
	}
	stored, _, err := mr.store.PutMember(ctx, p, m, access.Roles())
	if err != nil {
		return nil, fmt.Errorf("store member %s: %w", in.User, err)
	}
	return &memberOutput{viewMember(stored)}, nil
}

func (mr *memberRoutes) remove(ctx context.Context, p knowledge.Principal, in *MemberPath) (*struct{}, error) {
	if err := mr.store.RemoveMember(ctx, p, in.User); err != nil {
		return nil, fmt.Errorf("remove member %s: %w", in.User, err)
	}
	return nil, nil
}

// mayGive refuses a role that the workspace does not have, or whose permissions the principal
// lacks itself.
func mayGive(ctx context.Context, rights Rights, p knowledge.Principal, role, location string) error {
	permissions, err := rights.PermissionsOf(ctx, p.Workspace(), role)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return knowledge.Invalid(location, "is not a role of this workspace: GET roles lists them")
	}
	if err != nil {
		return err
	}
	for _, permission := range permissions {
		if !p.May(permission) {
			return knowledge.Invalid(location, "has the permission %s, which only somebody who has it can give", permission)
		}
	}
	return nil
}

// givenClearance returns the clearance that a principal gives, at most its own. Where it names
// none, and is not cleared for every level itself, it gives the base level, so that a right to
// change members does not imply more than the giver has.
func givenClearance(p knowledge.Principal, levels knowledge.Levels, level string) (string, error) {
	if err := knowledge.InvalidFields(levels.Fields("body.clearance", level)); err != nil {
		return "", err
	}
	switch above := levels.Below(p.Clearance(), level); {
	case level == "" && p.CoversEveryLevel():
		return "", nil
	case level == "" && above:
		return p.Clearance(), nil
	case level == "":
		return levels.Base(), nil
	case above:
		return "", knowledge.Invalid("body.clearance", "is above the clearance of these credentials, %s: only somebody who has it can give it", p.Clearance())
	}
	return level, nil
}

// checkNames refuses names that a token could not have either.
func checkNames(user string, groups []string) error {
	bad := func(name string) bool {
		return strings.TrimSpace(name) == "" || len(name) > 256 || strings.ContainsFunc(name, unicode.IsControl)
	}
	if bad(user) {
		return knowledge.Invalid("path.user", "must be 1 to 256 bytes, without control characters")
	}
	for i, group := range groups {
		if bad(group) {
			return knowledge.Invalid(fmt.Sprintf("body.groups[%d]", i), "must be 1 to 256 bytes, without control characters")
		}
	}
	return nil
}

// named returns names each once, in their order, never nil.
func named(names []string) []string {
	seen, list := map[string]bool{}, []string{}
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	return list
}

func viewMember(m store.Member) memberView {
	return memberView{
		User: m.Name, Kind: m.Kind, Roles: m.Roles, ProjectID: orNull(m.Project), Groups: m.Groups, Clearance: orNull(m.Clearance),
		ProvisionedGroups: named(m.Provisioned), Active: m.DeactivatedAt.IsZero(),
		Limits: limitsOrNull(m.Limits), ExpiresAt: orNull(m.ExpiresAt), CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
}
