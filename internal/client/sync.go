package client

import (
	"context"
	"net/http"
	"time"
)

// Connection is a service, and how the server signs in there.
type Connection struct {
	ID         string            `json:"id"`
	Type       string            `json:"type"`
	Options    map[string]string `json:"options"`
	WaitsUntil *time.Time        `json:"waits_until,omitempty"`
	SecretEnds *time.Time        `json:"secret_ends,omitempty"`
	CreatedAt  time.Time         `json:"created_at"`
}

// NewConnection is a connection to make.
type NewConnection struct {
	Type    string            `json:"type"`
	Options map[string]string `json:"options"`
	Secret  string            `json:"secret,omitempty"`
}

// ConnectionCheck is what a service says to a connection.
type ConnectionCheck struct {
	OK    bool     `json:"ok"`
	Error *Failure `json:"error"`
	// SecretEnds is when the secret expires, nil if nothing says it.
	SecretEnds *time.Time `json:"secret_ends"`
}

// AddConnection makes a connection.
func (c *Client) AddConnection(ctx context.Context, n NewConnection) (Connection, error) {
	var made Connection
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("connections"), nil, n, &made)
	return made, err
}

// Connections lists the connections, newest first.
func (c *Client) Connections(ctx context.Context, cursor string, limit int) (List[Connection], error) {
	var list List[Connection]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("connections"), paging(cursor, limit), nil, &list)
	return list, err
}

// CheckConnection asks the service whether it accepts a connection.
func (c *Client) CheckConnection(ctx context.Context, id string) (ConnectionCheck, error) {
	var check ConnectionCheck
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("connections", id, "check"), nil, nil, &check)
	return check, err
}

// ReplaceSecret replaces the secret of a connection.
func (c *Client) ReplaceSecret(ctx context.Context, id, secret string) (Connection, error) {
	var changed Connection
	_, err := c.call(ctx, http.MethodPatch, c.inWorkspace("connections", id), nil, map[string]string{"secret": secret}, &changed)
	return changed, err
}

// RemoveConnection removes a connection that no sync uses.
func (c *Client) RemoveConnection(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("connections", id), nil, nil, nil)
	return err
}

// Sync follows a place of a service.
type Sync struct {
	ID             string            `json:"id"`
	RunID          string            `json:"run_id,omitempty"`
	ConnectionID   string            `json:"connection_id"`
	Type           string            `json:"type"`
	Place          string            `json:"place,omitempty"` // of an older server ""
	ProjectID      string            `json:"project_id"`
	Scope          map[string]string `json:"scope"`
	Include        []string          `json:"include"`
	Exclude        []string          `json:"exclude"`
	Tags           []string          `json:"tags"`
	Subjects       []string          `json:"subjects"`
	Every          string            `json:"every"`
	Permissions    string            `json:"permissions"`
	RemoveVanished bool              `json:"remove_vanished"`

	Status     string     `json:"status"`
	WaitsUntil *time.Time `json:"waits_until,omitempty"`
	LastRun    *SyncRun   `json:"last_run,omitempty"`
	NextRun    *time.Time `json:"next_run,omitempty"`
	CursorAge  *float64   `json:"cursor_age,omitempty"` // seconds

	Discovered int64           `json:"discovered"`
	Published  int64           `json:"published"`
	Skipped    int64           `json:"skipped"`
	Failed     int64           `json:"failed"`
	Deleted    int64           `json:"deleted"`
	Hidden     int64           `json:"hidden"`
	Unresolved int64           `json:"groups_unresolved"`
	Failures   []ImportFailure `json:"failures"` // the first 20
	CreatedAt  time.Time       `json:"created_at"`
}

// SyncRun is the last run of a sync.
type SyncRun struct {
	ID          string     `json:"id"` // of its import
	RunID       string     `json:"run_id"`
	Status      string     `json:"status"`
	Error       *Failure   `json:"error,omitempty"`
	StartedAt   time.Time  `json:"started_at"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	OperatorURL string     `json:"operator_url"`
}

// NewSync is a sync to make.
type NewSync struct {
	ConnectionID   string            `json:"connection_id"`
	ProjectID      string            `json:"project_id,omitempty"`
	Scope          map[string]string `json:"scope,omitempty"`
	Include        []string          `json:"include,omitempty"`
	Exclude        []string          `json:"exclude,omitempty"`
	Tags           []string          `json:"tags,omitempty"`
	Subjects       []string          `json:"subjects,omitempty"`
	Every          string            `json:"every,omitempty"`
	Permissions    string            `json:"permissions,omitempty"`
	RemoveVanished *bool             `json:"remove_vanished,omitempty"`
}

// AddSync makes a sync, whose first run starts at once.
func (c *Client) AddSync(ctx context.Context, n NewSync) (Sync, error) {
	var made Sync
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("syncs"), nil, n, &made)
	return made, err
}

// Syncs lists syncs, newest first. project "" is every one.
func (c *Client) Syncs(ctx context.Context, project, cursor string, limit int) (List[Sync], error) {
	query := paging(cursor, limit)
	setString(query, "project_id", project)
	var list List[Sync]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("syncs"), query, nil, &list)
	return list, err
}

// Sync returns one sync.
func (c *Client) Sync(ctx context.Context, id string) (Sync, error) {
	var y Sync
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("syncs", id), nil, nil, &y)
	return y, err
}

// ChangeSync changes fields of a sync.
func (c *Client) ChangeSync(ctx context.Context, id string, fields map[string]any) (Sync, error) {
	var y Sync
	_, err := c.call(ctx, http.MethodPatch, c.inWorkspace("syncs", id), nil, fields, &y)
	return y, err
}

// ActOnSync does one of run, pause and resume.
func (c *Client) ActOnSync(ctx context.Context, id, action string) (Sync, error) {
	var y Sync
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("syncs", id, action), nil, nil, &y)
	return y, err
}

// RemoveSync removes a sync. Its documents stay.
func (c *Client) RemoveSync(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("syncs", id), nil, nil, nil)
	return err
}
