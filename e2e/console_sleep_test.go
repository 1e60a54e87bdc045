package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// withoutTimers has the timers of a page that wait for long never end, so that what the page does
// after a sleep is for its being back. The waits of awaitPage are shorter, and its limit longer.
const withoutTimers = `(() => { const real = window.setTimeout; window.setTimeout = (call, wait = 0, ...more) => wait >= 300 && wait <= 60000 ? 1e9 : real(call, wait, ...more); })()`

// tab opens a page of its own in the browser, whose long timers never end.
func tab(t *testing.T, page context.Context, url string) context.Context {
	t.Helper()
	other := otherTab(t, page)
	wakesOnly(t, other)
	open(t, other, url)
	return inFront(t, other)
}

// wakesOnly has the long timers of the pages that a tab opens never end.
func wakesOnly(t *testing.T, page context.Context) {
	t.Helper()
	do(t, page, chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdppage.AddScriptToEvaluateOnNewDocument(withoutTimers).Do(ctx)
		return err
	}))
}

// connected takes the network of a tab away, or gives it back.
func connected(is bool) chromedp.Action {
	return network.EmulateNetworkConditions(!is, 0, -1, -1)
}

// sleeping sets whether a tab is frozen.
func sleeping(is bool) chromedp.Action {
	if is {
		return cdppage.SetWebLifecycleState(cdppage.SetWebLifecycleStateStateFrozen)
	}
	return cdppage.SetWebLifecycleState(cdppage.SetWebLifecycleStateStateActive)
}

// TestConsoleWakes closes a laptop in the middle of an answer and of an ingest: its tabs lose the
// network and are frozen, and the server is killed and ends the work without them. When they are
// back, the answer is whole, and the list of documents and the page of the run are those of now.
func TestConsoleWakes(t *testing.T) {
	t.Parallel()
	page := browser(t)
	rest := make(chan struct{})
	var words strings.Builder // all differ: a lost or doubled piece shows
	for i := range 400 {
		fmt.Fprintf(&words, "word%d ", i)
	}
	text := strings.TrimSpace(words.String())
	m := standIn(t, always(modeltest.Reply{Text: text, TokenDelay: 15 * time.Millisecond, Rest: rest}))
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	between := newWire(t, strings.TrimPrefix(s.ends.API, "http://"))
	console := "http://" + between.Addr().String()
	thrown := thrownIn(page)
	wakesOnly(t, page)
	open(t, page, console+"/")
	do(t, page, chromedp.SendKeys(`dialog input`, s.key+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `!!document.querySelector("textarea.question")`)
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, wordsOnPage+` > 20`)
	run := s.runsOf(t, "query")[0]
	m.ScriptEmbeddings(slices.Repeat([]modeltest.Reply{{Until: rest}}, 1000)...)
	document := s.upload(t, "cranes", "The eastern pier has a crane.")
	asked, list := tab(t, page, console+"/runs/"+run), tab(t, page, console+"/documents")
	awaitPage(t, asked, `document.querySelector("p[role=status] .state").textContent === "running"`)
	awaitPage(t, list, rowsOnPage+`.includes("cranes") && !!document.querySelector("tr:has(.state.pending)")`)

	tabs := []context.Context{page, asked, list}
	for _, one := range tabs {
		do(t, one, connected(false))
	}
	between.cut(true)
	awaitPage(t, page, `document.querySelector(".answer.live .lost:not([hidden])")?.textContent.startsWith("The connection was lost.")`)
	for _, one := range tabs {
		do(t, one, sleeping(true))
	}
	s.kill()
	close(rest)
	s.restart()
	await(t, 2*time.Minute, "the work ends without the pages", func(ctx context.Context) error {
		ended, err := s.Run(ctx, run)
		if err == nil && (ended.Status != "completed" || s.document(t, document.ID).Status != knowledge.StatusPublished) {
			err = fmt.Errorf("the run is %s", ended.Status)
		}
		return err
	})
	between.cut(false)
	for i, there := range []string{
		answersOnPage + ` === 1 && document.querySelector(".resumed:not([hidden])")`,
		`document.querySelector("p[role=status] .state").textContent === "completed" && document.querySelector(".timeline").textContent.includes("completed")`,
		rowsOnPage + `.includes("cranes") && document.querySelectorAll("tr .state.published").length === 2`,
	} {
		do(t, tabs[i], sleeping(false), connected(true), cdppage.BringToFront())
		awaitPage(t, tabs[i], there)
	}
	wantSame(t, "the answer in the page", evaluate[string](t, page, `document.querySelector(".words").textContent`), text)
	wantSame(t, "the stored answer", s.lastAnswer(t), text)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// deadConnection has the events of runs stop without an end when window.dead is set, as they do
// on a connection that the other side ended while the computer slept. The clock of the page goes
// on by window.slept milliseconds.
const deadConnection = `(() => {
	const fetching = window.fetch, now = Date.now;
	window.opened = 0;
	Date.now = () => now() + (window.slept ?? 0);
	window.fetch = async (url, options) => {
		const found = await fetching(url, options);
		if (!String(url).includes("/events") || !found.ok || found.status === 204) return found;
		window.opened++;
		const reader = found.body.getReader();
		const body = new ReadableStream({
			start: (to) => options.signal.addEventListener("abort", () => to.error(options.signal.reason)),
			pull: async (to) => {
				const { done, value } = await reader.read().catch(() => ({ done: true }));
				if (window.dead) return new Promise(() => {});
				if (done) to.close();
				else to.enqueue(value);
			},
		});
		return new Response(body, { headers: found.headers });
	};
})()`

// TestConsoleLeavesADeadConnection has an answer come on a connection that dies unheard while the
// computer sleeps: the page opens another one when it is seen again.
func TestConsoleLeavesADeadConnection(t *testing.T) {
	t.Parallel()
	page := browser(t)
	rest := make(chan struct{})
	m := standIn(t, always(heldWords(200, rest)))
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	wakesOnly(t, page)
	s.signInto(t, page)
	do(t, page, chromedp.Evaluate(deadConnection, nil))
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, wordsOnPage+` > 20`)
	do(t, page, chromedp.Evaluate(`window.dead = true`, nil))
	close(rest)
	s.follow(t, s.runsOf(t, "query")[0], 0)
	const seen = `document.dispatchEvent(new Event("visibilitychange"))`
	do(t, page, chromedp.Evaluate(seen, nil)) // the computer did not sleep, so it may only be slow
	if opened := evaluate[int](t, page, `window.opened`); opened != 1 {
		t.Fatalf("the page opened %d connections before the computer slept", opened)
	}
	do(t, page, chromedp.Evaluate(`window.dead = false; window.slept = 3600_000; `+seen, nil))
	awaitPage(t, page, `document.querySelector(".lost:not([hidden])")`) // the wait before another attempt
	do(t, page, chromedp.Evaluate(seen, nil))
	awaitPage(t, page, answersOnPage+` === 1`)
	if words, opened := evaluate[int](t, page, wordsOnPage), evaluate[int](t, page, `window.opened`); words != 200 || opened != 2 {
		t.Errorf("the answer has %d words, not 200, on %d connections", words, opened)
	}
}
