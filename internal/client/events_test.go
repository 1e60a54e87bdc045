package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/google/go-cmp/cmp"
)

// gather returns each event as "id name", and the error at the end.
func gather(events iter.Seq2[client.Event, error]) (seen []string, err error) {
	for e, err := range events {
		if err != nil {
			return seen, err
		}
		seen = append(seen, fmt.Sprint(e.ID, " ", e.Name))
	}
	return seen, nil
}

func wantEvents(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	started := event(1, client.EventStarted, `{"runId":"run-1"}`)
	completed := event(5, client.EventCompleted, `{"answer":"one two"}`)

	t.Run("events_are_not_yielded_twice", func(t *testing.T) {
		t.Parallel()
		_, c := play(t, stream(true, started, chunk(2, "one ")), stream(false, started, chunk(2, "one "), chunk(3, "two"), chunk(4, ""), completed))
		seen, err := gather(c.Events(t.Context(), "run-1", 0))
		if err != nil {
			t.Fatal(err)
		}
		wantEvents(t, seen, "1 runStarted", "2 apiMessageChunk", "3 apiMessageChunk", "4 apiMessageChunk", "5 completedMessage")
	})

	t.Run("nothing_follows_the_last_event", func(t *testing.T) {
		t.Parallel()
		s, c := play(t, status(http.StatusNoContent))
		seen, err := gather(c.Events(t.Context(), "run-1", 5))
		if err != nil || seen != nil {
			t.Errorf("got %v, %v; want nothing", seen, err)
		}
		if got := s.requests()[0].Header.Get("Last-Event-ID"); got != "5" {
			t.Errorf("Last-Event-ID %q, want 5", got)
		}
	})

	t.Run("a_refusal_is_final", func(t *testing.T) {
		t.Parallel()
		s, c := play(t, problem(http.StatusNotFound, `{"code":"not_found","detail":"no run with id \"run-1\""}`))
		_, err := gather(c.Events(t.Context(), "run-1", 0))
		if !client.IsCode(err, "not_found") || len(s.requests()) != 1 {
			t.Errorf("got %v after %d requests; want not_found after one", err, len(s.requests()))
		}
	})

	t.Run("a_reader_that_stops_makes_no_more_requests", func(t *testing.T) {
		t.Parallel()
		s, c := play(t, stream(true, started, chunk(2, "one ")))
		for range c.Events(t.Context(), "run-1", 0) {
			break
		}
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

func TestEventsAfterACut(t *testing.T) {
	t.Parallel()
	started := event(1, client.EventStarted, `{"runId":"run-1"}`)
	completed := event(5, client.EventCompleted, `{"answer":"one two"}`)

	t.Run("a_cut_stream_resumes_after_the_last_event_seen", func(t *testing.T) {
		t.Parallel()
		s, c := play(t,
			stream(true, started, chunk(2, "one ")),
			stream(true, chunk(3, "t"), "id: 4\nevent: apiMessageChunk\ndata: {\"chu"),
			stream(false, chunk(4, "wo"), completed))
		seen, err := gather(c.Events(t.Context(), "run-1", 0))
		if err != nil {
			t.Fatal(err)
		}
		wantEvents(t, seen, "1 runStarted", "2 apiMessageChunk", "3 apiMessageChunk", "4 apiMessageChunk", "5 completedMessage")
		var after []string
		for _, r := range s.requests() {
			after = append(after, r.URL.Path+" "+r.Header.Get("Last-Event-ID"))
		}
		if diff := cmp.Diff([]string{"/runs/run-1/events ", "/runs/run-1/events 2", "/runs/run-1/events 3"}, after); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})

	t.Run("a_stream_that_ends_without_a_last_event_is_resumed", func(t *testing.T) {
		t.Parallel()
		_, c := play(t, stream(false, started), stream(false, event(2, client.EventEnded, `{"status":"completed"}`)))
		seen, err := gather(c.Events(t.Context(), "run-1", 0))
		if err != nil {
			t.Fatal(err)
		}
		wantEvents(t, seen, "1 runStarted", "2 runEnded")
	})

	t.Run("a_server_that_is_starting_is_waited_for", func(t *testing.T) {
		t.Parallel()
		_, c := play(t, stream(true, started), status(http.StatusServiceUnavailable), stream(false, completed))
		seen, err := gather(c.Events(t.Context(), "run-1", 0))
		if err != nil {
			t.Fatal(err)
		}
		wantEvents(t, seen, "1 runStarted", "5 completedMessage")
	})

	t.Run("an_event_in_pieces_is_whole_after_a_cut_inside_it", func(t *testing.T) {
		t.Parallel()
		first := "event: _delta_sse\ndata: {\"event\":\"completedMessage\",\"delta_id\":\"d\",\"index\":0,\"total\":2,\"content\":\"{\\\"answer\\\":\"}\n\n"
		second := "id: 2\nevent: _delta_sse\ndata: {\"event\":\"completedMessage\",\"delta_id\":\"d\",\"index\":1,\"total\":2,\"content\":\"\\\"one\\\"}\"}\n\n"
		_, c := play(t, stream(true, started, first), stream(false, first, second))
		var answer client.Answer
		for e, err := range c.Events(t.Context(), "run-1", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Name == client.EventCompleted {
				if err := e.Decode(&answer); err != nil {
					t.Fatal(err)
				}
			}
		}
		if answer.Text != "one" {
			t.Errorf("answer %q, want one", answer.Text)
		}
	})
}

// transport answers requests in the process, so that tests can use a fake
// clock.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func inBubble(t *testing.T, answer transport) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{URL: "http://cairn.test", HTTP: &http.Client{Transport: answer}, Patience: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func body(r io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r}
}

// comments sends a comment every second for the given time and then breaks the
// connection.
func comments(during time.Duration) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		for begin := time.Now(); ; time.Sleep(time.Second) {
			if _, err := io.WriteString(w, ": still here\n\n"); err != nil {
				return
			}
			if time.Since(begin) >= during {
				w.CloseWithError(io.ErrUnexpectedEOF)
				return
			}
		}
	}()
	return r
}

