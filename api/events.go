package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sse"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// quietInterval is how often a stream says that it is alive.
const quietInterval = 15 * time.Second

// errStopping ends the waits of readers when the server stops.
var errStopping = stopping()

func stopping() error {
	e := knowledge.Errorf(knowledge.CodeUnavailable, "the server is stopping; the run continues, and Cairn-Events-Url names the address of its events")
	e.RetryAfter = time.Second
	return e
}

// runEvents serves GET /runs/{id}/events: it replays a run's events and follows
// them until the last.
func (s *Server) runEvents(w http.ResponseWriter, r *http.Request) {
	if in, release := s.beginReading(w, r); in != nil {
		defer release()
		s.serveEvents(w, r, in)
	}
}

// beginReading returns what a request reads, and counts its stream until release. It
// answers a request for which there is nothing to stream, and then returns nil.
func (s *Server) beginReading(w http.ResponseWriter, r *http.Request) (in *reading, release func()) {
	in, err := s.readingOf(r, r.PathValue("run_id"))
	if err != nil {
		edge.WriteError(w, r, err)
		return nil, nil
	}
	if in.run.Status != knowledge.RunRunning && s.isPast(r.Context(), runRef(in.run), in.after) {
		w.WriteHeader(http.StatusNoContent)
		return nil, nil
	}
	if release, err = s.openStream(); err != nil {
		edge.WriteError(w, r, err)
		return nil, nil
	}
	return in, release
}

// readingOf returns what a request asks for of a run's events.
func (s *Server) readingOf(r *http.Request, id string) (*reading, error) {
	after, part, err := lastEventID(r)
	if err != nil {
		return nil, err
	}
	principal, run, err := s.readableRun(r, id)
	if err != nil {
		return nil, err
	}
	return &reading{run: run, principal: principal, after: after, part: part, compact: edge.IsSet(r, "compact")}, nil
}

// isPast reports whether an ended run has no event behind the given one.
func (s *Server) isPast(ctx context.Context, ref stream.RunRef, after int64) bool {
	for item, err := range s.deps.Relay.Items(ctx, ref, ref.FirstOffset+after) {
		if err != nil || item.Offset-ref.FirstOffset >= after {
			return false
		}
	}
	return true
}

// readableRun finds the run for the caller: by the token of an eventsUrl, which
// is good for that run alone, or by key or JWT, which also decide where the token
// opens nothing.
func (s *Server) readableRun(r *http.Request, id string) (knowledge.Principal, store.Run, error) {
	if token := r.URL.Query().Get("token"); token != "" {
		principal, run, err := s.linkedRun(r, token, id)
		if c := edge.Credentials(r); !knowledge.IsCode(err, knowledge.CodeUnauthorized) || c.Key == "" && c.Bearer == "" {
			return principal, run, err
		}
	}
	return s.keyedRun(r, id)
}

// keyedRun finds the run for a caller with a key or a JWT who may read what it came to.
func (s *Server) keyedRun(r *http.Request, id string) (knowledge.Principal, store.Run, error) {
	principal, err := s.edge.Principal(r, r.PathValue("workspaceId"), edge.ActingFromQuery(r))
	if err != nil {
		return principal, store.Run{}, err
	}
	principal = edge.AsReader(r, principal)
	run, err := s.deps.Store.Run(r.Context(), principal, id)
	if err != nil {
		return principal, run, err
	}
	principal, err = s.runReader(r.Context(), principal, run)
	return principal, run, err
}

// linkedRun finds the run that a token is for.
func (s *Server) linkedRun(r *http.Request, token, id string) (knowledge.Principal, store.Run, error) {
	link, err := s.deps.Access.VerifyRun(r.Context(), token, id, s.now())
	if err != nil {
		return knowledge.Principal{}, store.Run{}, err
	}
	if named := r.PathValue("workspaceId"); named != "" && named != link.Workspace {
		return knowledge.Principal{}, store.Run{}, knowledge.NotFound("run", id)
	}
	run, err := s.deps.Followed.RunForSystem(r.Context(), link.Workspace, id)
	if err != nil {
		return knowledge.Principal{}, run, err
	}
	edge.SetHolder(r.Context(), edge.Holder{Key: link.Key, Ends: link.Ends})
	principal, err := s.runPrincipal(r.Context(), run, link)
	return principal, run, err
}

// runReader returns the principal as it reads the result of a run: in the run's
// conversation, if it is the principal's. Only an administrator may read the answer
// to somebody else's question.
func (s *Server) runReader(ctx context.Context, p knowledge.Principal, run store.Run) (knowledge.Principal, error) {
	switch {
	case !run.Kind.Traits().Answers:
		return p, nil
	case run.Owner == p.Owner():
		return s.inConversation(ctx, p, run.ConversationID)
	case p.Can(knowledge.ScopeAdmin):
		return p, nil
	}
	return p, knowledge.Errorf(knowledge.CodeForbidden, "only the user who asked a question, or a key with the admin scope, may read its answer: name the user whose question it is")
}

// runPrincipal is who started a run: from its snapshot, or, for a document's
// runs, whoever manages the document's project.
func (s *Server) runPrincipal(ctx context.Context, run store.Run, link access.Link) (knowledge.Principal, error) {
	if !run.Kind.Traits().Answers {
		return access.ForDocumentRun(run.Workspace, run.Project, link), nil
	}
	var request struct {
		Principal knowledge.Principal `json:"principal"`
	}
	if err := s.deps.Blobs.GetJSON(ctx, requestKey(run), &request); err != nil {
		return knowledge.Principal{}, fmt.Errorf("read the request of run %s: %w", run.ID, err)
	}
	return request.Principal.Reader(), nil
}

