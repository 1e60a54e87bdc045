package source

import (
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// NotFound returns the error for a bucket, object or page that does not exist.
// subject is "bucket", "object", "page".
func NotFound(subject, name string) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeNotFound, "there is no %s %q; check source.uri, and source.options.endpoint and region if they are set", subject, name)
}

// Forbidden returns the error for a source that refused the credentials.
func Forbidden(subject, name string) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeForbidden, "access to the %s %q was refused; check that source.secret names credentials that may list and read it", subject, name)
}

// Throttled returns the error for a source that asked for fewer requests. after
// is the time that it asked to wait, 0 if it did not say.
func Throttled(after time.Duration) *knowledge.Error {
	return &knowledge.Error{Code: knowledge.CodeRateLimited, Retryable: true, RetryAfter: after,
		Message: "the source asked for fewer requests; the import waits and tries again"}
}

// Unavailable returns the error for a source that did not answer, or not to the
// end.
func Unavailable(cause error) *knowledge.Error {
	return &knowledge.Error{Code: knowledge.CodeUnavailable, Retryable: true, Cause: cause,
		Message: "the source did not answer completely; try again later"}
}
