package edge_test

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
)

// connection is a response that records the deadlines which are set on it.
type connection struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (c *connection) SetReadDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

// slow returns a byte every ten seconds.
type slow struct{}

func (slow) Read(p []byte) (int, error) {
	time.Sleep(10 * time.Second)
	return copy(p, "a"), nil
}

// TestTrickledBodies: a client that sends a byte now and then does not hold a
// request open, and one that waits for the server is not held to its time.
func TestTrickledBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &connection{ResponseRecorder: httptest.NewRecorder()}
		body := edge.NewSteady(w, httptest.NewRequestWithContext(t.Context(), "POST", "/", slow{}), 1<<20)
		for left := time.Minute; left >= 0; left -= 10 * time.Second {
			if _, err := body.Read(make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
			if got := time.Until(w.deadlines[len(w.deadlines)-1]) + 10*time.Second; got != left {
				t.Errorf("%s are left, want %s", got, left)
			}
			time.Sleep(time.Hour) // in which the server is busy
		}
	})
}
