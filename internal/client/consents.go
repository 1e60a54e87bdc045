package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Consent is the agreement of a person whom documents are about.
type Consent struct {
	ID          string     `json:"id"`
	Subject     string     `json:"subject"`
	Purpose     string     `json:"purpose"`
	Evidence    string     `json:"evidence"`
	CreatedAt   time.Time  `json:"created_at,omitzero"`
	CreatedBy   string     `json:"created_by,omitempty"`
	WithdrawnAt *time.Time `json:"withdrawn_at,omitempty"`
	WithdrawnBy string     `json:"withdrawn_by,omitempty"`
}

// HeldDocument is a document that a legal hold kept from removal.
type HeldDocument struct {
	DocumentID string `json:"document_id"`
	Holds      string `json:"holds"`
}

// Withdrawal is what the withdrawal of a consent did.
type Withdrawal struct {
	Consent    Consent        `json:"consent"`
	Removed    int            `json:"removed"`
	KeptByHold []HeldDocument `json:"kept_by_hold"`
}

// AddConsent records a consent.
func (c *Client) AddConsent(ctx context.Context, subject, purpose, evidence string) (Consent, error) {
	var added Consent
	body := map[string]string{"subject": subject, "purpose": purpose}
	if evidence != "" {
		body["evidence"] = evidence
	}
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("consents"), nil, body, &added)
	return added, err
}

// Consents lists consents, newest first: those of a person, "" = of everybody, and with active
// those that nobody has withdrawn.
func (c *Client) Consents(ctx context.Context, subject string, active bool, cursor string, limit int) (List[Consent], error) {
	query := paging(cursor, limit)
	setString(query, "subject", subject)
	if active {
		query.Set("active", "true")
	}
	var list List[Consent]
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("consents"), query, nil, &list)
	return list, err
}

// WithdrawConsent withdraws a consent.
func (c *Client) WithdrawConsent(ctx context.Context, id string) (Withdrawal, error) {
	var done Withdrawal
	_, err := c.call(ctx, http.MethodDelete, c.inWorkspace("consents", id), nil, nil, &done)
	return done, err
}

// ExportSubject starts the export of what a person left, or with external a user of an
// application, and returns the id of its run.
func (c *Client) ExportSubject(ctx context.Context, person string, external bool) (string, error) {
	return c.startSubject(ctx, person, "export", external, nil)
}

// EraseSubject starts the erasure of what a person left, as ExportSubject does.
func (c *Client) EraseSubject(ctx context.Context, person string, external bool, reason string) (string, error) {
	return c.startSubject(ctx, person, "erase", external, map[string]string{"reason": reason})
}

func (c *Client) startSubject(ctx context.Context, person, action string, external bool, body any) (string, error) {
	query := url.Values{}
	if external {
		query.Set("external", "true")
	}
	var started struct {
		RunID string `json:"run_id"`
	}
	_, err := c.call(ctx, http.MethodPost, c.inWorkspace("subjects", person, action), query, body, &started)
	return started.RunID, err
}
