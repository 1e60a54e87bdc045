package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// browser starts a headless Chromium that ends with the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	found := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			found = path
			break
		}
	}
	if found == "" {
		lacking := "install chromium (Debian's package of that name) to see what a browser makes of the server"
		if os.Getenv("CI") != "" {
			t.Fatal(lacking)
		}
		t.Skip(lacking)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute), chromedp.UserDataDir(t.TempDir()))
	// The test's own context ends before its cleanups, and would kill the browser
	// while its children still write to their folder.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Minute)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	// Run returns what Chromium could not do. chromedp also logs each event of a newer
	// Chromium that it does not know, and these lines hide the rest.
	ctx, quit := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("close the browser: %v", err)
		}
		quit()
	})
	return ctx
}

// open navigates to a page.
func open(t *testing.T, page context.Context, url string) {
	t.Helper()
	if err := chromedp.Run(page, chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
}

// busy is JavaScript for what the page is still reading. Until then it shows what was there
// before, which may look like what a test waits for. The words of an answer may go on.
const busy = `document.querySelector("main[aria-busy], main [aria-busy]:not(.words)")`

// awaitPage waits until a JavaScript expression is true, in the page or the one that it is
// loading, which must not be busy.
func awaitPage(t *testing.T, page context.Context, expression string) {
	t.Helper()
	expression = "!" + busy + " && (" + expression + ")"
	there := "(() => { try { return " + expression + " } catch { return false } })()" // a part of it is not there yet
	var err error
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); {
		poll := chromedp.Poll(there, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(time.Until(end)))
		if err = chromedp.Run(page, poll); err == nil {
			return
		}
		if !strings.Contains(err.Error(), "navigated or closed") && !strings.Contains(err.Error(), "Cannot find context") {
			break
		}
	}
	if thrown := chromedp.Run(page, chromedp.Evaluate(expression, nil)); thrown != nil {
		err = thrown
	}
	shown := ""
	_ = chromedp.Run(page, chromedp.Evaluate(`document.body.innerText.slice(0, 2000)`, &shown)) // it helps to see why, no more
	t.Fatalf("waited for %s: %v; the page shows:\n%s", expression, err, shown)
}

// listen is the script of a page that follows a run with an EventSource alone.
const listen = `
	window.seen = []; window.opened = 0;
	const source = window.source = new EventSource(URL);
	source.onopen = () => window.opened++;
	for (const name of ["documentUpdate", "runEnded", "error"])
		source.addEventListener(name, e => { if (e.data) seen.push({id: Number(e.lastEventId), name, data: JSON.parse(e.data)}); });
	true`

// TestBrowserFollowsAnIngestOverAKill lets a browser follow the ingest of a
// document with its EventSource: it reconnects by itself after the server was
// killed, misses no event, sees none twice, and stops when the run has ended.
func TestBrowserFollowsAnIngestOverAKill(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	const embedded = 3 // batches of the document that are embedded before the kill
	killed := make(chan struct{})
	m.ScriptEmbeddings(append(make([]modeltest.Reply, embedded), slices.Repeat([]modeltest.Reply{{Until: killed}}, 1000)...)...)
	var piers strings.Builder // no two passages are the same: the same text is embedded once
	for i := range 8000 {
		fmt.Fprintf(&piers, "Pier %d has lighthouse %d. Ships pass it by day and by night.\n\n", i, i*i)
	}
	document := s.upload(t, "piers", piers.String())
	open(t, page, s.ends.API+"/healthz") // a page of the same origin, without a policy
	url, err := json.Marshal(document.EventsURL)
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Run(page, chromedp.Evaluate(strings.Replace(listen, "URL", string(url), 1), nil)); err != nil {
		t.Fatal(err)
	}
	awaitPage(t, page, `seen.some(e => e.data.stage == "embed")`)
	s.kill()
	close(killed)
	s.restart()
	awaitPage(t, page, `seen.some(e => e.name == "runEnded")`)
	awaitPage(t, page, `source.readyState == EventSource.CLOSED`)

	var seen []struct {
		ID   int64
		Name string
		Data json.RawMessage
	}
	var opened int
	if err := chromedp.Run(page, chromedp.Evaluate(`seen`, &seen), chromedp.Evaluate(`opened`, &opened)); err != nil {
		t.Fatal(err)
	}
	if opened < 2 {
		t.Errorf("the browser opened the stream %d times; the kill came too late to matter", opened)
	}
	for i, e := range seen {
		if e.ID != int64(i+1) {
			t.Fatalf("event %d of the browser has the id %d", i+1, e.ID)
		}
	}
	var end struct{ Result client.Document }
	if err := json.Unmarshal(seen[len(seen)-1].Data, &end); err != nil {
		t.Fatal(err)
	}
	if end.Result.Status != knowledge.StatusPublished {
		t.Errorf("the browser sees the document end as %s, %+v", end.Result.Status, end.Result.Error)
	}
}

// TestBrowserShowsARunToItsOperator opens operatorUrl, which must need no other
// host.
func TestBrowserShowsARunToItsOperator(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	document := s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.awaitClosed(t, "ingest/default/"+document.ID)
	asked := trafficOf(t, page)
	open(t, page, document.OperatorURL)
	awaitPage(t, page, `["IngestDocument", "Completed", "ingest/default/`+document.ID+`"].every(x =>
		document.body.innerText.toLowerCase().includes(x.toLowerCase()))`)
	asked.wantOnly(t, s.ends.UI)
}
