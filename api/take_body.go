package api

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
	maxDrained   = 64 << 20
	drainTimeout = 5 * time.Second
)

// takeBody reads the body into memory. One that turns out to be large waits
// until there is room for it; release frees the room. A client that only
// announces a large body takes no room from others.
func (s *Server) takeBody(w http.ResponseWriter, r *http.Request, limit int64) (body []byte, release func(), err error) {
	if r.ContentLength > limit {
		return nil, nil, knowledge.TooLarge("body", limit)
	}
	var held int64
	release = sync.OnceFunc(func() { s.memory.Release(held) })
	source := newSteady(w, r, limit)
	defer source.end()
	var buffer bytes.Buffer
	for size := min(smallBody, limit+1); ; {
		_, err := io.CopyN(&buffer, source, size-int64(buffer.Len()))
		if errors.Is(err, io.EOF) || err == nil && size == r.ContentLength {
			return buffer.Bytes(), release, nil
		}
		if err == nil {
			if size = min(2*size, limit+1); r.ContentLength > 0 {
				size = r.ContentLength
			}
			room := min(size, s.cfg.BodyMemory) - held
			if err = s.takeMemory(r.Context(), room); err == nil {
				held += room
				buffer.Grow(int(size) - buffer.Len())
				continue
			}
		}
		release()
		return nil, nil, bodyError(err)
	}
}

// dropBody lets go of a body that was read, for a handler that goes on to wait:
// others may need its room.
func dropBody(r *http.Request) {
	c := callOf(r.Context())
	c.body, r.Body = nil, http.NoBody
	c.release()
}

// takeMemory waits for room, but not for long: somebody may hold on to it.
func (s *Server) takeMemory(ctx context.Context, bytes int64) error {
	ctx, cancel := context.WithTimeout(ctx, memoryPatience)
	defer cancel()
	if err := s.memory.Acquire(ctx, bytes); err != nil {
		return (&knowledge.Error{
			Code: knowledge.CodeUnavailable, Retryable: true, RetryAfter: 5 * time.Second,
			Message: "too many large uploads are under way; try again shortly",
		}).WithCause(err)
	}
	return nil
}

// steady reads a body for as long as it keeps coming. The time between
// the reads does not count.
type steady struct {
	r       io.Reader
	control *http.ResponseController
	waited  time.Duration // for the client
	bytes   int64
}

func newSteady(w http.ResponseWriter, r *http.Request, limit int64) *steady {
	return &steady{r: http.MaxBytesReader(w, r.Body, limit), control: http.NewResponseController(w)}
}

// Read implements io.Reader.
func (b *steady) Read(p []byte) (int, error) {
	began, earned := time.Now(), time.Duration(b.bytes/bodyRate)*time.Second
	_ = b.control.SetReadDeadline(began.Add(bodyPatience + earned - b.waited)) // not a connection, as in tests
	n, err := b.r.Read(p)
	b.bytes += int64(n)
	b.waited += time.Since(began)
	return n, err
}

func (b *steady) end() { _ = b.control.SetReadDeadline(time.Time{}) }

// drain reads the rest of a refused body, so that the client reads the answer: it
// would see a reset of the connection otherwise. A client that sent Expect waits
// for the answer before it sends the body.
func drain(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTimeout))
	_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // the answer goes out anyway
}
