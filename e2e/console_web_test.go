package e2e_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsoleCitesTheWeb has an answer that cites a page of the web, and a page that the model
// made up: only the first is a link. On paper the answer has its sources, and nothing of the
// frame.
func TestConsoleCitesTheWeb(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m, engine := standIn(t, modeltest.Options{}), newSearchEngine(t)
	s := start(t, at(m.URL(), engine.at()...)...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	thrown := thrownIn(page)
	s.signInto(t, page)
	click(t, page, `document.querySelector(".options summary")`)
	do(t, page, chromedp.Click(`.options input[type="checkbox"]`, chromedp.ByQuery))
	m.ScriptChat(modeltest.Call(model.ToolCall{ID: "call_1", Name: "web_search", Arguments: `{"query":"batteries"}`}),
		modeltest.Text(`Charging takes ten minutes <source_2>. Others say less <web_citation url="http://203.0.113.1/" title="x">[9]</web_citation>. Ask [them](http://203.0.113.1/page).`))
	askOnPage(t, page, "How long does charging take?")
	const web = `document.querySelector('[aria-label="Answer"]:not(.live) .words a.citation')`
	awaitPage(t, page, web+`?.href === "https://example.com/batteries"`)
	if made := evaluate[int](t, page, `document.querySelectorAll('.words a.citation[href*="203.0.113.1"]').length`); made != 0 {
		t.Error("a page that no source has is a citation")
	}
	do(t, page, chromedp.Evaluate(web+`.focus()`, nil))
	awaitPage(t, page, `document.querySelector(".peek")?.textContent.includes("Charging takes ten minutes.")`)
	click(t, page, `[...document.querySelectorAll(".source")].find(one => one.textContent.includes("example.com"))`)
	awaitPage(t, page, `document.querySelector(".panel:not([hidden]) blockquote")?.textContent === "Charging takes ten minutes." && document.querySelector(".panel a").href === "https://example.com/batteries"`)
	wantLooks(t, page)
	do(t, page, chromedp.Reload())
	awaitPage(t, page, web+`?.href === "https://example.com/batteries"`)

	do(t, page, emulation.SetEmulatedMedia().WithMedia("print"))
	const printed = `JSON.stringify([".words", ".sources li", ".asked p", ".composer", ".top", ".conversations", ".actions"].map(one => document.querySelector(one)?.checkVisibility() ?? null))`
	if got := evaluate[string](t, page, printed); got != `[true,true,true,false,false,false,false]` {
		t.Errorf("on paper are %s", got)
	}
	if hidden := evaluate[bool](t, page, `[...document.querySelectorAll("body, main, .ask, .talk, .turns")].some(one => one.scrollHeight > one.clientHeight + 1 && getComputedStyle(one).overflowY !== "visible")`); hidden {
		t.Error("a part of the conversation is cut off on paper")
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
