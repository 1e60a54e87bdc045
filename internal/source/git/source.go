package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Source is a branch of a repository. It implements source.Source.
type Source struct {
	client *client
	follow source.Follow
	folder string
	size   int
	before cursor

	mu     sync.Mutex
	server *server // nil = nobody has asked yet
	listed token   // whose plan is kept
	plan   *plan
}

// cursor is what a run leaves to the next one.
type cursor struct {
	Commit string            `json:"commit,omitempty"`
	Server *server           `json:"server,omitempty"`
	Keys   map[string]string `json:"keys,omitempty"` // of the files that have another key than their path
}

// token is where a page begins.
type token struct {
	Commit string `json:"commit"`
	Base   string `json:"base,omitempty"` // the commit that it is compared with, "" = none: every file is listed
	At     int    `json:"at,omitempty"`   // objects and removals that are listed already
}

// CheckConnection refuses settings that no repository can be reached with.
func CheckConnection(f source.Follow) error {
	u, err := url.Parse(f.Options.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return knowledge.Invalid("body.options.url", "must be the https address of a repository, or of what is above several ones, such as https://github.com/example: ssh and files are not supported")
	}
	return nil
}

// CheckScope refuses a scope that names no repository of the connection.
func CheckScope(f source.Follow) error {
	var wrong []knowledge.Field
	refuse := func(name, message string) {
		wrong = append(wrong, knowledge.Field{Location: "body.scope." + name, Message: message})
	}
	if _, ok := addressOf(f.Options.URL, f.Scope.Repository); !ok {
		refuse("repository", "must be a path below the address of the connection, such as example/handbook.git, or a whole address that begins with it")
	}
	if b := f.Scope.Branch; strings.HasPrefix(b, "refs/") || strings.ContainsAny(b, " ~^:?*[\\") || knowledge.HasControl(b) {
		refuse("branch", "must be the name of a branch, such as main")
	}
	for part := range strings.SplitSeq(strings.Trim(f.Scope.Folder, "/"), "/") {
		if part == ".." || part == "." {
			refuse("folder", "must be a path in the repository, such as docs/guides")
		}
	}
	return knowledge.InvalidFields(wrong)
}

// New returns the source of a branch. httpClient must be one that may reach addresses which
// users give.
func New(f source.Follow, httpClient *http.Client) (*Source, error) {
	address, ok := addressOf(f.Options.URL, f.Scope.Repository)
	if !ok {
		return nil, CheckScope(f)
	}
	s := &Source{client: newClient(f, address, httpClient), follow: f, folder: strings.Trim(f.Scope.Folder, "/"), size: cmp.Or(f.PageSize, source.MaxPage)}
	_ = json.Unmarshal([]byte(f.Cursor), &s.before) // an empty cursor knows nothing
	s.server = s.before.Server
	return s, nil
}

// Try reports whether the server gives the repository to the credentials.
func Try(ctx context.Context, f source.Follow, httpClient *http.Client) error {
	s, err := New(f, httpClient)
	if err == nil {
		_, err = s.head(ctx)
	}
	return err
}

