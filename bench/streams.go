package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// idleTime is how long the idle streams are watched: two comments of each come in it.
const idleTime = 30 * time.Second

// idleStreams measures a server with many open streams on one run, first while the run
// waits for its model, then when its answer comes.
func idleStreams(ctx context.Context, b *bench) (figures []figure, err error) {
	answer := make(chan struct{})
	model := modeltest.New(modeltest.Options{Tokens: 60})
	defer model.Close()
	model.ScriptChat(modeltest.Reply{Until: answer})
	s, _, err := b.serve(ctx, append(modelEnv(model), fmt.Sprintf("CAIRN_LIMITS__STREAMS=%d", b.streams+10))...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	var run struct{ RunID string }
	if err := s.send(ctx, "POST", "/workspaces/default/webhooks/query", map[string]any{"text": "What is on the pier?", "projectId": "default", "stream": true}, &run); err != nil {
		return nil, err
	}
	readers := newStreamReaders(s, run.RunID)
	defer readers.close()
	if err := readers.open(ctx, 10); err != nil { // what the first streams alone load
		return nil, err
	}
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	alone, began := s.cpu(), time.Now()
	if err := sleep(ctx, idleTime/3); err != nil {
		return nil, err
	}
	alone = (s.cpu() - alone) / time.Since(began).Seconds()
	before := s.residentMB()
	began = time.Now()
	if err := readers.open(ctx, b.streams); err != nil {
		return nil, err
	}
	opened := time.Since(began)
	if err := readers.await(ctx, &readers.first, b.streams+10); err != nil {
		return nil, err
	}
	comments, spent, began := readers.comments.Load(), s.cpu(), time.Now()
	if err := sleep(ctx, idleTime); err != nil {
		return nil, err
	}
	idle := (s.cpu() - spent) / time.Since(began).Seconds()
	after, came := s.residentMB(), readers.comments.Load()-comments
	spent, began = s.cpu(), time.Now()
	close(answer)
	if err := readers.await(ctx, &readers.ended, b.streams+10); err != nil {
		return nil, err
	}
	named := func(name string) string { return fmt.Sprintf("%s, %d streams", name, b.streams) }
	return []figure{
		lower(named("memory a stream KiB"), (after-before)*1024/float64(b.streams)).aim(30),
		lower(named("opened in s"), opened.Seconds()),
		lower("idle, % of a processor, 10 streams", alone*100),
		lower(named("idle, % of a processor"), idle*100),
		higher(named("comments a stream in 30 s"), float64(came)/float64(b.streams+10)).aim(1),
		lower(named("all have the answer after s"), time.Since(began).Seconds()),
		lower(named("CPU µs an event and stream"), (s.cpu()-spent)*1e6/float64(readers.events.Load())),
		lower(named("events lost or twice"), float64(readers.lost.Load())).aim(0),
		lower(named("highest memory MiB"), s.peakMB()),
	}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// streamReaders are connections that read the events of one run. They are plain connections,
// because clients of net/http would need more memory than the server.
type streamReaders struct {
	address, request string
	mu               sync.Mutex
	connections      []net.Conn
	group            sync.WaitGroup

	first, ended, comments, events, lost atomic.Int64
}

func newStreamReaders(s *server, run string) *streamReaders {
	return &streamReaders{
		address: childserver.Address(s.Endpoints().API),
		request: fmt.Sprintf("GET /runs/%s/events?compact=true&delta=off HTTP/1.1\r\nHost: cairn\r\nAuthorization: Bearer %s\r\n\r\n", run, s.Key()),
	}
}

// open opens n streams, a hundred at the same time, and returns when each was accepted.
func (r *streamReaders) open(ctx context.Context, n int) error {
	_, err := load(ctx, 100, n, func(ctx context.Context, _ int) error {
		var dialer net.Dialer
		c, err := dialer.DialContext(ctx, "tcp", r.address)
		if err != nil {
			return err
		}
		r.mu.Lock()
		r.connections = append(r.connections, c)
		r.mu.Unlock()
		if _, err := c.Write([]byte(r.request)); err != nil {
			return err
		}
		buffer := bufio.NewReaderSize(c, 1024)
		status, err := buffer.ReadString('\n')
		if err != nil || !strings.Contains(status, http.StatusText(http.StatusOK)) {
			return fmt.Errorf("a stream was refused: %q %w", status, err)
		}
		r.group.Go(func() { r.read(buffer) })
		return nil
	})
	return err
}

// read reads a stream to its end.
func (r *streamReaders) read(buffer *bufio.Reader) {
	events, name := 0, ""
	for {
		line, err := buffer.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // the middle of a long line
			continue
		case err != nil:
			if name != "completedMessage" {
				r.lost.Add(1)
			}
			return
		}
		text := strings.TrimSpace(string(line))
		switch {
		case strings.HasPrefix(text, ": "):
			r.comments.Add(1)
		case strings.HasPrefix(text, "id: "):
			if events++; text != fmt.Sprintf("id: %d", events) {
				r.lost.Add(1)
			}
			r.events.Add(1)
			if events == 1 {
				r.first.Add(1)
			}
		case strings.HasPrefix(text, "event: "):
			if name = strings.TrimPrefix(text, "event: "); name == "completedMessage" {
				r.ended.Add(1)
			}
		}
	}
}

// await waits until a count has a value.
func (r *streamReaders) await(ctx context.Context, count *atomic.Int64, n int) error {
	for began := time.Now(); count.Load() < int64(n); {
		if time.Since(began) > 5*time.Minute {
			return fmt.Errorf("%d of %d streams after five minutes", count.Load(), n)
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func (r *streamReaders) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.connections {
		_ = c.Close() // it was for reading only
	}
	r.group.Wait()
}
