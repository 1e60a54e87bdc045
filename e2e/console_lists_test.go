package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// TestConsoleShowsEveryPassage opens a document of thousands of passages: it is read in parts,
// and each passage can be reached by its part, by its address and by its words.
func TestConsoleShowsEveryPassage(t *testing.T) {
	t.Parallel()
	const count = 5000
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	splitter := map[string]any{"ai": map[string]any{"textSplitter": map[string]any{"strategy": "structure", "chunkSize": 100, "chunkOverlap": 0}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", splitter, nil); status != http.StatusOK {
		t.Fatalf("the project is refused: status %d", status)
	}
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "Pier %04d is a long and quiet place beside the harbour, and it has a lamp.\n\n", i)
	}
	document := s.publish(t, "piers", text.String())
	if document.ChunkCount != count {
		t.Fatalf("%d passages", document.ChunkCount)
	}
	asked := trafficOf(t, page)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/documents/"+document.ID)
	const shown = `[...document.querySelectorAll(".passages li")].map(l => l.textContent)`
	awaitPage(t, page, shown+`.length === 100 && document.querySelector(".reader").textContent.includes("Passages 1–100 of 5,000") && `+shown+`[99].includes("Pier 0099")`)
	wantLooks(t, page)
	do(t, page, chromedp.Focus(`[aria-label="Next page"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	awaitPage(t, page, `location.search === "?page=2" && `+shown+`[0].includes("Pier 0100")`)
	do(t, page, chromedp.KeyEvent(kb.Enter)) // the button is drawn again, and keeps the focus
	awaitPage(t, page, `location.search === "?page=3" && `+shown+`[0].includes("Pier 0200")`)
	open(t, page, s.ends.API+"/documents/"+document.ID+"?page=50")
	awaitPage(t, page, shown+`.length === 100 && `+shown+`[99].includes("Pier 4999") && document.querySelector('[aria-label="Next page"]').disabled`)
	fillField(t, page, `document.querySelector(".find input")`, "PIER 3217") // at once: each pause between letters is a search
	awaitPage(t, page, `location.search === "?page=33" && document.querySelector(".passages li.chosen")?.textContent.includes("Pier 3217") && document.querySelector(".find [role=status]").textContent === "1 of 1"`)
	chunk := strings.TrimPrefix(evaluate[string](t, page, `document.querySelector(".passages li.chosen").id`), "passage-")
	open(t, page, s.ends.API+"/documents/"+document.ID+"?chunk="+chunk)
	awaitPage(t, page, `document.querySelector(".passages li.chosen")?.textContent.includes("Pier 3217")`)
	asked.mu.Lock()
	defer asked.mu.Unlock()
	read := 0
	for _, url := range asked.urls {
		if strings.Contains(url, "/chunks") {
			read++
		}
	}
	if read < 5 || read > 12 {
		t.Errorf("the pages asked %d times for passages", read)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsoleReadsAConversationFromItsEnd opens a long conversation: the page shows its end,
// and what was before as it is scrolled to.
func TestConsoleReadsAConversationFromItsEnd(t *testing.T) {
	t.Parallel()
	const count = 40
	page := browser(t)
	m := standIn(t, modeltest.Options{Reply: func(protocol.ChatRequest) modeltest.Reply { return modeltest.Text("There is a lamp.") }})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	var made struct{ ID string }
	s.call(t, "POST", "/workspaces/default/conversations", map[string]any{"title": "Lamps"}, &made)
	var want []string
	for i := range count {
		text := fmt.Sprintf("Is there lamp %d?", i)
		want = append(want, text)
		if status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": text, "conversationId": made.ID}, nil); status != http.StatusOK {
			t.Fatalf("query: status %d", status)
		}
	}
	s.signInto(t, page)
	open(t, page, s.ends.API+"/ask/"+made.ID)
	const questions = `[...document.querySelectorAll(".asked p")].map(p => p.textContent).join("|")`
	const turns = `document.querySelector(".turns")`
	awaitPage(t, page, questions+fmt.Sprintf(" === %q", strings.Join(want[16:], "|"))) // 50 messages without the question of the first answer
	awaitPage(t, page, turns+`.scrollTop > 0 && `+turns+`.scrollTop + `+turns+`.clientHeight > `+turns+`.scrollHeight - 2`)
	if got := evaluate[int](t, page, answersOnPage); got != count-16 {
		t.Errorf("%d answers", got)
	}
	do(t, page, chromedp.Evaluate(turns+`.scrollTo(0, 0)`, nil))
	awaitPage(t, page, questions+fmt.Sprintf(" === %q", strings.Join(want, "|")))
	if got := evaluate[float64](t, page, turns+`.scrollTop`); got == 0 {
		t.Error("what was read has moved away")
	}
	do(t, page, chromedp.Evaluate(turns+`.scrollTo(0, 0)`, nil))
	if got := evaluate[int](t, page, answersOnPage); got != count {
		t.Errorf("%d answers", got)
	}
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsoleFindsAProject has more projects than a choice shows: one is found by its name,
// and stays chosen.
func TestConsoleFindsAProject(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	var wanted struct{ ID string }
	for i := range 120 {
		name := fmt.Sprintf("Project %03d", i)
		if i == 0 {
			name = "Zürich <b>harbour</b>"
		}
		var made struct{ ID string }
		if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"name": name}, &made); status >= 300 {
			t.Fatalf("make a project: status %d", status)
		}
		if i == 0 {
			wanted = made
		}
	}
	s.signInto(t, page)
	const choice = `[...document.querySelectorAll("select[name=project] option")].map(o => o.textContent)`
	awaitPage(t, page, choice+`.length === 101 && !!document.querySelector(".finds")`)
	do(t, page, chromedp.SendKeys(`.finds`, "zürich harb", chromedp.ByQuery))
	awaitPage(t, page, choice+`.join("|") === "All projects|Zürich <b>harbour</b>"`)
	do(t, page, chromedp.SetValue(`select[name=project]`, wanted.ID, chromedp.ByQuery), chromedp.Evaluate(`document.querySelector("select[name=project]").dispatchEvent(new Event("change"))`, nil))
	do(t, page, chromedp.Evaluate(`(() => { const find = document.querySelector(".finds"); find.value = "project 11"; find.dispatchEvent(new Event("input")); })()`, nil))
	awaitPage(t, page, choice+`.length === 13 && document.querySelector("select[name=project]").value === "`+wanted.ID+`"`)
	wantLooks(t, page)
	do(t, page, chromedp.Reload())
	awaitPage(t, page, `document.querySelector("select[name=project]")?.selectedOptions[0].textContent === "Zürich <b>harbour</b>"`)
	askOnPage(t, page, "Is there a lamp?")
	awaitPage(t, page, answersOnPage+" === 1")
	var runs struct{ Data []struct{ ID string } }
	s.call(t, "GET", "/workspaces/default/runs?kind=query&project_id="+wanted.ID, nil, &runs)
	if len(runs.Data) != 1 {
		t.Errorf("the project was asked %d times", len(runs.Data))
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
