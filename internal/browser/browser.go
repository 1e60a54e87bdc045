package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
)

// Install is the command that installs what a Browser needs.
const Install = "apt-get install chromium bubblewrap"

const (
	// startTime bounds a start of Chromium, which takes a minute where all processors are
	// used.
	startTime = 2 * time.Minute
	// retryAfter is how long a start that failed is not tried again.
	retryAfter = time.Minute
	// pagesPerBrowser is after how many pages Chromium is replaced.
	pagesPerBrowser = 200
)

// Config is what a Browser works with.
type Config struct {
	// Launcher is the program and arguments that call Launch with the arguments that
	// follow. Required.
	Launcher []string
	// Dialer reaches only addresses that users may name. Required.
	Dialer *safedial.Dialer
	// Agent is added to the name that Chromium gives itself in requests.
	Agent string
	// Pages is how many pages are open at the same time. Others wait. Defaults to 3.
	Pages int
	// Memory bounds the memory of all processes of Chromium together, in bytes. Above it
	// they are killed, and the pages with them. Defaults to 1.5 GiB.
	Memory int64
	// PageBytes bounds what the requests of one page receive. Defaults to 32 MiB.
	PageBytes int64
	// Idle is how long Chromium runs without a page. Defaults to one minute.
	Idle time.Duration
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Pages = cmp.Or(c.Pages, 3)
	c.Memory = cmp.Or(c.Memory, 3<<29)
	c.PageBytes = cmp.Or(c.PageBytes, 32<<20)
	c.Idle = cmp.Or(c.Idle, time.Minute)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Document is what the scripts of a page made of it.
type Document struct {
	URL  string // after redirects, also those by scripts
	HTML string
}

// Browser runs the scripts of pages. It is safe for concurrent use.
type Browser struct {
	cfg   Config
	slots chan int // the numbers of pages that may be open

	mu       sync.Mutex
	closed   bool
	current  *chromium // nil = none
	open     int       // pages
	served   int       // pages, by current
	idle     *time.Timer
	failed   error // of the last start
	failedAt time.Time
}

// New returns a Browser. It starts nothing.
func New(cfg Config) *Browser {
	b := &Browser{cfg: cfg.withDefaults()}
	b.slots = make(chan int, b.cfg.Pages)
	for n := range b.cfg.Pages {
		b.slots <- n
	}
	return b
}

// errClosed reports that the Browser was closed.
var errClosed = errors.New("the browser is closed")

// Render opens an address, lets its scripts run, and returns the document that they made.
// It navigates only to addresses for which mayOpen returns nil, and otherwise returns its
// error. It blocks until a page can be opened, and ends with ctx.
func (b *Browser) Render(ctx context.Context, address string, mayOpen func(*url.URL) error) (Document, error) {
	if err := b.cfg.Dialer.CheckURL(address); err != nil {
		return Document{}, err
	}
	var slot int
	select {
	case slot = <-b.slots:
		defer func() { b.slots <- slot }()
	case <-ctx.Done():
		return Document{}, context.Cause(ctx)
	}
	c, err := b.enter()
	if err != nil {
		return Document{}, err
	}
	defer b.leave()
	select {
	case <-c.ready:
	case <-ctx.Done():
		return Document{}, context.Cause(ctx)
	}
	if c.failure != nil {
		return Document{}, c.failure
	}
	return c.render(ctx, slot, address, mayOpen)
}

// enter returns the Chromium that opens the next page, and starts one if there is none.
// The start continues if the page that caused it does not wait any longer.
func (b *Browser) enter() (*chromium, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errClosed
	}
	if b.current != nil && (b.current.hasEnded() || b.served >= pagesPerBrowser && b.open == 0) {
		b.current.stop()
		b.current = nil
	}
	if b.current == nil {
		if b.failed != nil && time.Since(b.failedAt) < retryAfter {
			return nil, b.failed
		}
		b.current, b.served = b.launch(), 0
	}
	if b.idle != nil {
		b.idle.Stop()
	}
	b.open++
	b.served++
	return b.current, nil
}

// launch starts Chromium in the background.
func (b *Browser) launch() *chromium {
	c := &chromium{cfg: b.cfg, ready: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(c.ready)
		ctx, cancel := context.WithTimeout(context.Background(), startTime) // for all pages that wait
		defer cancel()
		c.failure = c.start(ctx)
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.failed = c.failure; c.failure == nil {
			return
		}
		b.failedAt = time.Now()
		if b.current == c {
			b.current = nil
		}
		b.cfg.Logger.Warn("pages are read without their scripts", "error", c.failure)
	}()
	return c
}

// leave notes that a page is closed.
func (b *Browser) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open--; b.open > 0 || b.closed {
		return
	}
	b.idle = time.AfterFunc(b.cfg.Idle, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.open == 0 && b.current != nil {
			b.current.stop()
			b.current = nil
		}
	})
}

// Close ends Chromium. It returns when all of its processes have ended.
func (b *Browser) Close() error {
	b.mu.Lock()
	c := b.current
	b.closed, b.current = true, nil
	if b.idle != nil {
		b.idle.Stop()
	}
	b.mu.Unlock()
	if c != nil {
		<-c.ready
		c.stop()
	}
	return nil
}

// Available reports with an error of knowledge.CodeNeedsComponent what is not installed.
func Available() error {
	if err := installed(); err != nil {
		return knowledge.Errorf(knowledge.CodeNeedsComponent, "the scripts of pages cannot be run: %v; %s", err, Install)
	}
	return nil
}

func failedTo(what string, err error) error { return fmt.Errorf("%s in the browser: %w", what, err) }

// Running reports whether there is a Chromium.
func (b *Browser) Running() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current != nil && !b.current.hasEnded()
}
