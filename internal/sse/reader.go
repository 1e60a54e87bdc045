package sse

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// maxLine bounds one line of a stream, in bytes.
const maxLine = 64 << 20

// Event is what a stream says. ID is the last id that the stream gave, which is
// what a client sends as Last-Event-ID; Name is "message" where none was given.
type Event struct {
	ID   string
	Name string
	Data []byte
}

// Read parses a stream and joins the pieces of large events. It ends without an
// error at the end of the stream, where an event without its empty line is
// dropped, as WHATWG says. ID of an event that came in pieces is that of its
// last piece.
func Read(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		joined := joiner{}
		for e, err := range parse(r) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			whole, ok, err := joined.take(e)
			if err != nil {
				yield(Event{}, err)
				return
			}
			if ok && !yield(whole, nil) {
				return
			}
		}
	}
}

// joiner gathers the pieces of events.
type joiner struct{ parts map[string][]string }

// take gives the event, or the one that e completes. A piece that comes again,
// because the stream was taken up in the middle of an event, replaces itself.
func (j *joiner) take(e Event) (Event, bool, error) {
	if e.Name != deltaEvent {
		return e, true, nil
	}
	var p piece
	if err := json.Unmarshal(e.Data, &p); err != nil || p.Index < 0 || p.Index >= p.Total || p.Total > 1<<20 {
		return e, false, errors.New("a piece of an event cannot be read")
	}
	if j.parts == nil {
		j.parts = map[string][]string{}
	}
	parts := j.parts[p.DeltaID]
	if len(parts) != p.Total {
		parts = make([]string, p.Total)
		j.parts[p.DeltaID] = parts
	}
	parts[p.Index] = p.Content
	if p.Index < p.Total-1 {
		return e, false, nil
	}
	delete(j.parts, p.DeltaID)
	return Event{ID: e.ID, Name: p.Event, Data: []byte(strings.Join(parts, ""))}, true, nil
}

// parse is the event stream interpretation of the HTML standard.
func parse(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 64<<10), maxLine)
		lines.Split(splitLines)
		first := true
		var e Event
		var data bytes.Buffer
		hasData, lastID := false, ""
		for lines.Scan() {
			l := lines.Bytes()
			if first {
				l, first = bytes.TrimPrefix(l, []byte("\xef\xbb\xbf")), false
			}
			if len(l) == 0 {
				if hasData {
					e.ID, e.Data = lastID, bytes.Clone(bytes.TrimSuffix(data.Bytes(), []byte("\n")))
					if e.Name == "" {
						e.Name = "message"
					}
					if !yield(e, nil) {
						return
					}
				}
				e, hasData = Event{}, false
				data.Reset()
				continue
			}
			field, value, _ := bytes.Cut(l, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "event":
				e.Name = string(value)
			case "data":
				hasData = true
				data.Write(value)
				data.WriteByte('\n')
			case "id":
				if !bytes.ContainsRune(value, 0) {
					lastID = string(value)
				}
			}
		}
		if err := lines.Err(); err != nil {
			yield(Event{}, fmt.Errorf("read events: %w", err))
		}
	}
}

// splitLines ends a line at CR LF, LF or CR.
func splitLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEOF && len(data) > 0:
		return len(data), data, nil
	case i < 0:
		return 0, nil, nil
	case data[i] == '\n':
		return i + 1, data[:i], nil
	case i+1 < len(data):
		if data[i+1] == '\n' {
			return i + 2, data[:i], nil
		}
		return i + 1, data[:i], nil
	case atEOF:
		return i + 1, data[:i], nil
	default:
		return 0, nil, nil // the CR may be followed by its LF
	}
}
