package extract

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/process"
)

const (
	startTimeout  = 30 * time.Second
	watchInterval = 50 * time.Millisecond

	// A child that starts pdfium compiles it unless the cache holds it: 4 s and
	// 280 MB on one quiet core. These are the limits for that.
	libraryTimeout = 2 * time.Minute
	libraryMemory  = 1 << 30

	// maxFrames is the largest number of frames that a child sends for one
	// request: two notes about pdfium, one that it is working, and the response.
	maxFrames = 4

	// patience is how much longer than its time a document may take on a machine that
	// gives its parser no processor.
	patience = 4

	// longest bounds the time of a document whose reader asks for more.
	longest = 30 * time.Minute
)

// child is one parser process. It serves one request at a time.
type child struct {
	cmd       *exec.Cmd
	in        *os.File
	responses chan answer   // frames of the current request; closed when the child's output ends
	exited    chan struct{} // closed when the process is gone
	stderr    *tail
	scratch   string // folder for its files
	job       jobFolder
	served    int
}

type answer struct {
	response response
	err      error
}

// errFault marks a failure of the child itself while it parsed.
var errFault = errors.New("parser child failed")

// errGivesWay means that a child was killed because all children together had too much memory.
// Its document can be read again.
var errGivesWay = errors.New("the parsers together use too much memory")

// startChild runs the command and waits until the child has applied its
// settings. A child that warms the cache may write there, and parses nothing.
func startChild(ctx context.Context, cfg PoolConfig, warms bool) (*child, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start parser child: %w", err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start parser child: %w", err), childIn.Close(), in.Close())
	}
	c := &child{in: in, responses: make(chan answer, maxFrames), exited: make(chan struct{}), stderr: &tail{log: cfg.Logger}}
	if c.scratch, err = os.MkdirTemp(cfg.TempDir, "cairn-parser-"); err != nil {
		return nil, errors.Join(fmt.Errorf("start parser child: %w", err), childIn.Close(), in.Close(), out.Close(), childOut.Close())
	}
	if c.cmd, c.job, err = cfg.command(c.scratch, warms); err == nil {
		c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = childIn, childOut, c.stderr
		c.cmd.SysProcAttr = childAttributes()
		err = c.cmd.Start()
	}
	// The child has its own copies of these; an error of closing ours is of no
	// use.
	_, _ = childIn.Close(), childOut.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start parser child: %w", err), in.Close(), out.Close(), os.Remove(c.scratch))
	}
	cfg.Budget.came(c)
	go c.readResponses(out)
	go func() {
		_ = c.cmd.Wait() // how it ended is read from ProcessState
		c.removeScratch()
		cfg.Budget.gone(c)
		close(c.exited)
	}()
	return c, c.setUp(ctx, cfg, warms)
}

func (c *child) readResponses(out *os.File) {
	defer close(c.responses)
	defer out.Close()
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		var a answer
		a.err = readFrame(r, maxResponse, &a.response)
		if errors.Is(a.err, io.EOF) {
			return
		}
		if a.response.Note == noteWorking || a.response.Note == notePages {
			select {
			case c.responses <- a:
			default: // nobody reads any more, or another such note waits
			}
			continue
		}
		c.responses <- a
		if a.err != nil {
			return
		}
	}
}

