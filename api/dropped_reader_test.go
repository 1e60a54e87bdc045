package api_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/sse"
)

// stalled is the connection of a client that stops reading: it takes some bytes, and then
// none until the deadline of the write.
type stalled struct {
	header   http.Header
	room     int // bytes that it still takes
	read     bytes.Buffer
	deadline time.Time
}

func (s *stalled) Header() http.Header { return s.header }
func (s *stalled) WriteHeader(int)     {}

func (s *stalled) SetWriteDeadline(at time.Time) error {
	s.deadline = at
	return nil
}

func (s *stalled) Write(p []byte) (int, error) {
	n, _ := s.read.Write(p[:min(len(p), s.room)]) // never fails
	if s.room -= n; n == len(p) {
		return n, nil
	}
	if s.deadline.IsZero() {
		return n, errors.New("the write has no deadline, so the reader holds its connection for ever")
	}
	return n, os.ErrDeadlineExceeded
}

// Flush lets the events through.
func (s *stalled) Flush() {}

// TestADroppedReaderComesBack: a reader that stops reading loses its stream while the run
// continues, and with Last-Event-ID it gets every event that it lacks, once.
func TestADroppedReaderComesBack(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 10_000) // comes in pieces
	for name, room := range map[string]int{"in_the_first_event": 50, "between_words": 1_000, "in_the_pieces_of_a_long_event": 30_000} {
		for _, query := range []string{"", "?compact=true"} {
			t.Run(name+query, func(t *testing.T) {
				t.Parallel()
				streams := make(opened, 10)
				_, p, in := openPaced(t, 1, streams)
				slow := &stalled{header: http.Header{}, room: room}
				dropped := make(chan struct{})
				go func() {
					defer close(dropped)
					p.follow(t.Context(), slow, in.Run, query, "")
				}()
				<-streams
				for i := range 20 {
					p.say(in.Run, fmt.Sprintf("word%d ", i))
				}
				p.say(in.Run, long)
				<-dropped
				if n := <-streams; n != 0 {
					t.Errorf("%d streams are open", n)
				}
				if limit := time.Now().Add(2 * time.Minute); slow.deadline.IsZero() || slow.deadline.After(limit) {
					t.Errorf("the deadline of the last write was %v", slow.deadline)
				}
				p.say(in.Run, "the end")
				p.finish(t, in)

				seen, last := readEvents(t, &slow.read), ""
				if len(seen) > 0 {
					last = seen[len(seen)-1].ID
				}
				rest, whole := httptest.NewRecorder(), httptest.NewRecorder()
				p.follow(t.Context(), rest, in.Run, query, last)
				p.follow(t.Context(), whole, in.Run, query, "")
				all := readEvents(t, whole.Body)
				if len(all) != 24 || len(seen) == len(all) {
					t.Fatalf("%d events, of which the reader saw %d", len(all), len(seen))
				}
				if diff := cmp.Diff(all, append(seen, readEvents(t, rest.Body)...)); diff != "" {
					t.Errorf("behind event %q (-whole +resumed):\n%s", last, diff)
				}
			})
		}
	}
}

// readEvents returns the whole events of a stream.
func readEvents(t *testing.T, body *bytes.Buffer) (list []sse.Event) {
	t.Helper()
	for e, err := range sse.Read(body) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}
