package model_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/model"
)

func TestChatWaits(t *testing.T) {
	t.Parallel()
	silent := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if body != "" {
				_, _ = io.WriteString(w, body)
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}
	}
	timedOut := func(t *testing.T, c *model.Client) {
		t.Helper()
		_, _, err := collect(t.Context(), c, question)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeTimeout || !e.Retryable {
			t.Errorf("got %#v", err)
		}
	}

	t.Run("an endpoint that answers nothing times out", func(t *testing.T) {
		t.Parallel()
		timedOut(t, raw(t, silent(""), idle(40*time.Millisecond)))
	})
	t.Run("an endpoint that sends only a status times out", func(t *testing.T) {
		t.Parallel()
		timedOut(t, raw(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, idle(40*time.Millisecond)))
	})
	t.Run("an endpoint that stops in mid stream times out", func(t *testing.T) {
		t.Parallel()
		timedOut(t, raw(t, silent(say(hello)), idle(40*time.Millisecond)))
	})
	t.Run("a call that takes longer than the timeout times out", func(t *testing.T) {
		t.Parallel()
		timedOut(t, raw(t, silent(say(hello)), func(e *model.Endpoint) { e.Timeout = 40 * time.Millisecond }))
	})
	t.Run("cancelling ends the call with the caller's cause", func(t *testing.T) {
		t.Parallel()
		why := errors.New("stopped by the user")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		left := make(chan struct{})
		c := raw(t, func(w http.ResponseWriter, r *http.Request) {
			silent(say(hello))(w, r)
			close(left)
		})
		var got error
		for delta, err := range c.Chat(ctx, question) {
			if delta.Text != "" {
				cancel(why)
			}
			got = err
		}
		if _, typed := errors.AsType[*model.Error](got); typed || !errors.Is(got, why) {
			t.Errorf("got %#v", got)
		}
		<-left
	})
	t.Run("leaving the loop closes the request", func(t *testing.T) {
		t.Parallel()
		left := make(chan struct{})
		c := raw(t, func(w http.ResponseWriter, r *http.Request) {
			silent(say(hello))(w, r)
			close(left)
		})
		for range c.Chat(t.Context(), question) {
			break
		}
		<-left
	})
	t.Run("a closed port is a connection error", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		c := model.New(model.Endpoint{Provider: "raw", BaseURL: server.URL}, nil)
		_, _, err := collect(t.Context(), c, question)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeConnection || !e.Retryable {
			t.Errorf("got %#v", err)
		}
	})
}

// TestChatClock uses a fake clock, and an endpoint without a network.
func TestChatClock(t *testing.T) {
	t.Parallel()
	// call asks an endpoint that thinks before it answers and returns the time
	// that the call took; read is what the reader does with each piece.
	call := func(t *testing.T, thinks time.Duration, endpoint model.Endpoint, read func()) (took time.Duration, err error) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				select {
				case <-r.Context().Done():
					return nil, context.Cause(r.Context())
				case <-time.After(thinks):
				}
				body := io.NopCloser(iotest.OneByteReader(strings.NewReader(say(hello, lo, stop, done))))
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body}, nil
			})}
			endpoint.BaseURL = "http://model.test/v1"
			began := time.Now()
			for _, failed := range model.New(endpoint, client).Chat(t.Context(), question) {
				read()
				err = failed
			}
			took = time.Since(began)
		})
		return took, err
	}

	t.Run("silence ends after a minute by default", func(t *testing.T) {
		t.Parallel()
		took, err := call(t, time.Hour, model.Endpoint{}, func() {})
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeTimeout || took != model.DefaultIdleTimeout {
			t.Errorf("%#v after %s", err, took)
		}
	})
	t.Run("the call waits for an endpoint that thinks for less", func(t *testing.T) {
		t.Parallel()
		if took, err := call(t, 50*time.Second, model.Endpoint{}, func() {}); err != nil || took != 50*time.Second {
			t.Errorf("%#v after %s", err, took)
		}
	})
	t.Run("time of a slow reader does not count as silence", func(t *testing.T) {
		t.Parallel()
		endpoint := model.Endpoint{IdleTimeout: time.Second}
		if took, err := call(t, 0, endpoint, func() { time.Sleep(time.Minute) }); err != nil || took != 3*time.Minute {
			t.Errorf("%#v after %s", err, took)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
