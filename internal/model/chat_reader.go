package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// maxBlankLines bounds the lines without data between two events. Some endpoints send a comment
// every second while the model thinks.
const maxBlankLines = 20_000

var (
	errDone     = errors.New("the stream has ended with its mark")
	errNoEvents = errors.New("the answer has no events")
	errFlood    = errors.New("too many lines without data")
)

// eventReader reads the events of a streamed answer as WHATWG has them, and what endpoints make of
// them: an event whose empty line is missing, several lines of data that are one JSON text, an
// answer in one piece, or JSON texts without "data:".
type eventReader struct {
	lines *bufio.Reader
	begun bool
	plain *json.Decoder // of an answer that is no stream of events
	name  string
	data  []byte // of the event so far
}

func newEventReader(body io.Reader) *eventReader {
	return &eventReader{lines: bufio.NewReaderSize(body, 16<<10)}
}

// next reads the next event into e and returns its name. At the end it returns io.EOF, or errDone
// after the mark.
func (r *eventReader) next(e *chatEvent) (name string, err error) {
	if !r.begun {
		r.begun = true
		if err := r.begin(); err != nil {
			return "", err
		}
	}
	if r.plain != nil {
		return "", r.decodePlain(e)
	}
	for blank := 0; blank < maxBlankLines; blank++ {
		line, err := r.lines.ReadBytes('\n')
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && len(r.data) == 0) {
			return "", err
		}
		ended := err != nil || len(bytes.TrimSpace(line)) == 0
		if data, ok := r.field(line); ok {
			if len(r.data) > 0 {
				r.data = append(r.data, '\n')
			}
			r.data = append(r.data, data...)
		} else if !ended {
			continue
		}
		name, ok, err := r.decode(e, ended)
		if ok || err != nil {
			return name, err
		}
	}
	return "", errFlood
}

// begin skips a byte order mark and finds out whether events come.
func (r *eventReader) begin() error {
	if mark, _ := r.lines.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = r.lines.Discard(3) // they are there
	}
	for {
		first, err := r.lines.Peek(1)
		if err != nil {
			return err
		}
		switch first[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = r.lines.Discard(1) // as above
			continue
		case '{', '[':
			r.plain = json.NewDecoder(r.lines)
		}
		return nil
	}
}

// decodePlain reads the next JSON text of an answer that is no stream of events.
func (r *eventReader) decodePlain(e *chatEvent) error {
	var data json.RawMessage
	if err := r.plain.Decode(&data); err != nil {
		return err
	}
	if data[0] == '[' { // a list with an error, or with the pieces of an answer
		if reported, ok := readReport(data); ok {
			e.wireReport = wireReport{Object: "error", Type: anyText(reported.Type), Code: anyText(reported.Code), Message: quoted(reported.Message)}
			return nil
		}
		return errNoEvents
	}
	return json.Unmarshal(data, e)
}

func quoted(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		return nil // a text can always be encoded
	}
	return data
}

// field reads a line, and returns its data if it has some.
func (r *eventReader) field(line []byte) (data []byte, ok bool) {
	name, value, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
	value = bytes.TrimSpace(value)
	switch string(bytes.TrimSpace(name)) {
	case "event":
		r.name = string(value)
	case "data":
		return value, len(value) > 0
	}
	return nil, false
}

// decode reads the data of the event so far into e, ok if it is whole. ended reports that no more of it will come.
func (r *eventReader) decode(e *chatEvent, ended bool) (name string, ok bool, err error) {
	name = r.name
	switch {
	case string(r.data) == doneMark:
		return name, false, errDone
	case len(r.data) == 0:
		if ended {
			r.name = ""
		}
		return name, false, nil
	}
	err = json.Unmarshal(r.data, e)
	switch {
	case cutOff(err) && !ended:
		return name, false, nil // a text that goes on
	case cutOff(err) && name != "error":
		err = io.ErrUnexpectedEOF
	case err != nil && name == "error":
		e.wireReport = wireReport{Object: "error", Message: quoted(string(r.data))}
		err = nil
	}
	r.data, r.name = r.data[:0], ""
	return name, err == nil, err
}

// cutOff reports whether a JSON text ends too early.
func cutOff(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) && strings.HasPrefix(syntax.Error(), "unexpected end")
}

// whole reports whether the answer came in one piece.
func (r *eventReader) whole() bool { return r.plain != nil }
