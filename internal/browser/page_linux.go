//go:build linux && (amd64 || arm64)

package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"
)

const (
	// settleTime bounds how long the scripts of a page run.
	settleTime = 5 * time.Second
	// readTime is kept of the time of a page for reading its document.
	readTime = time.Second
	// maxReadTime bounds that, for a page whose scripts never end.
	maxReadTime = 5 * time.Second
	// closeTime bounds the close of a page.
	closeTime = 2 * time.Second
	// maxRequests bounds the requests of a page.
	maxRequests = 500
	// maxDocument bounds the document of a page, in UTF-16 code units.
	maxDocument = 10 << 20
)

// render opens a page with one of the proxies, and reads its document.
func (c *chromium) render(ctx context.Context, slot int, address string, mayOpen func(*url.URL) error) (_ Document, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer c.proxies[slot].open(ctx, c.cfg.PageBytes)()
	top := cdp.WithExecutor(ctx, session{connection: c.conn})
	id, err := target.CreateBrowserContext().WithProxyServer("http://" + c.at[slot]).WithProxyBypassList("<-loopback>").Do(top)
	if err != nil {
		return Document{}, failedTo("open a page", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(top), closeTime)
		defer cancel()
		if err := target.DisposeBrowserContext(id).Do(ctx); err != nil {
			c.stop() // a page that cannot be closed goes with its browser
		}
	}()
	if err := browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorDeny).WithBrowserContextID(id).Do(top); err != nil {
		return Document{}, failedTo("open a page", err)
	}
	tab, err := target.CreateTarget("about:blank").WithBrowserContextID(id).WithNewWindow(true).Do(top)
	if err != nil {
		return Document{}, failedTo("open a page", err)
	}
	attached, err := target.AttachToTarget(tab).WithFlatten(true).Do(top)
	if err != nil {
		return Document{}, failedTo("open a page", err)
	}
	v := &visit{
		session: session{c.conn, attached}, mayOpen: mayOpen, fail: cancel, changed: make(chan struct{}, 1),
	}
	v.ctx = cdp.WithExecutor(ctx, v.session)
	defer c.conn.listen(attached, v.event)()
	document, err := v.read(address, c.agent)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // why its requests failed
	}
	return document, err
}

// visit is a page while it is open.
type visit struct {
	session
	ctx      context.Context // ends with the page, or when it opens what it may not
	main     cdp.FrameID
	mayOpen  func(*url.URL) error
	fail     context.CancelCauseFunc
	requests atomic.Int64
	blank    cdp.LoaderID // of the document before the address is opened

	mu      sync.Mutex
	opening bool          // a document was requested and is not there
	loaded  bool          // the document and what it names
	quiet   bool          // nothing was requested for half a second
	changed chan struct{} // gets an element when one of these changed
}

// read navigates to the address and returns the document when it has settled.
func (v *visit) read(address, agent string) (Document, error) {
	for _, prepare := range []interface{ Do(context.Context) error }{
		fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*", RequestStage: fetch.RequestStageRequest}}),
		network.Enable(), network.SetBypassServiceWorker(true), emulation.SetUserAgentOverride(agent), page.Enable(),
	} {
		if err := prepare.Do(v.ctx); err != nil {
			return Document{}, failedTo("open a page", err)
		}
	}
	frames, err := page.GetFrameTree().Do(v.ctx)
	if err == nil {
		v.main, v.blank = frames.Frame.ID, frames.Frame.LoaderID
		err = page.SetLifecycleEventsEnabled(true).Do(v.ctx)
	}
	if err != nil {
		return Document{}, failedTo("open a page", err)
	}
	settled, cancel := context.WithTimeout(v.ctx, settleTime)
	defer cancel()
	if end, ok := v.ctx.Deadline(); ok {
		settled, cancel = context.WithDeadline(settled, end.Add(-readTime))
		defer cancel()
	}
	_, _, failure, download, err := page.Navigate(address).Do(settled)
	switch {
	case err != nil:
		return Document{}, failedTo("open the address", err)
	case failure != "" || download:
		return Document{}, failedTo("open the address", errors.New(failure))
	}
	for {
		v.settle(settled)
		if v.ctx.Err() != nil {
			return Document{}, context.Cause(v.ctx)
		}
		document, err := v.document()
		if err != nil && settled.Err() == nil && !v.isSettled() {
			continue // its scripts opened another address meanwhile
		}
		return document, err
	}
}

