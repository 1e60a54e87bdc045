package model

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Codes of an Error.
const (
	CodeRateLimited  = "rate_limited"
	CodeOverloaded   = "overloaded"
	CodeTimeout      = "timeout"
	CodeBadRequest   = "bad_request"
	CodeUnauthorized = "unauthorized"
	CodeBadResponse  = "bad_response"
	CodeConnection   = "connection"
	CodeTooLarge     = "too_large"
	CodeDimensions   = "dimensions" // vectors of another length than Endpoint.Dimensions
	CodeEnded        = "ended"      // the stream stopped before the answer was complete
	CodeUnreadable   = "unreadable" // the endpoint cannot decode a recording
	CodeFiltered     = "filtered"   // a content filter refused the words of the request
	CodeContext      = "context"    // the request has more tokens than the model reads
	CodeSegments     = "segments"   // a transcript without the seconds of its segments
)

// maxRetryAfter bounds the wait that a provider may ask for.
const maxRetryAfter = 24 * time.Hour

// Error is a failed call. What the provider said is in its cause, for operators: without words of
// the request and without keys, as far as these can be recognized.
type Error struct {
	Code       string
	Provider   string
	Status     int    // HTTP status, 0 = no answer
	RequestID  string // the provider's, "" = none
	RetryAfter time.Duration
	Retryable  bool
	Held       bool   // the request was not sent, because others wait for the endpoint too
	Repeated   bool   // the request before it to the endpoint failed in the same way
	Model      string // that the endpoint does not know, "" = it does not say so
	Spent      bool   // of CodeRateLimited: no request is answered until somebody pays
	Cause      error

	// NextProbe is the time after which the caller comes back to an endpoint that is held
	// and will be probed; 0 = it is not held. RetryAfter is then what the endpoint asks for.
	NextProbe time.Duration

	ContextTokens int // of CodeContext: the most tokens that the model reads, 0 = the endpoint does not say

	unasked bool // of a Held one: the endpoint asks for no pause now
}

// Error returns the code with the cause. It is for logs only.
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

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// PublicName is how messages for clients begin, which do not name the endpoint.
const PublicName = "the model's endpoint"

// Public returns the error for clients, with e as its cause.
func (e *Error) Public() *knowledge.Error {
	code := knowledge.CodeProviderFailed
	if e.Code == CodeRateLimited {
		code = knowledge.CodeRateLimited
	}
	return &knowledge.Error{
		Code:       code,
		Message:    PublicName + " " + e.publicMessage(),
		RetryAfter: e.RetryAfter,
		Retryable:  e.Retryable,
		Cause:      e,
	}
}

// ForAsker returns the error for the person who asked a question, who can change neither settings
// nor keys. It names no host.
func (e *Error) ForAsker() string {
	switch {
	case e.Model != "":
		return knowledge.Messagef("The model %s is not available. Choose another one, or ask your administrator (code unknown_model).", e.Model)
	case e.Code == CodeRateLimited && !e.Spent:
		return "The model is busy at the moment. Your question is kept; try again later."
	case e.Code == CodeFiltered:
		return "The model refused the question or its passages for their content. Ask in other words."
	case e.Code == CodeContext:
		return "The question is too long for the model together with its passages. Ask a shorter one, or in a new conversation."
	}
	return "The model is not available at the moment. Your question is kept; try again, or ask your administrator (code " + e.Code + ")."
}

// Detail returns what the endpoint said, for operators: status, names and message, without keys and
// without words of the request. It is "" if the endpoint said nothing.
func (e *Error) Detail() string {
	said, ok := errors.AsType[*refusal](e.Cause)
	if !ok || said.report == (report{}) {
		return ""
	}
	if e.Status >= http.StatusBadRequest {
		return "status " + strconv.Itoa(e.Status) + ": " + said.Error()
	}
	return said.Error()
}

