package client

import (
	"context"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Publication is a project as an agent.
type Publication struct {
	ProjectID string `json:"project_id"`
	Slug      string `json:"slug"`
	knowledge.PublicationSettings
	URL       string    `json:"url"`
	CardURL   string    `json:"card_url"`
	ScriptURL string    `json:"script_url"`
	Secret    string    `json:"secret,omitempty"` // shown once
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// NewPublication is how a project is to be published.
type NewPublication struct {
	Slug string `json:"slug,omitempty"`
	knowledge.PublicationSettings
	RotateSecret bool `json:"rotate_secret,omitempty"`
}

// Publication returns how a project is published.
func (c *Client) Publication(ctx context.Context, project string) (Publication, error) {
	var p Publication
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("projects", project, "publication"), nil, nil, &p)
	return p, err
}

// Publish publishes a project, or changes how it is published.
func (c *Client) Publish(ctx context.Context, project string, n NewPublication) (Publication, error) {
	var p Publication
	_, err := c.call(ctx, http.MethodPut, c.inWorkspace("projects", project, "publication"), nil, n, &p)
	return p, err
}

// Unpublish publishes a project no longer.
func (c *Client) Unpublish(ctx context.Context, project string) error {
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("projects", project, "publication"), nil, nil, nil)
	return err
}
