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

// The names of the events that end a run, and of those that a reader of answers
// acts on.
const (
	EventStarted   = "runStarted"
	EventChunk     = "apiMessageChunk"
	EventReset     = "messageReset"
	EventToolCall  = "toolCall"
	EventCompleted = "completedMessage"
	EventDocument  = "documentUpdate"
	EventEnded     = "runEnded"
	EventError     = "error"
	EventToolEnd   = "tool_end"
)

// Event is one event of a run. Ids start at 1 and leave no number out.
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

// Decode reads the event's data into v.
func (e Event) Decode(v any) error {
	if err := json.Unmarshal(e.Data, v); err != nil {
		return fmt.Errorf("decode event %d (%s): %w", e.ID, e.Name, err)
	}
	return nil
}

// Events yields the events of a run after the one with the id after (0 = all)
// and follows it to its last event. When the connection or the server goes away
// it comes back with Last-Event-ID, so no event is missed or seen twice, until
// Config.Patience has passed without a connection. A run whose events after
// `after` are none and that has ended yields nothing. The first error is the last
// yield.
func (c *Client) Events(ctx context.Context, runID string, after int64) iter.Seq2[Event, error] {
	return c.follow(ctx, runID, after, nil)
}

// follow yields events from first (which may be nil) and then from the run's own
// events, whenever the stream breaks off.
func (c *Client) follow(ctx context.Context, runID string, after int64, first io.ReadCloser) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		last, body := after, first
		retry := backoff{deadline: time.Now().Add(c.patience)}
		for {
			err := c.open(ctx, runID, last, &body)
			if err == nil && body == nil {
				return // 204: nothing after the last event
			}
			if err == nil {
				before := last
				alive := watch(body, c.silence)
				var done bool
				if done, err = c.drain(ctx, alive, &last, yield); done {
					return
				}
				body = nil
				if last > before || alive.stood(min(backoffLast, c.patience)) {
					retry = backoff{deadline: time.Now().Add(c.patience)}
				}
			}
			if !passing(ctx, err) || !retry.wait(ctx, err) {
				if ctx.Err() != nil {
					err = ctx.Err()
				}
				yield(Event{}, fmt.Errorf("follow run %s after event %d: %w", runID, last, err))
				return
			}
		}
	}
}

// open gets the events of a run after last, unless body is open already. The
// body stays nil if there are none and none will come.
func (c *Client) open(ctx context.Context, runID string, last int64, body *io.ReadCloser) error {
	if *body != nil {
		return nil
	}
	header := http.Header{"Accept": {"text/event-stream"}}
	if last > 0 {
		header.Set("Last-Event-ID", strconv.FormatInt(last, 10))
	}
	path := c.path("/runs", []string{runID, "events"})
	res, err := c.send(ctx, http.MethodGet, path, compact(), header, nil)
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusNoContent {
		return res.Body.Close()
	}
	if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		res.Body.Close()
		return c.stranger(http.MethodGet, path, kind)
	}
	*body = res.Body
	return nil
}

// compact asks for text chunks without the whole text before them: whoever
// follows a run puts it together.
func compact() url.Values { return url.Values{"compact": {"true"}} }

// drain yields what alive holds. It is done when the run has ended or the
// consumer has had enough; otherwise the error says why the stream stopped.
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
			continue // a replay of what was seen
		}
		*last = id
		e := Event{ID: id, Name: raw.Name, Data: raw.Data}
		if !yield(e, nil) || e.Terminal() {
			return true, nil
		}
	}
	return false, errCut
}
