package drive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Source is a part of Google Drive. It implements source.Source.
type Source struct {
	client *client
	follow source.Follow
	size   int

	mu      sync.Mutex
	folders map[string]*file // that were asked for; nil = it is not there
}

// CheckConnection refuses credentials that are no service account.
func CheckConnection(f source.Follow) error {
	if u, err := url.Parse(f.Options.URL); f.Options.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return knowledge.Invalid("body.options.url", "must be an http or https address; leave it out for Google")
	}
	_, err := readAccount(f.Credentials)
	return err
}

// CheckScope refuses a scope that names neither a drive nor a folder nor a user.
func CheckScope(f source.Follow) error {
	if f.Scope.Drive == "" && f.Scope.Folder == "" && f.Options.Subject == "" {
		return knowledge.Invalid("body.scope", "must name a shared drive or a folder by its id, unless the connection acts for a user (options.subject)")
	}
	for _, id := range []string{f.Scope.Drive, f.Scope.Folder} {
		if strings.ContainsAny(id, "/?#'\\") {
			return knowledge.Invalid("body.scope", "must have the ids of Drive, which stand in the addresses of its pages")
		}
	}
	return nil
}

// New returns the source of a part of Drive. client must be one that may reach addresses
// which users give.
func New(f source.Follow, httpClient *http.Client) (*Source, error) {
	a, err := readAccount(f.Credentials)
	if err != nil {
		return nil, err
	}
	c := &client{http: httpClient, api: googleAPI, directory: googleDirectory, tokens: googleToken, subject: f.Options.Subject, account: a, granted: map[string]granted{}}
	if base := strings.TrimSuffix(f.Options.URL, "/"); base != "" {
		c.api, c.directory, c.tokens = base, base, base+"/token"
	}
	return &Source{client: c, follow: f, size: cmp.Or(f.PageSize, source.MaxPage), folders: map[string]*file{}}, nil
}

// Try reports whether Drive accepts the credentials.
func Try(ctx context.Context, f source.Follow, httpClient *http.Client) error {
	s, err := New(f, httpClient)
	if err != nil {
		return err
	}
	var about struct{}
	return s.client.get(ctx, "about", url.Values{"fields": {"user(emailAddress)"}}, &about)
}

// token is where a page begins.
type token struct {
	Changes string `json:"changes,omitempty"` // page of changes
	Files   string `json:"files,omitempty"`   // page of the listing of everything, "" = the first
	All     bool   `json:"all,omitempty"`     // it lists everything
	Cursor  string `json:"cursor,omitempty"`  // of the next run, "" = where the changes end
}

// List implements source.Source.
func (s *Source) List(ctx context.Context, text string) (source.Page, error) {
	s.forget() // folders may have been renamed since
	var at token
	switch {
	case text == source.TokenAll || text == "" && s.follow.Cursor == "":
		var start struct {
			Token string `json:"startPageToken"`
		}
		if err := s.client.get(ctx, "changes/startPageToken", s.inDrive(url.Values{}), &start); err != nil {
			return source.Page{}, err
		}
		at = token{All: true, Cursor: start.Token}
	case text == "":
		var err error
		if at, err = s.begin(ctx); err != nil {
			return source.Page{}, err
		}
	default:
		if err := json.Unmarshal([]byte(text), &at); err != nil {
			return source.Page{}, source.ErrExpired
		}
	}
	if at.All {
		return s.listAll(ctx, at)
	}
	return s.listChanges(ctx, at)
}

// inDrive adds the shared drive to a query.
func (s *Source) inDrive(q url.Values) url.Values {
	if s.follow.Scope.Drive != "" {
		q.Set("driveId", s.follow.Scope.Drive)
	}
	return q
}

