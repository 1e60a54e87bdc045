package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Install is the command that installs what a sandbox needs.
const Install = "apt-get install bubblewrap python3-pandas python3-matplotlib"

// Language is the language of a job.
type Language string

// The languages. JavaScript needs node.
const (
	Python     Language = "python"
	JavaScript Language = "javascript"
)

// Job is code and the files in its working folder.
type Job struct {
	Language Language
	Code     string
	Files    map[string][]byte // by path, with "/" between its parts
}

// Result is the outcome of a job. A job that fails has one too.
type Result struct {
	Stdout, Stderr string // cut to MaxOutput each, with a note
	ExitCode       int
	// Stopped says why the sandbox ended the job; "" = the job ended by itself.
	Stopped string
	// Files are the regular files in the working folder after the job, by path.
	Files map[string][]byte
	// LeftOut says which files are not in Files, and why.
	LeftOut []string
}

// Limits bound one job. A zero field means its default.
type Limits struct {
	Wall      time.Duration // defaults to 60 s
	Memory    int64         // bytes of all its processes together; defaults to 512 MB
	Processes int           // and threads; defaults to 64
	Disk      int64         // bytes in its folders, which are in memory; defaults to 128 MB
	Entries   int           // files and folders there; defaults to 1,000
}

// MaxOutput bounds each stream of a job's output, in bytes.
const MaxOutput = 20_000

const (
	maxFile  = 20 << 20 // bytes of a file that is produced
	maxTotal = 64 << 20 // bytes of all files that are produced
	maxFiles = 100      // that are produced
	maxDepth = 16       // of folders
)

// Config is what a Sandbox needs.
type Config struct {
	// Folder is where the folders of jobs are made. Other users must be able to pass
	// through it. Defaults to the system's folder for temporary files.
	Folder string
	// Parallel is how many jobs run at the same time. Others wait. Defaults to 2.
	Parallel int
	Limits   Limits
}

func (c Config) withDefaults() Config {
	c.Parallel = cmp.Or(c.Parallel, 2)
	c.Limits.Wall = cmp.Or(c.Limits.Wall, time.Minute)
	c.Limits.Memory = cmp.Or(c.Limits.Memory, 512<<20)
	c.Limits.Processes = cmp.Or(c.Limits.Processes, 64)
	c.Limits.Disk = cmp.Or(c.Limits.Disk, 128<<20)
	c.Limits.Entries = cmp.Or(c.Limits.Entries, 1000)
	return c
}

// Sandbox runs jobs. It is safe for concurrent use.
type Sandbox struct {
	cfg   Config
	slots chan int // the numbers of jobs that may run

	mu      sync.Mutex
	checked bool
	again   time.Time // of the next check, if that was too slow
	absent  error
	fonts   map[string][]byte // matplotlib's list of fonts, which takes seconds to make
}

// New returns a sandbox. It starts nothing.
func New(cfg Config) *Sandbox {
	cfg = cfg.withDefaults()
	s := &Sandbox{cfg: cfg, slots: make(chan int, cfg.Parallel)}
	for n := range cfg.Parallel {
		s.slots <- n
	}
	return s
}

const (
	// checkTime bounds the check of Available.
	checkTime = 2 * time.Minute
	// checkAgain is the time until the next check after one that was too slow.
	checkAgain = time.Minute
)

// Available reports with an error of knowledge.CodeNeedsComponent why no job can run on
// this machine. The first call runs a small job, which takes some seconds; later ones
// return the same, unless the machine was too busy to tell.
func (s *Sandbox) Available() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checked || time.Now().Before(s.again) {
		return s.absent
	}
	late, err := s.check()
	if s.checked, s.absent = !late, nil; err != nil {
		s.again = time.Now().Add(checkAgain)
		absent := knowledge.Errorf(knowledge.CodeNeedsComponent, "code cannot be run on this machine: %v", err)
		absent.Retryable, s.absent = late, absent
	}
	return s.absent
}

// firstJob fails without the packages, and makes matplotlib list the fonts.
const firstJob = `import numpy, pandas, matplotlib.font_manager, glob, shutil, matplotlib
for path in glob.glob(matplotlib.get_cachedir() + "/fontlist*.json"):
    shutil.copy(path, ".")`

// check runs the first job. late reports that it had not ended in its time.
func (s *Sandbox) check() (late bool, err error) {
	if err := installed(Python); err != nil {
		return false, err
	}
	limits := s.cfg.Limits
	limits.Wall = checkTime
	result, err := s.run(context.Background(), limits, Job{Language: Python, Code: firstJob}) // the outcome is for every later caller
	switch {
	case err != nil:
		return errors.Is(err, context.DeadlineExceeded), err
	case result.Stopped != "":
		return true, fmt.Errorf("the first job failed: %s; it is tried again in a minute", result.Stopped)
	case result.ExitCode != 0:
		return false, fmt.Errorf("the first job failed: %s; %s", lastLine(result.Stderr), Install)
	}
	s.fonts = result.Files
	return false, nil
}

// Run runs a job. Code that fails is no error: Result says what it printed. An error of
// knowledge.CodeNeedsComponent says what is not installed.
func (s *Sandbox) Run(ctx context.Context, job Job) (Result, error) {
	if err := errors.Join(s.Available(), installed(job.Language)); err != nil {
		return Result{}, err
	}
	return s.run(ctx, s.cfg.Limits, job)
}

func (s *Sandbox) run(ctx context.Context, limits Limits, job Job) (Result, error) {
	var slot int
	select {
	case slot = <-s.slots:
		defer func() { s.slots <- slot }()
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	user := userOf(slot)
	f, err := newFolder(s.cfg.Folder, job, s.fonts)
	if err != nil {
		return Result{}, fmt.Errorf("prepare a sandbox: %w", err)
	}
	result, d, err := start(ctx, limits, job, f, user)
	defer d.close()
	if err == nil {
		err = d.collect(&result)
	}
	return result, errors.Join(err, f.remove())
}
