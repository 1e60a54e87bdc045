package model

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// The most bytes that are read of a stream (a long one has some hundred bytes a
// token), of any other answer, and of an error.
const (
	maxStreamBytes = 128 << 20
	maxAnswerBytes = 16 << 20
	maxErrorBytes  = 16 << 10
)

var (
	errCallTimeout = errors.New("the call took longer than its timeout")
	errIdle        = errors.New("nothing came within the idle timeout")
	errTooLarge    = errors.New("the answer is larger than the limit")
)

type exchangeKey struct{}

// exchange is one HTTP request and what is known of its answer. It is used by
// one goroutine, beside the timer that ends a wait.
type exchange struct {
	endpoint Endpoint
	caller   context.Context // what the caller gave
	ctx      context.Context // caller, bounded by the timeouts
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	wait     time.Duration // how long the next read may wait
	limit    int64         // bytes of the answer

	sent     bool
	status   int
	header   http.Header
	body     *watchedBody
	complete bool          // what is left of the body does not matter
	kept     *bytes.Buffer // if set, gets what is read of the body
}

// newExchange starts the clock of a call. The caller must call close.
func newExchange(caller context.Context, endpoint Endpoint) *exchange {
	x := &exchange{endpoint: endpoint, caller: caller, wait: endpoint.IdleTimeout, limit: maxAnswerBytes}
	bounded, stop := context.WithTimeoutCause(caller, endpoint.Timeout, errCallTimeout)
	ctx, cancel := context.WithCancelCause(bounded)
	x.cancel = func(cause error) { cancel(cause); stop() }
	x.ctx = context.WithValue(ctx, exchangeKey{}, x)
	return x
}

func (x *exchange) close() {
	if x.timer != nil {
		x.timer.Stop()
	}
	x.cancel(nil)
}

// waiting runs f, and cancels the exchange if f takes longer than x.wait. Only
// time spent waiting for the endpoint counts, not what the reader does between.
func (x *exchange) waiting(f func() (int, error)) (int, error) {
	x.timer = time.AfterFunc(x.wait, func() { x.cancel(errIdle) })
	n, err := f()
	x.timer.Stop()
	return n, err
}

// doer is the go-openai client's way out. It bounds every wait and size, and
// turns each status that is not 2xx into an *Error itself.
type doer struct{ client *http.Client }

// Do implements openai.HTTPDoer.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("the request belongs to no exchange")
	}
	x.sent = true
	var res *http.Response
	_, err := x.waiting(func() (n int, err error) {
		res, err = d.client.Do(req) //nolint:bodyclose // closed by whoever reads the answer
		return 0, err
	})
	if err != nil {
		return nil, err
	}
	x.status, x.header = res.StatusCode, res.Header
	x.body = &watchedBody{x: x, body: res.Body, left: x.limit}
	res.Body = x.body
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer res.Body.Close()
		return nil, x.statusError(res)
	}
	return res, nil
}

// statusError makes the error for a status that is not 2xx.
func (x *exchange) statusError(res *http.Response) *Error {
	e := x.failure(codeOfStatus(res.StatusCode))
	e.RetryAfter = retryAfter(res.Header, time.Now())
	text, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBytes))
	var said openai.ErrorResponse
	// What is no JSON names nothing.
	_ = json.Unmarshal(text, &said)
	e.Cause = &refusal{text: string(text), named: said.Error, err: err}
	return e
}

func (x *exchange) failure(code string, retryable bool) *Error {
	return &Error{
		Code: code, Retryable: retryable, Provider: x.endpoint.Provider,
		Status: x.status, RequestID: requestID(x.header),
	}
}

// broken is the failure of an answer that came with status 200.
func (x *exchange) broken(code, why string) *Error {
	e := x.failure(code, true)
	e.Cause = errors.New(why)
	return e
}

// refusal is what a provider wrote in place of a result. Its words may repeat
// what it was asked, or a key, so only names of it are for logs.
type refusal struct {
	text  string
	named *openai.APIError
	err   error // why it could not be read to its end
}

// Error implements error.
func (r *refusal) Error() string {
	said := fmt.Sprintf("the endpoint wrote %d bytes", len(r.text))
	if r.named == nil {
		return said
	}
	for _, name := range []string{r.named.Type, fmt.Sprint(r.named.Code)} {
		if errorName.MatchString(name) {
			said += ", " + name
		}
	}
	return said
}

// Unwrap gives the reading's own error.
func (r *refusal) Unwrap() error { return r.err }

// errorName is what the names of errors look like.
var errorName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// explain turns what go-openai returned into the error of this call: the
// caller's own cancellation as it is, everything else as an *Error.
func (x *exchange) explain(verb string, err error) error {
	if x.caller.Err() != nil {
		return fmt.Errorf("%s with %s: %w", verb, x.endpoint.Provider, context.Cause(x.caller))
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := x.classify(err)
	if provider, ok := errors.AsType[*openai.APIError](err); ok {
		err = &refusal{text: provider.Message, named: provider}
	}
	e.Cause = fmt.Errorf("%s: %w", verb, err)
	if cause := context.Cause(x.ctx); cause != nil {
		e.Cause = fmt.Errorf("%s: %w", verb, cause)
	}
	return e
}

func (x *exchange) classify(err error) *Error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var encoding base64.CorruptInputError
	provider, fromProvider := errors.AsType[*openai.APIError](err)
	switch cause := context.Cause(x.ctx); {
	case errors.Is(cause, errCallTimeout), errors.Is(cause, errIdle):
		return x.failure(CodeTimeout, true)
	case !x.sent:
		return x.failure(CodeBadRequest, false) // the library refused it
	case fromProvider:
		return x.failure(codeOfEvent(provider))
	case errors.As(err, &syntax), errors.As(err, &kind), errors.As(err, &encoding), errors.Is(err, errTooLarge),
		errors.Is(err, io.EOF), // nothing at all; in the middle it would be ErrUnexpectedEOF
		errors.Is(err, openai.ErrTooManyEmptyStreamMessages):
		return x.failure(CodeBadResponse, true)
	case x.header != nil: // the answer had begun
		return x.failure(CodeEnded, true)
	default:
		return x.failure(CodeConnection, true)
	}
}

// codeOfEvent maps an error that came inside a stream, where the status was 200.
func codeOfEvent(e *openai.APIError) (code string, retryable bool) {
	status := 0
	switch c := e.Code.(type) {
	case int:
		status = c
	case string:
		status, _ = strconv.Atoi(c) // a name instead of a number leaves 0
	}
	switch {
	case status >= 400:
		return codeOfStatus(status)
	case e.Type == "rate_limit_error", e.Code == "rate_limit_exceeded":
		return CodeRateLimited, true
	case e.Type == "invalid_request_error":
		return CodeBadRequest, false
	default:
		return CodeOverloaded, true
	}
}
