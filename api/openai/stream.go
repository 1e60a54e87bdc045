package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/sse"
)

// eventStream writes server-sent events. Errors of writing are errLeft. One goroutine uses it.
type eventStream struct {
	w      http.ResponseWriter
	writer *sse.Writer // nil = the answer has not begun
}

// errLeft is the error of a client that no longer reads.
var errClientGone = errors.New("the client has left")

func newStream(w http.ResponseWriter) *eventStream { return &eventStream{w: w} }

// begin writes the header of the answer.
func (s *eventStream) begin() *sse.Writer {
	if s.writer == nil {
		s.writer = sse.NewWriter(s.w, sse.Options{NoRetry: true})
		s.w.WriteHeader(http.StatusOK)
	}
	return s.writer
}

// event sends an event; without a name if that is empty.
func (s *eventStream) event(name string, data []byte) error {
	return leftError(s.begin().Messages(sse.Message{Event: name, Data: data}))
}

// object sends an event without a name whose data is the JSON of v.
func (s *eventStream) object(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	return s.event("", data)
}

// alive shows the client that the stream is open.
func (s *eventStream) alive() error { return leftError(s.begin().Comment("still here")) }

// leftError returns the error of a write as errLeft.
func leftError(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", errClientGone, err)
	}
	return nil
}

// done sends the mark that ends a stream. A client that has left does not miss it.
func (s *eventStream) done() { _ = s.event("", []byte("[DONE]")) }

// fail ends the stream with an error. Before the first event the error is the answer, and
// is returned for that.
func (s *eventStream) fail(r *http.Request, err error) error {
	if errors.Is(err, errClientGone) || r.Context().Err() != nil {
		return nil
	}
	if s.writer == nil {
		return err
	}
	edge.LogError(r, err)
	_ = s.object(edge.NewOpenAIError(err)) // as above
	return nil
}
