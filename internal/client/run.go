package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Run is the run of a question, a tool call, or one version of a document.
type Run struct {
	ID          string             `json:"id"`
	Kind        string             `json:"kind"`
	Status      string             `json:"status"` // running, completed, failed or canceled
	WorkflowID  string             `json:"workflow_id,omitempty"`
	ProjectID   string             `json:"project_id,omitempty"`
	DocumentID  string             `json:"document_id,omitempty"` // that is ingested or removed
	CreatedAt   time.Time          `json:"created_at,omitzero"`
	EndedAt     *time.Time         `json:"ended_at,omitempty"`
	Usage       json.RawMessage    `json:"usage,omitempty"`
	Progress    json.RawMessage    `json:"progress,omitempty"` // of a reindex: knowledge.ReindexProgress, of a retention: knowledge.RetentionProgress
	Stage       knowledge.Stage    `json:"stage,omitempty"`    // of an ingest that runs or failed
	Waiting     *knowledge.Waiting `json:"waiting,omitempty"`  // why a step of that ingest waits for its next try
	Error       *Failure           `json:"error,omitempty"`
	Result      json.RawMessage    `json:"result,omitempty"`
	OperatorURL string             `json:"operator_url,omitempty"`
}

// List is one page of a list; NextCursor "" means that it is the last.
type List[T any] struct {
	Data       []T    `json:"data"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// RunQuery filters a list of runs. Zero fields do not filter.
type RunQuery struct {
	Kind    string
	Status  string
	Project string
	Cursor  string
	Limit   int // 0 = the server's 50
}

// Runs lists runs, the newest first.
func (c *Client) Runs(ctx context.Context, q RunQuery) (List[Run], error) {
	query := paging(q.Cursor, q.Limit)
	setString(query, "kind", q.Kind)
	setString(query, "status", q.Status)
	setString(query, "project_id", q.Project)
	var list List[Run]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("runs"), query, nil, &list)
	return list, err
}

// Run returns one run.
func (c *Client) Run(ctx context.Context, id string) (Run, error) {
	var r Run
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("runs", id), nil, nil, &r)
	return r, err
}

// CancelRun asks a run to stop. Its last event reports the cancellation.
func (c *Client) CancelRun(ctx context.Context, id string) error {
	query := url.Values{}
	setString(query, "external_user_id", c.user)
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("runs", id, "cancel"), query, nil, nil)
	return err
}

// DecideCall approves a tool call of a run that waits for a person, or refuses it with a
// reason for the model.
func (c *Client) DecideCall(ctx context.Context, run, call string, approve bool, reason string) error {
	decision := map[string]string{"decision": "refuse", "reason": reason}
	if approve {
		decision = map[string]string{"decision": "approve"}
	}
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("runs", run, "calls", call), nil, decision, nil)
	return err
}

// MessageRun tells an answer or a research that is under way what to look for from now on, or
// how to write its words.
func (c *Client) MessageRun(ctx context.Context, id, text string) error {
	query := url.Values{}
	setString(query, "external_user_id", c.user)
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("runs", id, "messages"), query, map[string]string{"text": text}, nil)
	return err
}

// PauseRun asks a research, an import or a reindex to pause, or to resume.
func (c *Client) PauseRun(ctx context.Context, id string, paused bool) error {
	action := "resume"
	if paused {
		action = "pause"
	}
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("runs", id, action), nil, nil, nil)
	return err
}

// Ended is the data of a runEnded event: the outcome of a run that is not a
// question.
type Ended struct {
	Status string                   `json:"status"`
	Result json.RawMessage          `json:"result,omitempty"`
	Error  *knowledge.DocumentError `json:"error,omitempty"`
}

// Document decodes the document of an ingestion into d, if the event has one.
func (e Ended) Document(d *Document) error {
	if len(e.Result) == 0 {
		return nil
	}
	if err := json.Unmarshal(e.Result, d); err != nil {
		return fmt.Errorf("decode the result of a run: %w", err)
	}
	return nil
}

// Wait follows a run to its last event and returns it. It calls seen, which may
// be nil, for every event.
func (c *Client) Wait(ctx context.Context, runID string, seen func(Event)) (Event, error) {
	var last Event
	for e, err := range c.Events(ctx, runID, 0) {
		if err != nil {
			return last, err
		}
		if seen != nil {
			seen(e)
		}
		last = e
	}
	if !last.Terminal() {
		return last, fmt.Errorf("run %s ended without a last event", runID)
	}
	return last, nil
}

func paging(cursor string, limit int) url.Values {
	query := url.Values{}
	setString(query, "cursor", cursor)
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	return query
}