var errDial = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}

func TestPatienceOfEvents(t *testing.T) {
	t.Parallel()
	t.Run("patience_starts_at_the_last_connection", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			first := true
			c := inBubble(t, func(*http.Request) (*http.Response, error) {
				if first {
					first = false
					time.Sleep(30 * time.Second) // more than patience, before the first event
					return body(io.NopCloser(strings.NewReader(event(1, client.EventStarted, `{}`)))), nil
				}
				return nil, errDial
			})
			begin := time.Now()
			seen, err := gather(c.Events(t.Context(), "run-1", 0))
			if !errors.Is(err, client.ErrNoServer) {
				t.Errorf("got %v, want ErrNoServer", err)
			}
			wantEvents(t, seen, "1 runStarted")
			if d := time.Since(begin); d < 45*time.Second || d > 50*time.Second {
				t.Errorf("gave up after %v, want about 50 s", d)
			}
		})
	})

	t.Run("a_connection_that_was_up_without_an_event_renews_patience", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			first := true
			c := inBubble(t, func(*http.Request) (*http.Response, error) {
				if !first {
					return body(io.NopCloser(strings.NewReader(event(1, client.EventEnded, `{}`)))), nil
				}
				first = false
				return body(comments(30 * time.Second)), nil // more than patience
			})
			seen, err := gather(c.Events(t.Context(), "run-1", 0))
			if err != nil {
				t.Fatal(err)
			}
			wantEvents(t, seen, "1 runEnded")
		})
	})

	t.Run("connections_that_fall_silent_do_not_renew_patience", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			c := inBubble(t, func(*http.Request) (*http.Response, error) {
				if tries++; tries > 10 {
					return nil, errors.New("too many tries")
				}
				r, w := io.Pipe()
				go io.WriteString(w, ": here\n\n")
				return body(r), nil
			})
			if _, err := gather(c.Events(t.Context(), "run-1", 0)); err == nil || tries != 1 {
				t.Errorf("got %v after %d tries, want one: patience is used up in silence", err, tries)
			}
		})
	})

	t.Run("connections_that_end_at_once_do_not_renew_patience", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := inBubble(t, func(*http.Request) (*http.Response, error) { return body(comments(0)), nil })
			begin := time.Now()
			if _, err := gather(c.Events(t.Context(), "run-1", 0)); err == nil {
				t.Error("a stream without an end ended")
			}
			if d := time.Since(begin); d > 20*time.Second {
				t.Errorf("gave up after %v, want at most 20 s", d)
			}
		})
	})
}

func TestEventsInTime(t *testing.T) {
	t.Parallel()

	t.Run("a_try_waits_for_retry_after", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			for _, test := range []struct {
				after string
				taken bool
				took  time.Duration
			}{{"15", true, 15 * time.Second}, {"30", false, 0}} {
				tries := 0
				c := inBubble(t, func(*http.Request) (*http.Response, error) {
					if tries++; tries > 1 {
						answer := body(io.NopCloser(strings.NewReader(event(1, client.EventCompleted, `{}`))))
						answer.Header.Set("Cairn-Run-Id", "run-1")
						return answer, nil
					}
					return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {test.after}}, Body: http.NoBody}, nil
				})
				for name, events := range map[string]iter.Seq2[client.Event, error]{
					"a_question": c.Ask(t.Context(), client.Question{Text: "why?"}),
					"a_stream":   c.Events(t.Context(), "run-1", 0),
				} {
					tries = 0
					begin := time.Now()
					_, err := gather(events)
					if took := time.Since(begin); (err == nil) != test.taken || took != test.took {
						t.Errorf("%s after %s s: %v after %v", name, test.after, err, took)
					}
				}
			}
		})
	})

	t.Run("a_silent_connection_is_closed", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			first := true
			c := inBubble(t, func(*http.Request) (*http.Response, error) {
				if !first {
					return body(io.NopCloser(strings.NewReader(event(2, client.EventEnded, `{}`)))), nil
				}
				first = false
				r, w := io.Pipe()
				go io.WriteString(w, event(1, client.EventStarted, `{}`))
				return body(r), nil
			})
			begin := time.Now()
			seen, err := gather(c.Events(t.Context(), "run-1", 0))
			if err != nil {
				t.Fatal(err)
			}
			wantEvents(t, seen, "1 runStarted", "2 runEnded")
			if d := time.Since(begin); d < 45*time.Second || d > 46*time.Second {
				t.Errorf("reconnected after %v, want 45 s of silence", d)
			}
		})
	})

	t.Run("a_cancelled_reader_stops_at_once", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := inBubble(t, func(*http.Request) (*http.Response, error) {
				r, w := io.Pipe()
				go io.WriteString(w, event(1, client.EventStarted, `{}`))
				return body(r), nil
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begin := time.Now()
			_, err := gather(c.Events(ctx, "run-1", 0))
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
				t.Errorf("got %v after %v; want the deadline's error after 1 s", err, time.Since(begin))
			}
		})
	})
}
