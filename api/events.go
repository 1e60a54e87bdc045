package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sse"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// quietInterval is how often a stream says that it is alive.
const quietInterval = 15 * time.Second

// errStopping ends the waits of readers when the server stops.
var errStopping = newStoppingError()

func newStoppingError() error {
	e := knowledge.Errorf(knowledge.CodeUnavailable, "the server is stopping; the run continues, and Cairn-Events-Url names the address of its events")
	e.RetryAfter = time.Second
	return e
}

// eventRoutes holds the routes that send the events of runs.
type eventRoutes struct {
	readers        *runReaders
	follower       *follower
	results        *results
	leases         *leases
	streams        *streams
	log            *slog.Logger
	streamPatience time.Duration
}

// eventsInput describes the parameters of the event routes; runEvents reads
// them itself, because it serves without huma's conversion.
type eventsInput struct {
	edge.ActingQuery
	Run     string `path:"run_id"`
	Last    string `header:"Last-Event-ID" doc:"Send the events after this id; 0 = all. In the profile ag-ui also a part of an event, such as 12.1"`
	After   string `query:"after" doc:"The same as Last-Event-ID"`
	Token   string `query:"token" doc:"The token of an eventsUrl; replaces a key"`
	Delta   string `query:"delta" enum:"on,off" doc:"off: send large events in one piece"`
	Compact bool   `query:"compact" doc:"Omit concatenated from apiMessageChunk"`
	Profile string `query:"profile" enum:"ag-ui" doc:"ag-ui: send AG-UI events, like the header Accept: text/event-stream; profile=ag-ui"`
}

func (er *eventRoutes) mount(e *edge.Edge) {
	er.mountWebSocket(e)
	registry := e.OpenAPI().Components.Schemas
	events := map[string]*huma.Response{
		"200": {Description: "The run's events (docs/events.md)", Content: map[string]*huma.MediaType{"text/event-stream": eventStream(registry, questionEvents, toolEvents, documentEvents, importEvents, evaluationEvents)}},
		"204": {Description: "The run has ended and there are no more events"},
	}
	for id, path := range map[string]string{"run-events": "/runs/{run_id}/events", "workspace-run-events": "/workspaces/{workspaceId}/runs/{run_id}/events"} {
		edge.Handle(e, edge.Route{Public: true, Proves: true, Operation: huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Summary: "Replay and follow a run's events", Tags: []string{"runs"}, Responses: events,
		}}, func(context.Context, knowledge.Principal, *eventsInput) (*huma.StreamResponse, error) {
			return rawResponse(er.runEvents), nil
		})
	}
}

// runEvents serves GET /runs/{id}/events: it replays a run's events and follows
// them until the last.
func (er *eventRoutes) runEvents(w http.ResponseWriter, r *http.Request) {
	if in, release := er.beginReading(w, r); in != nil {
		defer release()
		er.serveEvents(w, r, in)
	}
}

// beginReading returns what a request reads, and counts its stream until release. It
// answers a request for which there is nothing to stream, and then returns nil.
func (er *eventRoutes) beginReading(w http.ResponseWriter, r *http.Request) (*reading, func()) {
	in, err := er.readers.readingOf(r, r.PathValue("run_id"))
	if err != nil {
		edge.WriteError(w, r, err)
		return nil, nil
	}
	return er.openReading(w, r, in)
}

// openReading counts the stream of what a request reads, as beginReading does.
func (er *eventRoutes) openReading(w http.ResponseWriter, r *http.Request, in *reading) (*reading, func()) {
	if in.run.Status != knowledge.RunRunning && er.follower.isPast(r.Context(), runRef(in.run), in.after) {
		w.WriteHeader(http.StatusNoContent)
		return nil, nil
	}
	release, err := er.streams.open()
	if err != nil {
		edge.WriteError(w, r, err)
		return nil, nil
	}
	return in, release
}

// serveEvents streams the events that a reader lacks as server-sent events. The caller
// has counted the stream by streams.open.
func (er *eventRoutes) serveEvents(w http.ResponseWriter, r *http.Request, in *reading) {
	w.Header().Set(runHeader, in.run.ID)
	sink := newEventSink(w, r, in)
	er.logBreak(r.Context(), in, er.sendEvents(r.Context(), in, sink))
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
func (er *eventRoutes) sendEvents(ctx context.Context, in *reading, sink eventSink) error {
	ctx, release := er.leases.hold(ctx)
	defer release()
	ref, err := er.follower.awaitTurn(ctx, &in.run, sink.Alive)
	if err == nil {
		err = er.follower.follow(ctx, ref, sink.Alive, er.sender(ctx, in, sink, ref.FirstOffset))
	}
	if err != nil {
		return endOf(ctx, err)
	}
	return nil
}

// sender returns a function that sends the items of a run, of which the first has an
// offset.
func (er *eventRoutes) sender(ctx context.Context, in *reading, sink eventSink, first int64) func(stream.Item) error {
	rendered := &renderer{results: er.results, reading: in}
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
	if err := audit.Commit(ctx); err != nil {
		return fmt.Errorf("write the audit of run %s: %w", r.run.ID, err)
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event %d of run %s: %w", id, r.run.ID, err)
	}
	return sink.Event(id, name, encoded)
}

// logBreak logs what broke a stream off, unless its client left.
func (er *eventRoutes) logBreak(ctx context.Context, in *reading, err error) {
	if err != nil && ctx.Err() == nil {
		er.log.WarnContext(ctx, "stream ended early", "run", in.run.ID, "workspace", in.run.Workspace, "error", err)
	}
}

// serveAnswer waits for a run to end and answers with the data of its last event.
// A client that leaves does not stop the run.
func (er *eventRoutes) serveAnswer(w http.ResponseWriter, r *http.Request, p knowledge.Principal, run store.Run, terminal string) {
	w.Header().Set(runHeader, run.ID)
	name, data, err := er.lastEvent(r.Context(), p, run)
	switch {
	case err != nil:
		edge.WriteError(w, r, err)
	case name == terminal:
		edge.WriteJSON(w, http.StatusOK, data)
	default:
		edge.WriteError(w, r, runFailure(data))
	}
}

// lastEvent follows a run to its end and renders that event alone.
func (er *eventRoutes) lastEvent(ctx context.Context, p knowledge.Principal, run store.Run) (string, any, error) {
	item, err := er.follower.lastItem(ctx, runRef(run))
	if err != nil {
		return "", nil, err
	}
	return (&renderer{results: er.results, reading: &reading{principal: p, run: run, compact: true}}).event(ctx, item)
}

// runFailure returns the error with which a run ended.
func runFailure(data any) error {
	var ended knowledge.Failure
	raw, ok := data.(json.RawMessage)
	if !ok || json.Unmarshal(raw, &ended) != nil || ended.Code == "" {
		return knowledge.Errorf(knowledge.CodeInternal, "the run ended without an answer")
	}
	return ended.AsError(time.Now())
}
