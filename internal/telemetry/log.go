package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
)

// NewLogger gives a logger that writes one JSON object a line, from a level on
// ("debug", "info", "warn" or "error"), with the scope of the line's context.
func NewLogger(w io.Writer, level string) (*slog.Logger, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q: choose debug, info, warn or error", level)
	}
	handler := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: least, ReplaceAttr: utc})
	return slog.New(scoped{handler}), nil
}

// utc writes the time of a line in UTC, so that lines of several hosts sort.
func utc(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime {
		a.Value = slog.TimeValue(a.Value.Time().UTC())
	}
	return a
}

// Scope is what something that happens is about. Empty ids are not logged.
type Scope struct {
	Workspace string
	Document  string
	Run       string
}

type scopeKey struct{}

// WithScope puts a scope into a context, for every line that is logged with it.
// What ctx has already stays where s is empty.
func WithScope(ctx context.Context, s Scope) context.Context {
	before := ScopeOf(ctx)
	if s.Workspace == "" {
		s.Workspace = before.Workspace
	}
	if s.Document == "" {
		s.Document = before.Document
	}
	if s.Run == "" {
		s.Run = before.Run
	}
	return context.WithValue(ctx, scopeKey{}, s)
}

// ScopeOf is the scope of a context, empty if it has none.
func ScopeOf(ctx context.Context) Scope {
	s, _ := ctx.Value(scopeKey{}).(Scope)
	return s
}

// scoped adds the scope of the context to each line.
type scoped struct{ slog.Handler }

// Handle implements slog.Handler.
func (h scoped) Handle(ctx context.Context, r slog.Record) error {
	s := ScopeOf(ctx)
	if s == (Scope{}) {
		return h.Handler.Handle(ctx, r)
	}
	r = r.Clone()
	for _, id := range []slog.Attr{
		slog.String("workspace", s.Workspace), slog.String("document", s.Document), slog.String("run", s.Run),
	} {
		if id.Value.String() != "" {
			r.AddAttrs(id)
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h scoped) WithAttrs(attrs []slog.Attr) slog.Handler { return scoped{h.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (h scoped) WithGroup(name string) slog.Handler { return scoped{h.Handler.WithGroup(name)} }