// at returns where the repository is.
func (s *Source) at(ctx context.Context) (server, error) {
	s.mu.Lock()
	known := s.server
	s.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	found, err := s.client.discover(ctx)
	if err != nil {
		if errors.Is(err, errRefused) {
			err = source.Unavailable(err)
		}
		return found, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = &found
	return found, nil
}

// head returns the commit of the branch. A repository that is not where it was is looked for
// again.
func (s *Source) head(ctx context.Context) (string, error) {
	for again := s.before.Server != nil; ; again = false {
		at, err := s.at(ctx)
		if err != nil {
			return "", err
		}
		commit, err := s.client.head(ctx, at, s.follow.Scope.Branch)
		if e, ok := errors.AsType[*knowledge.Error](err); ok && again && !e.Retryable {
			s.mu.Lock()
			s.server = nil
			s.mu.Unlock()
			continue
		}
		return commit, err
	}
}

// List implements source.Source.
func (s *Source) List(ctx context.Context, text string) (source.Page, error) {
	var at token
	if text == "" || text == source.TokenAll {
		commit, err := s.head(ctx)
		if err != nil {
			return source.Page{}, err
		}
		if text == "" && commit == s.before.Commit {
			return source.Page{Cursor: s.follow.Cursor}, nil
		}
		at.Commit = commit
		if text == "" {
			at.Base = s.before.Commit
		}
	} else if err := json.Unmarshal([]byte(text), &at); err != nil {
		return source.Page{}, source.ErrExpired
	}
	p, err := s.planFor(ctx, &at)
	if err != nil {
		return source.Page{}, err
	}
	return s.page(p, at)
}

// planFor returns what a listing has. At its begin, it compares with no commit if the one of
// the run before is gone from the server.
func (s *Source) planFor(ctx context.Context, at *token) (*plan, error) {
	s.mu.Lock()
	kept := s.plan
	if s.listed.Commit != at.Commit || s.listed.Base != at.Base {
		kept = nil
	}
	s.mu.Unlock()
	if kept != nil && at.At > 0 {
		return kept, nil
	}
	p, err := s.compare(ctx, *at)
	if errors.Is(err, errRefused) && at.At == 0 && at.Base != "" {
		at.Base = ""
		p, err = s.compare(ctx, *at)
	}
	switch {
	case errors.Is(err, errRefused) && at.At > 0: // the branch has moved, and what it had is gone
		return nil, source.ErrExpired
	case errors.Is(err, errRefused):
		return nil, source.Unavailable(err)
	case err != nil:
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.plan = *at, p
	return p, nil
}

// compare fetches the trees of the commits of a listing, and compares them.
func (s *Source) compare(ctx context.Context, at token) (*plan, error) {
	where, err := s.at(ctx)
	if err != nil {
		return nil, err
	}
	wants := []string{at.Commit}
	if at.Base != "" {
		wants = append(wants, at.Base)
	}
	objects, err := s.client.trees(ctx, where, wants...)
	if err != nil {
		return nil, err
	}
	head, found, err := s.files(objects, at.Commit)
	if err == nil && !found {
		err = knowledge.Errorf(knowledge.CodeNotFound, "the branch has no folder %q; check scope.folder of the sync", s.folder)
	}
	if err != nil {
		return nil, err
	}
	var base []file
	if at.Base != "" {
		if base, _, err = s.files(objects, at.Base); err != nil {
			return nil, err
		}
	}
	p := compare(base, head, s.before.Keys, at.Commit)
	return &p, nil
}

// files returns the files of the scope in a commit.
func (s *Source) files(objects map[hash]*object, commit string) ([]file, bool, error) {
	h, err := parseHash(commit)
	if err != nil {
		return nil, false, known(err)
	}
	files, found, err := filesOf(objects, h, s.folder)
	return files, found, known(err)
}

// page returns a part of a plan: first what has changed, then what is gone.
func (s *Source) page(p *plan, at token) (source.Page, error) {
	var page source.Page
	from, last := at.At, min(at.At+s.size, len(p.changed)+len(p.gone))
	for n := from; n < last; n++ {
		if n < len(p.changed) {
			page.Objects = append(page.Objects, s.object(p.changed[n]))
		} else {
			page.Removed = append(page.Removed, printable(p.gone[n-len(p.changed)]))
		}
	}
	if at.At = last; last < len(p.changed)+len(p.gone) {
		next, err := json.Marshal(at)
		page.Next = string(next)
		return page, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = nil // the source is kept for the files
	text, err := json.Marshal(cursor{Commit: at.Commit, Server: s.server, Keys: p.keys})
	page.Full, page.Cursor = at.Base == "", string(text)
	return page, err
}

// object returns the object of a file. Its address has its key: the document of a renamed
// file stays.
func (s *Source) object(f keyed) source.Object {
	name := f.path
	if s.folder != "" {
		name = strings.TrimPrefix(name, s.folder+"/")
	}
	key := printable(f.key)
	return source.Object{
		Key: key, Name: printable(name), ETag: f.hash.String(), Bytes: -1, Ref: f.hash.String(),
		Address: s.client.repository + "#" + url.PathEscape(cmp.Or(s.follow.Scope.Branch, "HEAD")) + ":" + (&url.URL{Path: key}).EscapedPath(),
	}
}

// printable returns a path as UTF-8. The names of files in Git are bytes.
func printable(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return (&url.URL{Path: path}).EscapedPath()
}

// largePointer begins the files that stand for one in the large file storage.
const largePointer = "version https://git-lfs.github.com/spec/"

// Open implements source.Source. The content of a file is fixed by its etag.
func (s *Source) Open(ctx context.Context, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	if known != "" && known == o.ETag {
		return nil, o, source.ErrUnchanged
	}
	at, err := s.at(ctx)
	if err != nil {
		return nil, o, err
	}
	r, size, err := s.client.blob(ctx, at, o.Ref)
	if errors.Is(err, errRefused) {
		err = source.NotFound("file", o.Path())
	}
	if err != nil {
		return nil, o, err
	}
	in := bufio.NewReader(r)
	head, err := in.Peek(len(largePointer))
	if err != nil && !errors.Is(err, io.EOF) {
		_ = r.Close() // it was only read
		return nil, o, err
	}
	if bytes.Equal(head, []byte(largePointer)) {
		_ = r.Close()
		return nil, o, knowledge.Errorf(knowledge.CodeUnsupportedFormat, "the file is in Git's large file storage (LFS), which is not read")
	}
	o.Bytes = size
	return struct {
		io.Reader
		io.Closer
	}{in, r}, o, nil
}
