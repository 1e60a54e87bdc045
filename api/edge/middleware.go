package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// A client that reads slowly is served; one that stops reading is dropped, and
// holds no connection and no goroutine. These bound how slow it may be: it must
// take a piece of an answer within the patience, 140 bytes a second.
const (
	writePiece    = 8 << 10
	writePatience = 60 * time.Second
)

// response notes the status and the length of an answer, and sets a deadline for
// each piece of it.
type response struct {
	http.ResponseWriter
	status int // 0 = nothing yet
	bytes  int64

	// before is called before an answer with a status begins, and commit before each part of
	// it. After an error nothing of what they let pass may leave.
	before func(status int) error
	commit func() error
	failed bool // before has returned an error, and the client an error of its own
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.failed {
		return
	}
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		if before := w.before; before != nil {
			w.before = nil
			if err := before(status); err != nil {
				w.failed = true
				return
			}
		}
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. It returns os.ErrDeadlineExceeded for a
// client that stopped reading. The server takes the deadline away after the answer.
func (w *response) Write(p []byte) (total int, err error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.failed {
		return 0, errNotKept
	}
	if w.commit != nil && w.commit() != nil {
		panic(http.ErrAbortHandler) // so that what came does not look whole
	}
	control := http.NewResponseController(w.ResponseWriter)
	for piece := range slices.Chunk(p, writePiece) {
		_ = control.SetWriteDeadline(time.Now().Add(writePatience)) // not a connection, as in tests
		n, err := w.ResponseWriter.Write(piece)
		total, w.bytes = total+n, w.bytes+int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// end ends an answer of which nothing was written: it is empty, or its reader has left.
func (w *response) end(left bool) {
	switch before := w.before; {
	case w.status != 0 || w.failed:
	case left && before != nil:
		_ = before(statusClientClosed) // who would be told has left
	default:
		w.WriteHeader(http.StatusOK)
	}
}

// errNotKept is why nothing is sent of an answer whose row the audit could not keep.
var errNotKept = errors.New("the audit could not be written")

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends what was written.
func (w *response) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.failed {
		return
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// hasBegun reports whether something was answered already.
func hasBegun(w http.ResponseWriter) bool {
	for {
		switch typed := w.(type) {
		case *response:
			return typed.status != 0
		case interface{ Unwrap() http.ResponseWriter }:
			w = typed.Unwrap()
		default:
			return false
		}
	}
}

// RequestLog returns the logger of a request.
func RequestLog(ctx context.Context) *slog.Logger {
	if c := callOf(ctx); c.log != nil {
		return c.log.With("request", c.id, "method", c.method)
	}
	return slog.New(slog.DiscardHandler)
}

// observe counts and logs every request, and answers 500 after a panic.
func (e *Edge) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		c := &call{log: e.deps.Log, id: knowledge.NewID(), method: r.Method}
		c.refuse = e.refuse(r)
		c.trail = e.newTrail(r, c)
		ctx := audit.With(context.WithValue(r.Context(), callKey{}, c), c.trail)
		if e.deps.Quota != nil {
			ctx, c.quota = e.deps.Quota.Begin(ctx)
		}
		r = r.WithContext(ctx)
		rec := e.newResponse(w, r, c)
		rec.Header().Set("X-Content-Type-Options", "nosniff")
		defer func() {
			failure := recover()
			//nolint:errorlint // a panic's value; net/http too compares it so
			if failure != nil && failure != http.ErrAbortHandler {
				RequestLog(r.Context()).ErrorContext(r.Context(), "handler panicked", "panic", fmt.Sprint(failure), "stack", string(debug.Stack()))
				if rec.status == 0 {
					writeProblem(rec, r, newProblem(knowledge.Errorf(knowledge.CodeInternal, "something went wrong on our side")))
					failure = nil
				} else {
					failure = http.ErrAbortHandler // cuts the answer off, so that it does not look whole
				}
			}
			e.done(r, rec, time.Since(began))
			if failure != nil {
				panic(failure)
			}
		}()
		next.ServeHTTP(rec, r)
		if later := c.later; later != nil {
			c.later = nil
			later()
		}
		rec.end(r.Context().Err() != nil)
	})
}

// newResponse returns the writer of an answer that begins when the audit has its row.
func (e *Edge) newResponse(w http.ResponseWriter, r *http.Request, c *call) *response {
	rec := &response{ResponseWriter: w}
	rec.Header().Set(RequestHeader, c.id)
	rec.commit = func() error { return c.trail.Commit(r.Context()) }
	rec.before = func(status int) error {
		if c.quota != nil {
			c.quota.WriteHeaders(rec.Header())
		}
		err := e.keepAudit(r, c, status)
		if err != nil {
			rec.commit = nil
			clear(rec.Header()) // of the answer that stays here
			rec.Header().Set(RequestHeader, c.id)
			problem := newProblem(knowledge.Errorf(knowledge.CodeUnavailable, "the audit cannot be written, so nothing is answered").WithCause(err))
			RequestLog(r.Context()).ErrorContext(r.Context(), "the audit cannot be written", "error", err)
			writeProblem(rec, r, problem)
		}
		return err
	}
	return rec
}

// done counts and logs one request: its route's pattern, never its path's ids
// or its query.
func (e *Edge) done(r *http.Request, rec *response, took time.Duration) {
	_, pattern, ok := strings.Cut(r.Pattern, " ")
	if !ok {
		pattern = "none"
	}
	status := rec.status
	if status == 0 {
		status = http.StatusOK
		if r.Context().Err() != nil {
			status = statusClientClosed
		}
	}
	e.deps.Metrics.Request(r.Method, pattern, status, took)
	if !e.deps.Log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	RequestLog(r.Context()).DebugContext(r.Context(), "request", "route", pattern, "workspace", r.PathValue("workspaceId"),
		"status", status, "bytes", rec.bytes, "seconds", took.Seconds())
}

// routes serves the routes, and answers in our shape where there is none. A path
// that ServeMux would redirect, such as one with //, has no route.
func (e *Edge) routes() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := e.mux.Handler(r)
		address := r.URL.EscapedPath()
		redirects := path.Clean(address) != address
		if pattern != "" && !redirects {
			e.mux.ServeHTTP(w, r)
			return
		}
		none := &muxAnswer{header: http.Header{}}
		if !redirects {
			handler.ServeHTTP(none, r)
		}
		if none.status != http.StatusMethodNotAllowed {
			writeProblem(w, r, newProblem(knowledge.Errorf(knowledge.CodeNotFound, "there is no such route; see /docs")))
			return
		}
		allow := e.allowedMethods(r)
		p := newProblem(knowledge.Errorf(knowledge.CodeMethodNotAllowed, "this route does not have the method %s; it has %s", r.Method, allow))
		p.headers.Set("Allow", allow)
		writeProblem(w, r, p)
	})
}

// allowedMethods returns the methods of the route whose path fits a request best. ServeMux
// would also name the methods of routes with a wildcard in the place of a word.
func (e *Edge) allowedMethods(r *http.Request) string {
	_, pattern := e.paths.Handler(r)
	methods := slices.Clone(e.methods[pattern])
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

// muxAnswer records the answer of ServeMux to a request without a handler.
type muxAnswer struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (u *muxAnswer) Header() http.Header { return u.header }

// WriteHeader implements http.ResponseWriter.
func (u *muxAnswer) WriteHeader(status int) { u.status = status }

// Write implements http.ResponseWriter.
func (u *muxAnswer) Write(p []byte) (int, error) { return len(p), nil }
