package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// isText checks that no part of a page was made of the hostile names of a test.
func isText(t *testing.T, page context.Context, text string) {
	t.Helper()
	if made := evaluate[int](t, page, `(window.ran ?? 0) + document.querySelectorAll("main img, dialog img").length`); made != 0 {
		t.Error("a name became an element")
	}
	if !evaluate[bool](t, page, fmt.Sprintf(`document.body.textContent.includes(%q)`, text)) {
		t.Errorf("the page does not show %s", text)
	}
}

// asWhom returns the status of a request with a key.
func (s *server) asWhom(t *testing.T, key string) int {
	t.Helper()
	return s.call(t, "GET", "/workspaces/default/documents", nil, nil, "Authorization", "Bearer "+key)
}

// TestConsoleKeys makes a key on the page of keys and one on the page of a project, uses
// them, and revokes one.
func TestConsoleKeys(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/keys")
	const name = `main form input[name="name"]`
	awaitPage(t, page, `document.querySelectorAll('table[aria-label="API keys"] tbody tr, .empty:not([hidden])').length > 0`)
	const hostile = `<img src=x onerror=ran=1>`
	do(t, page, chromedp.SendKeys(name, hostile+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `!!document.querySelector("dialog .once")`)
	key := evaluate[string](t, page, `document.querySelector("dialog .once").textContent`)
	wantLooks(t, page)
	if status := s.asWhom(t, key); status != http.StatusOK {
		t.Errorf("the new key: status %d", status)
	}
	press(t, page, "Close")
	row := fmt.Sprintf(`[...document.querySelectorAll("tbody tr")].find(r => r.cells[0].textContent.startsWith(%q))`, hostile)
	awaitPage(t, page, "!!"+row)
	isText(t, page, hostile)
	if evaluate[bool](t, page, fmt.Sprintf(`document.body.textContent.includes(%q)`, key)) {
		t.Error("the key is still shown")
	}
	wantLooks(t, page)

	click(t, page, row+`?.querySelector("button")`)
	awaitPage(t, page, `!!document.querySelector("dialog")`)
	press(t, page, "Revoke")
	awaitPage(t, page, row+`?.textContent.includes("revoked")`)
	if status := s.asWhom(t, key); status != http.StatusUnauthorized {
		t.Errorf("the revoked key: status %d", status)
	}

	open(t, page, s.ends.API+"/projects/default/keys")
	do(t, page, chromedp.WaitVisible(name, chromedp.ByQuery))
	do(t, page, chromedp.SendKeys(name, "of the project"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `!!document.querySelector("dialog .once")`)
	press(t, page, "Close")
	awaitPage(t, page, `document.querySelectorAll("tbody tr").length === 1 && document.querySelector("tbody td").textContent.startsWith("of the project")`)
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}
