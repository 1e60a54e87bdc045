package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ImportSource is where the objects of an import are.
type ImportSource struct {
	Type    string         `json:"type"`
	URI     string         `json:"uri"`
	Options map[string]any `json:"options,omitempty"`
	Secret  string         `json:"secret,omitempty"` // the name of a secret of the server
}

// ImportChoice says which objects of a source are imported.
type ImportChoice struct {
	Include        []string `json:"include,omitempty"`
	Exclude        []string `json:"exclude,omitempty"`
	Parser         string   `json:"parser,omitempty"` // model or crawler, "" = crawler
	RemoveVanished bool     `json:"remove_vanished,omitempty"`
	DryRun         bool     `json:"dry_run,omitempty"`
}

// NewImport is an import to start.
type NewImport struct {
	Project string       `json:"project_id,omitempty"`
	Source  ImportSource `json:"source"`
	Tags    []string     `json:"tags,omitempty"`
	ImportChoice
}

// Import is an import as the API returns it.
type Import struct {
	ID                 string       `json:"id"`
	RunID              string       `json:"run_id"`
	ProjectID          string       `json:"project_id"`
	Status             string       `json:"status"` // running, paused, completed, failed or canceled
	Source             ImportSource `json:"source"`
	DryRun             bool         `json:"dry_run"`
	Discovered         int64        `json:"discovered"`
	Published          int64        `json:"published"`
	Skipped            int64        `json:"skipped"`
	Failed             int64        `json:"failed"`
	Remaining          int64        `json:"remaining"`
	Vanished           int64        `json:"vanished"`
	Deleted            int64        `json:"deleted"`
	Bytes              int64        `json:"bytes"`
	DocumentsPerSecond float64      `json:"documents_per_second"`
	ETASeconds         *float64     `json:"eta_seconds"` // nil = not known
	Error              *Failure     `json:"error"`

	Waiting     *knowledge.ImportWaiting `json:"waiting"`  // nil = no document waits for a model's endpoint
	Failures    []ImportFailure          `json:"failures"` // the first 20
	CreatedAt   time.Time                `json:"created_at"`
	EndedAt     *time.Time               `json:"ended_at"`
	OperatorURL string                   `json:"operator_url"`

	Raw map[string]json.RawMessage `json:"-"` // every field of the API's answer, for MarshalJSON
}

// UnmarshalJSON decodes an answer over the import's present fields.
func (i *Import) UnmarshalJSON(data []byte) error {
	type fields Import
	if err := json.Unmarshal(data, (*fields)(i)); err != nil {
		return err
	}
	return json.Unmarshal(data, &i.Raw)
}

// MarshalJSON returns the API's answer with its own fields only.
func (i Import) MarshalJSON() ([]byte, error) { return json.Marshal(i.Raw) }

// ImportFailure is an object that was not imported.
type ImportFailure struct {
	Key        string                  `json:"key"`
	Name       string                  `json:"name,omitempty"` // of an older server ""
	DocumentID string                  `json:"document_id"`
	Error      knowledge.DocumentError `json:"error"`
	At         time.Time               `json:"at"`
}

// StartImport starts an import. If the connection is lost, it repeats the request
// until Config.Patience has passed; only one import starts.
func (c *Client) StartImport(ctx context.Context, n NewImport) (Import, error) {
	var i Import
	encoded, err := json.Marshal(n)
	if err != nil {
		return i, fmt.Errorf("start import: %w", err)
	}
	header := http.Header{"Content-Type": {"application/json"}, idempotencyHeader: {knowledge.NewID()}}
	err = c.retryRequest(ctx, func() error {
		_, err := c.exchange(ctx, http.MethodPost, c.inWorkspace("imports"), nil, header, bytes.NewReader(encoded), &i)
		return err
	})
	if err != nil {
		return i, fmt.Errorf("start import: %w", err)
	}
	return i, nil
}

// Imports lists imports, the newest first.
func (c *Client) Imports(ctx context.Context, project, cursor string, limit int) (List[Import], error) {
	query := paging(cursor, limit)
	setString(query, "project_id", project)
	var list List[Import]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("imports"), query, nil, &list)
	return list, err
}

// Import returns one import.
func (c *Client) Import(ctx context.Context, id string) (Import, error) {
	var i Import
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("imports", id), nil, nil, &i)
	return i, err
}

// ImportFailures lists the objects of an import that failed.
func (c *Client) ImportFailures(ctx context.Context, id, cursor string, limit int) (List[ImportFailure], error) {
	var list List[ImportFailure]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("imports", id, "failures"), paging(cursor, limit), nil, &list)
	return list, err
}

// PauseImport asks an import to pause.
func (c *Client) PauseImport(ctx context.Context, id string) (Import, error) {
	return c.actOnImport(ctx, id, "pause")
}

// ResumeImport asks a paused import to resume.
func (c *Client) ResumeImport(ctx context.Context, id string) (Import, error) {
	return c.actOnImport(ctx, id, "resume")
}

// CancelImport asks an import to stop.
func (c *Client) CancelImport(ctx context.Context, id string) (Import, error) {
	return c.actOnImport(ctx, id, "cancel")
}

// RetryImport imports the objects that failed again.
func (c *Client) RetryImport(ctx context.Context, id string) (Import, error) {
	return c.actOnImport(ctx, id, "retry_failed")
}

func (c *Client) actOnImport(ctx context.Context, id, action string) (Import, error) {
	var i Import
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("imports", id, action), nil, nil, &i)
	return i, err
}
