package sharepoint

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// SecretEnds returns when the secret of a connection expires, zero if that is not known: a
// certificate says it, and of a client secret Graph tells it to an application that may read
// applications.
func SecretEnds(ctx context.Context, f source.Follow, httpClient *http.Client) (time.Time, error) {
	c, err := newClient(f, httpClient)
	if err != nil {
		return time.Time{}, err
	}
	if c.secret.certificate != nil {
		return c.secret.certificate.NotAfter.UTC(), nil
	}
	token, err := c.bearer(ctx, c.resource)
	if err != nil {
		return time.Time{}, err
	}
	if !slices.ContainsFunc(rolesOf(token), func(role string) bool { return strings.HasPrefix(role, "Application.Read") }) {
		return time.Time{}, nil
	}
	var application struct {
		Secrets []struct {
			Hint string    `json:"hint"` // its first characters
			Ends time.Time `json:"endDateTime"`
		} `json:"passwordCredentials"`
	}
	err = c.get(ctx, "applications(appId='"+escape(c.clientID)+"')?$select=passwordCredentials", nil, &application)
	if knowledge.IsCode(err, knowledge.CodeForbidden) || knowledge.IsCode(err, knowledge.CodeNotFound) {
		err = nil // it may read others alone
	}
	var ends time.Time
	for _, s := range application.Secrets {
		if s.Hint != "" && strings.HasPrefix(c.secret.value, s.Hint) && (ends.IsZero() || s.Ends.Before(ends)) {
			ends = s.Ends
		}
	}
	return ends, err
}
