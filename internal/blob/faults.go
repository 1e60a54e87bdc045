package blob

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The errors of buckets. Each can be retried: an operator can repair the causes that do
// not pass by themselves. Their messages are shown to users, so the bucket, its address
// and the words of the service are in the cause alone, which is logged.

// Unavailable returns the error for a service that did not answer, or not with a result.
// It is the error of ctx if that has ended.
func Unavailable(ctx context.Context, cause error) error {
	return fault(ctx, "the blob store does not answer; it is tried again", cause)
}

// Refused returns the error for a service that refused the credentials or the permission
// of this server.
func Refused(ctx context.Context, cause error) error {
	return fault(ctx, "the blob store refused the credentials of this server, or they lack a permission; an operator must check blob.url and its credentials", cause)
}

// Gone returns the error for a bucket that does not exist.
func Gone(ctx context.Context, cause error) error {
	return fault(ctx, "the bucket of the blob store does not exist; an operator must create it or correct blob.url", cause)
}

func fault(ctx context.Context, message string, cause error) error {
	if ctx.Err() != nil && !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	if ctx.Err() != nil {
		return cause
	}
	return &knowledge.Error{Code: knowledge.CodeUnavailable, Message: message, Retryable: true, Cause: cause}
}

// FromStatus returns the error for the HTTP status of an answer that is not a success. A
// status of 404 is ErrNotFound: the caller knows whether the bucket is missing.
func FromStatus(ctx context.Context, status int, cause error) error {
	switch status {
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", ErrNotFound, cause)
	case http.StatusUnauthorized, http.StatusForbidden:
		return Refused(ctx, cause)
	case http.StatusInsufficientStorage:
		return fmt.Errorf("%w: %w", ErrNoSpace, cause)
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return Unavailable(ctx, cause)
	}
	if status >= http.StatusInternalServerError {
		return Unavailable(ctx, cause)
	}
	return fmt.Errorf("the blob store answered with status %d: %w", status, cause)
}
