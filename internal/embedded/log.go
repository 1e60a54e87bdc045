package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLog writes the server's warnings and errors to a slog.Logger. While the
// server stops it writes nothing, because its parts then report at length that
// they lose each other.
type serverLog struct {
	logger   *slog.Logger
	stopping *atomic.Bool
	tags     []tag.Tag
}

// intended are warnings about settings that are intended.
var intended = []string{
	"HTTP API port has not been set", // gRPC is the only way in
}

// fatal is what serverLog panics with where the server would end the process.
type fatal struct{ err error }

// Debug drops the message.
func (l *serverLog) Debug(string, ...tag.Tag) {}

// Info drops the message.
func (l *serverLog) Info(string, ...tag.Tag) {}

// Warn writes a warning.
func (l *serverLog) Warn(msg string, tags ...tag.Tag) { l.log(slog.LevelWarn, msg, tags) }

// Error writes an error.
func (l *serverLog) Error(msg string, tags ...tag.Tag) { l.log(slog.LevelError, msg, tags) }

// DPanic writes an error where a development build of the server would panic.
func (l *serverLog) DPanic(msg string, tags ...tag.Tag) { l.log(slog.LevelError, msg, tags) }

// Panic writes an error and panics, as the server expects.
func (l *serverLog) Panic(msg string, tags ...tag.Tag) {
	l.log(slog.LevelError, msg, tags)
	panic(msg)
}

// Fatal does not return: a part of the server cannot continue. During Start the
// panic becomes Start's error; later it ends the process, from which the
// histories recover.
func (l *serverLog) Fatal(msg string, tags ...tag.Tag) {
	err := errors.New(msg)
	for _, t := range tags {
		err = fmt.Errorf("%w, %s: %v", err, t.Key(), t.Value())
	}
	panic(fatal{err})
}

// With returns a logger that adds tags to each message.
func (l *serverLog) With(tags ...tag.Tag) log.Logger {
	return &serverLog{logger: l.logger, stopping: l.stopping, tags: slices.Concat(l.tags, tags)}
}

func (l *serverLog) log(level slog.Level, msg string, tags []tag.Tag) {
	if l.stopping.Load() || slices.ContainsFunc(intended, func(start string) bool { return strings.HasPrefix(msg, start) }) {
		return
	}
	attrs := make([]slog.Attr, 0, len(l.tags)+len(tags))
	for _, t := range slices.Concat(l.tags, tags) {
		attr := slog.Any(t.Key(), t.Value())
		if attr.Key == "error" && strings.HasSuffix(attr.Value.String(), context.Canceled.Error()) {
			return // a caller left, mostly a worker that stops polling
		}
		attrs = append(attrs, attr)
	}
	l.logger.LogAttrs(context.Background(), level, msg, attrs...) // the server passes no context
}
