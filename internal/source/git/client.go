package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// defaultUser signs in with a token where the connection names nobody: services look at the
// token alone.
const defaultUser = "x-access-token"

// maxAnswer bounds the answers that are no packs: a server may have very many branches.
const maxAnswer = 64 << 20

// server is where a repository is, and what its server can do.
type server struct {
	// Address is the address of the repository, behind redirects.
	Address string `json:"address"`
	// Filter reports that the server sends trees without files.
	Filter bool `json:"filter,omitempty"`
}

// client speaks Git's protocol to the server of one repository.
type client struct {
	http       *http.Client
	repository string // address
	username   string
	secret     string
}

func newClient(f source.Follow, repository string, httpClient *http.Client) *client {
	through := *httpClient
	follow := through.CheckRedirect
	through.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		// The secret is for one server.
		if first := via[0].URL; r.URL.Hostname() != first.Hostname() || r.URL.Scheme != first.Scheme && r.URL.Scheme != "https" {
			return knowledge.Errorf(knowledge.CodeInvalid, "the repository has moved to another server: make a connection with its address of now")
		}
		if follow == nil {
			return nil
		}
		return follow(r, via)
	}
	return &client{http: &through, repository: repository, username: f.Options.Username, secret: f.Credentials}
}

// send sends a request. The caller closes the body of the answer, which is a success.
func (c *client) send(ctx context.Context, method, address string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the address of the repository is not valid").WithCause(err)
	}
	request.Header.Set("User-Agent", "git/cairn") // some servers look for git
	request.Header.Set("Git-Protocol", "version=2")
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		request.Header.Set("Accept", "application/x-git-upload-pack-result")
	}
	if c.secret != "" {
		request.SetBasicAuth(cmp.Or(c.username, defaultUser), c.secret)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, source.FromExchange(err)
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // the connection is used again
		return nil, c.refused(answer)
	}
	return answer, nil
}

// refused returns the error for an answer that is none.
func (c *client) refused(answer *http.Response) error {
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return knowledge.Errorf(knowledge.CodeForbidden, "the server refused the repository %q: check options.username and the secret of the connection, which is a token that may read the repository", c.repository)
	case http.StatusNotFound, http.StatusGone:
		return knowledge.Errorf(knowledge.CodeNotFound, "there is no repository %q, or the secret of the connection may not read it; check options.url of the connection and scope.repository of the sync", c.repository)
	}
	return source.FromStatus(answer.StatusCode, answer.Header, "repository", c.repository)
}

// exchange sends a request, three times at most, and calls read with the body of the answer.
func (c *client) exchange(ctx context.Context, method, address string, body []byte, read func(*http.Response, io.Reader) error) error {
	return source.Retry(ctx, func() error {
		ctx, cancel := context.WithCancel(ctx)
		answer, err := c.send(ctx, method, address, body) //nolint:bodyclose // Body closes it
		if err != nil {
			cancel()
			return err
		}
		in := source.NewBody(answer.Body, cancel)
		defer func() { _ = in.Close() }() // it was only read
		return known(read(answer, in))
	})
}

// known returns an error of the protocol as a source states it.
func known(err error) error {
	switch {
	case err == nil || errors.Is(err, errRefused): // the caller knows why
		return err
	case errors.Is(err, errTooLarge):
		return knowledge.Errorf(knowledge.CodeInvalid, "the repository has more than %d files, or trees of more than %d MB: follow another one", maxFiles, maxTreeBytes>>20).WithCause(err)
	}
	return source.FromExchange(err)
}

const infoRefs = "/info/refs"

// discover asks where the repository is, and what its server can do.
func (c *client) discover(ctx context.Context) (s server, err error) {
	err = c.exchange(ctx, http.MethodGet, c.repository+infoRefs+"?service=git-upload-pack", nil, func(answer *http.Response, body io.Reader) error {
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/x-git-upload-pack-advertisement") {
			return knowledge.Errorf(knowledge.CodeInvalid, "%q is not the address of a Git repository: check options.url of the connection and scope.repository of the sync", c.repository)
		}
		s = server{Address: c.repository}
		if at := answer.Request.URL; at != nil && strings.HasSuffix(at.Path, infoRefs) {
			behind := *at
			behind.Path, behind.RawPath, behind.RawQuery, behind.User = strings.TrimSuffix(at.Path, infoRefs), "", "", nil
			s.Address = behind.String()
		}
		filter, err := capabilities(newPackets(io.LimitReader(body, maxAnswer)))
		s.Filter = filter
		return err
	})
	return s, err
}

