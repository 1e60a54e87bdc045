package confluence

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The times of listings.
const (
	// fullEvery is the least time between two listings of everything without the rights.
	fullEvery = 6 * time.Hour
	// overlap is for how long a change may be missing in the index of Confluence.
	overlap = 30 * time.Minute
)

// Source is a space, or all spaces. It implements source.Source.
type Source struct {
	client *client
	follow source.Follow
	size   int

	mu    sync.Mutex
	names map[string]string // of users, by their ids
}

// CheckConnection refuses settings that no Confluence can be reached with.
func CheckConnection(f source.Follow) error {
	u, err := url.Parse(f.Options.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return knowledge.Invalid("body.options.url", "must be the http or https address of Confluence, such as https://example.atlassian.net/wiki")
	}
	if f.Credentials == "" {
		return knowledge.Invalid("body.secret", "must be an API token of the account options.username in the cloud, and a personal access token in a data center")
	}
	return nil
}

// spaceKey matches the keys of spaces, of which those of people begin with "~".
var spaceKey = regexp.MustCompile(`^~?[A-Za-z0-9_.@-]+$`)

// CheckScope refuses a space that is no key.
func CheckScope(f source.Follow) error {
	if f.Scope.Space != "" && !spaceKey.MatchString(f.Scope.Space) {
		return knowledge.Invalid("body.scope.space", "must be the key of a space, which stands in the addresses of its pages, such as DOC")
	}
	return nil
}

// New returns the source of a space or of all. client must be one that may reach addresses
// which users give.
func New(f source.Follow, httpClient *http.Client) (*Source, error) {
	base := strings.TrimRight(f.Options.URL, "/")
	if u, err := url.Parse(base); err == nil && u.Path == "" && strings.HasSuffix(u.Hostname(), ".atlassian.net") {
		base += "/wiki"
	}
	c := &client{http: httpClient, base: base, username: f.Options.Username, secret: f.Credentials}
	return &Source{client: c, follow: f, size: cmp.Or(f.PageSize, source.MaxPage), names: map[string]string{}}, nil
}

// Try reports whether Confluence accepts the credentials.
func Try(ctx context.Context, f source.Follow, client *http.Client) error {
	s, err := New(f, client)
	if err != nil {
		return err
	}
	return s.signIn(ctx)
}

// signIn returns an error unless Confluence accepts the account and shows it the space: a
// search by nobody, or in no space, finds nothing and does not fail.
func (s *Source) signIn(ctx context.Context) error {
	var account struct {
		Type string `json:"type"`
	}
	if err := s.client.get(ctx, "rest/api/user/current", nil, &account); err != nil {
		return err
	}
	if account.Type == "anonymous" {
		return s.client.notSignedIn()
	}
	key := s.follow.Scope.Space
	if key == "" {
		return nil
	}
	var found results[space]
	var err error
	if s.client.username == "" {
		found.Results = make([]space, 1)
		err = s.client.get(ctx, "rest/api/space/"+url.PathEscape(key), nil, &found.Results[0])
	} else {
		err = s.client.get(ctx, "api/v2/spaces", url.Values{"keys": {key}}, &found)
	}
	if knowledge.IsCode(err, knowledge.CodeNotFound) || err == nil && len(found.Results) == 0 {
		return knowledge.Errorf(knowledge.CodeNotFound, "Confluence does not show the space %q to the account of the connection: check its key, and let the account view the space", key)
	}
	return err
}

// cursor is what a run leaves to the next one.
type cursor struct {
	Since time.Time    `json:"since"`         // when the listing of the run began
	Full  time.Time    `json:"full,omitzero"` // when the last listing of everything began that was believed
	Doubt source.Doubt `json:"doubt"`
}

// token is where a page begins.
type token struct {
	All     bool      `json:"all,omitempty"` // it lists everything
	Began   time.Time `json:"began"`
	Since   time.Time `json:"since,omitzero"`
	Next    string    `json:"next,omitempty"`    // in the cloud: where the service continues
	Start   int       `json:"start,omitempty"`   // in a data center: how many it has listed
	Last    string    `json:"last,omitempty"`    // id of the last one
	Shifted bool      `json:"shifted,omitempty"` // contents before the place were removed meanwhile
	Count   int       `json:"count,omitempty"`   // objects until now
}

// List implements source.Source.
func (s *Source) List(ctx context.Context, text string) (source.Page, error) {
	var before cursor
	if err := json.Unmarshal([]byte(s.follow.Cursor), &before); err != nil {
		before = cursor{} // there was no run
	}
	var at token
	if text == "" || text == source.TokenAll {
		if err := s.signIn(ctx); err != nil {
			return source.Page{}, err
		}
		now := time.Now()
		at = token{Began: now, Since: before.Since.Add(-overlap)}
		at.All = text != "" || s.follow.Mirror || before.Since.IsZero() || now.Sub(before.Full) >= fullEvery
	} else if err := json.Unmarshal([]byte(text), &at); err != nil {
		return source.Page{}, source.ErrExpired
	}
	list, more, err := s.gather(ctx, &at)
	if err != nil {
		return source.Page{}, err
	}
	page, err := s.pageOf(ctx, list, at.All)
	if err != nil {
		return source.Page{}, err
	}
	at.Count += len(page.Objects)
	if !more {
		return page, end(&page, at, before)
	}
	next, err := json.Marshal(at)
	page.Next = string(next)
	return page, err
}

// end completes the last page of a listing.
func end(page *source.Page, at token, before cursor) error {
	now := cursor{Since: at.Began, Full: before.Full, Doubt: before.Doubt}
	switch {
	case at.All:
		now.Full = time.Time{} // unless it is believed, the next run lists everything
		if now.Doubt, page.Full = before.Doubt.After(at.Count, at.Shifted); page.Full {
			now.Full = at.Began
		}
	case at.Shifted:
		now.Since = before.Since
	}
	text, err := json.Marshal(now)
	page.Cursor = string(text)
	return err
}
