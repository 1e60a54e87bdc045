package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Hold is a legal hold.
type Hold struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Reason     string          `json:"reason"`
	Filter     json.RawMessage `json:"filter,omitempty"` // null = its documents were named
	Documents  int             `json:"documents"`
	CreatedAt  time.Time       `json:"created_at,omitzero"`
	CreatedBy  string          `json:"created_by,omitempty"`
	LiftedAt   *time.Time      `json:"lifted_at,omitempty"`
	LiftedBy   string          `json:"lifted_by,omitempty"`
	LiftReason string          `json:"lift_reason,omitempty"`
}

// HoldFilter selects the documents of a hold.
type HoldFilter struct {
	ProjectID string   `json:"project_id,omitempty"`
	Tags      []string `json:"tags,omitempty"`
}

// NewHold is a hold to place, on documents or by a filter.
type NewHold struct {
	Name        string      `json:"name"`
	Reason      string      `json:"reason"`
	DocumentIDs []string    `json:"document_ids,omitempty"`
	Filter      *HoldFilter `json:"filter,omitempty"`
	DryRun      bool        `json:"dry_run,omitempty"` // count the documents, and place no hold
}

// PlaceHold places a legal hold.
func (c *Client) PlaceHold(ctx context.Context, h NewHold) (Hold, error) {
	var placed Hold
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("holds"), nil, h, &placed)
	return placed, err
}

// Holds lists the legal holds, newest first, with active those that nobody has lifted, and those
// of a document; "" = all.
func (c *Client) Holds(ctx context.Context, active bool, document, cursor string, limit int) (List[Hold], error) {
	query := paging(cursor, limit)
	if active {
		query.Set("active", "true")
	}
	if document != "" {
		query.Set("document_id", document)
	}
	var list List[Hold]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("holds"), query, nil, &list)
	return list, err
}

// LiftHold lifts a legal hold.
func (c *Client) LiftHold(ctx context.Context, id, reason string) (Hold, error) {
	var lifted Hold
	body := map[string]string{"reason": reason}
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("holds", id), nil, body, &lifted)
	return lifted, err
}

// RetentionDue is what is due by the age of things, and the run that takes it away.
type RetentionDue struct {
	Due           int    `json:"due"`
	KeptByHold    int    `json:"kept_by_hold"`
	RunID         string `json:"run_id,omitempty"` // "" = it was a dry run
	Documents     int    `json:"documents"`
	Conversations int    `json:"conversations"`
	Runs          int    `json:"runs"`
}

// RunRetention applies the retention of all projects of the workspace, with dry it counts what
// is due.
func (c *Client) RunRetention(ctx context.Context, dry bool) (RetentionDue, error) {
	var due RetentionDue
	body := map[string]bool{"dry_run": dry}
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("retention", "run"), nil, body, &due)
	return due, err
}
