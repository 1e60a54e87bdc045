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

// Config says which server a Client speaks to, and as whom.
type Config struct {
	// URL is the server's root, such as http://127.0.0.1:8080. Required.
	URL string
	// Key is an API key or a JWT. Defaults to none, which most routes refuse.
	Key string
	// Workspace is the workspace in which the client acts. Defaults to "default".
	Workspace string
	// HTTP makes the requests. It must not have a timeout of its own, which
	// would cut streams. Defaults to a client with its own transport.
	HTTP *http.Client
	// Patience is how long a stream of events keeps trying to come back after a
	// connection that was up has ended: one that brought an event, or that stood for
	// more than a moment (at most 2 s) without falling silent. Defaults to 60 s.
	Patience time.Duration
	// Silence is how long the server may say nothing, comments included, before
	// the connection counts as lost: within a stream, and (unless HTTP is given)
	// between a request and the first of its answer. Defaults to 45 s, three of
	// the server's comments.
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
}

// New makes a client. It does not connect.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(cfg.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("server address %q: want http://host:port or https://host", cfg.URL)
	}
	for what, value := range map[string]string{"key": cfg.Key, "workspace": cfg.Workspace} {
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("the %s has a line break or another control character in it", what)
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
		// Streams too: theirs begin with an event or a comment. Nothing that this
		// client asks for waits for a result without either.
		transport.ResponseHeaderTimeout = c.silence
		c.http = &http.Client{Transport: transport}
	}
	return c, nil
}

// Ready reports nil when the server answers that it can serve, ErrNoServer when
// nothing answers, and otherwise what the server says.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.call(ctx, http.MethodGet, "/readyz", nil, nil, nil)
	return err
}

// inWorkspace is the path of one of our own resources.
func (c *Client) inWorkspace(parts ...string) string {
	return c.path("/workspaces/"+url.PathEscape(c.workspace), parts)
}

// webhook is the path of a seed route.
func (c *Client) webhook(parts ...string) string {
	return c.path("/workspaces/"+url.PathEscape(c.workspace)+"/webhooks", parts)
}

func (c *Client) path(prefix string, parts []string) string {
	for _, p := range parts {
		prefix += "/" + url.PathEscape(p)
	}
	return prefix
}

// call makes a request with a JSON body (nil = none) and decodes a JSON answer
// into out (nil = dropped). It returns the answer's header.
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

// exchange is call with a body of any kind.
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
			return nil, c.stranger(method, path, kind)
		}
		return nil, fmt.Errorf("decode the answer to %s %s: %w", method, path, err)
	}
	return res.Header, nil
}

// send makes a request. An answer of 400 or more is returned as *Error, and no
// answer at all as *NoServerError; otherwise the caller closes the body.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, header http.Header, body io.Reader) (*http.Response, error) {
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
		return nil, c.unreached(ctx, method, path, err)
	}
	if res.StatusCode >= http.StatusBadRequest {
		defer res.Body.Close()
		return nil, decodeError(res)
	}
	return res, nil
}
