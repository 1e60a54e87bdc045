package sse

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxData is the most bytes of data that an event has before it is sent in
// pieces, and the most that the data of a piece has.
const maxData = 16 << 10

// minContent is what a piece holds at least, however long its event's name is.
const minContent = 1 << 10

// deltaEvent is the event type of a piece.
const deltaEvent = "_delta_sse"

// Piece is the data of a _delta_sse event: a part of the data of another event.
type Piece struct {
	Event   string `json:"event"`    // type of the whole event
	DeltaID string `json:"delta_id"` // the same for all its pieces, at every replay
	Index   int    `json:"index"`    // 0 = first
	Total   int    `json:"total"`
	Content string `json:"content"`
}

// cut splits data, which is UTF-8, into pieces between its characters, and returns
// each as JSON of at most maxData bytes. The same event of the same run is
// always cut alike.
func cut(run string, id int64, event string, data []byte) ([][]byte, error) {
	hash := sha256.Sum256([]byte(run + "/" + strconv.FormatInt(id, 10)))
	p := Piece{Event: event, DeltaID: hex.EncodeToString(hash[:8]), Index: len(data), Total: len(data)}
	envelope, err := encode(p)
	if err != nil {
		return nil, fmt.Errorf("encode piece of event %d: %w", id, err)
	}
	contents := contents(data, max(maxData-len(envelope), minContent))
	pieces := make([][]byte, len(contents))
	for i, content := range contents {
		p.Index, p.Total, p.Content = i, len(contents), string(content)
		if pieces[i], err = encode(p); err != nil {
			return nil, fmt.Errorf("encode piece of event %d: %w", id, err)
		}
	}
	return pieces, nil
}

// contents splits data so that each part, as a string in JSON, has at most size
// bytes.
func contents(data []byte, size int) [][]byte {
	var parts [][]byte
	start, used := 0, 0
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		width := encodedWidth(r, n)
		if used+width > size {
			parts = append(parts, data[start:i])
			start, used = i, 0
		}
		i, used = i+n, used+width
	}
	return append(parts, data[start:])
}

// encodedWidth returns how many bytes of JSON a character of n bytes takes.
func encodedWidth(r rune, n int) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t', r == '\b', r == '\f':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError && n == 1:
		return 6
	default:
		return n
	}
}

// encode returns JSON without escapes for <, > and &: a stream is not HTML, and
// escapes would make such text six times as long.
func encode(p Piece) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
