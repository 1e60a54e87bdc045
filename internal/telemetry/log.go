package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLogger returns a logger that writes one JSON object per line, for records
// of level ("debug", "info", "warn" or "error") and above.
func NewLogger(w io.Writer, level string) (*slog.Logger, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q: choose debug, info, warn or error", level)
	}
	handler := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: least, ReplaceAttr: utc})
	return slog.New(handler), nil
}

// utc writes the time of a record in UTC, so that lines of several hosts can be
// sorted.
func utc(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime {
		a.Value = slog.TimeValue(a.Value.Time().UTC())
	}
	return a
}
