package model

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// drainTime bounds the wait for the end of a body whose content is complete.
const drainTime = 100 * time.Millisecond

// doneMark ends a stream of the OpenAI protocol. A JSON string contains no line
// break, so a line with the mark cannot be part of an answer.
const doneMark = "[DONE]"

// watchedBody bounds each wait and the size of an answer, and keeps its last
// bytes.
type watchedBody struct {
	x    *exchange
	body io.ReadCloser
	left int64
	tail []byte // the last bytes, enough to contain the mark
	eof  bool
}

// Read implements io.Reader.
func (b *watchedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.x.withIdleTimeout(func() (int, error) { return b.body.Read(p) })
	if n > 0 {
		b.left -= int64(n)
		b.remember(p[:n])
		if b.x.kept != nil {
			b.x.kept.Write(p[:n])
		}
	}
	b.eof = b.eof || errors.Is(err, io.EOF)
	return n, err
}

func (b *watchedBody) remember(p []byte) {
	const keep = 64
	if len(p) >= keep {
		b.tail = append(b.tail[:0], p[len(p)-keep:]...)
		return
	}
	b.tail = append(b.tail, p...)
	if excess := len(b.tail) - keep; excess > 0 {
		b.tail = append(b.tail[:0], b.tail[excess:]...)
	}
}

// sawDone reports whether the last line that was read is the done mark.
func (b *watchedBody) sawDone() bool {
	line := bytes.TrimSpace(b.tail)
	if i := bytes.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
	return ok && string(bytes.TrimSpace(data)) == doneMark
}

// drain reads the few bytes that end a complete body, so that the connection
// can be reused.
func (b *watchedBody) drain() {
	b.x.wait, b.x.kept = drainTime, nil
	// After an error the connection is not reused.
	_, _ = io.CopyN(io.Discard, b, 4<<10)
}

// Close implements io.Closer.
func (b *watchedBody) Close() error {
	if b.x.complete && !b.eof {
		b.drain()
	}
	return b.body.Close()
}
