package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/sse"
)

// Event names: those that end a run, and those that a reader of answers
// handles.
const (
	EventStarted     = "runStarted"
	EventChunk       = "apiMessageChunk"
	EventReset       = "messageReset"
	EventReasoning   = "reasoning"
	EventToolCall    = "toolCall"
	EventToolEvent   = "toolEvent"
	EventCompleted   = "completedMessage"
	EventResearch    = "researchUpdate"
	EventModelFailed = "modelFailed"
	EventSearch      = "searchChoices"
	EventAttachment  = "attachmentUpdate"
	EventMessage     = "userMessage"
	EventDocument    = "documentUpdate"
	EventImport      = "importUpdate"
	EventEvaluation  = "evaluationUpdate"
	EventGeneration  = "generationUpdate"
	EventEnded       = "runEnded"
	EventError       = "error"
	EventToolEnd     = "tool_end"
	EventToolUpdate  = "tool_update"
	EventToolPartial = "tool_partial_update"
)

// Event is one event of a run. Ids start at 1 and are consecutive.
type Event struct {
	ID   int64
	Name string
	Data json.RawMessage
}

// Terminal reports whether the event is a run's last.
func (e Event) Terminal() bool {
	switch e.Name {
	case EventCompleted, EventEnded, EventError, EventToolEnd:
		return true
	}
	return false
}

// Decode decodes the event's data into v.
func (e Event) Decode(v any) error {
	if err := json.Unmarshal(e.Data, v); err != nil {
		return fmt.Errorf("decode event %d (%s): %w", e.ID, e.Name, err)
	}
	return nil
}

// Events yields the events of a run after the event with id after (0 = all), up
// to its last event. When the connection is lost, it reconnects with
// Last-Event-ID, so that no event is missed or repeated, until Config.Patience
// has passed without a connection. It yields nothing if the run has ended and
// has no events after that id. An error is the last element of the sequence.
func (c *Client) Events(ctx context.Context, runID string, after int64) iter.Seq2[Event, error] {
	return c.follow(ctx, runID, after, nil)
}

// follow yields events from first (which may be nil). When that stream is cut
// off, it yields the run's further events.
func (c *Client) follow(ctx context.Context, runID string, after int64, first io.ReadCloser) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		last, body := after, first
		retry := backoff{deadline: time.Now().Add(c.patience)}
		out := outage{tell: c.outages}
		for {
			before := last
			lasted, done, err := c.connection(ctx, runID, &last, body, &out, yield)
			if done {
				return
			}
			body = nil
			if last > before || lasted {
				retry = backoff{deadline: time.Now().Add(c.patience)}
			}
			if !out.again(ctx, &retry, err) {
				if ctx.Err() != nil {
					err = ctx.Err()
				}
				yield(Event{}, fmt.Errorf("follow run %s after event %d: %w", runID, last, err))
				return
			}
		}
	}
}

// connection yields the events of one connection. done is true if the run has no further
// ones or the consumer stopped; otherwise err says why the connection ended, and lasted
// whether it was up for a while.
func (c *Client) connection(ctx context.Context, runID string, last *int64, body io.ReadCloser, out *outage, yield func(Event, error) bool) (lasted, done bool, err error) {
	connected, lose := context.WithCancel(ctx)
	defer lose()
	silence := c.attend(connected, out, lose)
	defer silence.stop()
	if err := c.open(connected, runID, *last, &body); err != nil {
		if connected.Err() != nil && ctx.Err() == nil {
			err = errCut
		}
		return false, false, err
	}
	out.over()
	if body == nil {
		return false, true, nil // 204: nothing after the last event
	}
	alive := watch(body, c.silence, silence.hear)
	done, err = c.drain(connected, alive, last, yield)
	return alive.wasUp(min(backoffLast, c.patience)), done, err
}

// open requests the events of a run after last, unless body is open already. It
// leaves body nil if the run has ended and has no further events.
func (c *Client) open(ctx context.Context, runID string, last int64, body *io.ReadCloser) error {
	if *body != nil {
		return nil
	}
	header := http.Header{"Accept": {"text/event-stream"}}
	if last > 0 {
		header.Set("Last-Event-ID", strconv.FormatInt(last, 10))
	}
	path := c.path("/runs", []string{runID, "events"})
	query := compact()
	setString(query, "external_user_id", c.user)
	res, err := c.send(ctx, http.MethodGet, path, query, header, nil)
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusNoContent {
		return res.Body.Close()
	}
	if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		res.Body.Close()
		return c.notCairnError(http.MethodGet, path, kind)
	}
	*body = res.Body
	return nil
}

// compact requests text chunks without the text before them: the reader of a
// run assembles the text.
func compact() url.Values { return url.Values{"compact": {"true"}} }

// drain yields the events in alive. done is true if the run has ended or the
// consumer stopped; otherwise err says why the stream stopped.
func (c *Client) drain(ctx context.Context, alive *watched, last *int64, yield func(Event, error) bool) (done bool, err error) {
	defer alive.Close()
	stop := context.AfterFunc(ctx, func() { _ = alive.Close() })
	defer stop()
	for raw, err := range sse.Read(alive) {
		if err != nil {
			return false, fmt.Errorf("%w: %w", errCut, err)
		}
		id, err := strconv.ParseInt(raw.ID, 10, 64)
		if err != nil {
			return false, fmt.Errorf("event %s has the id %q, which is not a number", raw.Name, raw.ID)
		}
		if id <= *last {
			continue // seen already
		}
		*last = id
		e := Event{ID: id, Name: raw.Name, Data: raw.Data}
		if !yield(e, nil) || e.Terminal() {
			return true, nil
		}
	}
	return false, errCut
}
