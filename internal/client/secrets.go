package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Secret is a named secret without its value.
type Secret struct {
	Name      string     `json:"name"`
	ProjectID string     `json:"project_id,omitempty"` // "" = each project of the workspace
	Uses      []string   `json:"uses"`
	Hosts     []string   `json:"hosts"`
	From      string     `json:"from,omitempty"` // stored or configuration
	Shadowed  bool       `json:"shadowed,omitempty"`
	CreatedAt *time.Time `json:"created_at,omitempty"`
	UpdatedAt *time.Time `json:"updated_at,omitempty"`
}

// NewSecret is a secret to store.
type NewSecret struct {
	Value     string   `json:"value"`
	ProjectID string   `json:"project_id,omitempty"`
	Uses      []string `json:"uses"`
	Hosts     []string `json:"hosts"`
}

// PutSecret stores a secret, in the place of an earlier one of the same name and project.
func (c *Client) PutSecret(ctx context.Context, name string, s NewSecret) (Secret, error) {
	var stored Secret
	_, err := c.call(ctx, http.MethodPut, c.inWorkspace("secrets", name), nil, s, &stored)
	return stored, err
}

// Secrets lists the secrets that the key's projects may use.
func (c *Client) Secrets(ctx context.Context) (List[Secret], error) {
	var list List[Secret]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("secrets"), nil, nil, &list)
	return list, err
}

// RemoveSecret removes a stored secret; project is "" for one of the workspace.
func (c *Client) RemoveSecret(ctx context.Context, name, project string) error {
	query := url.Values{}
	if project != "" {
		query.Set("project_id", project)
	}
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("secrets", name), query, nil, nil)
	return err
}