// removeScratch removes the folder of a child that has exited. A tool of the child,
// which the kernel ends with it, may still write there for a moment.
func (c *child) removeScratch() {
	for range 20 {
		if os.RemoveAll(c.scratch) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (c *child) setUp(ctx context.Context, cfg PoolConfig, warms bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	seconds := uint64(cfg.CPU.Seconds()*float64(cfg.DocumentsPerChild)) + 2 // and 2 s to start
	err := writeFrame(c.in, request{Settings: &settings{
		Tools: cfg.Tools, CacheDir: cfg.CacheDir, Warms: warms, Scratch: c.job.inside, Restrict: cfg.Confinement == WithoutTools,
		Unioffice: cfg.UniofficeLicense, Memory: cfg.Memory, CPUSeconds: seconds,
	}})
	if err == nil {
		select {
		case a, ok := <-c.responses:
			switch {
			case !ok:
				err = errors.New("it ended at once")
			case a.err != nil:
				err = a.err
			case a.response.Error != nil:
				err = a.response.Error.toError()
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		c.kill()
		return fmt.Errorf("start parser child: %w", err)
	}
	return nil
}

// serve brings the file of a request to the child, runs the request, and fetches the files
// of the result. It returns the errors of run.
func (c *child) serve(ctx, closing context.Context, req request, pool *Pool) (result format.Result, err error) {
	folder := req.Input.Folder
	if req.Input, err = c.job.bring(req.Input); err != nil {
		return format.Result{}, errors.Join(err, c.job.clear())
	}
	if result, err = c.run(ctx, closing, req, pool); err == nil && folder != "" {
		err = c.job.fetch(folder)
	}
	return result, errors.Join(err, c.job.clear())
}

// run sends one request to the child and waits for its result. The child has
// been killed when run returns an error of ctx or one that wraps errFault.
// While the child starts pdfium, only closing interrupts it, because the next
// document uses the compiled module.
func (c *child) run(ctx, closing context.Context, req request, pool *Pool) (format.Result, error) {
	cfg := pool.cfg
	if err := writeFrame(c.in, req); err != nil {
		return format.Result{}, c.fault()
	}
	c.served++
	var warmed <-chan struct{} // closed when pdfium may start
	starting, memory, done := false, cfg.Memory, ctx.Done()
	began, deadline := time.Now(), time.NewTimer(cfg.Timeout)
	defer deadline.Stop()
	var allowed *allowance
	allow := func(most time.Duration) { // the time of a document from now on
		deadline.Reset(min(cfg.Timeout, most))
		allowed = newAllowance(c.cmd.Process.Pid, cfg.Timeout, min(patience*cfg.Timeout, most))
	}
	allow(patience * cfg.Timeout)
	watch := time.NewTicker(watchInterval)
	defer watch.Stop()
	for {
		select {
		case a, ok := <-c.responses:
			if !ok || a.err != nil {
				return format.Result{}, c.fault()
			}
			switch a.response.Note {
			case noteStarting:
				warmed = pool.warmed()
				starting, memory, done = true, max(cfg.Memory, libraryMemory), closing.Done()
				deadline.Reset(libraryTimeout)
			case noteStarted:
				if ctx.Err() != nil { // whether or not the result is here already
					c.kill()
					return format.Result{}, context.Cause(ctx)
				}
				starting, memory, done = false, cfg.Memory, ctx.Done()
				allow(patience * cfg.Timeout)
			case notePages:
				if req.Input.Pages != nil {
					req.Input.Pages(a.response.Read, a.response.All)
				}
			case noteWorking:
				allow(longest - time.Since(began))
			default:
				return c.result(a.response)
			}
		case <-warmed:
			warmed = nil
			deadline.Reset(libraryTimeout)
			if err := writeFrame(c.in, request{Proceed: true}); err != nil {
				return format.Result{}, c.fault()
			}
		case <-done:
			c.kill()
			return format.Result{}, context.Cause(ctx)
		case <-deadline.C:
			if left := allowed.left(); left > 0 && !starting {
				deadline.Reset(max(left, watchInterval))
				continue
			}
			c.kill()
			return format.Result{}, tooLong(starting, cfg.Timeout)
		case <-watch.C:
			allowed.begin()
			if err := c.watch(cfg.Budget, memory, starting); err != nil {
				c.kill()
				return format.Result{}, err
			}
		}
	}
}

// watch looks at the memory of the child. It returns an error if the child has more than its
// limit in bytes, or errGivesWay if all children together have too much.
func (c *child) watch(budget *Budget, limit int64, starting bool) error {
	used, ok := memoryOf(c.cmd.Process.Pid)
	switch {
	case !ok:
		return nil
	case used > limit:
		return memoryLimit(fmt.Errorf("%w: it has taken %d bytes", errFault, used))
	case !budget.holds(c, used) && !starting:
		return errGivesWay
	}
	return nil
}

func (c *child) result(r response) (format.Result, error) {
	if r.Last {
		c.kill()
	}
	switch {
	case r.Fault != nil:
		return format.Result{}, r.Fault
	case r.Error != nil:
		return format.Result{}, r.Error.toError()
	case r.Result == nil:
		c.kill()
		return format.Result{}, errors.New("parser child answered with neither a result nor an error")
	default:
		return *r.Result, nil
	}
}

// memoryOf returns the private memory of a process and of the processes that it started, in
// bytes, resident or swapped out; ok is false if the memory of the process itself cannot be
// read, as on systems other than Linux. It does not count the pages of the program files, some
// 120 MB: all processes share them, and the kernel reclaims them when it needs memory.
func memoryOf(pid int) (bytes int64, ok bool) {
	return process.Sum(pid, func(pid int) (int64, bool) { return process.Memory(pid, process.Private, process.Swapped) })
}

// tooLong returns the error of a child whose time is over, while it started pdfium or while it
// parsed a document for so long.
func tooLong(starting bool, limit time.Duration) error {
	if starting {
		return fmt.Errorf("the parser did not start pdfium within %s", libraryTimeout)
	}
	return knowledge.Errorf(knowledge.CodeParseLimit, "parsing took longer than %s; split the document or make it simpler", limit)
}

func memoryLimit(cause error) error {
	return knowledge.Errorf(knowledge.CodeParseLimit, "parsing took more memory than is allowed; split the document or make it simpler").WithCause(cause)
}

// fault waits until the child has ended and returns why it ended without an
// answer.
func (c *child) fault() error {
	select {
	case <-c.exited:
	case <-time.After(time.Second): // it closed its output, or wrote something that is not a frame
	}
	c.kill()
	state := c.cmd.ProcessState
	cause := fmt.Errorf("%w: %s", errFault, state)
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && isKill(status) || c.stderr.contains("out of memory", "cannot allocate memory", "stack overflow") {
		return memoryLimit(cause)
	}
	return errors.Join(faultOf(c.stderr.begin(), state), cause)
}

// isKill reports whether a limit ended a child. bubblewrap reports the signal that ended
// its program as a shell does.
func isKill(status syscall.WaitStatus) bool {
	const signaled = 128
	return status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGXCPU) ||
		status.ExitStatus() == signaled+int(syscall.SIGKILL) || status.ExitStatus() == signaled+int(syscall.SIGXCPU)
}

// alive reports whether the process is still running.
func (c *child) alive() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// kill ends the process, with the tools that it runs, and waits until it has ended.
// It may be called more than once.
func (c *child) kill() {
	if c.alive() {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // it may be gone already
	}
	<-c.exited
	_ = c.in.Close() // it may be closed already
}

// stop lets an idle child exit and kills it after one second.
func (c *child) stop() {
	_ = c.in.Close()
	select {
	case <-c.exited:
	case <-time.After(time.Second):
		c.kill()
	}
}

// tail logs a child's standard error line by line. It keeps the first 4096
// bytes, in which the Go runtime says why the process ended.
type tail struct {
	log  *slog.Logger
	mu   sync.Mutex
	head []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 4096 - len(t.head); room > 0 {
		t.head = append(t.head, p[:min(room, len(p))]...)
		for line := range bytes.Lines(p[:min(room, len(p))]) {
			t.log.Debug("parser child", "stderr", string(bytes.TrimSpace(line)))
		}
	}
	return len(p), nil
}

// begin returns the first bytes that were written.
func (t *tail) begin() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.head)
}

func (t *tail) contains(words ...string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range words {
		if bytes.Contains(t.head, []byte(w)) {
			return true
		}
	}
	return false
}
