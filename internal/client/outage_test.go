package client_test

import (
	"errors"
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

// TestOutages breaks a stream of events after its first event, refuses connections for a
// while, and then ends the stream.
func TestOutages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		without time.Duration
		want    []string
	}{
		{"a_short_one_is_not_told", 500 * time.Millisecond, nil},
		{"one_that_lasts_is_told_within_5_seconds_and_at_its_end", 6 * time.Second,
			[]string{"1s lost: true", "7.1s back"}},
		{"one_that_does_not_end_is_told_once", time.Hour, []string{"1s lost: true"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin, first := time.Now(), true
				c := inBubble(t, func(*http.Request) (*http.Response, error) {
					if first {
						first = false
						return body(io.NopCloser(strings.NewReader(event(1, client.EventStarted, `{}`)))), nil
					}
					if time.Since(begin) < test.without {
						return nil, errDial
					}
					return body(io.NopCloser(strings.NewReader(event(2, client.EventEnded, `{}`)))), nil
				})
				var told []string
				c = c.WithOutages(func(err error) {
					note := fmt.Sprintf("lost: %v", err != nil && !errors.Is(err, errDial))
					if err == nil {
						note = "back"
					}
					told = append(told, fmt.Sprintf("%v %s", time.Since(begin).Round(100*time.Millisecond), note))
				})
				_, err := gather(c.Events(t.Context(), "run-1", 0))
				if (err != nil) != (test.without == time.Hour) {
					t.Error(err)
				}
				synctest.Wait()
				if diff := cmp.Diff(test.want, told); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
			})
		})
	}
	t.Run("a_request_that_is_repeated_tells_too", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			tries, told := 0, 0
			c := inBubble(t, func(*http.Request) (*http.Response, error) {
				if tries++; tries == 1 {
					return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"3"}}, Body: http.NoBody}, nil
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
