package e2e_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// loggedIn records the errors that the scripts of a page log.
func loggedIn(page context.Context) func() []string {
	var mu sync.Mutex
	var found []string
	chromedp.ListenTarget(page, func(e any) {
		if e, ok := e.(*runtime.EventConsoleAPICalled); ok && e.Type == runtime.APITypeError {
			mu.Lock()
			defer mu.Unlock()
			for _, one := range e.Args {
				found = append(found, one.Description)
			}
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(found)
	}
}

// answering has the page get an answer of its own in place of that of a route.
func answering(route, answer string) string {
	return `(() => { const real = window.fetch; window.fetch = (url, options) => String(url).includes("` + route + `") ? ` + answer + ` : real(url, options); })()`
}

// TestConsoleTellsAFaultFromAnOutage has a page fail for want of the server, and for faults of
// its own: it says which, and logs the faults.
func TestConsoleTellsAFaultFromAnOutage(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	logged := loggedIn(page)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/documents")
	awaitPage(t, page, rowsOnPage+` === "lights"`)
	const alert = `([...document.querySelectorAll('main [role="alert"], .failure')].map(one => one.textContent).join("|"))`
	const faulty = alert + `.includes("The console has a fault: ") && ` + alert + `.includes("Reload the page.") && !` + alert + `.includes("cannot be reached")`

	do(t, page, chromedp.Evaluate(answering("/documents?", `Promise.reject(new TypeError("Failed to fetch"))`), nil))
	press(t, page, "Name")
	awaitPage(t, page, alert+`.includes("Cairn cannot be reached.") && !`+alert+`.includes("fault")`)
	if found := logged(); len(found) > 0 {
		t.Errorf("an outage is logged as %q", found)
	}

	do(t, page, chromedp.Reload())
	awaitPage(t, page, rowsOnPage+` === "lights"`)
	do(t, page, chromedp.Evaluate(answering("/documents?", `Promise.resolve(Response.json({}))`), nil))
	press(t, page, "Name")
	awaitPage(t, page, faulty)

	do(t, page, chromedp.Reload())
	awaitPage(t, page, rowsOnPage+` === "lights"`)
	do(t, page, chromedp.Evaluate(`setTimeout(() => { throw new Error("a broken listener"); })`, nil))
	awaitPage(t, page, faulty+` && `+alert+`.includes("a broken listener")`)

	open(t, page, s.ends.API+"/documents/none")
	awaitPage(t, page, alert+`.includes("no document")`)
	click(t, page, `document.querySelector('main [role="alert"] a')`)
	awaitPage(t, page, rowsOnPage+` === "lights"`)

	open(t, page, s.ends.API+"/ask")
	awaitPage(t, page, `!!document.querySelector("textarea.question")`)
	events := strings.ReplaceAll("id: 1\nevent: sendSourcesMessage\ndata: {}\n\n", "\n", `\n`)
	do(t, page, chromedp.Evaluate(`window.opened = 0`, nil), chromedp.Evaluate(answering("/events", `(window.opened++, Promise.resolve(new Response("`+events+`", {headers: {"Content-Type": "text/event-stream"}})))`), nil))
	askOnPage(t, page, "What is on the pier?")
	awaitPage(t, page, faulty+` && !document.querySelector(".answer.live")`)
	if opened := evaluate[int](t, page, `window.opened`); opened != 1 {
		t.Errorf("a page that cannot show an event asked for it %d times", opened)
	}
	if found := strings.Join(logged(), "|"); strings.Count(found, "TypeError") < 2 || !strings.Contains(found, "a broken listener") {
		t.Errorf("logged is %q", found)
	}
}
