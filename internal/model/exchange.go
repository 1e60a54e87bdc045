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
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Limits in bytes of a stream (a long one has some hundred bytes per token), of
// any other answer, and of an error.
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

// exchange is one HTTP request and the state of its answer. Only one goroutine
// uses it, beside the timer that ends a wait.
type exchange struct {
	endpoint Endpoint
	caller   context.Context // the caller's context
	ctx      context.Context // caller, bounded by the timeouts
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	wait     time.Duration   // limit of the next read
	limit    int64           // largest answer in bytes
	key      string          // of the request for an endpoint that knows repeated ones
	model    string          // that the request names, "" = the path does
	words    func() []string // texts of the request, which are not logged; nil = none

	sent     bool
	status   int
	header   http.Header
	body     *watchedBody
	complete bool          // the rest of the body is not needed
	kept     *bytes.Buffer // if set, receives a copy of the body
}

// newExchange starts the timeout of a call. The caller must call close.
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

// withIdleTimeout runs f and cancels the exchange if f takes longer than
// x.wait. Only f's time counts, not the reader's time between calls.
func (x *exchange) withIdleTimeout(f func() (int, error)) (int, error) {
	x.timer = time.AfterFunc(x.wait, func() { x.cancel(errIdle) })
	n, err := f()
	x.timer.Stop()
	return n, err
}

// doer sends the requests of the go-openai client. It bounds every wait and
// size, and returns an *Error for every status other than 2xx.
type doer struct{ client *http.Client }

// Do implements openai.HTTPDoer.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("the request belongs to no exchange")
	}
	if x.key != "" {
		req.Header.Set("Idempotency-Key", x.key)
	}
	x.sent = true
	var res *http.Response
	_, err := x.withIdleTimeout(func() (n int, err error) {
		res, err = d.client.Do(req) //nolint:bodyclose // the reader of the answer closes it
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

// statusError returns the error for a status other than 2xx.
func (x *exchange) statusError(res *http.Response) *Error {
	e := x.failure(codeOfStatus(res.StatusCode))
	e.RetryAfter = retryAfter(res.Header, time.Now())
	text, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBytes))
	said, ok := readReport(text)
	if !ok && !bytes.HasPrefix(bytes.TrimSpace(text), []byte("<")) { // a page of a proxy says nothing
		said.Message = string(text)
	}
	if res.StatusCode == http.StatusNotFound && !x.endpoint.Azure { // where a deployment answers, whatever the model is
		e.Model = x.model
	}
	said.classify(e)
	refused := x.refusal(said, len(text))
	refused.text, refused.err = string(text), err
	e.Cause = refused
	return e
}

// reported returns the error for an error that the endpoint reports in an answer with status 200.
func (x *exchange) reported(r report) *Error {
	e := x.failure(CodeOverloaded, true)
	if status := r.status(); status > 0 {
		e = x.failure(codeOfStatus(status))
	}
	if strings.EqualFold(r.Type, "malformed_function_call") || strings.EqualFold(r.Type, "unexpected_tool_call") {
		e = x.failure(CodeBadResponse, true)
	}
	r.classify(e)
	e.Cause = fmt.Errorf("chat: %w", x.refusal(r, len(r.Message)))
	return e
}

// refusal returns a report without words of the request and without keys.
func (x *exchange) refusal(r report, size int) *refusal {
	var words []string
	if x.words != nil {
		words = x.words()
	}
	return &refusal{report: r, said: withoutSecrets(r.Message, x.endpoint.APIKey, words), size: size}
}

// spentQuota is the name by which OpenAI, and servers that follow it, tell an account
// without credit from one that sends too fast. Both are status 429.
const spentQuota = "insufficient_quota"

func (x *exchange) failure(code string, retryable bool) *Error {
	return &Error{
		Code: code, Retryable: retryable, Provider: x.endpoint.Provider,
		Status: x.status, RequestID: requestID(x.header),
	}
}

// badAnswer returns the error for a faulty answer with status 200.
func (x *exchange) badAnswer(code, why string) *Error {
	e := x.failure(code, true)
	e.Cause = errors.New(why)
	return e
}

// refusal is what an endpoint said in place of a result.
type refusal struct {
	report report
	said   string // the message without words of the request and keys, for operators
	text   string // the whole body, which may repeat the request
	size   int    // of the body, in bytes
	err    error  // error of reading the text
}

// maxSaid bounds the message of an endpoint in logs, in code points.
const maxSaid = 500

// Error returns what the endpoint said.
func (r *refusal) Error() string {
	text := "the endpoint says"
	for _, name := range []struct{ label, value string }{{"", r.report.Type}, {"code ", r.report.Code}, {"param ", r.report.Param}} {
		if errorName.MatchString(name.value) {
			text += " " + name.label + name.value + ","
		}
	}
	if r.said == "" {
		return fmt.Sprintf("%s %d bytes without a message", text, r.size)
	}
	return text + " " + strconv.Quote(knowledge.Cut(r.said, maxSaid))
}

// Unwrap returns the error of reading the text.
func (r *refusal) Unwrap() error { return r.err }

// errorName matches the names of errors and of fields.
var errorName = regexp.MustCompile(`^[A-Za-z0-9_.\[\]-]{1,64}$`)

// callError returns the error of this call for an error of go-openai: the cause
// of the caller's cancellation, or an *Error.
func (x *exchange) callError(verb string, err error) error {
	if x.caller.Err() != nil {
		return fmt.Errorf("%s with %s: %w", verb, x.endpoint.Provider, context.Cause(x.caller))
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := x.classify(err)
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
	switch cause := context.Cause(x.ctx); {
	case errors.Is(cause, errCallTimeout), errors.Is(cause, errIdle):
		return x.failure(CodeTimeout, true)
	case !x.sent:
		return x.failure(CodeBadRequest, false) // the library refused the request
	case errors.As(err, &syntax), errors.As(err, &kind), errors.As(err, &encoding), errors.Is(err, errTooLarge),
		errors.Is(err, io.EOF), // an empty answer; in mid answer the error is ErrUnexpectedEOF
		errors.Is(err, errFlood), errors.Is(err, errNoEvents):
		return x.failure(CodeBadResponse, true)
	case x.header != nil: // the answer had started
		return x.failure(CodeEnded, true)
	default:
		return x.failure(CodeConnection, true)
	}
}
