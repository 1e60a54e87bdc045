package extract

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/unioffice"
)

// PoolConfig configures a pool of parser children.
type PoolConfig struct {
	// Command is the program and arguments of a child. The program must call
	// Serve on its standard input and output. Required.
	Command []string
	// Size is the largest number of children. Defaults to the number of
	// processors.
	Size int
	// DocumentsPerChild is the number of documents after which a child is
	// replaced. Defaults to 200.
	DocumentsPerChild int
	// Memory is the private memory in bytes above which a child is killed while
	// it parses (watched on Linux only). Defaults to 1 GiB.
	Memory int64
	// Budget bounds the memory of the children together. Defaults to a budget of twice
	// Memory for this pool alone.
	Budget *Budget
	// Timeout is the longest time for one document, on Linux of processor time: a child
	// that waits for a processor has at most four times as long. Waiting for a free child
	// and for the child to start pdfium does not count. Defaults to 60 s.
	Timeout time.Duration
	// CPU is the processor time for one document. A child may use
	// DocumentsPerChild times as much in its life. Defaults to Timeout.
	CPU time.Duration
	// CacheDir keeps compiled WebAssembly between children. Other users must not
	// be able to write to it, and children that parse may not. It is created. Defaults to
	// no cache, which adds some seconds to the first PDF of each child.
	CacheDir string
	// TempDir holds what the programs of a child write. A kill of this process leaves
	// it there. Defaults to the system's folder.
	TempDir string
	// Tools are the programs that readers may use. Defaults to none.
	Tools format.Tools
	// Confinement is how children and tools are kept from the rest of the machine.
	// Defaults to InNamespaces.
	Confinement Confinement
	// Hidden are folders that no child sees in namespaces, even if they are in a folder
	// of the system's programs. Defaults to none.
	Hidden []string
	// UniofficeLicense is a licence key of unioffice, which then reads DOCX, PPTX and
	// XLSX. Defaults to none: Cairn reads them itself.
	UniofficeLicense string
	// OnFault is called for each fault of a reader, with the media type of its format. It
	// must not block. Defaults to nothing.
	OnFault func(mediaType string)
	// Logger receives faults of readers, and the children's standard error at level debug. Defaults to
	// slog.Default().
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
	if c.Budget == nil {
		c.Budget = NewBudget(2 * c.Memory)
	}
	if c.Timeout <= 0 {
		c.Timeout = time.Minute
	}
	if c.CPU <= 0 {
		c.CPU = c.Timeout
	}
	if c.OnFault == nil {
		c.OnFault = func(string) {}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Tools.Confined = c.Confinement == InNamespaces
	if c.Confinement == WithoutTools {
		c.Tools = format.Tools{Refused: true}
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
	cache  warmup
}

var errClosed = errors.New("the parser pool is closed")

// NewPool returns a pool. It starts children when they are needed. It fails for a
// licence key that is wrong, or that this build has no use for.
func NewPool(cfg PoolConfig) (*Pool, error) {
	if len(cfg.Command) == 0 || cfg.Command[0] == "" {
		return nil, errors.New("extract: PoolConfig.Command is empty")
	}
	if cfg.UniofficeLicense != "" {
		if err := unioffice.SetLicense(cfg.UniofficeLicense); err != nil {
			return nil, fmt.Errorf("extract.unioffice_license_env: %w", err)
		}
	}
	if cfg.CacheDir != "" {
		if err := os.MkdirAll(cfg.CacheDir, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of the cache: %w", err)
		}
	}
	p := &Pool{cfg: cfg.withDefaults()}
	p.slots = make(chan *child, p.cfg.Size)
	for range p.cfg.Size {
		p.slots <- nil
	}
	p.closed, p.close = context.WithCancelCause(context.Background()) // ends with Close
	return p, nil
}

// Extract parses one file. It blocks until a child is
// free. When ctx ends, it kills the child and returns the cause of ctx. Errors
// for which the document is at fault are *knowledge.Error: empty, encrypted,
// corrupt, parse_limit, too_large, unsupported_format or malformed. A document whose
// reader has a fault is read by the second reader of its format, as SecondReaderKey in its
// metadata says; without one the error is a final one of knowledge.CodeInternal. The same
// file always produces the same layout.
func (p *Pool) Extract(ctx context.Context, in Input) (format.Result, error) {
	return p.run(ctx, request{Input: in})
}

// ExtractAll parses files one after the other in the same child, which takes less
// time for small files than to wait for a child for each. It calls done for each file,
// in their order, with what Extract returns. When ctx ends, it calls done no more and
// returns the cause of ctx.
func (p *Pool) ExtractAll(ctx context.Context, files []Input, done func(i int, result format.Result, err error)) error {
	return p.hold(ctx, func(ctx context.Context, s *session) error {
		for i, in := range files {
			result, err := s.run(ctx, request{Input: in})
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			done(i, result, err)
		}
		return nil
	})
}

func (p *Pool) run(ctx context.Context, req request) (result format.Result, err error) {
	err = p.hold(ctx, func(ctx context.Context, s *session) error {
		result, err = s.run(ctx, req)
		return err
	})
	return result, err
}

// session is a slot of the pool while it is held.
type session struct {
	pool  *Pool
	child *child // nil = none is running
}

// hold blocks until a child is free and calls work with it. The context of work ends
// when the pool is closed.
func (p *Pool) hold(ctx context.Context, work func(ctx context.Context, s *session) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.closed, func() { cancel(errClosed) })()
	s := session{pool: p}
	select {
	case s.child = <-p.slots:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { p.slots <- p.keep(s.child) }()
	return work(ctx, &s)
}

// run sends a request to the child, which it starts if necessary.
func (s *session) run(ctx context.Context, req request) (format.Result, error) {
	if err := req.Input.validate(); err != nil {
		return format.Result{}, err
	}
	cfg := s.pool.cfg
	turn := cfg.Budget.turn()
	for {
		if s.child == nil || !s.child.alive() {
			fresh, err := startChild(ctx, cfg, false)
			if s.child = fresh; err != nil {
				return format.Result{}, err
			}
		}
		if err := cfg.Budget.begin(ctx, turn, s.child); err != nil {
			return format.Result{}, err
		}
		before := s.child.served
		result, err := s.child.serve(ctx, s.pool.closed, req, s.pool)
		cfg.Budget.rest(s.child)
		if errors.Is(err, errGivesWay) {
			continue
		}
		if before > 0 && errors.Is(err, errFault) {
			// An earlier document may have left this child in a bad state: try
			// the document once more in a new child.
			continue
		}
		if f, ok := errors.AsType[*fault](err); ok {
			s.pool.report(ctx, req.Input, f)
			result, err = s.second(ctx, req, f)
		}
		if err != nil {
			return format.Result{}, fmt.Errorf("extract: %w", err)
		}
		return result, nil
	}
}

// keep returns the child for its next document, or nil if it has ended or must
// be replaced.
func (p *Pool) keep(c *child) *child {
	if c == nil || !c.alive() {
		return nil
	}
	used, ok := memoryOf(c.cmd.Process.Pid)
	if c.served >= p.cfg.DocumentsPerChild || ok && used > p.cfg.Memory/2 || !p.cfg.Budget.keeps(c, used) || p.closed.Err() != nil {
		c.stop()
		return nil
	}
	return c
}

// Close stops the children. Calls of Extract in progress return an error.
func (p *Pool) Close() error {
	p.once.Do(func() {
		p.close(errClosed)
		p.cache.running.Wait()
		for range p.cfg.Size {
			if c := <-p.slots; c != nil {
				c.stop()
			}
		}
	})
	return nil
}
