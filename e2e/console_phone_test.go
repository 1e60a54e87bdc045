package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// tooWide is JavaScript for what of a page is wider than its place: the page itself, what has to be
// scrolled sideways to be read, and cells that the window cuts. Code, answers, the pages of
// documents and the navigation may be wider.
const tooWide = `(() => {
	const named = e => e.tagName.toLowerCase() + "." + e.className + " " + (e.ariaLabel ?? e.textContent.slice(0, 40));
	const scrolls = e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1;
	const cut = e => e.matches("td, th") && e.checkVisibility() && getComputedStyle(e).position !== "absolute" && e.getBoundingClientRect().right > innerWidth + 1;
	const found = [...document.querySelectorAll("main *")].filter(e => !e.closest("pre, .code, .raw, .words, .pages, .reader .sheet") && (scrolls(e) || cut(e))).map(named);
	return document.documentElement.scrollWidth > innerWidth ? ["the page", ...found] : found;
})()`

// TestConsoleOnAPhone opens every page as wide as a phone, in both languages: all of its lists can
// be read without scrolling sideways.
func TestConsoleOnAPhone(t *testing.T) {
	t.Parallel()
	s := start(t, "CAIRN_EGRESS__ALLOW=127.0.0.0/8")
	paths := s.phonePages(t)
	page := browser(t)
	thrown := thrownIn(page)
	s.signInto(t, page)
	paths = append(paths, evaluate[[]string](t, page, `[...document.querySelectorAll("nav a")].map(a => a.getAttribute("href"))`)...)
	do(t, page, chromedp.EmulateViewport(360, 6000)) // lists load when their end is in sight
	for _, language := range []string{"en", "de"} {
		do(t, page, chromedp.Evaluate(fmt.Sprintf(`localStorage.setItem("cairn.language", %q)`, language), nil))
		for _, path := range paths {
			open(t, page, s.ends.API+path)
			awaitPage(t, page, `!!document.querySelector("main > *") && document.documentElement.lang === "`+language+`" && (!document.querySelector("table.wide") || !!document.querySelector("table.wide tbody tr, .empty:not([hidden])"))`)
			for _, found := range evaluate[[]string](t, page, tooWide) {
				t.Errorf("%s in %s: too wide is %s", path, language, found)
			}
		}
	}
	wantCards(t, page, s)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// wantCards reads the German list of members, whose rows are cards, and checks that a list which is
// too wide is found.
func wantCards(t *testing.T, page context.Context, s *server) {
	t.Helper()
	open(t, page, s.ends.API+"/members")
	const cells = `[...document.querySelectorAll("table.wide tbody tr")].flatMap(r => [...r.cells].map(c => getComputedStyle(c, "::before").content))`
	awaitPage(t, page, cells+`.includes('"Rollen: "')`)
	do(t, page, chromedp.Evaluate(`document.querySelector("table.wide").style.minWidth = "48rem"`, nil))
	if found := evaluate[[]string](t, page, tooWide); len(found) == 0 {
		t.Error("a list of 48rem is not found")
	}
}

// phonePages stores something for each page and returns the addresses of those that no
// navigation has.
func (s *server) phonePages(t *testing.T) []string {
	t.Helper()
	name := "Übersicht der Wartungsarbeiten an den Leuchtfeuern der nördlichen Mole 2026-" + strings.Repeat("x", 60) + ".txt"
	document := s.publish(t, name, "# Piers\n\n| Pier | Has |\n| --- | --- |\n| northern | a lighthouse |\n\nThe keeper lives there.").ID
	s.wantFailed(t, s.sendFiles(t, nil, file{"broken.pdf", []byte("%PDF-1.7 and nothing else")})[0], "extract", "corrupt")
	asked := s.query(t, "What does the northern pier have?")
	s.follow(t, asked.run, 0)
	hold := s.picturedRights(t, document)
	sync := s.syncsOf(t, []string{"Contracts and minutes of the harbour office"})
	set := s.testSet(t, []map[string]any{{"id": "q1", "question": "What does the northern pier have?", "reference": "A lighthouse.", "expected_documents": []string{name}, "tags": []string{"piers"}}})
	e := s.evaluate(t, map[string]any{"test_set_id": set})
	s.evaluated(t, e.ID, "it has ended", hasEnded)
	if status := s.call(t, "POST", "/workspaces/default/keys", map[string]any{"name": "nightly report of the harbour office", "scopes": []string{"read", "write"}}, nil); status >= 300 {
		t.Fatalf("add a key: status %d", status)
	}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"webhooks": []map[string]any{{"url": "http://127.0.0.1:1/hooks/of-a-rather-long-name", "types": []string{"documents_created"}}}}, nil); status >= 300 {
		t.Fatalf("add a webhook: status %d", status)
	}
	paths := []string{
		"/documents/" + document, "/runs/" + asked.run, "/syncs/" + sync, "/keys", "/audit", "/usage", "/roles", "/grants", "/holds", "/holds/" + hold, "/retention", "/members/ann",
		"/evaluations/sets", "/evaluations/sets/" + set, "/evaluations/" + e.ID, "/evaluations/" + e.ID + "/review", "/evaluations/" + e.ID + "/calibration", "/evaluations/insights", "/evaluations/compare?a=" + e.ID + "&b=" + e.ID,
	}
	for _, part := range []string{"", "/settings", "/pipeline", "/privacy", "/webhooks", "/secrets", "/keys", "/code", "/try", "/publication", "/danger"} {
		paths = append(paths, "/projects/default"+part)
	}
	return paths
}
