package confluence

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// client speaks to one Confluence.
type client struct {
	http     *http.Client
	base     string // without "/" at its end
	username string // in the cloud, "" = it is in a data center
	secret   string
}

// get asks for a resource, and reads the answer into a value.
func (c *client) get(ctx context.Context, path string, query url.Values, into any) error {
	return source.ReadJSON(ctx, func() (*http.Response, error) { return c.send(ctx, path, query, true) }, func(answer *http.Response) error { return c.refused(answer, path) }, into)
}

// isPublic reports whether people who have not signed in find something by a query.
func (c *client) isPublic(ctx context.Context, cql string) (public bool, err error) {
	err = source.Retry(ctx, func() error {
		answer, err := c.send(ctx, searchPath, url.Values{"cql": {cql}, "limit": {"1"}}, false)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode >= http.StatusInternalServerError {
			return c.refused(answer, searchPath)
		}
		if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
			return nil // such as a page to sign in
		}
		var found results[content]
		err = source.DecodeJSON(answer.Body, &found)
		public = len(found.Results) > 0
		return err
	})
	return public, err
}

// send sends a request, signed in or not. path is below the base.
func (c *client) send(ctx context.Context, path string, query url.Values, signedIn bool) (*http.Response, error) {
	address := c.base + "/" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the address of Confluence is not valid").WithCause(err)
	}
	request.Header.Set("User-Agent", "cairn")
	switch {
	case !signedIn:
	case c.username != "":
		request.SetBasicAuth(c.username, c.secret)
	default:
		request.Header.Set("Authorization", "Bearer "+c.secret)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, source.FromExchange(err)
	}
	return answer, nil
}

// open opens the bytes of an attachment. The caller closes the body.
func (c *client) open(ctx context.Context, download string) (*http.Response, *source.Body, error) {
	if !strings.HasPrefix(download, "/") || strings.HasPrefix(download, "//") { // the credentials go to no other server
		return nil, nil, knowledge.Errorf(knowledge.CodeInvalid, "Confluence names an address of the attachment that is not its own")
	}
	return source.OpenBody(ctx, func(ctx context.Context) (*http.Response, error) { return c.send(ctx, download[1:], nil, true) }, func(answer *http.Response) error { return c.refused(answer, download) })
}

// refused returns the error for an answer that is none.
func (c *client) refused(answer *http.Response, path string) error {
	switch answer.StatusCode {
	case http.StatusUnauthorized:
		return c.notSignedIn()
	case http.StatusForbidden:
		return knowledge.Errorf(knowledge.CodeForbidden, "Confluence refused the request: let the account of the connection use Confluence, and view the space and all of its pages")
	case http.StatusBadRequest:
		return knowledge.Errorf(knowledge.CodeInvalid, "Confluence does not accept the query: check the key of the space in the scope of the sync")
	case http.StatusNotFound, http.StatusGone:
		return knowledge.Errorf(knowledge.CodeNotFound, "Confluence does not show this to the account of the connection: check options.url and the scope of the sync, and let the account view the space")
	}
	return source.FromStatus(answer.StatusCode, answer.Header, "resource", path)
}

func (c *client) notSignedIn() error {
	if c.username != "" {
		return knowledge.Errorf(knowledge.CodeForbidden, "Confluence does not accept the account: options.username must be its mail address, and the secret an API token of id.atlassian.com that has not expired")
	}
	return knowledge.Errorf(knowledge.CodeForbidden, "Confluence does not accept the secret: it must be a personal access token of an account that may use Confluence, and not have expired; in the cloud, set options.username")
}

// Slow reports whether Confluence asks for fewer requests. In the cloud it may say until
// when, instead of for how long.
func Slow(answer *http.Response) (time.Duration, bool) {
	after := source.RetryAfter(answer.Header)
	if answer.StatusCode != http.StatusTooManyRequests {
		return after, answer.StatusCode == http.StatusServiceUnavailable && after > 0
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if until, err := time.Parse(layout, answer.Header.Get("X-RateLimit-Reset")); err == nil && after == 0 {
			after = min(max(time.Until(until), 0), time.Hour)
		}
	}
	return after, true
}
