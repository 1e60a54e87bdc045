package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Reader names somebody whose access to a document is asked about.
type Reader struct {
	User         string
	Groups       []string
	ExternalUser string
	Conversation string
	KeyID        string
}

// AccessExplanation is whether a search of a reader shows a document, and why.
type AccessExplanation struct {
	Allowed bool           `json:"allowed"`
	Because []AccessReason `json:"because"`
}

// AccessReason is a rule that was applied.
type AccessReason struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Effect string `json:"effect"` // allow, deny or none
	Detail string `json:"detail"`
}

// ExplainAccess returns whether a search of a reader shows a document, and why.
func (c *Client) ExplainAccess(ctx context.Context, document string, r Reader) (AccessExplanation, error) {
	query := url.Values{"document_id": {document}}
	for name, value := range map[string]string{
		"user": r.User, "groups": strings.Join(r.Groups, ","), "external_user": r.ExternalUser, "conversation_id": r.Conversation, "key_id": r.KeyID,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var explained AccessExplanation
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("access", "explain"), query, nil, &explained)
	return explained, err
}
