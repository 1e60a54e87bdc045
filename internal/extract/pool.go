package extract

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// PoolConfig says how parser children are run.
type PoolConfig struct {
	// Command is the program and the arguments of a child; it must call Serve
	// on its standard input and output. Required.
	Command []string
	// Size is how many children there are at most. Defaults to the number of
	// processors.
	Size int
	// DocumentsPerChild is after how many documents a child is replaced.
	// Defaults to 200.
	DocumentsPerChild int
	// Memory is how many bytes a child may take for itself while it parses;
	// above it is killed (watched on Linux). Defaults to 1 GiB.
	Memory int64
	// Timeout is how long one document may take. Waiting for a free child, and
	// for the child to start pdfium, does not count. Defaults to 60 s.
	Timeout time.Duration
	// CPU is the processor time of one document; a child may use
	// DocumentsPerChild times as much in its life. Defaults to Timeout.
	CPU time.Duration
	// CacheDir is where compiled WebAssembly is kept between children. It must
	// not be writable by others. Defaults to no cache, which makes the first
	// PDF of each child some seconds slower.
	CacheDir string
	// Logger takes what children write to their standard error, at debug.
	// Defaults to slog.Default().
	Logger *slog.Logger
}

func (c PoolConfig) withDefaults() PoolConfig {
	if c.Size <= 0 {
		c.Size = runtime.NumCPU()
	}
	if c.DocumentsPerChild <= 0 {
		c.DocumentsPerChild = 200
	}
	if c.Memory <= 0 {
		c.Memory = 1 << 30
	}
	if c.Timeout <= 0 {
		c.Timeout = time.Minute
	}
	if c.CPU <= 0 {
		c.CPU = c.Timeout
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Pool extracts files in child processes. It is safe for concurrent use.
type Pool struct {
	cfg    PoolConfig
	slots  chan *child // nil stands for a child that is not running
	closed context.Context
	close  context.CancelCauseFunc
	once   sync.Once
}

var errClosed = errors.New("the parser pool is closed")

// NewPool makes a pool. Children are started when they are needed.
func NewPool(cfg PoolConfig) (*Pool, error) {
	if len(cfg.Command) == 0 || cfg.Command[0] == "" {
		return nil, errors.New("extract: PoolConfig.Command is empty")
	}
	p := &Pool{cfg: cfg.withDefaults()}
	p.slots = make(chan *child, p.cfg.Size)
	for range p.cfg.Size {
		p.slots <- nil
	}
	p.closed, p.close = context.WithCancelCause(context.Background()) // ends with Close
	return p, nil
}

// Extract parses one file. It waits for a free child; when ctx ends, the child
// that works for it is killed. What the document is to blame for is a
// *knowledge.Error: empty, encrypted, corrupt, parse_limit, too_large,
// unsupported_format or malformed. The same file gives the same layout.
func (p *Pool) Extract(ctx context.Context, in Input) (knowledge.Layout, error) {
	if err := in.validate(); err != nil {
		return knowledge.Layout{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.closed, func() { cancel(errClosed) })()
	var c *child
	select {
	case c = <-p.slots:
	case <-ctx.Done():
		return knowledge.Layout{}, context.Cause(ctx)
	}
	defer func() { p.slots <- p.keep(c) }()
	for {
		if c == nil || !c.alive() {
			fresh, err := startChild(ctx, p.cfg)
			if c = fresh; err != nil {
				return knowledge.Layout{}, err
			}
		}
		before := c.served
		layout, err := c.extract(ctx, p.closed, in, p.cfg)
		if before > 0 && errors.Is(err, errFault) {
			// What others left behind in this child may be the reason: the
			// document gets one more try in a fresh one.
			continue
		}
		if err != nil {
			return knowledge.Layout{}, fmt.Errorf("extract: %w", err)
		}
		return layout, nil
	}
}

// keep gives the child to put back: none if it has ended or had its share.
func (p *Pool) keep(c *child) *child {
	if c == nil || !c.alive() {
		return nil
	}
	used, known := memoryOf(c.cmd.Process.Pid)
	if c.served >= p.cfg.DocumentsPerChild || known && used > p.cfg.Memory/2 || p.closed.Err() != nil {
		c.stop()
		return nil
	}
	return c
}

// Close stops the children. Files that are being extracted end with an error.
func (p *Pool) Close() error {
	p.once.Do(func() {
		p.close(errClosed)
		for range p.cfg.Size {
			if c := <-p.slots; c != nil {
				c.stop()
			}
		}
	})
	return nil
}