// capabilities reads what a server can do.
func capabilities(p *packets) (filter bool, err error) {
	second := false
	for {
		text, more, err := p.line()
		if err != nil {
			return false, err
		}
		name, value, _ := strings.Cut(text, "=")
		switch {
		case !more && second:
			return filter, nil
		case !more || strings.HasPrefix(text, "# service"): // before the list
		case text == "version 2":
			second = true
		case !second:
			return false, knowledge.Errorf(knowledge.CodeInvalid, "the server does not speak version 2 of Git's protocol, which is needed")
		case name == "object-format" && value != "sha1":
			return false, knowledge.Errorf(knowledge.CodeInvalid, "the repository names its objects by %.20q, which is not supported: sha1 is", value)
		case name == "fetch":
			for feature := range strings.FieldsSeq(value) {
				filter = filter || feature == "filter"
			}
		}
	}
}

// post sends a command.
func (c *client) post(ctx context.Context, s server, body []byte, read func(io.Reader) error) error {
	return c.exchange(ctx, http.MethodPost, s.Address+"/git-upload-pack", body, func(_ *http.Response, in io.Reader) error { return read(in) })
}

// head returns the commit of a branch, "" = the default one.
func (c *client) head(ctx context.Context, s server, branch string) (commit string, err error) {
	name := "HEAD"
	if branch != "" {
		name = "refs/heads/" + branch
	}
	err = c.post(ctx, s, request("ls-refs", "ref-prefix "+name), func(body io.Reader) error {
		commit = ""
		p := newPackets(io.LimitReader(body, maxAnswer))
		for {
			text, more, err := p.line()
			if err != nil || !more {
				return err
			}
			if object, ref, _ := strings.Cut(text, " "); ref == name {
				commit = object
			}
		}
	})
	if errors.Is(err, errRefused) {
		return "", source.Unavailable(err)
	}
	if err == nil && commit == "" {
		return "", knowledge.Errorf(knowledge.CodeNotFound, "the repository %q has no branch %q, or no commit there; check scope.branch of the sync", c.repository, name)
	}
	if err == nil {
		_, err = parseHash(commit)
		err = known(err)
	}
	return commit, err
}

// trees returns commits with their trees. It is errRefused if one of them is gone.
func (c *client) trees(ctx context.Context, s server, commits ...string) (objects map[hash]*object, err error) {
	arguments := []string{"no-progress", "ofs-delta", "deepen 1"}
	if s.Filter {
		arguments = append(arguments, "filter blob:none")
	}
	for _, commit := range commits {
		arguments = append(arguments, "want "+commit)
	}
	err = c.post(ctx, s, request("fetch", append(arguments, "done")...), func(body io.Reader) error {
		in, err := packOf(body)
		if err == nil {
			objects, err = readTrees(in)
		}
		return err
	})
	return objects, err
}

// blob opens a file. It is errRefused if the file is gone.
func (c *client) blob(ctx context.Context, s server, name string) (r io.ReadCloser, size int64, err error) {
	err = source.Retry(ctx, func() error {
		ctx, cancel := context.WithCancel(ctx)
		answer, err := c.send(ctx, http.MethodPost, s.Address+"/git-upload-pack", request("fetch", "no-progress", "want "+name, "done")) //nolint:bodyclose // Body closes it
		if err != nil {
			cancel()
			return err
		}
		body := source.NewBody(answer.Body, cancel)
		if r, size, err = openBlob(body, name); err != nil {
			_ = body.Close() // it was only read
		}
		return known(err)
	})
	return r, size, err
}

// addressOf returns the address of a repository below the address of a connection: a path, or
// a whole address that begins with that of the connection. ok is false for another one.
func addressOf(base, repository string) (address string, ok bool) {
	base = strings.TrimRight(base, "/")
	repository = strings.Trim(repository, "/")
	if strings.Contains(repository, "://") {
		if repository != base && !strings.HasPrefix(repository, base+"/") {
			return "", false
		}
		repository = strings.Trim(strings.TrimPrefix(repository, base), "/")
	}
	for part := range strings.SplitSeq(repository, "/") {
		if part == "." || part == ".." || part != url.PathEscape(part) {
			return "", false
		}
	}
	if repository == "" {
		return base, true
	}
	return base + "/" + repository, true
}
