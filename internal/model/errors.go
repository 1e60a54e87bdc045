package model

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The codes of an Error.
const (
	CodeRateLimited  = "rate_limited"
	CodeOverloaded   = "overloaded"
	CodeTimeout      = "timeout"
	CodeBadRequest   = "bad_request"
	CodeUnauthorized = "unauthorized"
	CodeBadResponse  = "bad_response"
	CodeConnection   = "connection"
	CodeDimensions   = "dimensions" // vectors of another length than Endpoint.Dimensions
	CodeEnded        = "ended"      // the stream stopped before the answer was complete
)

// maxRetryAfter bounds what a provider may ask us to wait.
const maxRetryAfter = 24 * time.Hour

// Error is a failed call. Of what the provider wrote it has names only: the words
// may be those of a question or a document.
type Error struct {
	Code       string
	Provider   string
	Status     int    // HTTP status, 0 = none came
	RequestID  string // the provider's, "" = not said
	RetryAfter time.Duration
	Retryable  bool
	Cause      error
}

// Error implements error. It includes the cause and is for logs only.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model endpoint %s: %s", e.Provider, e.Code)
	if e.Status != 0 {
		fmt.Fprintf(&b, ", status %d", e.Status)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, ", request %s", e.RequestID)
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Public gives the error as a client may see it, with e as its cause.
func (e *Error) Public() *knowledge.Error {
	return &knowledge.Error{
		Code:       knowledge.CodeProviderFailed,
		Message:    "the model's endpoint " + publicMessages[e.Code],
		RetryAfter: e.RetryAfter,
		Retryable:  e.Retryable,
		Cause:      e,
	}
}

// publicMessages says per code what happened and what to do.
var publicMessages = map[string]string{
	CodeRateLimited:  "is limiting requests; try again later",
	CodeOverloaded:   "is overloaded or failing; try again later",
	CodeTimeout:      "did not answer in time; try again later",
	CodeBadRequest:   "refused the request; check models.*.model and its limits",
	CodeUnauthorized: "refused our credentials; check the key that models.*.key_env names",
	CodeBadResponse:  "sent an answer that cannot be read; check that it speaks the OpenAI protocol",
	CodeDimensions:   "gives vectors of another length than models.embedding.dimensions says; correct that setting",
	CodeConnection:   "cannot be reached; check its address and that it is running",
	CodeEnded:        "stopped in the middle of its answer; try again",
}

// codeOfStatus maps an HTTP status to a code and whether a retry can help.
func codeOfStatus(status int) (code string, retryable bool) {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return CodeUnauthorized, false
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return CodeTimeout, true
	case status == http.StatusTooManyRequests:
		return CodeRateLimited, true
	case status == http.StatusConflict, status >= http.StatusInternalServerError:
		return CodeOverloaded, true
	default:
		return CodeBadRequest, false
	}
}

// retryAfter reads how long a provider asks us to wait: milliseconds, seconds
// or a date. 0 = it did not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return boundedWait(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return boundedWait(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return boundedWait(float64(at.Sub(now)))
	}
	return 0
}

func boundedWait(nanoseconds float64) time.Duration {
	if !(nanoseconds > 0) { // also NaN
		return 0
	}
	if nanoseconds > float64(maxRetryAfter) {
		return maxRetryAfter
	}
	return time.Duration(nanoseconds)
}

func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Amzn-Requestid"} {
		if id := h.Get(name); id != "" {
			return id[:min(len(id), 200)]
		}
	}
	return ""
}