// serveEvents streams the events that a reader lacks as server-sent events. The caller
// has counted the stream by openStream.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request, in *reading) {
	w.Header().Set(runHeader, in.run.ID)
	sink := newEventSink(w, r, in)
	s.endedEarly(r.Context(), in, s.sendEvents(r.Context(), in, sink))
}

// newEventSink returns the sink of server-sent events in the form that a request asks for.
func newEventSink(w http.ResponseWriter, r *http.Request, in *reading) eventSink {
	writer := sse.NewWriter(w, sse.Options{Delta: wantsDelta(r), RunID: in.run.ID})
	if !wantsAGUI(r) {
		return eventStreamOf{writer}
	}
	sink := newAGUIStream(writer, in)
	in.after, in.compact = 0, true // the sink has to see every event
	return sink
}

// reading is what one reader of a run's events has asked for. It is passed by its address:
// the stacks of idle streams are most of their memory.
type reading struct {
	run       store.Run
	principal knowledge.Principal
	after     int64 // the last event that the reader has whole; 0 = none
	part      int   // how many parts of the next event the reader has, in a profile with parts
	compact   bool  // leave concatenated out
}

// eventSink sends the events of a run to one reader. It is used by one goroutine. Its
// errors mean that the reader has left or was dropped.
type eventSink interface {
	// Event sends one event, whose data is JSON.
	Event(id int64, event string, data []byte) error
	// Alive shows the reader that the stream is open, when nothing was sent for a while.
	Alive() error
}

// eventStreamOf is the eventSink of server-sent events.
type eventStreamOf struct{ *sse.Writer }

// Alive implements eventSink.
func (e eventStreamOf) Alive() error { return e.Comment("still here") }

// sendEvents sends the events behind the last one that the reader has, and follows the
// run to its end, or until the reader leaves. The run continues without its readers.
func (s *Server) sendEvents(ctx context.Context, in *reading, sink eventSink) error {
	ctx, release := s.leases.hold(ctx)
	defer release()
	ref, err := s.awaitTurn(ctx, &in.run, sink.Alive)
	if err == nil {
		err = s.follow(ctx, ref, sink.Alive, s.sender(ctx, in, sink, ref.FirstOffset))
	}
	if err != nil {
		return endOf(ctx, err)
	}
	return nil
}

// sender returns a function that sends the items of a run, of which the first has an
// offset.
func (s *Server) sender(ctx context.Context, in *reading, sink eventSink, first int64) func(stream.Item) error {
	rendered := &renderer{server: s, reading: in}
	return func(item stream.Item) error {
		return rendered.send(ctx, item, item.Offset-first+1, sink)
	}
}

// send sends an item's event, unless the reader has it.
func (r *renderer) send(ctx context.Context, item stream.Item, id int64, sink eventSink) error {
	if id <= r.after && !r.needs(item) {
		return nil
	}
	name, data, err := r.event(ctx, item)
	if err != nil || id <= r.after {
		return err
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event %d of run %s: %w", id, r.run.ID, err)
	}
	return sink.Event(id, name, encoded)
}

// endedEarly logs what broke a stream off, unless its client left.
func (s *Server) endedEarly(ctx context.Context, in *reading, err error) {
	if err != nil && ctx.Err() == nil {
		s.deps.Log.WarnContext(ctx, "stream ended early", "run", in.run.ID, "workspace", in.run.Workspace, "error", err)
	}
}

// follow hands the items of a run to emit and calls alive when nothing has come for a
// while. It needs no goroutine of its own: ten thousand streams may be idle.
func (s *Server) follow(ctx context.Context, ref stream.RunRef, alive func() error, emit func(stream.Item) error) error {
	reader := s.deps.Relay.Open(ref, ref.FirstOffset)
	defer reader.Close()
	quiet := time.NewTicker(quietInterval)
	defer quiet.Stop()
	for {
		items, ended, changed, err := reader.Next()
		if err := s.emitAll(ctx, items, emit); err != nil {
			return err
		}
		switch {
		case len(items) > 0:
			quiet.Reset(quietInterval)
			continue
		case err != nil || ended:
			return err
		}
		select {
		case <-changed:
		case <-quiet.C:
			if err := alive(); err != nil {
				return err
			}
		case <-s.stopping:
			return errStopping
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// emitAll emits items until the reader leaves or the server stops.
func (s *Server) emitAll(ctx context.Context, items []stream.Item, emit func(stream.Item) error) error {
	for _, item := range items {
		select {
		case <-s.stopping:
			return errStopping
		default:
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(item); err != nil {
			return err
		}
	}
	return nil
}

// lastEventID reads where a reader wants to continue: after this event, 0 = all. In the
// profile ag-ui it may have a part of the event behind that: 12.2 = two parts of event 12.
func lastEventID(r *http.Request) (after int64, part int, err error) {
	value := r.Header.Get("Last-Event-ID")
	if value == "" {
		value = r.URL.Query().Get("after")
	}
	if value == "" {
		return 0, 0, nil
	}
	whole, rest, inside := strings.Cut(value, ".")
	after, err = strconv.ParseInt(whole, 10, 64)
	if err == nil && inside && wantsAGUI(r) {
		part, err = strconv.Atoi(rest)
		after--
		inside = false
	}
	if err != nil || after < 0 || part < 0 || inside {
		return 0, 0, knowledge.Errorf(knowledge.CodeMalformed, "Last-Event-ID (or after) must be the number of an event, 0 for all")
	}
	return after, part, nil
}

func wantsDelta(r *http.Request) bool {
	return r.URL.Query().Get("delta") != "off" && !strings.Contains(strings.ReplaceAll(r.Header.Get("Accept"), " ", ""), "delta=off")
}
