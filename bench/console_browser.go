package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	pageLoads = 11   // of each page
	scrolled  = 5000 // rows of the table of documents
)

// ready has a page note when what it is for is there, by the clock of its navigation.
const ready = `new MutationObserver((_, watch) => {
	if (document.querySelectorAll('textarea.question, table[aria-label="Documents"] tbody tr:nth-child(100) a').length === 0) return;
	watch.disconnect();
	requestAnimationFrame(() => window.readyAt = performance.now());
}).observe(document, {childList: true, subtree: true})`

// scroll scrolls the table to its end at each frame, until so many rows were loaded.
const scroll = `new Promise(done => {
	const main = document.querySelector("main"), began = performance.now(), seen = new Set();
	let last = began, slowest = 0;
	const step = now => {
		slowest = Math.max(slowest, now - last);
		last = now;
		for (const one of document.querySelectorAll("tbody a")) seen.add(one.textContent);
		if (seen.size >= %d) return done([now - began, slowest, document.querySelectorAll("tbody a").length]);
		main.scrollTo(0, main.scrollHeight);
		requestAnimationFrame(step);
	};
	requestAnimationFrame(step);
})`

// browse measures the first page and the table of documents in Chromium.
func (s *bulkServer) browse(ctx context.Context) (figures []figure, err error) {
	b, err := openBrowser(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	err = chromedp.Run(b.ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(ready).Do(ctx)
		return err
	}), chromedp.Navigate(s.Endpoints().API+"/"), chromedp.SendKeys(`dialog input`, s.Key()+kb.Enter, chromedp.ByQuery), chromedp.WaitVisible("textarea.question", chromedp.ByQuery))
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	for _, p := range []struct{ name, path string }{{"first page", "/"}, {fmt.Sprintf("table of %d documents", consoleDocuments), "/documents"}} {
		for _, cold := range []bool{true, false} {
			name := p.name + ", HTML received to ready ms"
			if cold {
				name = p.name + ", nothing cached, HTML received to ready ms"
			}
			took, err := b.loads(s.Endpoints().API+p.path, cold)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			figures = append(figures, lower(name+", p50", took.quantile(.5)), lower(name+", slowest", took.quantile(1)))
		}
	}
	answered, err := b.answer(s)
	if err != nil {
		return nil, err
	}
	figures = append(figures, answered...)
	if err := chromedp.Run(b.ctx, chromedp.Navigate(s.Endpoints().API+"/documents"), chromedp.Poll("window.readyAt > 0", nil, chromedp.WithPollingTimeout(time.Minute))); err != nil {
		return nil, fmt.Errorf("open the table again: %w", err)
	}
	var moved []float64
	if err := chromedp.Run(b.ctx, awaited(fmt.Sprintf(scroll, scrolled), &moved)); err != nil {
		return nil, fmt.Errorf("scroll: %w", err)
	}
	return append(figures, lower(fmt.Sprintf("scroll to row %d s", scrolled), moved[0]/1000), lower("slowest frame of it ms", moved[1]),
		lower("rows that exist at its end", moved[2]), lower("errors of scripts", float64(b.errors()))), nil
}

// benchBrowser is a headless Chromium.
type benchBrowser struct {
	ctx    context.Context
	folder string
	ends   []context.CancelFunc

	mu     sync.Mutex
	thrown int
}

func openBrowser(ctx context.Context) (*benchBrowser, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, fmt.Errorf("the console measure needs Chromium: %w", err)
	}
	folder, err := os.MkdirTemp("", "cairn-bench-browser-")
	if err != nil {
		return nil, err
	}
	b := &benchBrowser{folder: folder}
	ctx, end := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute), chromedp.UserDataDir(folder), chromedp.WindowSize(1280, 900))...)
	b.ends = append(b.ends, end)
	b.ctx, end = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {})) // of events that it does not know
	b.ends = append(b.ends, end)
	chromedp.ListenTarget(b.ctx, func(e any) {
		if _, is := e.(*runtime.EventExceptionThrown); is {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.thrown++
		}
	})
	if err := chromedp.Run(b.ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start Chromium: %w", err), b.close())
	}
	return b, nil
}

func (b *benchBrowser) errors() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.thrown
}

func (b *benchBrowser) close() error {
	err := chromedp.Cancel(b.ctx)
	for i := range b.ends {
		b.ends[len(b.ends)-1-i]()
	}
	return errors.Join(err, os.RemoveAll(b.folder))
}

// loads loads a page so many times, and returns the times from its HTML to what it is for.
// With cold the browser has nothing of it before.
func (b *benchBrowser) loads(url string, cold bool) (*samples, error) {
	took := &samples{}
	for range pageLoads {
		var milliseconds float64
		actions := []chromedp.Action{chromedp.Navigate("about:blank")}
		if cold {
			actions = append(actions, network.ClearBrowserCache())
		}
		actions = append(actions, chromedp.Navigate(url), chromedp.Poll("window.readyAt > 0", nil, chromedp.WithPollingTimeout(time.Minute)),
			awaited(`window.readyAt - performance.getEntriesByType("navigation")[0].responseEnd`, &milliseconds))
		if err := chromedp.Run(b.ctx, actions...); err != nil {
			return nil, err
		}
		took.add(time.Duration(milliseconds * float64(time.Millisecond)))
	}
	return took, nil
}

// awaited evaluates an expression, or waits for its promise.
func awaited(expression string, out any) chromedp.Action {
	return chromedp.Evaluate(strings.TrimSpace(expression), out, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })
}
