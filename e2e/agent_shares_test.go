package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// linksOnPage is JavaScript for the addresses of the links that the dialog lists.
const linksOnPage = `[...document.querySelectorAll("dialog[open] ul.links a")].map((a) => a.href)`

// TestSharesOnPage makes two links to a conversation on the page of an agent and withdraws one:
// the page of that one shows nothing, and that of the other one the conversation.
func TestSharesOnPage(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.publish(t, "lamp", "The lamp of the lighthouse is cleaned every Tuesday.")
	s.putPublication(t, nil)
	thrown := thrownIn(page)
	open(t, page, s.ends.API+"/agents/guide")
	awaitPage(t, page, `!!document.querySelector("textarea.question")`)
	askOnPage(t, page, "When is the lamp cleaned?")
	awaitPage(t, page, answersOnPage+` === 1`)
	press(t, page, "Share")
	press(t, page, "Make a link")
	awaitPage(t, page, linksOnPage+`.length === 1`)
	press(t, page, "Make a link")
	awaitPage(t, page, linksOnPage+`.length === 2`)
	wantAccessible(t, page, axeCore(t))
	links := evaluate[[]string](t, page, linksOnPage)
	press(t, page, "Withdraw") // the first of the list
	awaitPage(t, page, linksOnPage+`.length === 1 && document.querySelector("dialog[open] [role=status]").textContent.includes("withdrawn")`)
	if left := evaluate[[]string](t, page, linksOnPage); left[0] != links[1] {
		t.Errorf("%q is left of %q", left, links)
	}
	press(t, page, "Withdraw")
	awaitPage(t, page, linksOnPage+`.length === 0`)
	press(t, page, "Make a link")
	awaitPage(t, page, linksOnPage+`.length === 1`)
	third := evaluate[[]string](t, page, linksOnPage)[0]
	show := func(link string) {
		do(t, page, chromedp.Navigate("about:blank")) // or only the fragment would change
		open(t, page, link)
	}
	show(links[0])
	awaitPage(t, page, `document.querySelector("[role=alert]")?.textContent.includes("was withdrawn") && !document.querySelector(".asked")`)
	show(third)
	awaitPage(t, page, `document.querySelector(".asked")?.textContent === "When is the lamp cleaned?" && document.body.textContent.includes("Tuesday")`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