// listAll lists a page of everything.
func (s *Source) listAll(ctx context.Context, at token) (source.Page, error) {
	q := s.inDrive(url.Values{
		"q": {"trashed = false and mimeType != '" + kindFolder + "'"}, "pageSize": {strconv.Itoa(s.size)}, "includeItemsFromAllDrives": {"true"},
		"fields": {"nextPageToken,incompleteSearch,files(" + fileFields + ")"},
	})
	if s.follow.Scope.Drive != "" {
		q.Set("corpora", "drive")
	}
	if at.Files != "" {
		q.Set("pageToken", at.Files)
	}
	var answer struct {
		Next       string `json:"nextPageToken"`
		Incomplete bool   `json:"incompleteSearch"`
		Files      []file `json:"files"`
	}
	if err := s.client.get(ctx, "files", q, &answer); err != nil {
		return source.Page{}, err
	}
	if answer.Incomplete {
		return source.Page{}, source.Unavailable(errIncomplete)
	}
	page := source.Page{}
	for _, f := range answer.Files {
		o, inside, err := s.object(ctx, f)
		if err != nil {
			return source.Page{}, err
		}
		if inside {
			page.Objects = append(page.Objects, o)
		}
	}
	if answer.Next != "" {
		at.Files = answer.Next
		return page, s.next(&page, at)
	}
	page.Full, page.Cursor = true, at.Cursor
	return page, nil
}

// errIncomplete is the cause of the error for a listing that Drive did not complete.
var errIncomplete = errors.New("the answer of Drive is not complete")

// next sets the token of the page after.
func (s *Source) next(page *source.Page, at token) error {
	text, err := json.Marshal(at)
	page.Next = string(text)
	return err
}

// change is a change that Drive tells of.
type change struct {
	ID      string `json:"fileId"`
	Removed bool   `json:"removed"`
	File    *file  `json:"file"`
}

// ofFolder reports whether what is below a folder may have changed with it, which Drive does
// not tell. What was removed may have been a folder.
func (c change) ofFolder() bool {
	return c.ID == "" || c.Removed || c.File == nil || c.File.MimeType == kindFolder
}

// changes is a page of changes.
type changes struct {
	Next  string   `json:"nextPageToken"`
	Start string   `json:"newStartPageToken"`
	List  []change `json:"changes"`
}

func (s *Source) changesAt(ctx context.Context, at, fields string, size int) (page changes, err error) {
	err = s.client.get(ctx, "changes", s.inDrive(url.Values{
		"pageToken": {at}, "pageSize": {strconv.Itoa(size)}, "includeItemsFromAllDrives": {"true"}, "includeRemoved": {"true"},
		"fields": {"nextPageToken,newStartPageToken,changes(changeType,fileId,removed,file(" + fields + "))"},
	}), &page)
	if err == nil && page.Next == "" && page.Start == "" {
		err = source.Unavailable(errIncomplete)
	}
	return page, err
}

// begin returns where the listing of a run begins. If a folder has changed, everything is
// listed: a listing of changes that goes over to one of everything could not tell what is
// gone.
func (s *Source) begin(ctx context.Context) (token, error) {
	folder := false
	for at := s.follow.Cursor; ; {
		page, err := s.changesAt(ctx, at, "mimeType", source.MaxPage)
		if err != nil {
			return token{}, err
		}
		folder = folder || slices.ContainsFunc(page.List, change.ofFolder)
		switch {
		case page.Next != "":
			at = page.Next
		case folder:
			return token{All: true, Cursor: page.Start}, nil
		default:
			return token{Changes: s.follow.Cursor}, nil
		}
	}
}

// listChanges lists a page of what has changed. A folder that has changed since the run began
// is left to the next run, which begins at this page again.
func (s *Source) listChanges(ctx context.Context, at token) (source.Page, error) {
	answer, err := s.changesAt(ctx, at.Changes, fileFields, s.size)
	if err != nil {
		return source.Page{}, err
	}
	last := map[string]int{} // what comes last counts
	for n, c := range answer.List {
		last[c.ID] = n
	}
	page := source.Page{}
	for n, c := range answer.List {
		if c.ofFolder() {
			at.Cursor = cmp.Or(at.Cursor, at.Changes)
			continue
		}
		if last[c.ID] != n {
			continue
		}
		o, inside, err := s.object(ctx, *c.File)
		switch {
		case err != nil:
			return source.Page{}, err
		case inside:
			page.Objects = append(page.Objects, o)
		default:
			page.Removed = append(page.Removed, keyOf(c.ID))
		}
	}
	if answer.Next != "" {
		at.Changes = answer.Next
		return page, s.next(&page, at)
	}
	page.Cursor = cmp.Or(at.Cursor, answer.Start)
	return page, nil
}
