package web_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// host answers each request after a second, without a network.
type host struct {
	mu     sync.Mutex
	start  time.Time
	starts []time.Duration
	answer func(n int) *http.Response
}

// RoundTrip implements http.RoundTripper.
func (h *host) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.starts = append(h.starts, time.Since(h.start))
	n := len(h.starts)
	h.mu.Unlock()
	time.Sleep(time.Second)
	response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x")), ContentLength: 1}
	if h.answer != nil {
		response = h.answer(n)
	}
	response.Request = r
	return response, nil
}

// fetch sends a request for each address at once, reads the answers, and returns
// the errors by address.
func (h *host) fetch(t *testing.T, connections int, delay time.Duration, addresses ...string) map[string]error {
	t.Helper()
	h.start = time.Now()
	client := web.NewClient(&http.Client{Transport: h}, web.NewPace(connections))
	var group sync.WaitGroup
	var mu sync.Mutex
	failed := map[string]error{}
	for _, address := range addresses {
		group.Go(func() {
			r, err := client.Fetch(t.Context(), web.Request{Address: address, Delay: delay})
			if err == nil {
				_, err = web.ReadAll(r.Body, 100)
				r.Body.Close()
			}
			if err != nil {
				mu.Lock()
				failed[address] = err
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return failed
}

func seconds(durations []time.Duration) []float64 {
	var all []float64
	for _, d := range durations {
		all = append(all, d.Seconds())
	}
	return all
}

func TestPace(t *testing.T) {
	t.Parallel()
	const a, b, c, d = "http://one.example/a", "http://one.example/b", "http://one.example/c", "http://two.example/d"
	cases := map[string]struct {
		connections int
		delay       time.Duration
		want        []float64
	}{
		"one_connection_to_a_host":  {1, 0, []float64{0, 0, 1, 2}},
		"two_connections_to_a_host": {2, 0, []float64{0, 0, 0, 1}},
		"a_delay_between_starts":    {1, 3 * time.Second, []float64{0, 0, 3, 6}},
		"a_delay_and_connections":   {4, 3 * time.Second, []float64{0, 0, 3, 6}},
	}
	for name, c2 := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := &host{}
				if failed := h.fetch(t, c2.connections, c2.delay, a, b, c, d); len(failed) > 0 {
					t.Error(failed)
				}
				if diff := cmp.Diff(c2.want, seconds(h.starts)); diff != "" {
					t.Errorf("starts in seconds (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// busy answers the first request with 429 and Retry-After.
func busy(after string) func(n int) *http.Response {
	return func(n int) *http.Response {
		r := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x")), ContentLength: 1}
		if n == 1 {
			r.StatusCode = http.StatusTooManyRequests
			r.Header.Set("Retry-After", after)
		}
		return r
	}
}

func TestAHostThatAsksToWait(t *testing.T) {
	t.Parallel()
	addresses := []string{"http://one.example/a", "http://one.example/b"}
	t.Run("a_short_time_is_waited_for", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := &host{answer: busy("10")}
			if failed := h.fetch(t, 1, 0, addresses...); len(failed) != 1 {
				t.Error(failed)
			}
			if diff := cmp.Diff([]float64{0, 11}, seconds(h.starts)); diff != "" {
				t.Errorf("starts in seconds (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("a_long_time_is_returned", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := &host{answer: busy("600")}
			failed := h.fetch(t, 1, 0, addresses...)
			for _, err := range failed {
				sourcetest.Want(t, err, knowledge.CodeRateLimited, true)
				if after := knowledge.AsError(err).RetryAfter; after != 10*time.Minute {
					t.Errorf("got %s", after)
				}
			}
			if len(failed) != 2 || len(h.starts) != 1 {
				t.Errorf("%d errors, %d requests", len(failed), len(h.starts))
			}
		})
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		client := web.NewClient(&http.Client{Transport: transport}, web.NewPace(1))
		start := time.Now()
		_, err := client.Fetch(t.Context(), web.Request{Address: "http://one.example/", Timeout: 5 * time.Second})
		sourcetest.Want(t, err, knowledge.CodeUnavailable, true)
		if time.Since(start) != 5*time.Second {
			t.Errorf("ended after %s", time.Since(start))
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
