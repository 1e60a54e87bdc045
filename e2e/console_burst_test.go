package e2e_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// inBackground makes the page believe that it is a tab behind another one, which looks at
// nothing, or that it is seen again.
func inBackground(t *testing.T, page context.Context, behind bool) {
	t.Helper()
	do(t, page, chromedp.Evaluate(fmt.Sprintf(`Object.defineProperty(document, "hidden", {configurable: true, value: %v})`, behind), nil))
}

// ingestAll starts an ingest of each of these files, with one request for many of them.
func (s *server) ingestAll(t *testing.T, name string, count int, fields map[string]string) {
	t.Helper()
	for from := 0; from < count; from += 75 {
		var files []file
		for i := from; i < min(from+75, count); i++ {
			files = append(files, file{fmt.Sprintf("%s-%03d.txt", name, i), fmt.Appendf(nil, "Pier %d of %s has a lamp.", i, name)})
		}
		s.sendFiles(t, fields, files...)
	}
}

// TestConsoleMeetsABurst begins more runs between two looks than one request lists: the list
// shows all of them above those that it had. Of very many it says that some are missing, until
// it is loaded again.
func TestConsoleMeetsABurst(t *testing.T) {
	t.Parallel()
	const burst, flood = 150, 310
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	m.ScriptChat(modeltest.Hang()) // a run that stays keeps the list looking
	held := s.query(t, "What is on the northern pier?")
	s.signInto(t, page)
	open(t, page, s.ends.API+"/runs")
	const rows = `document.querySelectorAll('table[aria-label="Runs"] tbody a').length`
	awaitPage(t, page, rows+` === 2 && !!document.querySelector(".state.running")`)
	do(t, page, chromedp.Evaluate(`window.stays = true`, nil))
	inBackground(t, page, true)
	s.ingestAll(t, "burst", burst, nil)
	s.awaitDocuments(t, "default", burst+1, "published")
	inBackground(t, page, false)
	awaitPage(t, page, fmt.Sprintf(`%s === %d`, rows, burst+2))
	const order = `(() => { const all = [...document.querySelectorAll("tbody a")].map(a => a.href); return all.length === new Set(all).size && all.findIndex(one => one.includes(%q)) === %d; })()`
	if !evaluate[bool](t, page, fmt.Sprintf(order, held.run, burst)) {
		t.Error("the new runs do not stand once and above the older ones")
	}

	inBackground(t, page, true)
	s.ingestAll(t, "flood", flood, nil)
	s.awaitDocuments(t, "default", burst+flood+1, "published")
	inBackground(t, page, false)
	const note = `[...document.querySelectorAll("main [role=status]")].find(one => one.textContent.startsWith("300 or more new rows are not shown."))`
	awaitPage(t, page, note+`?.checkVisibility()`)
	if now := evaluate[int](t, page, rows); now != burst+2 {
		t.Errorf("the list has %d rows, among them some behind a gap", now)
	}
	wantLooks(t, page)
	press(t, page, "Reload the list")
	awaitPage(t, page, `!document.querySelector("main [role=status]").checkVisibility() && document.querySelectorAll("tbody a").length === 100`)
	const listed = `(window.listed ??= new Set(), document.querySelectorAll("tbody a").forEach(a => listed.add(a.href)), document.querySelector("main").scrollTo(0, 1e9), listed.size)`
	awaitPage(t, page, fmt.Sprintf(`window.stays && %s === %d`, listed, burst+flood+2))
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsoleListsEveryKindOfRun chooses each kind that the list offers.
func TestConsoleListsEveryKindOfRun(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.signInto(t, page)
	open(t, page, s.ends.API+"/runs")
	const kinds = `[...document.querySelector('select[aria-label="Run"]').options].map(one => one.value)`
	awaitPage(t, page, `document.querySelectorAll("tbody a").length === 1`)
	all := evaluate[[]string](t, page, kinds)
	for _, kind := range all {
		do(t, page, chromedp.Evaluate(fmt.Sprintf(`(() => { const kind = document.querySelector('select[aria-label="Run"]'); kind.value = %q; kind.dispatchEvent(new Event("change")); })()`, kind), nil))
		want := `document.querySelector(".empty:not([hidden])")?.textContent === "No run matches."`
		if kind == "" || kind == "ingest" {
			want = `document.querySelectorAll("tbody a").length === 1`
		}
		awaitPage(t, page, want)
		if wrong := evaluate[string](t, page, `document.querySelector("main .wrong").textContent`); wrong != "" {
			t.Errorf("runs of the kind %q: %s", kind, wrong)
		}
	}
	if len(all) < 10 {
		t.Errorf("offered are %q", all)
	}
}
