package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Project is a project as the API shows it. AI, Tools and Limits are kept as
// they came, so that what this client does not know is not lost in an update.
type Project struct {
	ID     string          `json:"id,omitempty"`
	Name   string          `json:"name,omitempty"`
	AI     json.RawMessage `json:"ai,omitempty"`
	Tools  json.RawMessage `json:"tools,omitempty"`
	Limits json.RawMessage `json:"limits,omitempty"`
	APIKey string          `json:"apiKey,omitempty"` // of a new project, shown once
}

// Projects lists the projects of the workspace.
func (c *Client) Projects(ctx context.Context, cursor string, limit int) (List[Project], error) {
	var list List[Project]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("projects"), paging(cursor, limit), nil, &list)
	return list, err
}

// Project gives one project.
func (c *Client) Project(ctx context.Context, id string) (Project, error) {
	var p Project
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("projects", id), nil, nil, &p)
	return p, err
}

// SaveProject creates a project, or updates the one with p.ID.
func (c *Client) SaveProject(ctx context.Context, p Project) (Project, error) {
	var saved Project
	p.APIKey = ""
	_, err := c.call(ctx, http.MethodPost, c.webhook("projects"), nil, p, &saved)
	return saved, err
}

// Key is an API key. Secret is the key itself, which only the answer that
// creates it has.
type Key struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	ProjectID string     `json:"project_id,omitempty"` // "" = every project
	Scopes    []string   `json:"scopes"`
	Prefix    string     `json:"prefix,omitempty"`
	CreatedAt time.Time  `json:"created_at,omitzero"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
	Secret    string     `json:"key,omitempty"`
}

// NewKey is a key to create.
type NewKey struct {
	Name      string     `json:"name"`
	ProjectID string     `json:"project_id,omitempty"`
	Scopes    []string   `json:"scopes"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// CreateKey creates a key.
func (c *Client) CreateKey(ctx context.Context, k NewKey) (Key, error) {
	var created Key
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("keys"), nil, k, &created)
	return created, err
}

// Keys lists the workspace's keys.
func (c *Client) Keys(ctx context.Context, cursor string, limit int) (List[Key], error) {
	var list List[Key]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("keys"), paging(cursor, limit), nil, &list)
	return list, err
}

// RevokeKey ends a key at once.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("keys", id), nil, nil, nil)
	return err
}
