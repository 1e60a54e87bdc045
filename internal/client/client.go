package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Config configures the server and the credentials of a Client.
type Config struct {
	// URL is the server's root, such as http://127.0.0.1:8080. Required.
	URL string
	// Key is an API key or a JWT. Defaults to none; most routes then refuse the
	// request.
	Key string
	// Workspace is the workspace in which the client acts. Defaults to "default".
	Workspace string
	// HTTP sends the requests. It must not have a timeout, which would cut
	// streams. Defaults to a client with its own transport.
	HTTP *http.Client
	// Patience is how long a stream of events tries to reconnect. The time
	// starts again after a connection that was up: one that delivered an event,
	// or that lasted longer than 2 s (or Patience, if that is shorter) without
	// falling silent. Defaults to 60 s.
	Patience time.Duration
	// Silence is how long the server may send nothing, comments included,
	// before the connection counts as lost. It applies within a stream and,
	// unless HTTP is set, between a request and the first byte of its answer.
	// Defaults to 45 s, three times the interval of the server's comments.
	Silence time.Duration
}

// Client is a client of one workspace of one server.
type Client struct {
	base      *url.URL
	key       string
	workspace string
	http      *http.Client
	patience  time.Duration
	silence   time.Duration
	user      string           // the application's user for whom runs are followed and cancelled
	started   func(run string) // is told of each run that is started; may be nil
	outages   func(error)      // is told of outages; may be nil
	alive     *alive           // nil without outages
}

// For returns a client that follows and cancels the runs of one of the application's
// users ("" = the key's own), and tells started, which may be nil, the id of each run
// that it starts.
func (c *Client) For(user string, started func(run string)) *Client {
	other := *c
	other.user, other.started = user, started
	return &other
}

// New returns a Client. It does not connect.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(cfg.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("server address %q: want http://host:port or https://host", cfg.URL)
	}
	for name, value := range map[string]string{"key": cfg.Key, "workspace": cfg.Workspace} {
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("the %s contains a line break or another control character", name)
		}
	}
	c := &Client{base: base, key: cfg.Key, workspace: cfg.Workspace, http: cfg.HTTP,
		patience: cfg.Patience, silence: cfg.Silence}
	if c.workspace == "" {
		c.workspace = "default"
	}
	if c.patience == 0 {
		c.patience = 60 * time.Second
	}
	if c.silence == 0 {
		c.silence = 45 * time.Second
	}
	if c.http == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		// This holds for streams too: they begin with an event or a comment at
		// once. No request of this client waits for a result before its answer
		// begins.
		transport.ResponseHeaderTimeout = c.silence
		c.http = &http.Client{Transport: transport}
	}
	return c, nil
}

// Ready returns nil if the server reports that it is ready, an error that wraps
// ErrNoServer if no server answers, and otherwise the server's error.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.call(ctx, http.MethodGet, "/readyz", nil, nil, nil)
	return err
}

// Readiness is whether a process of the server can work.
type Readiness struct {
	Status       string       `json:"status"` // ready or unavailable
	Dependencies []Dependency `json:"dependencies"`

	StaleEmbeddings []StaleEmbeddings `json:"staleEmbeddings"` // of all projects
	// UncomparedEmbeddings are models at an endpoint that could not be compared with the one
	// that embedded the documents.
	UncomparedEmbeddings []UncomparedEmbeddings `json:"uncomparedEmbeddings,omitempty"`

	DiskProblem *DiskProblem `json:"diskProblem,omitempty"` // nil = the disk takes uploads

	Models          []ModelCall `json:"models"`          // only Details sets it
	IndexIncomplete bool        `json:"indexIncomplete"` // only Details sets it; the index has no passage of a document that is published
	Disk            *DiskSpace  `json:"disk,omitempty"`  // only Details sets it; nil = the process has no data folder
}

// DiskSpace is the free space of the disk of the server's data folder, and the use of it by
// file or folder.
type DiskSpace struct {
	FreeBytes int64            `json:"freeBytes"`
	UsedBytes map[string]int64 `json:"usedBytes"`
}

// DiskProblem is the reason for which a disk of the server takes no uploads.
type DiskProblem struct {
	Code        string `json:"code"` // full or read_only
	FreeBytes   int64  `json:"freeBytes"`
	NeededBytes int64  `json:"neededBytes"`
	Message     string `json:"message"` // what to do

	RefusesQuestions bool `json:"refusesQuestions"` // questions too get 503
}

