package client

import (
	"context"
	"net/http"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Selection names documents, or chooses them with a filter.
type Selection struct {
	IDs    []string        `json:"ids,omitempty"`
	Filter *DocumentFilter `json:"filter,omitempty"`
	DryRun bool            `json:"dry_run,omitempty"` // only count the documents
	Undo   bool            `json:"undo,omitempty"`    // only with the action acknowledge
}

// DocumentFilter chooses documents. Zero fields do not filter.
type DocumentFilter struct {
	Project string   `json:"projectId,omitempty"`
	Status  string   `json:"status,omitempty"`
	Code    string   `json:"code,omitempty"` // of the error, or of the failure for which a document waits
	Tags    []string `json:"tags,omitempty"`
	Stale   bool     `json:"stale,omitempty"`
}

// Empty reports whether the filter chooses every document.
func (f DocumentFilter) Empty() bool {
	return f.Project == "" && f.Status == "" && f.Code == "" && len(f.Tags) == 0 && !f.Stale
}

// SelectionResult is what became of the chosen documents.
type SelectionResult struct {
	Matched int          `json:"matched"`
	Started int          `json:"started"`
	Refused []Refusal    `json:"refused"`
	Runs    []StartedRun `json:"runs,omitempty"` // of a dry run: the reindexes under way
}

// StartedRun is a run that works on chosen documents.
type StartedRun struct {
	RunID      string `json:"run_id"`
	ProjectID  string `json:"project_id"`
	DocumentID string `json:"document_id,omitempty"` // "" = it is a reindex of the project
	Documents  int    `json:"documents"`             // how many of the chosen ones
}

// Refusal is a document on which nothing was started.
type Refusal struct {
	ID   string         `json:"id"`
	Code knowledge.Code `json:"code"`
}

// ActOnDocuments starts an action (retry, reingest, remove or acknowledge) on many documents.
func (c *Client) ActOnDocuments(ctx context.Context, action string, s Selection) (SelectionResult, error) {
	var result SelectionResult
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("documents", action), nil, s, &result)
	return result, err
}
