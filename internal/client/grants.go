package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Grant allows or denies readers what the access lists of documents do not say.
type Grant struct {
	ID         string       `json:"id"`
	Subject    GrantSubject `json:"subject"`
	Object     GrantObject  `json:"object"`
	Effect     string       `json:"effect"`     // allow or deny
	Permission string       `json:"permission"` // read or write
	Reason     string       `json:"reason,omitempty"`
	ExpiresAt  *time.Time   `json:"expires_at,omitempty"`
	CreatedAt  time.Time    `json:"created_at,omitzero"`
	CreatedBy  string       `json:"created_by,omitempty"`
}

// GrantSubject is whom a grant means. One field is set.
type GrantSubject struct {
	User    string `json:"user,omitempty"`
	Group   string `json:"group,omitempty"`
	Project string `json:"project,omitempty"`
}

// GrantObject is which documents a grant is about. One field is set.
type GrantObject struct {
	DocumentID string `json:"document_id,omitempty"`
	Tag        string `json:"tag,omitempty"`
	ProjectID  string `json:"project_id,omitempty"`
}

// NewGrant is a grant to add.
type NewGrant struct {
	Subject    GrantSubject `json:"subject"`
	Object     GrantObject  `json:"object"`
	Effect     string       `json:"effect"`
	Permission string       `json:"permission"`
	Reason     string       `json:"reason,omitempty"`
	ExpiresAt  *time.Time   `json:"expires_at,omitempty"`
}

// AddGrant adds a grant.
func (c *Client) AddGrant(ctx context.Context, g NewGrant) (Grant, error) {
	var added Grant
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("grants"), nil, g, &added)
	return added, err
}

// Grants lists the grants, newest first. filter narrows the list by user, group, document_id
// and tag; nil = all.
func (c *Client) Grants(ctx context.Context, filter url.Values, cursor string, limit int) (List[Grant], error) {
	query := paging(cursor, limit)
	for name, values := range filter {
		query[name] = values
	}
	var list List[Grant]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("grants"), query, nil, &list)
	return list, err
}

// RemoveGrant removes a grant.
func (c *Client) RemoveGrant(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("grants", id), nil, nil, nil)
	return err
}
