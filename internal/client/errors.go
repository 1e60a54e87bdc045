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

// Error is an error answer of the server.
type Error struct {
	Status     int
	Code       knowledge.Code // "" if the answer was not one of Cairn's
	Title      string
	Detail     string
	Fields     []knowledge.Field
	RetryAfter time.Duration // 0 = not sent
}

// Error returns the code and the detail, and the fields that the detail does
// not mention.
func (e *Error) Error() string {
	text := e.Detail
	if text == "" {
		text = e.Title
	}
	if text == "" {
		text = http.StatusText(e.Status)
	}
	if e.Code == "" && e.Detail == "" {
		text += " (the answer is not from a Cairn server)"
	}
	for _, f := range e.Fields {
		if strings.Contains(e.Detail, f.Message) {
			continue // the detail contains it
		}
		text += fmt.Sprintf("; %s: %s", f.Location, f.Message)
	}
	code := string(e.Code)
	if code == "" {
		code = strconv.Itoa(e.Status)
	}
	return code + ": " + text
}

// Temporary reports whether the same request may succeed later.
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

// ErrNoServer is wrapped by every error that means that no server answered.
var ErrNoServer = errors.New("no server answers")

// NoServerError reports that a request got no answer. It wraps ErrNoServer if
// the server could not be reached or did not answer at all. Otherwise the
// connection was lost before the answer was complete.
type NoServerError struct {
	URL     string
	Request string
	Cause   error
	dialed  bool
}

// Error returns the address and the cause.
func (e *NoServerError) Error() string {
	if e.dialed {
		return fmt.Sprintf("%s: the connection to %s was lost: %v", e.Request, e.URL, e.Cause)
	}
	return fmt.Sprintf("no server answers at %s: %v", e.URL, e.Cause)
}

// Unwrap returns the cause, and ErrNoServer if the server was never reached.
func (e *NoServerError) Unwrap() []error {
	if e.dialed {
		return []error{e.Cause}
	}
	return []error{ErrNoServer, e.Cause}
}

func (c *Client) transportError(ctx context.Context, method, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the message already contains the address
	}
	op, isOp := errors.AsType[*net.OpError](err)
	_, isDNS := errors.AsType[*net.DNSError](err)
	// A server that accepts the connection and sends nothing counts as
	// unreachable.
	waited, isWait := errors.AsType[net.Error](err)
	dial := isDNS || isOp && op.Op == "dial" || isWait && waited.Timeout()
	return &NoServerError{URL: c.base.String(), Request: method + " " + path, Cause: err, dialed: !dial}
}

// decodeError decodes problem+json, or the answer of a proxy in between.
func decodeError(res *http.Response) error {
	e := &Error{Status: res.StatusCode}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		e.Detail = "the answer was cut off"
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
	kind, _, _ := mime.ParseMediaType(contentType) // a malformed type is not JSON
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// notCairnError returns the error for an answer that cannot be from a Cairn
// server.
func (c *Client) notCairnError(method, path, kind string) error {
	return fmt.Errorf("%s is not a Cairn server: %s %s was answered with %q", c.base, method, path, kind)
}

// isTransient reports whether a stream should reconnect after err.
func isTransient(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Temporary()
	}
	_, lost := errors.AsType[*NoServerError](err)
	return lost || errors.Is(err, errCut)
}

// errCut reports a stream that ended before its last event.
var errCut = errors.New("the stream of events was cut off")
