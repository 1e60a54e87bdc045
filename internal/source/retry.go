package source

import (
	"context"
	"errors"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Repetitions of one request. An import repeats a step with longer delays.
const (
	attempts   = 3
	firstDelay = 300 * time.Millisecond
)

// Retry calls request until it succeeds, three times at most. It is for clients
// that do not repeat a request on their own. An error that a repetition at once
// cannot help is returned as it is: one that is not retryable, and one of a source
// that asked to wait.
func Retry(ctx context.Context, request func() error) error {
	delay := firstDelay
	for attempt := 1; ; attempt++ {
		err := request()
		e, ok := errors.AsType[*knowledge.Error](err)
		if !ok || !e.Retryable || e.RetryAfter > delay || attempt == attempts {
			return err
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		delay *= 3
	}
}
