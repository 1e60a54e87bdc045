package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// AuditEntry is an entry of the audit.
type AuditEntry struct {
	Seq       int64           `json:"seq"`
	At        time.Time       `json:"at"`
	Actor     string          `json:"actor"`
	Action    string          `json:"action"`
	Object    string          `json:"object"`
	Outcome   string          `json:"outcome"`
	RequestID string          `json:"request_id"`
	Address   string          `json:"address"`
	Details   json.RawMessage `json:"details"`
	Previous  string          `json:"previous"`
	Hash      string          `json:"hash"`
}

// AuditQuery chooses entries of the audit. Empty fields choose all.
type AuditQuery struct {
	Since, Until          time.Time
	Actor, Action, Object string
}

func (q AuditQuery) values() url.Values {
	values := url.Values{}
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			values.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	setString(values, "actor", q.Actor)
	setString(values, "action", q.Action)
	setString(values, "object", q.Object)
	return values
}

// AuditReport is what a verification of the audit found.
type AuditReport struct {
	Entries   int64       `json:"entries"`
	First     int64       `json:"first"`
	Last      int64       `json:"last"`
	Hash      string      `json:"hash"`
	Broken    *AuditBreak `json:"broken"` // nil = nothing is broken
	PublicKey string      `json:"public_key"`
}

// AuditBreak is the first broken link of an audit.
type AuditBreak struct {
	Seq     int64  `json:"seq"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// AuditCheckpoints are the signed checkpoints of an audit.
type AuditCheckpoints struct {
	Data      []json.RawMessage `json:"data"`
	PublicKey string            `json:"public_key"`
}

// Audit lists entries of the audit, newest first.
func (c *Client) Audit(ctx context.Context, q AuditQuery, cursor string, limit int) (List[AuditEntry], error) {
	var list List[AuditEntry]
	values := q.values()
	for name, value := range paging(cursor, limit) {
		values[name] = value
	}
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("audit"), values, nil, &list)
	return list, err
}

// ExportAudit writes all entries, oldest first, one a line, in the format jsonl or ocsf.
func (c *Client) ExportAudit(ctx context.Context, q AuditQuery, format string, to io.Writer) error {
	values := q.values()
	values.Set("format", format)
	res, err := c.send(ctx, http.MethodGet, c.inWorkspace("audit"), values, nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(to, res.Body); err != nil {
		return fmt.Errorf("read the audit: %w", err)
	}
	return nil
}

// VerifyAudit has the server check the chain behind an entry of a checkpoint; 0 = all of it.
func (c *Client) VerifyAudit(ctx context.Context, after int64) (AuditReport, error) {
	var report AuditReport
	values := url.Values{}
	if after > 0 {
		values.Set("after", strconv.FormatInt(after, 10))
	}
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("audit", "verify"), values, nil, &report)
	return report, err
}

// AuditCheckpoints lists the signed checkpoints.
func (c *Client) AuditCheckpoints(ctx context.Context) (AuditCheckpoints, error) {
	var list AuditCheckpoints
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("audit", "checkpoints"), nil, nil, &list)
	return list, err
}
