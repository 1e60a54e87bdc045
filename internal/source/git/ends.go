package git

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
)

// SecretEnds returns when the token of a connection expires, zero if that is not known: GitHub
// says it in a header of its API, and GitLab in the description of the token.
func SecretEnds(ctx context.Context, f source.Follow, httpClient *http.Client) (time.Time, error) {
	at, err := url.Parse(f.Options.URL)
	if err != nil || f.Credentials == "" {
		return time.Time{}, nil
	}
	addresses := []string{at.Scheme + "://" + at.Host + "/api/v4/personal_access_tokens/self", at.Scheme + "://" + at.Host + "/api/v3/rate_limit"}
	if at.Hostname() == "github.com" {
		addresses = []string{"https://api.github.com/rate_limit"}
	}
	through := *httpClient
	through.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token is for this server
	for _, address := range addresses {
		if ends, err := endOf(ctx, &through, address, f.Credentials); err != nil || !ends.IsZero() {
			return ends, err
		}
	}
	return time.Time{}, nil
}

// endOf returns when a token expires, as an address says it, zero if it does not.
func endOf(ctx context.Context, c *http.Client, address, token string) (time.Time, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return time.Time{}, nil // the address of the connection has none of these
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := c.Do(request)
	if err != nil {
		return time.Time{}, source.FromExchange(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return time.Time{}, nil
	}
	var described struct {
		Expires string `json:"expires_at"`
	}
	data, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	_ = json.Unmarshal(data, &described) // another server has no such answer
	for text, layouts := range map[string][]string{
		answer.Header.Get("Github-Authentication-Token-Expiration"): {"2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700"},
		described.Expires: {time.DateOnly},
	} {
		for _, layout := range layouts {
			if ends, err := time.Parse(layout, text); err == nil {
				return ends.UTC(), nil
			}
		}
	}
	return time.Time{}, nil
}
