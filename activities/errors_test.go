package activities_test

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
)

// retryDelay is how long Temporal waits before the next attempt, 0 = as its
// policy says.
func retryDelay(err error) time.Duration {
	var application *temporal.ApplicationError
	if !errors.As(err, &application) {
		return 0
	}
	return application.NextRetryDelay()
}
