package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestConsoleTeaches begins with nothing: the page to ask on loads the samples, and asks them.
func TestConsoleTeaches(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	s.signInto(t, page)
	awaitPage(t, page, `document.querySelector(".welcome a")?.getAttribute("href") === "/documents"`)
	wantLooks(t, page)
	press(t, page, "Load the sample documents")
	awaitPage(t, page, `document.querySelectorAll(".welcome .suggestions button").length === 3`)
	wantLooks(t, page)
	press(t, page, "How is the HX-4 calibrated?")
	awaitPage(t, page, `!!document.querySelector('[aria-label="Answer"]:not(.live) .citation')`)
	open(t, page, s.ends.API+"/ask")
	awaitPage(t, page, `document.querySelectorAll(".conversations li").length === 1 && !!document.querySelector(".welcome h2")`)
	if evaluate[bool](t, page, `!!document.querySelector(".welcome a")`) {
		t.Error("the page still says that there are no documents")
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// TestConsoleEveryPage opens every page in German, on a phone and a desk and in both themes: it
// is accessible and fits the window, and the browser keeps nothing but preferences.
func TestConsoleEveryPage(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	document := s.sendSamples(t)
	s.signInto(t, page)
	askOnPage(t, page, "How is the HX-4 calibrated?")
	awaitPage(t, page, answersOnPage+" === 1")
	conversation := evaluate[string](t, page, `location.pathname`)
	var runs struct{ Data []struct{ ID string } }
	s.call(t, "GET", "/workspaces/default/runs?kind=query", nil, &runs)
	evaluate[string](t, page, `localStorage.setItem("cairn.language", "de"), ""`)
	for _, path := range []string{
		"/ask", conversation, "/documents", "/documents/" + document, "/runs", "/runs/" + runs.Data[0].ID, "/imports", "/syncs", "/evaluations", "/projects",
		"/projects/default", "/projects/default/try", "/projects/default/webhooks", "/projects/default/secrets", "/projects/default/keys",
		"/projects/default/code", "/projects/default/danger", "/keys", "/operations", "/usage", "/audit",
	} {
		open(t, page, s.ends.API+path)
		awaitPage(t, page, `document.documentElement.lang === "de" && !!document.querySelector("main > * > *") && !document.querySelector("main .problem")`)
		wantLooks(t, page)
		do(t, page, chromedp.EmulateViewport(400, 900))
		if wide := evaluate[int](t, page, `Math.max(document.documentElement.scrollWidth, document.querySelector("main").scrollWidth) - innerWidth`); wide > 0 {
			t.Errorf("%s is %d pixels wider than a phone", path, wide)
		}
	}
	const kept = `JSON.stringify([Object.keys(localStorage).filter(one => !["cairn.language", "cairn.theme", "cairn.columns", "cairn.project"].includes(one)), Object.keys(sessionStorage), document.cookie])`
	if got := evaluate[string](t, page, kept); got != `[[],[],""]` {
		t.Errorf("the browser keeps %s", got)
	}
}
