package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// maxEvent bounds the data of one event, and one line, in bytes.
const maxEvent = 64 << 20

var errTooLarge = errors.New("read events: an event has more than 64 MB")

// parser holds what a stream has said of the event that is coming.
type parser struct {
	name    string
	id      string // holds until the next
	data    bytes.Buffer
	hasData bool
}

// parse is the event stream interpretation of the HTML standard.
func parse(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 64<<10), maxEvent+64)
		lines.Split(lineSplitter())
		var p parser
		for first := true; lines.Scan(); first = false {
			line := lines.Bytes()
			if first {
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			if len(line) > 0 {
				p.field(line)
				if p.data.Len() > maxEvent {
					yield(Event{}, errTooLarge)
					return
				}
				continue
			}
			if e, ok := p.dispatch(); ok && !yield(e, nil) {
				return
			}
		}
		if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			yield(Event{}, errTooLarge)
		} else if err != nil {
			yield(Event{}, fmt.Errorf("read events: %w", err))
		}
	}
}

// field takes a line that is not empty. Comments have an empty field name;
// names that are not known, retry among them, are passed over.
func (p *parser) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		p.name = string(value)
	case "data":
		p.hasData = true
		p.data.Write(value)
		p.data.WriteByte('\n')
	case "id":
		if !bytes.ContainsRune(value, 0) {
			p.id = string(value)
		}
	}
}

// dispatch returns the event that an empty line ends, if it has data.
func (p *parser) dispatch() (Event, bool) {
	e, ok := Event{ID: p.id, Name: p.name}, p.hasData
	if ok {
		e.Data = bytes.Clone(bytes.TrimSuffix(p.data.Bytes(), []byte("\n")))
	}
	if e.Name == "" {
		e.Name = "message"
	}
	p.name, p.hasData = "", false
	p.data.Reset()
	return e, ok
}

// lineSplitter ends a line at CR LF, LF or CR. A line that ends with CR is given
// at once: if an LF follows, it is passed over then.
func lineSplitter() bufio.SplitFunc {
	afterCR := false
	searched := 0 // bytes of the open line that hold no end
	return func(data []byte, atEOF bool) (advance int, token []byte, err error) {
		skipped := 0
		if afterCR && len(data) > 0 {
			afterCR = false
			if data[0] == '\n' {
				skipped, data = 1, data[1:]
			}
		}
		if i := bytes.IndexAny(data[searched:], "\r\n"); i >= 0 {
			i, searched = i+searched, 0
			afterCR = data[i] == '\r'
			return skipped + i + 1, data[:i], nil
		}
		if atEOF && len(data) > 0 {
			searched = 0
			return skipped + len(data), data, nil
		}
		searched = len(data)
		return skipped, nil, nil
	}
}
