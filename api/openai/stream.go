package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/cairn-rag/cairn/api/edge"
)

// eventStream writes server-sent events. Errors of writing are errLeft. One goroutine uses it.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	buffer  []byte
}

// errLeft is the error of a client that no longer reads.
var errLeft = errors.New("the client has left")

func newStream(w http.ResponseWriter) *eventStream {
	return &eventStream{w: w, control: http.NewResponseController(w)}
}

// begin writes the header of the answer.
func (s *eventStream) begin() {
	if s.begun {
		return
	}
	s.begun = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
}

// data sends an event without a name.
func (s *eventStream) data(data []byte) error {
	return s.send("data: ", data)
}

// object sends an event without a name whose data is the JSON of v.
func (s *eventStream) object(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	return s.data(data)
}

// alive shows the client that the stream is open.
func (s *eventStream) alive() error { return s.send(": still here", nil) }

func (s *eventStream) send(before string, data []byte) error {
	s.begin()
	s.buffer = append(append(append(s.buffer[:0], before...), data...), "\n\n"...)
	if _, err := s.w.Write(s.buffer); err != nil {
		return fmt.Errorf("%w: %w", errLeft, err)
	}
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errLeft, err)
	}
	return nil
}

// done sends the mark that ends a stream. A client that has left does not miss it.
func (s *eventStream) done() { _ = s.data([]byte("[DONE]")) }

// fail ends the stream with an error. Before the first event the error is the answer, and
// is returned for that.
func (s *eventStream) fail(r *http.Request, err error) error {
	if errors.Is(err, errLeft) || r.Context().Err() != nil {
		return nil
	}
	if !s.begun {
		return err
	}
	edge.LogError(r, err)
	_ = s.object(edge.NewOpenAIError(err)) // as above
	return nil
}