// publicMessage returns what happened, its reason as far as it is known without words of
// the provider, and what to do.
func (e *Error) publicMessage() string {
	happened, advice, _ := strings.Cut(publicMessages[e.Code], ";")
	if e.Model != "" {
		happened = knowledge.Messagef("does not know the model %s", e.Model)
		advice = " name another one in the settings of the project, or check models.*.model and base_url"
	}
	if reason := e.reason(); reason != "" {
		happened += " (" + reason + ")"
	}
	if e.Spent {
		return "refuses requests because the quota of the account is used up; check its plan and its billing"
	}
	switch {
	case e.Code != CodeRateLimited:
	case e.unasked && e.Status == 0: // the last request was answered
		happened, advice = happened+", so they are sent at a slower pace", " wait for the turn of this one"
	case e.NextProbe > 0:
		happened += " and asked for a pause" + e.askedFor()
		advice = " it is tried again at least every 5 minutes"
	case e.RetryAfter >= time.Second && !e.unasked:
		happened += " and asked for a pause"
	}
	if e.Held && !e.unasked {
		happened += "; nothing was sent for this step yet"
	}
	return happened + ";" + advice
}

// askedFor returns how long the pause is that a held endpoint asks for, with the status and
// the code that it sent.
func (e *Error) askedFor() string {
	text := ""
	if left := e.RetryAfter.Round(time.Minute); left > 0 {
		text = " of " + strings.TrimSuffix(left.String(), "0s")
	}
	if e.Status == 0 {
		return text
	}
	text += " (status " + strconv.Itoa(e.Status)
	if said, ok := errors.AsType[*refusal](e.Cause); ok && errorName.MatchString(said.report.Code) {
		text += ", " + said.report.Code
	}
	return text + ")"
}

// reason returns the kind of a failed connection, or the status of an endpoint that
// fails; "" if the code says it all.
func (e *Error) reason() string {
	var lookup *net.DNSError
	switch {
	case e.Code == CodeConnection && errors.Is(e.Cause, syscall.ECONNREFUSED):
		return "connection refused"
	case e.Code == CodeConnection && errors.As(e.Cause, &lookup):
		return "its name cannot be resolved"
	case e.Status >= http.StatusBadRequest && e.Code != CodeRateLimited:
		return "status " + strconv.Itoa(e.Status)
	}
	return ""
}

// publicMessages says for each code what happened and what to do.
var publicMessages = map[string]string{
	CodeRateLimited:  "is limiting requests; try again later",
	CodeOverloaded:   "is overloaded or failing; try again later",
	CodeTimeout:      "did not answer in time; try again later",
	CodeBadRequest:   "refused the request; check models.*.model, its limits, and in Azure its deployment",
	CodeFiltered:     "refused the words of the request by its content filter; ask in other words, or check the passages",
	CodeUnauthorized: "refused our credentials; check the key that models.*.key_env names",
	CodeBadResponse:  "sent an answer that cannot be read; check that it speaks the OpenAI protocol",
	CodeDimensions:   "returns vectors of another length than models.embedding.dimensions; correct that setting",
	CodeTooLarge:     "refused the request as too large; lower ai.textSplitter.chunkSize for embeddings, ai.retrieval.numberOfChunks for answers",
	CodeConnection:   "cannot be reached; check its address and that it is running",
	CodeEnded:        "stopped in the middle of its answer; try again",
	CodeContext:      "reads fewer tokens than the question has with its passages; lower ai.retrieval.numberOfChunks or set ai.retrieval.contextTokens",
	CodeUnreadable:   "cannot decode the recording; convert it to MP3 or WAV and send the new file",
	CodeSegments:     "returns transcripts without times; name a model in models.transcription that supports response_format=verbose_json",
}

// codeOfStatus returns the code for an HTTP status and whether a retry can
// help.
func codeOfStatus(status int) (code string, retryable bool) {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return CodeUnauthorized, false
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return CodeTimeout, true
	case status == http.StatusRequestEntityTooLarge:
		return CodeTooLarge, false
	case status == http.StatusTooManyRequests:
		return CodeRateLimited, true
	case status == http.StatusConflict, status >= http.StatusInternalServerError:
		return CodeOverloaded, true
	default:
		return CodeBadRequest, false
	}
}

// retryAfter returns the wait that a provider asks for, sent as milliseconds,
// seconds or a date. It returns 0 if the provider sends none.
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
	if !(nanoseconds > 0) { // true for NaN too
		return 0
	}
	if nanoseconds > float64(maxRetryAfter) {
		return maxRetryAfter
	}
	return time.Duration(nanoseconds)
}

func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "Apim-Request-Id", "X-Amzn-Requestid"} {
		if id := h.Get(name); id != "" {
			return id[:min(len(id), 200)]
		}
	}
	return ""
}
