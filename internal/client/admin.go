package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Project is a project as the API returns it. AI, Tools, Limits, Privacy and Retention are kept as
// raw JSON, so that an update keeps fields that this client does not know.
type Project struct {
	ID      string          `json:"id,omitempty"`
	Slug    string          `json:"slug,omitempty"` // the id of a new project
	Name    string          `json:"name,omitempty"`
	AI      json.RawMessage `json:"ai,omitempty"`
	Tools   json.RawMessage `json:"tools,omitempty"`
	Limits  json.RawMessage `json:"limits,omitempty"`
	Privacy json.RawMessage `json:"privacy,omitempty"`

	Retention json.RawMessage `json:"retention,omitempty"`
	Pipeline  json.RawMessage `json:"pipeline,omitempty"` // all steps of the project
	Webhooks  json.RawMessage `json:"webhooks,omitempty"` // all of the project
	APIKey    string          `json:"apiKey,omitempty"`   // only in the answer that creates the project
	// SameName is in the answer to a new project or a new name: the ids of the other projects
	// with this name.
	SameName []string `json:"sameName,omitempty"`
	// OutdatedDocuments is in the answer to a change of ai.textSplitter, ai.enrichment
	// or ai.multimodal: the documents that were made with other settings.
	OutdatedDocuments *int `json:"outdatedDocuments,omitempty"`
	// Notices are in the answer to a new project or a change of ai.prompt, ai.model or
	// ai.failover: what the prompt lacks, and models that could not be checked.
	Notices []SettingNotice `json:"notices,omitempty"`
}

// SettingNotice says what a setting that was stored does not do.
type SettingNotice struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Projects lists the projects of the workspace.
func (c *Client) Projects(ctx context.Context, cursor string, limit int) (List[Project], error) {
	var list List[Project]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("projects"), paging(cursor, limit), nil, &list)
	return list, err
}

// Project returns one project.
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

// RemovedProject is a project whose removal was accepted. Its run ends when the last byte
// is deleted.
type RemovedProject struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	RunID       string `json:"run_id"`
	OperatorURL string `json:"operator_url,omitempty"`
}

// RemoveProject removes a project with everything in it.
func (c *Client) RemoveProject(ctx context.Context, id string) (RemovedProject, error) {
	var removed RemovedProject
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("projects", id), nil, nil, &removed)
	return removed, err
}

// Reindex is a reindex that was started or, without a run, counted.
type Reindex struct {
	RunID       string `json:"run_id,omitempty"`
	Matched     int    `json:"matched"` // outdated documents
	OperatorURL string `json:"operator_url,omitempty"`
}

// ReindexProject makes new versions of a project's outdated documents, or only counts
// them.
func (c *Client) ReindexProject(ctx context.Context, id string, dryRun bool) (Reindex, error) {
	query := url.Values{}
	if dryRun {
		query.Set("dry_run", "true")
	}
	var r Reindex
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("projects", id, "reindex"), query, nil, &r)
	return r, err
}

// RebuildIndex writes the index entries of a project's documents again.
func (c *Client) RebuildIndex(ctx context.Context, project string) (Reindex, error) {
	var r Reindex
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("projects", project, "reindex"), nil, map[string]bool{"rebuild": true}, &r)
	return r, err
}

// Key is an API key. Secret is the key itself; only the answer that creates the
// key contains it.
type Key struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	ProjectID   string     `json:"project_id,omitempty"` // "" = all projects
	Scopes      []string   `json:"scopes"`
	Role        string     `json:"role,omitempty"`        // in place of scopes
	Permissions []string   `json:"permissions,omitempty"` // in place of scopes or a role
	Member      string     `json:"member,omitempty"`      // the service account, "" = none
	Clearance   string     `json:"clearance,omitempty"`   // "" = not given
	Prefix      string     `json:"prefix,omitempty"`
	CreatedAt   time.Time  `json:"created_at,omitzero"`
	CreatedBy   string     `json:"created_by,omitempty"` // a key's id, or user: and a user
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`
	RevokedAt   *time.Time `json:"revoked_at,omitempty"`
	LastUsedAt  *time.Time `json:"last_used_at,omitempty"` // to the minute
	Secret      string     `json:"key,omitempty"`
	Limits      *Limits    `json:"limits,omitempty"` // nil = those of the instance
}

// NewKey is a key to create.
type NewKey struct {
	Name        string     `json:"name"`
	ProjectID   string     `json:"project_id,omitempty"`
	Scopes      []string   `json:"scopes,omitempty"`
	Role        string     `json:"role,omitempty"`        // in place of scopes
	Permissions []string   `json:"permissions,omitempty"` // in place of scopes or a role
	Member      string     `json:"member,omitempty"`      // the service account, "" = none
	Clearance   string     `json:"clearance,omitempty"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`

	QueriesPerMinute int `json:"queries_per_minute,omitempty"`

	Limits *Limits `json:"limits,omitempty"`
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

// RevokeKey revokes a key with immediate effect; with children also all keys that it and
// they have made.
func (c *Client) RevokeKey(ctx context.Context, id string, children bool) error {
	var query url.Values
	if children {
		query = url.Values{"children": {"true"}}
	}
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("keys", id), query, nil, nil)
	return err
}
