package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// dropFiles drops small files on the page of documents, and watches the memory of the page.
const dropFiles = `(() => {
	const dropped = new DataTransfer();
	for (let i = 0; i < %d; i++) dropped.items.add(new File(["The word of file " + i + " is pier" + i + "."], "file-" + i + ".txt"));
	window.most = 0;
	setInterval(() => window.most = Math.max(window.most, performance.memory.usedJSHeapSize), 200);
	document.querySelector(".documents").dispatchEvent(new DragEvent("drop", {dataTransfer: dropped, cancelable: true, bubbles: true}));
})()`

const (
	sentFiles   = `parseInt(document.querySelector(".uploads [role=status]").textContent)`
	dropPause   = 3 * time.Second // in the middle
	dropMayTake = 30 * time.Minute
)

// drops measures files that are dropped on the page of documents at once, in a real browser,
// with a pause in the middle.
func drops(ctx context.Context, b *bench) (figures []figure, err error) {
	m := modeltest.New(modeltest.Options{})
	defer m.Close()
	s, _, err := b.serve(ctx, modelEnv(m)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	browser, err := openBrowser(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, browser.close()) }()
	wait := func(expression string) chromedp.Action {
		return chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(dropMayTake), chromedp.WithPollingInterval(200*time.Millisecond))
	}
	press := func(name string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`[...document.querySelectorAll(".uploads button")].find(b => b.textContent === %q).click()`, name), nil)
	}
	var held, after, most float64
	began := time.Now()
	err = chromedp.Run(browser.ctx, chromedp.Navigate(s.Endpoints().API+"/documents"), chromedp.SendKeys(`dialog input`, s.Key()+kb.Enter, chromedp.ByQuery),
		wait(`!!document.querySelector(".empty:not([hidden])")`), chromedp.ActionFunc(func(context.Context) error { began = time.Now(); return nil }),
		chromedp.Evaluate(fmt.Sprintf(dropFiles, b.files), nil), wait(fmt.Sprintf(`%s >= %d`, sentFiles, b.files/2)), press("Pause"),
		chromedp.Sleep(time.Second), chromedp.Evaluate(sentFiles, &held), chromedp.Sleep(dropPause-time.Second), chromedp.Evaluate(sentFiles, &after),
		press("Go on"), wait(fmt.Sprintf(`document.querySelector(".uploads [role=status]").textContent === "%d files sent"`, b.files)), chromedp.Evaluate(`window.most`, &most))
	if err != nil {
		return nil, fmt.Errorf("drop files: %w", err)
	}
	sent := time.Since(began) - dropPause
	err = chromedp.Run(browser.ctx, wait(fmt.Sprintf(`fetch("/workspaces/default/documents/summary").then(r => r.json()).then(found => found.by_status.published === %d)`, b.files)), wait(`document.querySelectorAll(".state.pending").length === 0`))
	if err != nil {
		return nil, fmt.Errorf("await %d documents: %w", b.files, err)
	}
	return []figure{
		higher(fmt.Sprintf("files/s, %d dropped at once", b.files), float64(b.files)/sent.Seconds()), lower("until all are searchable s", (time.Since(began) - dropPause).Seconds()),
		lower("files sent while it was paused", after-held), lower("highest memory of scripts MB", most/1e6), lower("errors of scripts", float64(browser.errors())),
	}, nil
}
