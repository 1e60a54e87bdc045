package scrape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/browser"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/source/web"
)

const (
	// atOnce is how many pages of a search are read at the same time.
	atOnce = 8
	// maxPage bounds the bytes of a page.
	maxPage = 10 << 20
	// maxText bounds the text that is kept of a page, in bytes.
	maxText = 200 << 10
	// maxRedirects bounds the redirects of a page.
	maxRedirects = 5
)

// Extractor extracts the text of files in child processes with limits.
type Extractor interface {
	// Extract returns the layout of a file. When ctx ends, the child is killed.
	Extract(ctx context.Context, in extract.Input) (format.Result, error)
}

// Browser runs the scripts of pages.
type Browser interface {
	// Render returns the document that the scripts of a page made of it. It opens only
	// addresses for which mayOpen returns nil, and otherwise returns its error.
	Render(ctx context.Context, address string, mayOpen func(*url.URL) error) (browser.Document, error)
}

// Config is what a Reader works with.
type Config struct {
	Client    *web.Client // reaches only addresses that users may name
	Extractor Extractor
	// Browser runs the scripts of pages that have little text without them. Defaults to
	// none: no scripts are run.
	Browser Browser
	// Folder is where pages are kept while they are read. Defaults to the system's folder
	// for temporary files.
	Folder string
	// PerPage and All bound the time of a page and the time of a call. Default to 8 s and 20 s.
	PerPage, All time.Duration
}

// Reader reads pages of the web. It is safe for concurrent use.
type Reader struct{ cfg Config }

// NewReader returns a Reader.
func NewReader(cfg Config) *Reader {
	if cfg.PerPage == 0 {
		cfg.PerPage = 8 * time.Second
	}
	if cfg.All == 0 {
		cfg.All = 20 * time.Second
	}
	return &Reader{cfg}
}

// Read returns what was read of each page, in the order of the addresses. It requests only
// addresses that allow accepts, in redirects too, and of these what robots.txt allows. No
// page holds the others up: what is not there in time is FailureTime.
func (r *Reader) Read(ctx context.Context, addresses []string, allow func(*url.URL) bool) []Page {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.All)
	defer cancel()
	type result struct {
		number int
		page   Page
	}
	pages, results := make([]Page, len(addresses)), make(chan result, len(addresses))
	slots, robots := make(chan struct{}, atOnce), &robots{client: r.cfg.Client, perHost: map[string]func() (*web.Rules, error){}}
	for i, address := range addresses {
		pages[i] = Page{URL: address, Failure: FailureTime}
		go func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				results <- result{i, r.page(ctx, address, allow, robots)}
			case <-ctx.Done():
			}
		}()
	}
	for range addresses {
		select {
		case done := <-results:
			pages[done.number] = done.page
		case <-ctx.Done():
			return pages
		}
	}
	return pages
}

// errRefused ends the redirects to an address that is not allowed.
var errRefused = errors.New("the address is not one of those that are allowed")

// page reads one page.
func (r *Reader) page(ctx context.Context, address string, allow func(*url.URL) bool, robots *robots) Page {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.PerPage)
	defer cancel()
	page := Page{URL: address}
	u, err := url.Parse(address)
	if err != nil || !allow(u) {
		page.Refused = true
		return page
	}
	mayRequest := func(u *url.URL) error {
		if !allow(u) {
			return errRefused
		}
		return robots.check(ctx, u)
	}
	if err = mayRequest(u); err == nil {
		err = r.read(ctx, &page, mayRequest)
	}
	page.Refused = errors.Is(err, errRefused)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		page.Failure = FailureTime
	case errors.Is(err, errRobots):
		page.Failure = FailureRobots
	case errors.Is(err, errNoText):
		page.Failure = FailureExtract
	default:
		page.Failure = FailureFetch
	}
	return page
}

// read requests a page and extracts its text.
func (r *Reader) read(ctx context.Context, page *Page, mayRequest func(*url.URL) error) error {
	response, err := r.cfg.Client.Fetch(ctx, web.Request{
		Address: page.URL, Accept: "text/html, application/xhtml+xml, application/pdf;q=0.8, text/plain;q=0.7, */*;q=0.1",
		Redirect: func(next *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			return mayRequest(next.URL)
		},
	})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	page.URL = response.Address
	folder, err := os.MkdirTemp(r.cfg.Folder, "page-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // the sweep of temporary files takes what is left
	file := filepath.Join(folder, "page")
	if err := save(file, response.Body); err != nil {
		return err
	}
	page.Text, err = r.text(ctx, folder, file, response.Address, response.MediaType)
	if r.cfg.Browser != nil && (err == nil || errors.Is(err, errNoText)) && NeedsScripts(file, response.MediaType, page.Text) {
		return r.runScripts(ctx, page, folder, mayRequest, err)
	}
	return err
}

// save writes a page to a file.
func save(file string, body io.Reader) error {
	data, err := web.ReadAll(body, maxPage)
	if err != nil {
		return fmt.Errorf("read a page: %w", err)
	}
	return os.WriteFile(file, data, 0o600)
}

// errNoText reports that a page has no text that can be read.
var errNoText = errors.New("the page has no text")

// text returns the text of a page that is in a file.
func (r *Reader) text(ctx context.Context, folder, file, address, mediaType string) (string, error) {
	parts := filepath.Join(folder, "parts")
	if err := os.MkdirAll(parts, 0o700); err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	name := ""
	if u, err := url.Parse(address); err == nil {
		name = filepath.Base(u.Path)
	}
	result, err := r.cfg.Extractor.Extract(ctx, extract.Input{Name: name, MediaType: extract.Declared(mediaType), Path: file, Folder: parts})
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoText, err)
	}
	var text strings.Builder
	for _, block := range result.Layout.Blocks {
		if text.Len()+len(block.Text) > maxText {
			break
		}
		if block.Text != "" && !block.Kind.IsFurniture() {
			text.WriteString(block.Text + "\n")
		}
	}
	if text.Len() == 0 {
		return "", errNoText
	}
	return strings.TrimSpace(text.String()), nil
}

// robots remembers the rules of the hosts of one call.
type robots struct {
	client *web.Client

	mu      sync.Mutex
	perHost map[string]func() (*web.Rules, error)
}

// errRobots reports that robots.txt forbids a page, or that it cannot be read.
var errRobots = errors.New("robots.txt forbids the page")

// check returns errRobots for an address that must not be requested. Pages of one host
// share one request for its rules.
func (r *robots) check(ctx context.Context, u *url.URL) error {
	host := u.Scheme + "://" + u.Host
	r.mu.Lock()
	rules := r.perHost[host]
	if rules == nil {
		rules = sync.OnceValues(func() (*web.Rules, error) { return r.fetch(ctx, host) })
		r.perHost[host] = rules
	}
	r.mu.Unlock()
	known, err := rules()
	if err != nil {
		return fmt.Errorf("%w: %w", errRobots, err)
	}
	if !known.Allow(u) {
		return errRobots
	}
	return nil
}

// fetch reads the rules of a host. One without a robots.txt allows everything.
func (r *robots) fetch(ctx context.Context, host string) (*web.Rules, error) {
	response, err := r.client.Fetch(ctx, web.Request{Address: host + "/robots.txt"})
	if web.IsGone(err) {
		return web.ParseRobots(""), nil
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := web.ReadAll(response.Body, web.MaxRobots)
	return web.ParseRobots(string(text)), err
}
