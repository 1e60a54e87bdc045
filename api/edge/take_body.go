package edge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// How long a body may take: bodyPatience, and longer for one that comes at
	// bodyRate bytes a second.
	bodyPatience = 60 * time.Second
	bodyRate     = 64 << 10
	// memoryPatience is how long a large body waits for room.
	memoryPatience = 20 * time.Second
	// How much of a refused body is read, and for how long.
	maxDrain     = 64 << 20
	drainTimeout = 5 * time.Second
)

// takeBody reads the body into memory. A large one waits until there is room for
// it; release returns the room. A client that only announces a large body takes no
// room from others.
func (e *Edge) takeBody(w http.ResponseWriter, r *http.Request, limit int64) (body []byte, release func(), err error) {
	if r.ContentLength > limit {
		return nil, nil, knowledge.TooLarge("body", limit)
	}
	var reserve int64
	release = sync.OnceFunc(func() { e.memory.Release(reserve) })
	source := NewSteady(w, r, limit)
	defer source.End()
	var buffer bytes.Buffer
	for size := min(SmallBody, limit+1); ; {
		_, err := io.CopyN(&buffer, source, size-int64(buffer.Len()))
		if errors.Is(err, io.EOF) || err == nil && size == r.ContentLength {
			return buffer.Bytes(), release, nil
		}
		if err == nil {
			if size = min(2*size, limit+1); r.ContentLength > 0 {
				size = r.ContentLength
			}
			room := min(size, e.cfg.BodyMemory) - reserve
			if err = e.takeMemory(r.Context(), room); err == nil {
				reserve += room
				buffer.Grow(int(size) - buffer.Len())
				continue
			}
		}
		release()
		return nil, nil, BodyError(err)
	}
}

// DropBody releases the memory of a body that was read, for a handler that waits
// afterwards: other requests may need the room.
func DropBody(r *http.Request) {
	c := callOf(r.Context())
	c.body, r.Body = nil, http.NoBody
	c.release()
}

// takeMemory waits for room, but not for long: somebody may hold on to it.
func (e *Edge) takeMemory(ctx context.Context, bytes int64) error {
	ctx, cancel := context.WithTimeout(ctx, memoryPatience)
	defer cancel()
	if err := e.memory.Acquire(ctx, bytes); err != nil {
		return (&knowledge.Error{
			Code: knowledge.CodeUnavailable, Retryable: true, RetryAfter: 5 * time.Second,
			Message: "too many large uploads are under way; try again shortly",
		}).WithCause(err)
	}
	return nil
}

// Steady reads a body for as long as it keeps coming. The time that its reader
// spends between the reads does not count.
type Steady struct {
	r       io.Reader
	control *http.ResponseController
	wait    time.Duration // for the client
	bytes   int64
}

// NewSteady returns a reader of a request's body, up to a limit in bytes.
func NewSteady(w http.ResponseWriter, r *http.Request, limit int64) *Steady {
	return &Steady{r: http.MaxBytesReader(w, r.Body, limit), control: http.NewResponseController(w)}
}

// Read implements io.Reader.
func (b *Steady) Read(p []byte) (int, error) {
	began, extra := time.Now(), time.Duration(b.bytes/bodyRate)*time.Second
	_ = b.control.SetReadDeadline(began.Add(bodyPatience + extra - b.wait)) // not a connection, as in tests
	n, err := b.r.Read(p)
	b.bytes += int64(n)
	b.wait += time.Since(began)
	return n, err
}

// End takes the deadline off the connection.
func (b *Steady) End() { _ = b.control.SetReadDeadline(time.Time{}) }

// drain reads the rest of a refused body, so that the client reads the answer: it
// would see a reset of the connection otherwise. A client that sent Expect waits
// for the answer before it sends the body.
func drain(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTimeout))
	_, _ = io.CopyN(io.Discard, r.Body, maxDrain) // the answer goes out anyway
}
