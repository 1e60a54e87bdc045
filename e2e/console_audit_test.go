package e2e_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestConsoleAudit reads the audit on its page, in pages as it is scrolled, filters it by the
// document that a reader opened, verifies it, and reads it in German.
func TestConsoleAudit(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	document := s.publishIn(t, "default", "beacon", "The beacon of the harbour burns whale oil.", nil)
	const hostile = `<img src=x onerror=ran=1>`
	for range 120 {
		if one := s.pass(t, "GET", "/chunks/absent", ""); one.status != http.StatusNotFound {
			t.Fatalf("status %d", one.status)
		}
	}
	s.pass(t, "GET", "/workspaces/default/documents/"+document+"/parsed", "")
	s.pass(t, "GET", "/chunks/%3Cimg%20src=x%20onerror=ran=1%3E", "")
	s.signInto(t, page)
	open(t, page, s.ends.API+"/audit")
	const rows = `document.querySelectorAll('table[aria-label="Audit"] tbody tr:not([aria-hidden])')`
	awaitPage(t, page, rows+`.length >= 100`)
	isText(t, page, hostile)
	wantLooks(t, page)
	if wide := evaluate[int](t, page, `(() => { const all = document.querySelector("main .scroll"); return all.scrollWidth - all.clientWidth; })()`); wide > 0 {
		t.Errorf("the table is %d pixels wider than the page", wide)
	}
	do(t, page, chromedp.Evaluate(`document.querySelector(".end").scrollIntoView()`, nil))
	awaitPage(t, page, `document.body.textContent.includes("add-document")`)

	do(t, page, chromedp.SendKeys(`input[name="object"]`, document+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, fmt.Sprintf(`%[1]s.length === 2 && [...%[1]s].map(r => r.cells[3].textContent).join() === "get-document-parsed,add-document"`, rows))
	if at := evaluate[string](t, page, `location.search`); at != "?object="+document {
		t.Errorf("the address has %q", at)
	}
	wantLooks(t, page)
	press(t, page, "Verify")
	awaitPage(t, page, `/All \d+ entries are as they were written/.test(document.querySelector('[role="status"]:not(#said)').textContent)`)

	do(t, page, chromedp.Evaluate(`localStorage.setItem("cairn.language", "de")`, nil))
	open(t, page, s.ends.API+"/audit?action=sign-in")
	awaitPage(t, page, `!!document.querySelector("table tbody tr")`)
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the page threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}
