package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Error is an answer of the server that says no.
type Error struct {
	Status     int
	Code       knowledge.Code // "" if the answer was not one of Cairn's
	Title      string
	Detail     string
	Fields     []knowledge.Field
	RetryAfter time.Duration // 0 = not said
}

// Error says what the server said, its fields included.
func (e *Error) Error() string {
	text := e.Detail
	if text == "" {
		text = e.Title
	}
	if text == "" {
		text = http.StatusText(e.Status)
	}
	if e.Code == "" && e.Detail == "" {
		text += " (the answer is not a Cairn server's)"
	}
	for _, f := range e.Fields {
		if strings.Contains(e.Detail, f.Message) {
			continue // said already
		}
		text += fmt.Sprintf("; %s: %s", f.Location, f.Message)
	}
	code := string(e.Code)
	if code == "" {
		code = strconv.Itoa(e.Status)
	}
	return code + ": " + text
}

// Temporary reports whether the same request may be answered a little later.
func (e *Error) Temporary() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// IsCode reports whether err is an answer of the server with this code.
func IsCode(err error, code knowledge.Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// ErrNoServer is inside every error that means that nothing answered.
var ErrNoServer = errors.New("no server answers")

// NoServerError says that a request got no answer. It wraps ErrNoServer if the
// server was never reached or said nothing at all; otherwise the connection was
// lost on the way.
type NoServerError struct {
	URL     string
	Request string
	Cause   error
	dialed  bool
}

// Error names the address and the cause.
func (e *NoServerError) Error() string {
	if e.dialed {
		return fmt.Sprintf("%s: the connection to %s was lost: %v", e.Request, e.URL, e.Cause)
	}
	return fmt.Sprintf("no server answers at %s: %v", e.URL, e.Cause)
}

// Unwrap gives the cause, and ErrNoServer if the server was never reached.
func (e *NoServerError) Unwrap() []error {
	if e.dialed {
		return []error{e.Cause}
	}
	return []error{ErrNoServer, e.Cause}
}

func (c *Client) unreached(ctx context.Context, method, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the address is said once
	}
	op, isOp := errors.AsType[*net.OpError](err)
	_, isDNS := errors.AsType[*net.DNSError](err)
	// A server that takes the connection and says nothing is as good as none.
	waited, isWait := errors.AsType[net.Error](err)
	dial := isDNS || isOp && op.Op == "dial" || isWait && waited.Timeout()
	return &NoServerError{URL: c.base.String(), Request: method + " " + path, Cause: err, dialed: !dial}
}

// decodeError reads problem+json, and whatever else a proxy between may answer.
func decodeError(res *http.Response) error {
	e := &Error{Status: res.StatusCode}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		e.Detail = "the answer broke off"
		return e
	}
	if !isJSON(res.Header.Get("Content-Type")) {
		return e
	}
	var problem struct {
		Title  string            `json:"title"`
		Detail string            `json:"detail"`
		Code   knowledge.Code    `json:"code"`
		Errors []knowledge.Field `json:"errors"`
	}
	if json.Unmarshal(body, &problem) == nil {
		e.Title, e.Detail, e.Code, e.Fields = problem.Title, problem.Detail, problem.Code, problem.Errors
	}
	return e
}

func isJSON(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType) // a bad one is no JSON
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// stranger is the error of an answer that no Cairn server gives.
func (c *Client) stranger(method, path, kind string) error {
	return fmt.Errorf("%s is not a Cairn server: %s %s was answered with %q", c.base, method, path, kind)
}

// passing reports whether a stream should try again after err.
func passing(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Temporary()
	}
	_, lost := errors.AsType[*NoServerError](err)
	return lost || errors.Is(err, errCut)
}

// errCut is a stream that broke off before its last event.
var errCut = errors.New("the stream of events broke off")
