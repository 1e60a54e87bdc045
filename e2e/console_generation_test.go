package e2e_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsoleGeneration has a model write a test set from its form, follows it on its page, and looks
// at the questions that are not kept. A second one is canceled.
func TestConsoleGeneration(t *testing.T) {
	t.Parallel()
	page := browser(t)
	q := &questionWriter{names: pierNames(12), delay: 60 * time.Millisecond}
	m := standIn(t, modeltest.Options{Reply: q.reply})
	s := start(t, at(m.URL())...)
	publishPiers(t, s, q.names)
	thrown := thrownIn(page)
	s.signInto(t, page)
	generate := func(count string) {
		open(t, page, s.ends.API+"/evaluations/sets")
		awaitPage(t, page, `document.querySelectorAll("details.new").length === 3`)
		do(t, page, chromedp.Evaluate(`document.querySelectorAll("details.new")[2].open = true`, nil))
		fillField(t, page, labelledField("Questions, at most"), count)
		fillField(t, page, labelledField("Model that writes them"), modeltest.ModelName)
		click(t, page, `document.querySelectorAll("details.new")[2].querySelector("button")`)
	}
	generate("40")
	awaitPage(t, page, `document.querySelector("h1")?.textContent === "A test set is being made" && !!document.querySelector("main progress")`)
	awaitPage(t, page, `/^[1-9]\d* of 40 questions; \d+ were written and checked$/m.test([...document.querySelectorAll("main p")].map(p => p.textContent).join("\n"))`)
	wantLooks(t, page)
	awaitPage(t, page, `document.querySelector("h1")?.textContent === "generated" && document.querySelectorAll('table[aria-label="Questions"] tbody tr').length > 5`)
	do(t, page, chromedp.Evaluate(`document.querySelector("details.new").open = true`, nil))
	awaitPage(t, page, `document.querySelector("details.new summary").textContent === "Written by `+modeltest.ModelName+`" && document.querySelectorAll('table[aria-label="Questions that are not kept"] tbody tr').length > 2 && document.querySelector('table[aria-label="Questions that are not kept"]').textContent.includes("The model's answer from the passage is another one")`)
	wantLooks(t, page)

	do(t, page, chromedp.Evaluate(`localStorage.setItem("cairn.language", "de")`, nil), chromedp.Reload())
	awaitPage(t, page, `document.querySelector("details.new summary")?.textContent === "Geschrieben von `+modeltest.ModelName+`"`)
	do(t, page, chromedp.Evaluate(`localStorage.setItem("cairn.language", "en")`, nil))

	generate("100")
	press(t, page, "Cancel run")
	awaitPage(t, page, `document.querySelector("dialog")?.textContent.includes("No test set is made")`)
	press(t, page, "Cancel run")
	awaitPage(t, page, `document.querySelector("main .state")?.textContent === "canceled" && !document.querySelector("main progress")`)
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
