package client_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
)

// TestSilence follows a stream that is silent after its first event, without being closed.
func TestSilence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		down   time.Duration // until then the server answers nothing
		speaks time.Duration // when the stream goes on by itself, 0 = never
		told   []string
		opened int // streams
	}{
		{"of_a_server_that_answers_is_not_told", 0, 30 * time.Second, nil, 1},
		{"of_a_server_that_stands_still_is_told_within_5_seconds", 20 * time.Second, 0,
			[]string{"4.5s lost: no server answers at http://cairn.test: nothing comes through the connection", "20.6s back"}, 2},
		{"that_ends_by_itself_goes_on_in_the_same_stream", time.Hour, 12 * time.Second,
			[]string{"4.5s lost: no server answers at http://cairn.test: nothing comes through the connection", "12s back"}, 1},
		{"that_outlasts_the_connection_is_told_once", 50 * time.Second, 0,
			[]string{"4.5s lost: no server answers at http://cairn.test: nothing comes through the connection", "50s back"}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin, opened := time.Now(), 0
				c := inBubble(t, func(r *http.Request) (*http.Response, error) {
					if r.URL.Path == "/healthz" {
						return answerAfter(r, test.down-time.Since(begin))
					}
					if opened++; opened > 1 {
						if res, err := answerAfter(r, test.down-time.Since(begin)); err != nil {
							return res, err
						}
						return body(io.NopCloser(strings.NewReader(event(1, client.EventStarted, `{}`) + event(2, client.EventEnded, `{}`)))), nil
					}
					stream, w := io.Pipe()
					go func() {
						_, _ = io.WriteString(w, event(1, client.EventStarted, `{}`)) // a reader that is gone fails the test
						if test.speaks > 0 {
							time.Sleep(test.speaks)
							_, _ = io.WriteString(w, event(2, client.EventEnded, `{}`))
						}
					}()
					return body(stream), nil
				})
				var told []string
				c = c.WithOutages(func(err error) {
					note := "back"
					if err != nil {
						note = "lost: " + err.Error()
					}
					told = append(told, fmt.Sprintf("%v %s", time.Since(begin).Round(100*time.Millisecond), note))
				})
				seen, err := gather(c.Events(t.Context(), "run-1", 0))
				if err != nil {
					t.Error(err)
				}
				wantEvents(t, seen, "1 runStarted", "2 runEnded")
				if diff := cmp.Diff(test.told, told); diff != "" || opened != test.opened {
					t.Errorf("%d streams, want %d; told (-want +got):\n%s", opened, test.opened, diff)
				}
				time.Sleep(time.Minute) // the pipe's writer ends
			})
		})
	}
	t.Run("of_a_request_is_told", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			begin, told := time.Now(), 0
			c := inBubble(t, func(r *http.Request) (*http.Response, error) {
				if res, err := answerAfter(r, 10*time.Second-time.Since(begin)); err != nil || r.URL.Path == "/healthz" {
					return res, err
				}
				answer := body(io.NopCloser(strings.NewReader(event(1, client.EventCompleted, `{}`))))
				answer.Header.Set("Cairn-Run-Id", "run-1")
				return answer, nil
			})
			if _, err := gather(c.WithOutages(func(error) { told++ }).Ask(t.Context(), client.Question{Text: "why?"})); err != nil || told != 2 {
				t.Errorf("%v, told %d times, want of the loss and of the return", err, told)
			}
		})
	})
}

// answerAfter answers with nothing when a server is up again.
func answerAfter(r *http.Request, d time.Duration) (*http.Response, error) {
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(d):
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}
}
