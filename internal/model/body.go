package model

import (
	"errors"
	"io"
	"time"
)

// drainTime bounds the wait for the end of a body whose content is complete.
const drainTime = 100 * time.Millisecond

// doneMark ends a stream of the OpenAI protocol. A JSON string contains no line
// break, so a line with the mark cannot be part of an answer.
const doneMark = "[DONE]"

// watchedBody bounds each wait and the size of an answer,
type watchedBody struct {
	x    *exchange
	body io.ReadCloser
	left int64
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
		if b.x.kept != nil {
			b.x.kept.Write(p[:n])
		}
	}
	b.eof = b.eof || errors.Is(err, io.EOF)
	return n, err
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
