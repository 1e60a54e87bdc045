package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// memoryPages is the limit of pdfium's memory, in pages of 64 KiB: 512 MiB.
const memoryPages = 8192

// usualMemory is the memory that pdfium needs beside the file, in bytes. If it
// traps with more, the reason is taken to be the memory limit.
const usualMemory = 100 << 20

// Config configures a Reader.
type Config struct {
	// CacheDir keeps the compiled WebAssembly between processes. Defaults to no
	// cache: every New then compiles pdfium, which takes some seconds.
	CacheDir string
	// CacheWait is how long New waits for another process that compiles pdfium
	// into the cache, before it compiles pdfium itself. Defaults to 30 s.
	CacheWait time.Duration
}

// Reader reads one PDF after another. Each gets its own instance of pdfium, so
// that nothing of one document is left for the next. It is not safe for
// concurrent use. Read cannot be interrupted: a caller that needs a deadline
// must end the process.
type Reader struct {
	pool  pdfium.Pool
	cache wazero.CompilationCache
}

// New compiles pdfium or loads it from the cache. ctx must live as long as the
// Reader.
func New(ctx context.Context, cfg Config) (*Reader, error) {
	r := &Reader{}
	runtime := wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryPages)
	if cfg.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cfg.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("open compilation cache: %w", err)
		}
		r.cache = cache
		runtime = runtime.WithCompilationCache(cache)
		if cfg.CacheWait == 0 {
			cfg.CacheWait = defaultCacheWait
		}
		defer lockCache(ctx, cfg.CacheDir, cfg.CacheWait)()
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context: experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(allocateMemory)), MinIdle: 0, MaxIdle: 1, MaxTotal: 1,
		FSConfig:      wazero.NewFSConfig(), // no file system; the default mounts all of it
		RuntimeConfig: runtime,
		Stdout:        io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile pdfium: %w", err), r.closeCache(ctx))
	}
	r.pool = pool
	return r, nil
}

// Close frees pdfium.
func (r *Reader) Close(ctx context.Context) error {
	return errors.Join(r.pool.Close(), r.closeCache(ctx))
}

func (r *Reader) closeCache(ctx context.Context) error {
	if r.cache == nil {
		return nil
	}
	return r.cache.Close(ctx)
}

const corrupt = "the PDF is damaged and cannot be parsed; open it in a viewer, save it again and send the new file"

// Read extracts a PDF, with poppler if pdfium cannot parse it. Errors for which the document is at fault are
// *knowledge.Error: encrypted, corrupt, empty, parse_limit or too_large. Other
// errors are failures of pdfium itself.
func (r *Reader) Read(ctx context.Context, source format.Source) (format.Result, error) {
	data, err := source.Bytes()
	if err != nil {
		return format.Result{}, err
	}
	var result format.Result
	err = r.with(ctx, source, data, func(d *document) (err error) {
		result, err = d.read()
		return err
	})
	if knowledge.IsCode(err, knowledge.CodeCorrupt) && source.Tools.PDFToText != "" && source.Folder != "" {
		if rescued, err := ReadWithPoppler(ctx, source); err == nil {
			return rescued, nil
		}
	}
	return result, err
}

// with opens a PDF in a new instance of pdfium.
func (r *Reader) with(ctx context.Context, source format.Source, data []byte, use func(*document) error) error {
	instance, err := r.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return fmt.Errorf("start pdfium: %w", err)
	}
	// Kill drops the instance with all its memory. Its error does not matter:
	// the result is already copied out of that memory.
	defer func() { _ = instance.Kill() }()
	lib, err := newLibrary(ctx, instance)
	if err != nil {
		return fmt.Errorf("start pdfium: %w", err)
	}
	d, err := openDocument(ctx, lib, source, data)
	if err == nil {
		err = use(d)
	}
	if trap, ok := errors.AsType[*trapError](err); ok {
		if lib.memorySize() > len(data)+usualMemory {
			return noMemory().WithCause(trap)
		}
		return knowledge.Errorf(knowledge.CodeCorrupt, corrupt).WithCause(trap)
	}
	return err
}

func noMemory() *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeParseLimit, "parsing the PDF takes more memory than is allowed; split it or make it simpler")
}
