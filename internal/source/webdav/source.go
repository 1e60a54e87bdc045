package webdav

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Source is a folder of a WebDAV server. It implements source.Source.
type Source struct {
	client *client
	follow source.Follow
	folder string // of the scope, below the base
	size   int
}

// CheckConnection refuses settings that no server can be reached with.
func CheckConnection(f source.Follow) error {
	u, err := url.Parse(f.Options.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return knowledge.Invalid("body.options.url", "must be the http or https address of the files, such as https://cloud.example.com/remote.php/dav/files/ann/")
	}
	return nil
}

// CheckScope refuses a folder that is no path.
func CheckScope(f source.Follow) error {
	for part := range strings.SplitSeq(strings.Trim(f.Scope.Folder, "/"), "/") {
		if part == ".." || part == "." {
			return knowledge.Invalid("body.scope.folder", "must be a path such as Handbook/2026")
		}
	}
	return nil
}

// New returns the source of a folder. client must be one that may reach addresses which
// users give.
func New(f source.Follow, httpClient *http.Client) (*Source, error) {
	base, err := url.Parse(strings.TrimSuffix(f.Options.URL, "/") + "/")
	if err != nil {
		return nil, CheckConnection(f)
	}
	size := f.PageSize
	if size == 0 {
		size = source.MaxPage
	}
	c := &client{http: httpClient, base: base, username: f.Options.Username, secret: f.Credentials, mirror: f.Mirror}
	return &Source{client: c, follow: f, folder: strings.Trim(f.Scope.Folder, "/"), size: size}, nil
}

// Try reports whether the server accepts the credentials.
func Try(ctx context.Context, f source.Follow, client *http.Client) error {
	s, err := New(f, client)
	if err != nil {
		return err
	}
	_, err = s.client.stat(ctx, s.folder, true)
	return err
}

// cursor is what a run leaves to the next one.
type cursor struct {
	// Root is the etag of the folder when the run began: Nextcloud changes it with every
	// change below.
	Root string `json:"root,omitempty"`
	// Unsure counts the runs, one after another, during which the folder has changed.
	Unsure int `json:"unsure,omitempty"`
}

// token is where a page begins.
type token struct {
	Root  string `json:"root,omitempty"` // etag of the folder when the listing began
	After string `json:"after,omitempty"`
}

// unsureRuns is how many runs, one after another, leave what they did not find because the
// folder changed while they listed it: a file that is moved meanwhile may be missed.
const unsureRuns = 3

// List implements source.Source.
func (s *Source) List(ctx context.Context, text string) (source.Page, error) {
	var at token
	var before cursor
	_ = json.Unmarshal([]byte(s.follow.Cursor), &before) // an empty cursor knows nothing
	if text == "" || text == source.TokenAll {
		root, err := s.client.stat(ctx, s.folder, true)
		if err != nil {
			return source.Page{}, err
		}
		if !root.folder {
			return source.Page{}, knowledge.Errorf(knowledge.CodeInvalid, "%q is no folder: name a folder in the scope of the sync", s.folder)
		}
		at.Root = root.etag
		// The rights change without the etag.
		if text == "" && !s.follow.Mirror && root.id != "" && root.etag != "" && root.etag == before.Root && before.Unsure == 0 {
			return source.Page{Cursor: s.follow.Cursor}, nil
		}
	} else if err := json.Unmarshal([]byte(text), &at); err != nil {
		return source.Page{}, source.ErrExpired
	}
	w := &walk{Source: s, left: s.size, folders: foldersPerPage}
	rights, err := s.rightsAbove(ctx)
	if err == nil {
		err = w.walk(ctx, s.folder, rights, at.After)
	}
	if err != nil {
		return source.Page{}, err
	}
	if w.stopped {
		at.After = w.last
		next, err := json.Marshal(at)
		if err == nil && len(next) > source.MaxToken {
			err = knowledge.Errorf(knowledge.CodeInvalid, "the path %.100q… is too long", w.last)
		}
		return source.Page{Objects: w.objects, Next: string(next)}, err
	}
	return s.lastPage(ctx, w.objects, at, before)
}

// lastPage returns the last page of a listing.
func (s *Source) lastPage(ctx context.Context, objects []source.Object, at token, before cursor) (source.Page, error) {
	page, now := source.Page{Objects: objects, Full: true}, cursor{Root: at.Root}
	root, err := s.client.stat(ctx, s.folder, true)
	if err != nil {
		return page, err
	}
	if root.id != "" && root.etag != at.Root && before.Unsure < unsureRuns {
		page.Full, now.Unsure = false, before.Unsure+1
	}
	text, err := json.Marshal(now)
	page.Cursor = string(text)
	return page, err
}

// Open implements source.Source.
func (s *Source) Open(ctx context.Context, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	if known != "" && known == o.ETag { // the listing has just said so
		return nil, o, source.ErrUnchanged
	}
	answer, body, err := s.client.get(ctx, o.Ref) //nolint:bodyclose // Body closes it
	if err != nil {
		return nil, o, err
	}
	fail := func(err error) (io.ReadCloser, source.Object, error) {
		_ = body.Close()
		return nil, o, err
	}
	tag := cleanTag(answer.Header.Get("ETag"))
	if tag == "" || tag != o.ETag { // another file may stand in its place
		now, err := s.client.stat(ctx, o.Ref, false)
		if err != nil {
			return fail(err)
		}
		if s.key(now) != o.Key {
			return fail(source.NotFound("file", o.Path()))
		}
		if tag != "" && !strings.HasPrefix(now.etag, "m:") && now.etag != tag {
			return fail(source.Unavailable(errMoved))
		}
		o.ETag = now.etag
	}
	o.Bytes = answer.ContentLength
	if kind := answer.Header.Get("Content-Type"); kind != "" {
		o.MediaType = kind
	}
	return body, o, nil
}
