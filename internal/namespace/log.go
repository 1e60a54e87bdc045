package namespace

import (
	"context"
	"log/slog"
)

// sdkHandler writes the records of Temporal's SDK, except the records of activities that return
// an error: activities log their errors themselves, with the cause.
type sdkHandler struct{ slog.Handler }

// activityError is the message of those records.
const activityError = "Activity error."

// Handle implements slog.Handler.
func (h sdkHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == activityError {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h sdkHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return sdkHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h sdkHandler) WithGroup(name string) slog.Handler {
	return sdkHandler{h.Handler.WithGroup(name)}
}
