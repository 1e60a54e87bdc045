package client

import (
	"context"
	"net/http"
	"net/url"
)

// Limits are what a key, a member, a project or a workspace may use. 0 is the default of the
// instance.
type Limits struct {
	RequestsPerMinute int     `json:"requestsPerMinute,omitempty"`
	TokensPerDay      int64   `json:"tokensPerDay,omitempty"`
	Documents         int     `json:"documents,omitempty"`
	Bytes             int64   `json:"bytes,omitempty"`
	CostPerDay        float64 `json:"costPerDay,omitempty"`
}

// UsedToday is what was used of limits.
type UsedToday struct {
	Tokens    int64   `json:"tokens"`
	Cost      float64 `json:"cost"`
	Documents int     `json:"documents,omitempty"` // 0 where it is not limited
	Bytes     int64   `json:"bytes,omitempty"`
}

// WorkspaceLimits are the limits of a workspace, and what it has used of them.
type WorkspaceLimits struct {
	Limits    Limits    `json:"limits"` // that hold
	Own       Limits    `json:"own"`    // of the workspace itself
	UsedToday UsedToday `json:"used_today"`
}

// WorkspaceLimits reads the limits of the workspace.
func (c *Client) WorkspaceLimits(ctx context.Context) (WorkspaceLimits, error) {
	var limits WorkspaceLimits
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("limits"), nil, nil, &limits)
	return limits, err
}

// SetWorkspaceLimits replaces the limits of the workspace.
func (c *Client) SetWorkspaceLimits(ctx context.Context, l Limits) (WorkspaceLimits, error) {
	var stored WorkspaceLimits
	_, err := c.call(ctx, http.MethodPut, c.inWorkspace("limits"), nil, l, &stored)
	return stored, err
}

// WorkspaceUsage is what projects, keys or people have used.
type WorkspaceUsage struct {
	From     string       `json:"from"` // the first day
	To       string       `json:"to"`   // the last day
	Currency string       `json:"currency,omitempty"`
	Data     []OwnedUsage `json:"data"`
}

// OwnedUsage is the usage of a project, a key or a person.
type OwnedUsage struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Total     UsageSum   `json:"total"`
	Days      []UsageDay `json:"days"`
	Limits    *Limits    `json:"limits,omitempty"` // nil = none
	UsedToday UsedToday  `json:"used_today"`
}

// WorkspaceUsage sums what projects, keys or people have used, as by says. from and to are days
// such as 2026-01-31, "" = the server's defaults.
func (c *Client) WorkspaceUsage(ctx context.Context, by, from, to string) (WorkspaceUsage, error) {
	query := url.Values{}
	setString(query, "by", by)
	setString(query, "from", from)
	setString(query, "to", to)
	var usage WorkspaceUsage
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("usage"), query, nil, &usage)
	return usage, err
}