// settle blocks until the page is loaded and quiet, or had its time.
func (v *visit) settle(ctx context.Context) {
	for !v.isSettled() {
		select {
		case <-v.changed:
		case <-ctx.Done():
			return // what is there is read
		case <-v.closed:
			return
		}
	}
}

func (v *visit) isSettled() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.loaded && v.quiet && !v.opening
}

// note changes how far the page is.
func (v *visit) note(change func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change()
	select {
	case v.changed <- struct{}{}:
	default: // there is one
	}
}

// readDocument returns the address and the document of a page. It runs in a world in
// which the scripts of the page have changed nothing.
const readDocument = `(limit => {
	const html = document.documentElement?.outerHTML ?? "";
	return {url: location.href, html: html.length > limit ? "" : html.toWellFormed(), length: html.length};
})(%d)`

// errTooLarge reports that a document is larger than maxDocument.
var errTooLarge = errors.New("the document is too large")

func (v *visit) document() (Document, error) {
	ctx, cancel := context.WithTimeout(v.ctx, maxReadTime)
	defer cancel()
	world, err := page.CreateIsolatedWorld(v.main).Do(ctx)
	if err != nil {
		return Document{}, failedTo("read the page", err)
	}
	value, exception, err := runtime.Evaluate(fmt.Sprintf(readDocument, maxDocument)).WithContextID(world).WithReturnByValue(true).Do(ctx)
	switch {
	case err != nil:
		return Document{}, failedTo("read the page", err)
	case exception != nil:
		return Document{}, failedTo("read the page", errors.New(exception.Text))
	}
	var read struct {
		URL    string `json:"url"`
		HTML   string `json:"html"`
		Length int    `json:"length"`
	}
	if err := json.Unmarshal(value.Value, &read, lenient); err != nil {
		return Document{}, failedTo("read the page", err)
	}
	if read.Length > maxDocument {
		return Document{}, errTooLarge
	}
	u, err := url.Parse(read.URL)
	if err != nil {
		return Document{}, failedTo("read the page", err)
	}
	if err := v.mayOpen(u); err != nil { // scripts can change the address without a request
		return Document{}, err
	}
	return Document{URL: read.URL, HTML: read.HTML}, nil
}

// event handles an event of the page.
func (v *visit) event(m message) {
	switch m.Method {
	case "Fetch.requestPaused":
		var e fetch.EventRequestPaused
		if json.Unmarshal(m.Params, &e, lenient) == nil {
			go v.decide(&e)
		}
	case "Page.lifecycleEvent":
		var e page.EventLifecycleEvent
		if json.Unmarshal(m.Params, &e, lenient) == nil && e.FrameID == v.main {
			v.lifecycle(e.Name)
		}
	case "Page.javascriptDialogOpening":
		go func() { _ = page.HandleJavaScriptDialog(false).Do(v.ctx) }() // a page that waits settles by its time
	}
}

// lifecycle notes how far the document of the page is.
func (v *visit) lifecycle(name string) {
	switch name {
	case "init":
		v.note(func() { v.opening, v.loaded, v.quiet = false, false, false })
	case "load":
		v.note(func() { v.loaded = true })
	case "networkIdle":
		v.note(func() { v.quiet = true })
	}
}

// unneeded are kinds of requests that add nothing to the text of a page.
var unneeded = map[network.ResourceType]bool{
	network.ResourceTypeImage: true, network.ResourceTypeMedia: true, network.ResourceTypeFont: true, network.ResourceTypePing: true,
	network.ResourceTypeCSPViolationReport: true, network.ResourceTypePrefetch: true, network.ResourceTypeTextTrack: true,
}

// decide lets a request of the page continue, or fail.
func (v *visit) decide(e *fetch.EventRequestPaused) {
	u, err := url.Parse(e.Request.URL)
	allowed := err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "data" || u.Scheme == "blob") &&
		!unneeded[e.ResourceType] && v.requests.Add(1) <= maxRequests
	if allowed && e.ResourceType == network.ResourceTypeDocument && e.FrameID == v.main {
		if err := v.mayOpen(u); err != nil {
			v.fail(err)
			return // the page is closed
		}
		v.note(func() { v.opening = true })
	}
	if allowed {
		_ = fetch.ContinueRequest(e.RequestID).Do(v.ctx) // of a page that closes
		return
	}
	_ = fetch.FailRequest(e.RequestID, network.ErrorReasonBlockedByClient).Do(v.ctx) // of a page that closes
}
