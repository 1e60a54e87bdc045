package clamd

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// The bounds of a conversation.
const (
	dialTimeout = 5 * time.Second
	// silence is how long the daemon may take none of the bytes, and how long it may look at a
	// file that it has whole. It gives up a file itself after MaxScanTime, two minutes by default.
	silence    = 3 * time.Minute
	chunkBytes = 64 << 10
	maxReply   = 4 << 10
)

// The errors of Scan.
var (
	// ErrUnavailable means that the daemon cannot be reached, or did not answer with a verdict.
	ErrUnavailable = errors.New("clamd does not answer")
	// ErrTooLarge means that the file is larger than the daemon takes.
	ErrTooLarge = errors.New("the file is larger than clamd takes")
)

// Verdict is what the daemon found in a file.
type Verdict struct {
	Signature string // the name of the malware, "" = none was found
}

// Client asks one daemon. It is safe for concurrent use.
type Client struct{ address string }

// New returns a Client of the daemon at a host and port.
func New(address string) *Client { return &Client{address} }

// Ping reports whether the daemon answers.
func (c *Client) Ping(ctx context.Context) error {
	reply, err := c.converse(ctx, "PING", nil)
	if err != nil {
		return err
	}
	if reply != "PONG" {
		return fmt.Errorf("%w with PONG", ErrUnavailable)
	}
	return nil
}

// Scan sends a file and returns the verdict. Its errors are ErrUnavailable, ErrTooLarge, those of
// file, and the error of ctx.
func (c *Client) Scan(ctx context.Context, file io.Reader) (Verdict, error) {
	reply, err := c.converse(ctx, "INSTREAM", file)
	if err != nil {
		return Verdict{}, err
	}
	return parse(reply)
}

// parse reads the reply to INSTREAM.
func parse(reply string) (Verdict, error) {
	switch {
	case strings.HasPrefix(reply, "INSTREAM size limit exceeded"):
		return Verdict{}, ErrTooLarge
	case reply == "stream: OK":
		return Verdict{}, nil
	}
	if found, ok := strings.CutSuffix(reply, " FOUND"); ok {
		signature := strings.TrimPrefix(found, "stream: ")
		if strings.HasPrefix(signature, "Heuristics.Limits.Exceeded") {
			return Verdict{}, ErrTooLarge // with AlertExceedsMax: a limit of the daemon, and no malware
		}
		return Verdict{Signature: signature}, nil
	}
	return Verdict{}, fmt.Errorf("%w with a verdict", ErrUnavailable)
}

// converse sends a command, with a file as its stream if it is not nil, and returns the reply.
func (c *Client) converse(ctx context.Context, command string, file io.Reader) (string, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", c.address)
	if err != nil {
		return "", unavailable(ctx, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends what waits
	defer stop()
	moving := &bounded{conn: conn, ctx: ctx}
	if _, err = moving.Write([]byte("z" + command + "\x00")); err != nil {
		return "", unavailable(ctx, err)
	}
	if file != nil {
		if failed := send(moving, file); failed != nil {
			if _, ours := errors.AsType[*fileError](failed); ours {
				return "", failed
			}
			err = failed // the daemon closes the stream of a file that is too large, and says so
		}
	}
	reply, readErr := moving.reply()
	if readErr != nil {
		return "", unavailable(ctx, errors.Join(err, readErr))
	}
	return reply, nil
}

// send writes the chunks of a file, each behind its length, and the empty one that ends it.
func send(to io.Writer, file io.Reader) error {
	chunk := make([]byte, 4+chunkBytes)
	for {
		n, err := io.ReadFull(file, chunk[4:])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return &fileError{err}
		}
		if n > 0 {
			binary.BigEndian.PutUint32(chunk, uint32(n)) //nolint:gosec // at most chunkBytes
			if _, err := to.Write(chunk[:4+n]); err != nil {
				return err
			}
		}
		if err != nil {
			_, err := to.Write([]byte{0, 0, 0, 0})
			return err
		}
	}
}

// fileError is an error of the file that is sent.
type fileError struct{ err error }

// Error implements error.
func (e *fileError) Error() string { return "read the file to scan: " + e.err.Error() }

// Unwrap returns the cause.
func (e *fileError) Unwrap() error { return e.err }

// bounded is a connection whose every step is bounded in time.
type bounded struct {
	conn net.Conn
	ctx  context.Context //nolint:containedctx // the context of the conversation that this is
}

func (b *bounded) extend() error {
	if err := b.conn.SetDeadline(time.Now().Add(silence)); err != nil {
		return err
	}
	return b.ctx.Err() // it may have ended before the deadline was set
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if err := b.extend(); err != nil {
		return 0, err
	}
	return b.conn.Write(p)
}

// reply returns the reply without its end.
func (b *bounded) reply() (string, error) {
	if err := b.extend(); err != nil {
		return "", err
	}
	reply, err := bufio.NewReader(io.LimitReader(b.conn, maxReply)).ReadString(0)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(strings.TrimSuffix(reply, "\x00")), nil
}

// unavailable returns the error of a conversation that failed.
func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
