package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/store"
)

// LimitStore holds the limits of workspaces.
type LimitStore interface {
	// SetWorkspaceLimits replaces the limits of the principal's workspace.
	SetWorkspaceLimits(ctx context.Context, p knowledge.Principal, limits knowledge.UseLimits) error
	// WorkspaceUse returns the limits of the principal's workspace, else the defaults, and what it
	// has used.
	WorkspaceUse(ctx context.Context, p knowledge.Principal, defaults knowledge.UseLimits) (store.AccountUse, error)
	// AccountUses returns the accounts that are limited or have used something in this day.
	AccountUses(ctx context.Context, p knowledge.Principal, by store.UsageBy, defaults knowledge.UseLimits) ([]store.AccountUse, error)
}

// limitRoutes holds the routes of the limits of a workspace.
type limitRoutes struct {
	store LimitStore
	meter *quota.Meter // nil = nothing has defaults
}

// usedToday is what was used of the limits.
type usedToday struct {
	Tokens    int64   `json:"tokens" doc:"Tokens of models in this day, in UTC"`
	Cost      float64 `json:"cost" doc:"Their price by models.prices"`
	Documents *int    `json:"documents" doc:"Documents that are kept; null: not limited, so not counted"`
	Bytes     *int64  `json:"bytes" doc:"The size of their originals; null: not limited, so not counted"`
}

func viewUsedToday(u store.AccountUse) usedToday {
	used := usedToday{Tokens: u.Tokens, Cost: u.Cost}
	if u.Limits.LimitsStored() {
		used.Documents, used.Bytes = &u.Documents, &u.Bytes
	}
	return used
}

// limitsView are limits as they are shown. Those of a project and of the configuration may be
// larger than what a key, a member and a workspace can be given.
type limitsView struct {
	RequestsPerMinute int     `json:"requestsPerMinute,omitempty" doc:"Requests in any sixty seconds"`
	TokensPerDay      int64   `json:"tokensPerDay,omitempty" doc:"Tokens of models, by the day in UTC"`
	Documents         int     `json:"documents,omitempty" doc:"Documents that are kept"`
	Bytes             int64   `json:"bytes,omitempty" doc:"The size of the originals that are kept"`
	CostPerDay        float64 `json:"costPerDay,omitempty" doc:"The price of tokens by models.prices, by the day in UTC"`
}

type workspaceLimits struct {
	Limits    limitsView `json:"limits" doc:"That hold: the workspace's own, else limits.workspace of the configuration"`
	Own       limitsView `json:"own" doc:"That the workspace has itself"`
	UsedToday usedToday  `json:"used_today"`
	Defaults  struct {
		Key     limitsView `json:"key"`
		User    limitsView `json:"user"`
		Project limitsView `json:"project"`
	} `json:"defaults" doc:"The limits of the configuration for keys, users and projects without limits of their own"`
}

type workspaceLimitsOutput struct{ Body workspaceLimits }

func (lr *limitRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/limits"
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-limits", Method: http.MethodGet, Path: path, Tags: []string{"workspaces"},
		Summary: "Read the limits of the workspace, and what it has used of them",
	}}, lr.get)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "put-limits", Method: http.MethodPut, Path: path, Tags: []string{"workspaces"},
		Summary: "Replace the limits of the workspace", Description: "Needs the instance's admin key. A change shows within two seconds. Keys, members and projects have limits of their own besides; each of them holds.",
	}}, lr.put)
}

func (lr *limitRoutes) get(ctx context.Context, p knowledge.Principal, _ *WorkspacePath) (*workspaceLimitsOutput, error) {
	return lr.read(ctx, p)
}

func (lr *limitRoutes) put(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	Body knowledge.UseLimits
}) (*workspaceLimitsOutput, error) {
	if err := lr.store.SetWorkspaceLimits(ctx, p, in.Body); err != nil {
		return nil, err
	}
	return lr.read(ctx, p)
}

func (lr *limitRoutes) read(ctx context.Context, p knowledge.Principal) (*workspaceLimitsOutput, error) {
	var out workspaceLimitsOutput
	used, err := lr.store.WorkspaceUse(ctx, p, defaultsOf(lr.meter, knowledge.WorkspaceAccount))
	if err != nil {
		return nil, err
	}
	out.Body.Own, out.Body.Limits, out.Body.UsedToday = limitsView(used.Own), limitsView(used.Limits), viewUsedToday(used)
	out.Body.Defaults.Key = limitsView(defaultsOf(lr.meter, knowledge.KeyAccount))
	out.Body.Defaults.User = limitsView(defaultsOf(lr.meter, knowledge.UserAccount))
	out.Body.Defaults.Project = limitsView(defaultsOf(lr.meter, knowledge.ProjectAccount))
	return &out, nil
}

func defaultsOf(m *quota.Meter, kind knowledge.AccountKind) knowledge.UseLimits {
	if m == nil {
		return knowledge.UseLimits{}
	}
	return m.Defaults(kind)
}

// limitsOrNull is how limits are shown: null without any.
func limitsOrNull(l knowledge.UseLimits) *limitsView {
	if l == (knowledge.UseLimits{}) {
		return nil
	}
	view := limitsView(l)
	return &view
}