// ModelCall is the last call of a model endpoint by a process of the server.
type ModelCall struct {
	Provider string    `json:"provider"`
	Kind     string    `json:"kind"`
	Outcome  string    `json:"outcome"` // ok or error
	At       time.Time `json:"at"`
}

// UncomparedEmbeddings is an embedding model whose endpoint could not be compared.
type UncomparedEmbeddings struct {
	Model   string `json:"model"`
	Message string `json:"message"`
}

// StaleEmbeddings counts documents that were embedded with another model than the one that
// is configured.
type StaleEmbeddings struct {
	EmbeddedWith string `json:"embeddedWith"`
	Configured   string `json:"configured"`
	Documents    int    `json:"documents"`
	Reindexing   int    `json:"reindexing,omitempty"` // documents, of Documents, in projects whose reindex runs
}

// Dependency is a service that a process of the server needs.
type Dependency struct {
	Name   string `json:"name"`
	Status string `json:"status"` // up or down
}

// Readiness returns what the server reports about itself, whether it is ready or not.
func (c *Client) Readiness(ctx context.Context) (Readiness, error) { return c.readiness(ctx, nil) }

// Details is Readiness with the last calls of the model endpoints, a comparison of the
// index with the published documents, and a fresh count of stale embeddings.
func (c *Client) Details(ctx context.Context) (Readiness, error) {
	return c.readiness(ctx, url.Values{"verbose": {"true"}})
}

func (c *Client) readiness(ctx context.Context, query url.Values) (Readiness, error) {
	var state Readiness
	res, err := c.do(ctx, http.MethodGet, "/readyz", query, nil, nil)
	if err != nil {
		return state, err
	}
	defer res.Body.Close()
	if !isJSON(res.Header.Get("Content-Type")) || res.StatusCode >= http.StatusBadRequest && res.StatusCode != http.StatusServiceUnavailable {
		return state, decodeError(res)
	}
	if err := json.NewDecoder(res.Body).Decode(&state); err != nil {
		return state, fmt.Errorf("decode the answer to GET /readyz: %w", err)
	}
	return state, nil
}

// inWorkspace returns the path of a resource of the workspace.
func (c *Client) inWorkspace(parts ...string) string {
	return c.path("/workspaces/"+url.PathEscape(c.workspace), parts)
}

// webhook returns the path of a webhook route of the workspace.
func (c *Client) webhook(parts ...string) string {
	return c.path("/workspaces/"+url.PathEscape(c.workspace)+"/webhooks", parts)
}

func (c *Client) path(prefix string, parts []string) string {
	for _, p := range parts {
		prefix += "/" + url.PathEscape(p)
	}
	return prefix
}

// call sends a request with a JSON body (nil = none), decodes the JSON answer
// into out (nil = ignore it) and returns the answer's header.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body, out any) (http.Header, error) {
	var reader io.Reader
	header := http.Header{}
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode %s %s: %w", method, path, err)
		}
		reader = bytes.NewReader(encoded)
		header.Set("Content-Type", "application/json")
	}
	return c.exchange(ctx, method, path, query, header, reader, out)
}

// exchange is like call, for a body of any content type.
func (c *Client) exchange(ctx context.Context, method, path string, query url.Values, header http.Header, body io.Reader, out any) (http.Header, error) {
	res, err := c.send(ctx, method, path, query, header, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if out == nil || res.StatusCode == http.StatusNoContent {
		return res.Header, nil
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		if kind := res.Header.Get("Content-Type"); !isJSON(kind) {
			return nil, c.notCairnError(method, path, kind)
		}
		return nil, fmt.Errorf("decode the answer to %s %s: %w", method, path, err)
	}
	return res.Header, nil
}

// send sends a request. It returns an answer with status 400 or above as
// *Error, and no answer as *NoServerError. Otherwise the caller must close the
// body.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, header http.Header, body io.Reader) (*http.Response, error) {
	res, err := c.do(ctx, method, path, query, header, body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusBadRequest {
		defer res.Body.Close()
		return nil, decodeError(res)
	}
	return res, nil
}

// do sends a request and returns an answer of any status.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, header http.Header, body io.Reader) (*http.Response, error) {
	target := c.base.String() + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	req.Header.Set("Cairn-Workspace", c.workspace)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.transportError(ctx, method, path, err)
	}
	return res, nil
}
