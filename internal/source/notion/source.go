package notion

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The times of listings.
const (
	// fullEvery is the least time between two listings of everything.
	fullEvery = 6 * time.Hour
	// overlap is for how long a change may be missing in the search of Notion.
	overlap = 30 * time.Minute
)

// Source is what is shared with an integration, or the part of it below a page or a database.
// It implements source.Source, but List must not be called twice at the same time.
type Source struct {
	client *client
	follow source.Follow
	state  source.State
	root   string // id of the page or database of the scope, "" = everything
	size   int
	before cursor // of the run before

	index *index // for the token next, nil = it is to be loaded
	next  string
}

// CheckConnection refuses settings that Notion cannot be reached with.
func CheckConnection(f source.Follow) error {
	if f.Options.URL != "" {
		u, err := url.Parse(f.Options.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			return knowledge.Invalid("body.options.url", "must be an http or https address; leave it out for Notion's own")
		}
	}
	if f.Credentials == "" {
		return knowledge.Invalid("body.secret", "must be the access token of an integration, from its page in Notion")
	}
	return nil
}

// CheckScope refuses a page or a database that has no id.
func CheckScope(f source.Follow) error {
	switch {
	case f.Scope.Page != "" && f.Scope.Database != "":
		return knowledge.Invalid("body.scope.database", "contradicts scope.page: name one of them, and make a sync for each")
	case f.Scope.Page != "" && idIn(f.Scope.Page) == "":
		return knowledge.Invalid("body.scope.page", "must be the address of a page of Notion, or its id")
	case f.Scope.Database != "" && idIn(f.Scope.Database) == "":
		return knowledge.Invalid("body.scope.database", "must be the address of a database of Notion, or its id")
	}
	return nil
}

// maxPage bounds the objects of a page: a page of Notion takes a request or more.
const maxPage = 200

// New returns the source of a scope. client must be one that may reach addresses which users
// give.
func New(f source.Follow, httpClient *http.Client) (*Source, error) {
	c := &client{http: httpClient, base: strings.TrimRight(cmp.Or(f.Options.URL, defaultURL), "/"), token: f.Credentials}
	s := &Source{client: c, follow: f, state: f.State, root: idIn(f.Scope.Page + f.Scope.Database), size: min(cmp.Or(f.PageSize, maxPage), maxPage)}
	if s.state == nil {
		s.state = memory{}
	}
	if json.Unmarshal([]byte(f.Cursor), &s.before) != nil {
		s.before = cursor{} // there was no run
	}
	return s, nil
}

// Try reports whether Notion accepts the token, lets the integration read, and shows it
// anything.
func Try(ctx context.Context, f source.Follow, client *http.Client) error {
	s, err := New(f, client)
	if err != nil {
		return err
	}
	var me struct{}
	if err := s.client.get(ctx, "users/me", nil, &me); err != nil {
		return err
	}
	found, err := s.search(ctx, "", 1)
	if err == nil && len(found.Results) == 0 {
		err = knowledge.Errorf(knowledge.CodeForbidden, "nothing is shared with the integration: in Notion, open the page to follow, then the menu •••, Connections, and add the integration; what is below the page is shared with it")
	}
	return err
}

// cursor is what a run leaves to the next one, beside its index.
type cursor struct {
	Run   int          `json:"run"`
	Since time.Time    `json:"since"`         // when the listing of the run began
	Full  time.Time    `json:"full,omitzero"` // when the last listing of everything began that was believed
	Doubt source.Doubt `json:"doubt"`
	Parts int          `json:"parts"` // of the index
}

// token is where a page begins.
type token struct {
	All   bool      `json:"all,omitempty"`  // it lists everything
	Anew  bool      `json:"anew,omitempty"` // and does not use the index of the run before
	Began time.Time `json:"began"`
	Since time.Time `json:"since,omitzero"`
	Next  string    `json:"next,omitempty"` // where the search continues
	// Found counts the stored parts of what came from Notion, Gathered those of the search
	// when it had ended, and Parts those of the index.
	Found    int  `json:"found,omitempty"`
	Searched bool `json:"searched,omitempty"`
	Gathered int  `json:"gathered,omitempty"`
	Parts    int  `json:"parts,omitempty"`
	Visited  int  `json:"visited,omitempty"` // entries until now
	Count    int  `json:"count,omitempty"`   // objects until now
}

// List implements source.Source. It first searches, and then visits what it found and knows.
func (s *Source) List(ctx context.Context, text string) (source.Page, error) {
	var at token
	if text != s.next { // it is asked for again
		s.index = nil
	}
	if text == "" || text == source.TokenAll {
		now := time.Now()
		at = token{Began: now, Since: s.before.Since.Add(-overlap)}
		at.Anew = text != "" || s.before.Since.IsZero()
		at.All = at.Anew || now.Sub(s.before.Full) >= fullEvery
		s.index = nil
		if at.All {
			if err := s.checkRoot(ctx); err != nil {
				return source.Page{}, err
			}
		}
	} else if err := json.Unmarshal([]byte(text), &at); err != nil {
		return source.Page{}, source.ErrExpired
	}
	if !at.Searched {
		if err := s.gather(ctx, &at); err != nil {
			return source.Page{}, err
		}
	}
	var page source.Page
	more := !at.Searched
	if at.Searched {
		var err error
		if page, more, err = s.visitAll(ctx, &at); err != nil {
			s.index = nil // a repetition begins with what is stored
			return source.Page{}, err
		}
	}
	if !more {
		return page, s.end(&page, at)
	}
	next, err := json.Marshal(at)
	page.Next, s.next = string(next), string(next)
	return page, err
}

// checkRoot returns an error unless Notion shows the page or database of the scope.
func (s *Source) checkRoot(ctx context.Context) error {
	if s.root == "" {
		return nil
	}
	path, what := "pages/", "page"
	if s.follow.Scope.Database != "" {
		path, what = "databases/", "database"
	}
	var root item
	err := s.client.get(ctx, path+s.root, nil, &root)
	if knowledge.IsCode(err, knowledge.CodeNotFound) || err == nil && (root.InTrash || root.Archived) {
		return knowledge.Errorf(knowledge.CodeNotFound, "Notion does not show the %s of the scope to the integration: open it, then the menu •••, Connections, and add the integration; or it is in the trash", what)
	}
	return err
}

// end completes the last page of a listing.
func (s *Source) end(page *source.Page, at token) error {
	now := cursor{Run: s.before.Run + 1, Since: at.Began, Full: s.before.Full, Doubt: s.before.Doubt, Parts: at.Parts}
	if at.All {
		now.Full = time.Time{} // unless it is believed, the next run lists everything
		if now.Doubt, page.Full = s.before.Doubt.After(at.Count, false); page.Full {
			now.Full = at.Began
		}
	}
	text, err := json.Marshal(now)
	page.Cursor = string(text)
	return err
}

// memory is the state of a listing that no other process continues.
type memory map[string][]byte

// Load implements source.State.
func (m memory) Load(_ context.Context, name string) ([]byte, error) { return m[name], nil }

// Save implements source.State.
func (m memory) Save(_ context.Context, name string, value []byte) error {
	m[name] = value
	return nil
}
