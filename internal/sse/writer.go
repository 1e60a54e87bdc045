package sse

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
)

// retryMilliseconds is how long a client waits before it connects again.
const retryMilliseconds = 2000

// Options say how a stream is written.
type Options struct {
	// Delta sends events of more than 16 KiB in pieces.
	Delta bool
	// RunID makes the ids of pieces, so that every replay cuts alike.
	RunID string
	// NoRetry leaves out how long a client waits before it connects again, for
	// protocols whose clients do not.
	NoRetry bool
}

// Writer writes events to one client. It is used by one goroutine. It sets no
// deadlines: the http.ResponseWriter drops a client that stops reading.
type Writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	options Options
	begun   bool
	buffer  bytes.Buffer
}

// NewWriter prepares a response for a stream of events. The status and headers
// go out with the first event or comment.
func NewWriter(w http.ResponseWriter, o Options) *Writer {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	return &Writer{w: w, control: http.NewResponseController(w), options: o}
}

// Event writes one event. An error means that the client has left or was dropped.
func (w *Writer) Event(id int64, event string, data []byte) error {
	if !w.options.Delta || len(data) <= maxData {
		w.frame(strconv.FormatInt(id, 10), event, data)
		return w.flush()
	}
	pieces, err := cut(w.options.RunID, id, event, data)
	if err != nil {
		return err
	}
	for i, p := range pieces {
		last := ""
		if i == len(pieces)-1 {
			last = strconv.FormatInt(id, 10)
		}
		w.frame(last, deltaEvent, p)
	}
	return w.flush()
}

// Message is an event that is written whole.
type Message struct {
	ID    string // "" = none
	Event string // "" = none
	Data  []byte
}

// Messages writes events at once.
func (w *Writer) Messages(messages ...Message) error {
	for _, m := range messages {
		w.frame(m.ID, m.Event, m.Data)
	}
	return w.flush()
}

// Put writes an event that the client need not get before the next Flush.
func (w *Writer) Put(m Message) error {
	w.frame(m.ID, m.Event, m.Data)
	return w.write()
}

// Flush sends what was put.
func (w *Writer) Flush() error {
	if err := w.control.Flush(); err != nil {
		return fmt.Errorf("flush events: %w", err)
	}
	return nil
}

// Comment writes a line that clients ignore, to keep the connection open.
func (w *Writer) Comment(text string) error {
	w.buffer.WriteString(": ")
	w.buffer.Write(line([]byte(text)))
	w.buffer.WriteString("\n\n")
	defer func() { w.buffer = bytes.Buffer{} }() // the stream is idle
	return w.flush()
}

// frame puts an event into the buffer, without a name if event is empty.
func (w *Writer) frame(id, event string, data []byte) {
	if !w.begun && !w.options.NoRetry {
		w.begun = true
		fmt.Fprintf(&w.buffer, "retry: %d\n", retryMilliseconds)
	}
	if id != "" {
		w.buffer.WriteString("id: " + id + "\n")
	}
	if event != "" {
		w.buffer.WriteString("event: ")
		w.buffer.Write(line([]byte(event)))
		w.buffer.WriteByte('\n')
	}
	if bytes.IndexByte(data, '\r') >= 0 { // it ends a line too; JSON has neither
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	for part := range bytes.SplitSeq(data, []byte("\n")) {
		w.buffer.WriteString("data: ")
		w.buffer.Write(part)
		w.buffer.WriteByte('\n')
	}
	w.buffer.WriteByte('\n')
}

func (w *Writer) flush() error {
	if err := w.write(); err != nil {
		return err
	}
	return w.Flush()
}

func (w *Writer) write() error {
	_, err := w.w.Write(w.buffer.Bytes())
	w.buffer.Reset()
	if err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	return nil
}

// line keeps text on one line.
func line(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, text)
}
