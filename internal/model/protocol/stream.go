package protocol

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/cairn-rag/cairn/internal/sse"
)

// Stream writes a streamed answer, one event at a time. After the first error
// of a write it writes nothing more.
type Stream struct {
	events *sse.Writer
	head   []byte // beginning of the data of every event
	buf    []byte
	err    error
}

// NewStream starts the answer with the id, model and time of c.
func NewStream(w http.ResponseWriter, c Completion) *Stream {
	head := append([]byte(nil), `{"id":`...)
	head = appendString(head, c.ID)
	head = append(head, `,"object":"chat.completion.chunk","created":`...)
	head = strconv.AppendInt(head, c.Created, 10)
	head = append(head, `,"model":`...)
	head = appendString(head, c.Model)
	head = append(head, ',')
	s := &Stream{events: sse.NewWriter(w, sse.Options{NoRetry: true}), head: head}
	w.Header().Del("X-Accel-Buffering") // no proxy stands before these servers
	s.delta(`{"role":"assistant","content":""}`, "")
	return s
}

// Text writes a piece of text.
func (s *Stream) Text(piece string) {
	s.begin()
	s.buf = append(s.buf, `"choices":[{"index":0,"delta":{"content":`...)
	s.buf = appendString(s.buf, piece)
	s.buf = append(s.buf, `},"finish_reason":null}]}`...)
	s.end()
}

// ToolCalls writes the calls in the way of providers: the name of each, then
// its arguments in fragments.
func (s *Stream) ToolCalls(calls []ToolCall) {
	const fragment = 24
	for i, call := range calls {
		at := `{"tool_calls":[{"index":` + strconv.Itoa(i)
		s.delta(at+`,"id":`+Quote(call.ID)+`,"type":"function","function":{"name":`+Quote(call.Function.Name)+`,"arguments":""}}]}`, "")
		runes := []rune(call.Function.Arguments)
		for len(runes) > 0 {
			n := min(fragment, len(runes))
			s.delta(at+`,"function":{"arguments":`+Quote(string(runes[:n]))+`}}]}`, "")
			runes = runes[n:]
		}
	}
}

// Finish writes the finish reason.
func (s *Stream) Finish(reason string) { s.delta("{}", reason) }

// Usage writes the event with the usage and without choices.
func (s *Stream) Usage(u Usage) {
	b, err := json.Marshal(u)
	if err != nil {
		s.err = err
		return
	}
	s.begin()
	s.buf = append(s.buf, `"choices":[],"usage":`...)
	s.buf = append(append(s.buf, b...), '}')
	s.end()
}

// Done writes the mark that ends the stream, and flushes.
func (s *Stream) Done() {
	s.buf = append(s.buf[:0], "[DONE]"...)
	s.end()
	s.Flush()
}

// Flush sends everything written so far.
func (s *Stream) Flush() {
	if s.err == nil {
		s.err = s.events.Flush()
	}
}

// Err returns the first error of a write.
func (s *Stream) Err() error { return s.err }

func (s *Stream) delta(delta, finish string) {
	s.begin()
	s.buf = append(s.buf, `"choices":[{"index":0,"delta":`...)
	s.buf = append(s.buf, delta...)
	s.buf = append(s.buf, `,"finish_reason":`...)
	if finish == "" {
		s.buf = append(s.buf, "null}]}"...)
	} else {
		s.buf = append(appendString(s.buf, finish), "}]}"...)
	}
	s.end()
}

func (s *Stream) begin() { s.buf = append(s.buf[:0], s.head...) }

func (s *Stream) end() {
	if s.err == nil {
		s.err = s.events.Put(sse.Message{Data: s.buf})
	}
}

// Quote returns s as a JSON string.
func Quote(s string) string { return string(appendString(nil, s)) }

// appendString appends s as a JSON string. Plain ASCII, the usual case, is
// copied.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			quoted, err := json.Marshal(s)
			if err != nil {
				return append(b, `""`...) // a string always marshals
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
