package source

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// FromStatus returns the error for an HTTP status that is not a success.
// subject is "bucket", "object" or "page", and name is what the user calls it.
func FromStatus(status int, header http.Header, subject, name string) *knowledge.Error {
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		return NotFound(subject, name)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return Forbidden(subject, name)
	case status == http.StatusTooManyRequests:
		return Throttled(RetryAfter(header))
	case status == http.StatusServiceUnavailable && RetryAfter(header) > 0:
		return Throttled(RetryAfter(header))
	case status >= 500 || status == http.StatusRequestTimeout:
		return Unavailable(errors.New(http.StatusText(status)))
	}
	return knowledge.Errorf(knowledge.CodeInvalid, "the %s %q answered the status %d", subject, name, status)
}

// maxRetryAfter is the longest wait that a source can ask for.
const maxRetryAfter = time.Hour

// RetryAfter returns the time that a Retry-After header asks to wait, 0 if there
// is none.
func RetryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter)
	}
	return 0
}

// FromExchange returns the error for a request that got no complete answer: err
// itself if the caller canceled it or if it is a *knowledge.Error, such as a
// refused address, and else one that can be retried. It drops the address of the
// request, which may contain a signature.
func FromExchange(err error) error {
	if e, ok := errors.AsType[*knowledge.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return Unavailable(err)
}
