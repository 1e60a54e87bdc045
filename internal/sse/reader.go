package sse

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
)

// Event is an event of a stream. ID is the last id that the stream has sent, which a
// client sends as Last-Event-ID. Name is "message" if the stream sent none.
type Event struct {
	ID   string
	Name string
	Data []byte
}

// maxPieces bounds the pieces that one event may come in.
const maxPieces = 1 << 16

var (
	errPiece   = errors.New("a piece of an event cannot be read")
	errMissing = errors.New("an event came without some of its pieces; read again from the event before it")
)

// Read parses a stream and joins the pieces of large events. It ends without an
// error at the end of the stream, where an event without its empty line is
// dropped, as WHATWG says. ID of an event that came in pieces is the ID of its
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

// joiner gathers the pieces of one event. Pieces of two events never come
// mixed, so that a new one's first piece drops what there is of another.
type joiner struct {
	id    string
	parts []string
	have  []bool
}

// take returns e, or the event that e completes. A reader that resumes a stream
// inside an event receives a piece again, which replaces the earlier one.
func (j *joiner) take(e Event) (Event, bool, error) {
	if e.Name != deltaEvent {
		return e, true, nil
	}
	var p Piece
	if err := json.Unmarshal(e.Data, &p); err != nil || p.Index < 0 || p.Index >= p.Total || p.Total > maxPieces {
		return e, false, errPiece
	}
	if p.DeltaID != j.id || p.Total != len(j.parts) {
		*j = joiner{id: p.DeltaID, parts: make([]string, p.Total), have: make([]bool, p.Total)}
	}
	j.parts[p.Index], j.have[p.Index] = p.Content, true
	if p.Index < p.Total-1 {
		return e, false, nil
	}
	for _, have := range j.have {
		if !have {
			return e, false, errMissing
		}
	}
	data := strings.Join(j.parts, "")
	*j = joiner{}
	return Event{ID: e.ID, Name: p.Event, Data: []byte(data)}, true, nil
}
