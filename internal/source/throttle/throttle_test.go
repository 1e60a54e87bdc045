package throttle_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/source/throttle"
)

// service answers with the next of some statuses, and then with 200.
type service struct {
	mu       sync.Mutex
	statuses []int
	after    string
	at       []time.Time
	bodies   []string
}

// RoundTrip implements http.RoundTripper.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Now())
	body := ""
	if r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(data)
	}
	s.bodies = append(s.bodies, body)
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("done")), Request: r}
	if len(s.statuses) > 0 {
		answer.StatusCode, s.statuses = s.statuses[0], s.statuses[1:]
		if s.after != "" {
			answer.Header.Set("Retry-After", s.after)
		}
	}
	return answer, nil
}

func post(t *testing.T, c *http.Client) int {
	t.Helper()
	answer, err := c.Post("http://service/", "text/plain", strings.NewReader("question"))
	if err != nil {
		t.Error(err)
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestGate(t *testing.T) {
	t.Parallel()
	t.Run("a request is sent again after the time that the service names", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &service{statuses: []int{429, 503}, after: "7"}
			c := throttle.Client(&http.Client{Transport: s}, throttle.NewGate(time.Time{}, nil), throttle.Standard)
			begun := time.Now()
			if status := post(t, c); status != 200 || time.Since(begun) != 14*time.Second {
				t.Errorf("status %d after %v", status, time.Since(begun))
			}
			if len(s.bodies) != 3 || s.bodies[2] != "question" {
				t.Errorf("the bodies are %q", s.bodies)
			}
		})
	})
	t.Run("all clients of a gate wait", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, told := &service{statuses: []int{429}, after: "60"}, time.Time{}
			gate := throttle.NewGate(time.Time{}, func(until time.Time) { told = until })
			begun := time.Now()
			go post(t, throttle.Client(&http.Client{Transport: s}, gate, throttle.Standard))
			synctest.Wait()
			if !told.Equal(begun.Add(time.Minute)) {
				t.Errorf("told of %v", told)
			}
			other := &service{}
			post(t, throttle.Client(&http.Client{Transport: other}, gate, throttle.Standard))
			if waited := other.at[0].Sub(begun); waited != time.Minute {
				t.Errorf("the other client waited %v", waited)
			}
			synctest.Wait()
		})
	})
	t.Run("waits grow where the service does not say how long", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &service{statuses: []int{429, 429, 429}}
			begun := time.Now()
			post(t, throttle.Client(&http.Client{Transport: s}, throttle.NewGate(time.Time{}, nil), throttle.Standard))
			if waited := time.Since(begun); waited != 7*time.Second {
				t.Errorf("waited %v", waited)
			}
		})
	})
	t.Run("a 503 that names no time is an answer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &service{statuses: []int{503}}
			if status := post(t, throttle.Client(&http.Client{Transport: s}, throttle.NewGate(time.Time{}, nil), throttle.Standard)); status != 503 {
				t.Errorf("status %d", status)
			}
		})
	})
}
