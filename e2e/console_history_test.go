package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsoleShowsWhatHappenedToADocument has a document that waited, failed and was retried:
// its page shows both runs, with the cause of each.
func TestConsoleShowsWhatHappenedToADocument(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	s.publish(t, "before", "The northern pier has a lighthouse.")
	m.ScriptEmbeddings(append(slices.Repeat([]modeltest.Reply{modeltest.Fail(http.StatusInternalServerError)}, 5), modeltest.Fail(http.StatusUnauthorized))...) // waits below a second are not shown
	id := s.upload(t, "lights", "The southern pier has a foghorn.").ID
	s.signInto(t, page)
	open(t, page, s.ends.API+"/documents/"+id)
	const runs = `[...document.querySelectorAll(".happened .run")]`
	lines := func(run int) string {
		return fmt.Sprintf(`[...%s[%d].querySelectorAll(".timeline > li")].map(l => l.textContent)`, runs, run)
	}
	awaitPage(t, page, runs+`.length === 1 && !!`+runs+`[0].querySelector("summary .state.failed")`)
	for _, want := range []string{"extract", "chunk", `embed .*attempt \d of \d+ failed .*next attempt at`, "provider_failed"} {
		awaitPage(t, page, lines(0)+fmt.Sprintf(`.some(l => new RegExp(%q).test(l))`, want))
	}
	if wrong := evaluate[int](t, page, runs+`[0].querySelectorAll(".timeline > li.wrong").length`); wrong < 2 {
		t.Errorf("%d lines are marked as failures", wrong)
	}
	wantLooks(t, page)
	press(t, page, "Retry")
	awaitPage(t, page, `!!document.querySelector(".document > div .state.published") && ![...document.querySelectorAll("button")].some(one => one.textContent === "Retry")`)
	awaitPage(t, page, runs+`.length === 2 && !!`+runs+`[0].querySelector("summary .state.completed") && !!`+runs+`[1].querySelector("summary .state.failed")`)
	awaitPage(t, page, lines(0)+`.some(l => l.includes("embed")) && `+lines(0)+`.some(l => l.includes("publish")) && `+lines(0)+`.at(-1).startsWith("completed")`)

	do(t, page, chromedp.Reload())
	awaitPage(t, page, runs+`.map(r => r.open).join() === "true,false" && `+lines(0)+`.at(-1)?.startsWith("completed")`)
	wantSeconds(t, page, runs+`[0]`, "extract", "chunk", "embed", "publish")
	if early := evaluate[int](t, page, lines(1)+`.length`); early != 0 {
		t.Errorf("a folded run has %d lines", early)
	}
	click(t, page, runs+`[1].querySelector("summary")`)
	awaitPage(t, page, lines(1)+`.some(l => l.includes("provider_failed"))`)
	wantSeconds(t, page, runs+`[1]`, "extract", "chunk", "embed")
	const waited = `[...document.querySelectorAll(".happened .run")].at(1).querySelectorAll(".timeline > li.wrong")`
	if took := evaluate[float64](t, page, `parseFloat([...`+waited+`].find(l => l.textContent.includes("attempt")).textContent.split(" · ").at(-1))`); took < .1 {
		t.Errorf("the wait is shown with %g seconds", took)
	}
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// wantSeconds checks that the lines of these stages of a run end with the seconds that they took.
func wantSeconds(t *testing.T, page context.Context, run string, stages ...string) {
	t.Helper()
	for _, stage := range stages {
		awaitPage(t, page, fmt.Sprintf(`[...%s.querySelectorAll(".timeline > li")].some(l => new RegExp(%q).test(l.textContent))`, run, `^`+stage+` · .*\d(\.\d+)?s$`))
	}
}

// TestConsoleKeepsTheWorkOfAnAnswer reloads the page of an answer: its calls of tools and its
// reasoning are there, folded as they were.
func TestConsoleKeepsTheWorkOfAnAnswer(t *testing.T) {
	t.Parallel()
	const hostile = `<img src=x onerror=ran=1>`
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	m.ScriptChat(modeltest.Call(model.ToolCall{ID: "call_1", Name: "documents_rag", Arguments: `{"query":"` + hostile + `"}`}), modeltest.Text("<reasoning>First I look at "+hostile+".</reasoning>There is a lighthouse."))
	s.signInto(t, page)
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, answersOnPage+" === 1")
	const work = `JSON.stringify([[...document.querySelectorAll(".answer .call")].map(c => [c.open, c.querySelector("pre").textContent, c.querySelector("p").textContent]), [...document.querySelectorAll(".answer .thoughts:not([hidden])")].map(d => [d.open, d.querySelector("p").textContent])])`
	live := evaluate[string](t, page, work)
	if strings.Count(live, "onerror") != 2 || !strings.Contains(live, "First I look at") || strings.Contains(live, "true") {
		t.Errorf("while it came the answer had %s", live)
	}
	do(t, page, chromedp.Reload())
	awaitPage(t, page, fmt.Sprintf(`%s === %q`, work, live))
	if made := evaluate[int](t, page, `(window.ran ?? 0) + document.querySelectorAll("main img").length`); made != 0 {
		t.Error("words of the model became an element")
	}
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
