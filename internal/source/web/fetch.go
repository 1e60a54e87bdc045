package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Agent is the name of Cairn in requests and in robots.txt.
const Agent = "cairn"

// Client fetches addresses. It is safe for concurrent use.
type Client struct {
	http *http.Client
	pace *Pace
}

// NewClient returns a Client that sends requests by client at the pace of pace.
func NewClient(client *http.Client, pace *Pace) *Client { return &Client{http: client, pace: pace} }

// Request is a request for an address.
type Request struct {
	Address string
	// Known is the Validator of the bytes that the caller has, "" for none.
	Known string
	// Accept is the media types that the caller prefers. Defaults to any.
	Accept string
	// Delay is the least time since the last request to the host.
	Delay time.Duration
	// Timeout bounds the exchange with its body, without the time that it waits
	// for its turn. Defaults to none.
	Timeout time.Duration
	// Redirect decides about each redirect, like http.Client.CheckRedirect.
	// Defaults to following five of them.
	Redirect func(next *http.Request, via []*http.Request) error
}

// Response is the answer to a Request, with the status 200.
type Response struct {
	Body      io.ReadCloser // with the errors of source.Body; the caller closes it
	Address   string        // after redirects
	Validator string        // for conditional requests, "" for none
	Bytes     int64         // -1 if it is not known
	MediaType string
	Modified  time.Time
	Header    http.Header
}

// Fetch sends a request. It returns source.ErrUnchanged if the bytes are those
// that the caller knows, and other errors as source.Source states them.
func (c *Client) Fetch(ctx context.Context, r Request) (*Response, error) {
	u, err := url.Parse(r.Address)
	if err != nil || u.Host == "" {
		return nil, notAnAddress(r.Address)
	}
	release, err := c.pace.wait(ctx, u.Host, r.Delay)
	if err != nil {
		return nil, err
	}
	ctx, cancel := withTimeout(ctx, r.Timeout)
	done := func() {
		cancel()
		release()
	}
	response, err := c.send(ctx, r)
	if err != nil {
		done()
		return nil, err
	}
	validator := validatorOf(response.Header)
	err = c.check(response, r)
	if err == nil && r.Known != "" && validator == r.Known { // the server ignored the condition
		err = source.ErrUnchanged
	}
	if err != nil {
		_ = response.Body.Close() // nothing of it is read
		done()
		return nil, err
	}
	// Servers send gzip unasked, too.
	body, encoded := source.Decoded(source.NewBody(response.Body, done), response.Header.Get("Content-Encoding"))
	if encoded {
		response.ContentLength = -1
	}
	result := &Response{
		Body: body, Address: response.Request.URL.String(), Validator: validator,
		Bytes: response.ContentLength, MediaType: response.Header.Get("Content-Type"), Header: response.Header,
	}
	result.Modified, _ = http.ParseTime(response.Header.Get("Last-Modified")) // zero if there is none
	return result, nil
}

func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

func (c *Client) send(ctx context.Context, r Request) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Address, nil)
	if err != nil {
		return nil, notAnAddress(r.Address)
	}
	request.Header.Set("User-Agent", Agent)
	if r.Accept != "" {
		request.Header.Set("Accept", r.Accept)
	}
	setCondition(request.Header, r.Known)
	client := *c.http
	if r.Redirect != nil {
		client.CheckRedirect = r.Redirect
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, source.FromExchange(err)
	}
	return response, nil
}

// check returns the error for an answer that holds no bytes. A wait that the host
// asks for applies to all requests to it.
func (c *Client) check(response *http.Response, r Request) error {
	switch status := response.StatusCode; {
	case status == http.StatusOK:
		return nil
	case status == http.StatusNotModified && r.Known != "":
		return source.ErrUnchanged
	default:
		err := source.FromStatus(status, response.Header, "page", r.Address)
		if err.Retryable {
			c.pace.hold(response.Request.URL.Host, source.RetryAfter(response.Header))
		}
		return err
	}
}

// modifiedSince begins a validator that is a time.
const modifiedSince = "modified "

// validatorOf returns what a conditional request for the same bytes contains.
func validatorOf(h http.Header) string {
	if tag := h.Get("ETag"); tag != "" {
		return tag
	}
	if modified := h.Get("Last-Modified"); modified != "" {
		return modifiedSince + modified
	}
	return ""
}

func setCondition(h http.Header, known string) {
	if since, ok := strings.CutPrefix(known, modifiedSince); ok {
		h.Set("If-Modified-Since", since)
	} else if known != "" {
		h.Set("If-None-Match", known)
	}
}

// CheckAddress refuses a text that is not the address of a page.
func CheckAddress(text string) error {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return notAnAddress(text)
	}
	return nil
}

func notAnAddress(text string) error {
	return knowledge.Errorf(knowledge.CodeInvalid, "%q is not a URL; write https://host/path, without a user name", text)
}

// ReadAll returns the bytes of a body, at most limit.
func ReadAll(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, knowledge.TooLarge("page", limit)
	}
	return data, err
}

// IsGone reports whether an error means that the address has no page now or is
// not for this reader, so that asking again does not help.
func IsGone(err error) bool {
	e, ok := errors.AsType[*knowledge.Error](err)
	return ok && !e.Retryable
}
