package sse

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"unicode/utf8"
)

// maxData is the most bytes of data that an event has before it is sent in
// pieces; pieceBytes is how much of the data one piece holds.
const (
	maxData    = 16 << 10
	pieceBytes = 12 << 10
)

// deltaEvent is the event type of a piece.
const deltaEvent = "_delta_sse"

// piece is a part of the data of an event.
type piece struct {
	Event   string `json:"event"`    // type of the whole event
	DeltaID string `json:"delta_id"` // the same for all its pieces, at every replay
	Index   int    `json:"index"`    // 0 = first
	Total   int    `json:"total"`
	Content string `json:"content"`
}

// cut splits data into pieces at UTF-8 boundaries. The same event of the same
// run is always cut alike.
func cut(run string, id int64, event string, data []byte) []piece {
	hash := sha256.Sum256([]byte(run + "/" + strconv.FormatInt(id, 10)))
	deltaID := hex.EncodeToString(hash[:8])
	var pieces []piece
	for len(data) > 0 {
		n := min(pieceBytes, len(data))
		for n < len(data) && n > pieceBytes-utf8.UTFMax && !utf8.RuneStart(data[n]) {
			n--
		}
		pieces = append(pieces, piece{Event: event, DeltaID: deltaID, Index: len(pieces), Content: string(data[:n])})
		data = data[n:]
	}
	for i := range pieces {
		pieces[i].Total = len(pieces)
	}
	return pieces
}
