package extract

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"time"

	"github.com/cairn-rag/cairn/internal/collector"
	"github.com/cairn-rag/cairn/internal/confine"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/unioffice"
)

// maxStack bounds the recursion of a parser, in bytes.
const maxStack = 256 << 20

// usualMemory is a soft limit for Go's memory, in bytes, while a document needs no more: that
// of a report of 500 pages, beside some 50 MB of pdfium.
const usualMemory = 160 << 20

// gcPercent is the runtime's default, which the parent has turned off for the start.
const gcPercent = 100

// Serve is the loop of a parser child: it reads requests from in and writes one
// response for each to out. It returns when in ends, when ctx ends, or when the
// parser must be replaced. If in ends in the middle of a document, Serve returns
// at once, and the process must then exit. Nothing else may write to out.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	requests, proceed := make(chan request), make(chan struct{}, 1)
	ended := make(chan error, 2)
	go func() {
		ended <- readRequests(ctx, in, requests, proceed)
	}()
	go func() {
		s := server{out: out, proceed: proceed}
		s.parser.starting, s.parser.working, s.parser.pages = s.starting, s.working, s.pages
		ended <- s.run(ctx, requests)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func readRequests(ctx context.Context, in io.Reader, requests chan<- request, proceed chan<- struct{}) error {
	r := bufio.NewReader(in)
	for {
		var req request
		if err := readFrame(r, maxRequest, &req); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("read request: %w", err)
		}
		if req.Proceed {
			proceed <- struct{}{} // one for each start of pdfium, of which a child has one
			continue
		}
		select {
		case requests <- req:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// server answers the requests of one parent.
type server struct {
	parser  parser
	out     io.Writer
	proceed <-chan struct{} // the parent lets pdfium start
	waits   bool            // pdfium starts when the parent lets it
	toldAt  time.Time       // when the request began, or the parent was told of its pages
}

// pagesEvery is the time between two notes of pages. A small document has none.
const pagesEvery = 500 * time.Millisecond

func (s *server) run(ctx context.Context, requests <-chan request) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case req := <-requests:
			resp := s.answer(ctx, req)
			if err := writeFrame(s.out, resp); err != nil {
				return fmt.Errorf("write response: %w", err)
			}
			if resp.Last {
				return s.parser.close(ctx)
			}
		}
	}
}

// starting runs start and tells the parent before and after it, because the time
// and memory that it takes do not count against the document.
func (s *server) starting(start func() error) error {
	if err := writeFrame(s.out, response{Note: noteStarting}); err != nil {
		return err
	}
	if s.waits {
		<-s.proceed // the process ends if the parent is gone
	}
	limit := debug.SetMemoryLimit(math.MaxInt64) // a memory limit would only slow it down
	err := start()
	debug.SetMemoryLimit(limit)
	debug.FreeOSMemory() // the memory for compiling is not needed again
	return errors.Join(err, writeFrame(s.out, response{Note: noteStarted}))
}

// working tells the parent that the time limit starts again. If the parent is gone,
// the response fails too.
func (s *server) working() { _ = writeFrame(s.out, response{Note: noteWorking}) }

// pages tells the parent from time to time how many pages were read. If the parent is gone,
// the response fails too.
func (s *server) pages(read, all int) {
	if time.Since(s.toldAt) >= pagesEvery {
		s.toldAt = time.Now()
		_ = writeFrame(s.out, response{Note: notePages, Read: read, All: all})
	}
}

func (s *server) answer(ctx context.Context, req request) response {
	if req.Settings != nil {
		if err := s.apply(*req.Settings); err != nil {
			return response{Error: toWire(err), Last: true}
		}
		return response{}
	}
	if req.Warm {
		if err := s.parser.startPDF(ctx); err != nil {
			return response{Error: toWire(err), Last: true}
		}
		return response{}
	}
	s.toldAt = time.Now()
	result, err := s.read(ctx, req)
	if f, ok := errors.AsType[*fault](err); ok {
		return response{Fault: f, Last: true}
	}
	if err != nil {
		return response{Error: toWire(err)}
	}
	return response{Result: &result}
}

func (s *server) apply(set settings) error {
	s.parser.cacheDir, s.parser.scratch, s.parser.tools = set.CacheDir, set.Scratch, set.Tools
	s.waits = set.CacheDir != "" && !set.Warms
	if set.Restrict {
		if err := restrict(set); err != nil {
			return err
		}
	}
	if s.parser.isUnioffice = set.Unioffice != ""; s.parser.isUnioffice {
		if err := unioffice.SetLicense(set.Unioffice); err != nil {
			return err
		}
	}
	debug.SetMaxStack(maxStack)
	debug.SetGCPercent(gcPercent)
	if set.Memory > 0 {
		most := set.Memory / 4 * 3
		collector.Limit(min(usualMemory, most), most, nil)
	}
	return limitProcess(set)
}

// restrict keeps the child from all files but its own, the cache, and the time zones.
func restrict(set settings) error {
	if set.Warms {
		return confine.Restrict(set.CacheDir)
	}
	return confine.Restrict(set.Scratch, set.CacheDir, "/usr/share/zoneinfo", "/etc/localtime")
}

// read extracts one file, draws a page of it, makes pages of it or runs a query on it, and turns a panic of the reader into a
// fault. The child is then replaced.
func (s *server) read(ctx context.Context, req request) (result format.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &fault{Cause: causeOf(r), Stack: string(debug.Stack())}
		}
	}()
	switch {
	case req.Drawing != nil:
		return format.Result{}, s.parser.draw(ctx, req.Input, *req.Drawing)
	case req.Query != "":
		return format.Result{}, query(ctx, req.Input, req.Query)
	case req.MakePages:
		return s.parser.makePages(ctx, req.Input)
	case req.Second:
		return s.parser.readSecond(ctx, req.Input)
	}
	return s.parser.read(ctx, req.Input)
}
