package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsoleRuns goes from an answer to its run, and from the list of runs to one that
// failed and to the run of a document.
func TestConsoleRuns(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	const hostile = `<img src=x onerror=ran=1>`
	document := s.publish(t, hostile, "The northern pier has a lighthouse.")
	m.ScriptChat(modeltest.Call(model.ToolCall{ID: "call_1", Name: "documents_rag", Arguments: `{"query":"` + hostile + `"}`}), modeltest.Text("There is "+hostile+"."))
	s.signInto(t, page)
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, `!!document.querySelector('.answer:not(.live) .actions a[href^="/runs/"]')`)
	click(t, page, `document.querySelector('.answer .actions a[href^="/runs/"]')`)
	const lines = `[...document.querySelectorAll(".timeline > li")].map(l => l.textContent).join("|")`
	awaitPage(t, page, lines+`.includes("completed · ") && document.querySelectorAll(".timeline .call.completed").length === 1`)
	wantTimeline(t, page, evaluate[string](t, page, lines), hostile)
	wantSteps(t, page)
	if made := evaluate[int](t, page, `(window.ran ?? 0) + document.querySelectorAll("main img").length`); made != 0 {
		t.Error("words of a run became an element")
	}
	wantLooks(t, page)

	refused := modeltest.Reply{Status: http.StatusUnauthorized, Body: `{"error":{"message":"no such key"}}`}
	m.ScriptChat(refused, refused, refused, refused)
	failed := s.query(t, "What is on the southern pier?")
	s.follow(t, failed.run, 0)
	open(t, page, s.ends.API+"/runs")
	awaitPage(t, page, `document.querySelectorAll('table[aria-label="Runs"] .state').length === 3`)
	row := evaluate[string](t, page, `document.querySelector('table[aria-label="Runs"] tr:has(.state.failed)').textContent`)
	stored, err := s.Run(t.Context(), failed.run)
	if err != nil || stored.Error == nil || !strings.Contains(row, stored.Error.Message) {
		t.Errorf("the run failed with %+v, %v; its row is %q", stored.Error, err, row)
	}
	wantLooks(t, page)
	do(t, page, chromedp.SetValue(`select[aria-label="Run"]`, "ingest", chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelector('select[aria-label="Run"]').dispatchEvent(new Event("change"))`, nil))
	awaitPage(t, page, `document.querySelectorAll("tbody a").length === 1`)
	click(t, page, `document.querySelector("tbody a")`)
	awaitPage(t, page, `!!document.querySelector('.facts a[href="/documents/`+document.ID+`"]') && `+lines+`.includes("embed")`)
	click(t, page, `document.querySelector('.facts a[href^="/documents/"]')`)
	awaitPage(t, page, `!!document.querySelector('.document li a[href^="/runs/"]')`)
	open(t, page, s.ends.API+"/runs/"+failed.run)
	awaitPage(t, page, `!!document.querySelector(".timeline li.wrong") && !!document.querySelector("p[role=status] .state.failed")`)
	awaitPage(t, page, `[...document.querySelectorAll(".steps tr")].some(r => r.querySelector(".state.failed")?.nextElementSibling.textContent.includes("provider_failed"))`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// wantTimeline checks the lines of a question's run, its call of a tool and its events.
func wantTimeline(t *testing.T, page context.Context, lines, query string) {
	t.Helper()
	for _, want := range []string{"The run started", "passages found", "documents_rag: completed", "The words of the model", "prompt tokens"} {
		if !strings.Contains(lines, want) {
			t.Errorf("the timeline has no %q: %s", want, lines)
		}
	}
	call := evaluate[string](t, page, `document.querySelector(".timeline .call").textContent`)
	if !strings.Contains(call, query) || !strings.Contains(call, "passage") {
		t.Errorf("the call of the tool is %q", call)
	}
	events := evaluate[[]string](t, page, `[...document.querySelectorAll(".raw li")].map(l => l.textContent.split(" ")[0])`)
	if len(events) < 5 || events[0] != "runStarted" || events[len(events)-1] != "completedMessage" {
		t.Errorf("the events as they came are %v", events)
	}
	awaitPage(t, page, `document.querySelector("p[role=status] .state").textContent === "completed"`) // it is polled
}

// wantSteps checks the two model calls of a question among its steps, each with its tokens.
func wantSteps(t *testing.T, page context.Context) {
	t.Helper()
	const calls = `[...document.querySelectorAll(".steps tbody tr")].filter(r => r.cells[0].textContent.startsWith("model call"))`
	awaitPage(t, page, calls+`.length === 2 && `+calls+`.every(r => r.querySelector(".state.completed"))`)
	for _, cells := range evaluate[[][]string](t, page, calls+`.map(r => [...r.cells].map(c => c.textContent))`) {
		if cells[2] != "1" || !strings.HasSuffix(cells[3], "s") || cells[4] == "" || cells[4] == "0" {
			t.Errorf("a model call is shown as %q", cells)
		}
	}
}

// TestConsoleSteersFromTheRun sends a message to a question from the page of its run.
func TestConsoleSteersFromTheRun(t *testing.T) {
	t.Parallel()
	page := browser(t)
	told := make(chan struct{})
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	m.ScriptChat(longReply(), modeltest.Reply{Text: "A lighthouse. <source_1>", Until: told})
	s.signInto(t, page)
	askOnPage(t, page, "What is on the piers?")
	awaitPage(t, page, `(document.querySelector(".words")?.textContent ?? "").includes("word")`)
	conversation := evaluate[string](t, page, `location.href`)
	open(t, page, s.ends.API+"/runs")
	awaitPage(t, page, `!!document.querySelector("tbody a[data-item]")`)
	click(t, page, `document.querySelector("tbody a[data-item]")`)
	awaitPage(t, page, `document.querySelector(".steer")?.checkVisibility()`)
	wantLooks(t, page)
	do(t, page, chromedp.SendKeys(`.steer input`, "Only the northern one"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `document.querySelector(".steer input").value === ""`)
	close(told)
	awaitPage(t, page, `!!document.querySelector("p[role=status] .state.completed") && !document.querySelector(".steer").checkVisibility()`)
	open(t, page, conversation)
	awaitPage(t, page, answersOnPage+` === 1 && [...document.querySelectorAll(".asked p")].map(p => p.textContent).join("|") === "What is on the piers?|Only the northern one"`)
}

// TestConsoleResearch watches a research as a tree over a pause, steers it by a message and
// cancels another one.
func TestConsoleResearch(t *testing.T) {
	t.Parallel()
	page := browser(t)
	tools := researchTools(t, 2, 2)
	tools["take_notes"] = strings.Replace(tools["take_notes"], `"missing":""`, `"missing":"Is <img src=x onerror=ran=1> lit?"`, 1)
	m := standIn(t, modeltest.Options{Tools: tools})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	held := make(chan struct{})
	m.ScriptChat(modeltest.Reply{Until: held, ToolCalls: []model.ToolCall{{ID: "call_1", Name: "plan_research", Arguments: tools["plan_research"]}}})
	r := s.research(t, map[string]any{"depth": 2})
	r.until(t, updates(t, 1, "plan", "started"))
	s.signInto(t, page)
	open(t, page, s.ends.API+"/runs/"+r.run)
	awaitPage(t, page, `document.querySelector(".tree")?.textContent.includes("Plan 1")`)
	const hostile = `Mind the <img src=x onerror=ran=1> foghorns`
	do(t, page, chromedp.SendKeys(`.steer input`, hostile+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `document.querySelector(".tree").textContent.includes("foghorns")`)
	press(t, page, "Pause")
	awaitPage(t, page, `!!document.querySelector("p[role=status] .state.paused")`)
	wantLooks(t, page)
	close(held)
	press(t, page, "Resume")
	awaitPage(t, page, `!!document.querySelector("p[role=status] .state.completed")`)
	for _, want := range []string{"What stands on pier number 2?", "passages found", "1 notes", "A lighthouse stands there. (lights)", "Still open: Is <img", "The piers", "Pier 2", "Plan 2", "lights"} {
		awaitPage(t, page, fmt.Sprintf(`document.querySelector(".tree").textContent.includes(%q)`, want)) // its events come beside its state
	}
	awaitPage(t, page, `/model calls \d+, .*calls left \d+, tokens left \d/.test(document.querySelector("section:has(> .tree) p").textContent)`)
	if made := evaluate[int](t, page, `(window.ran ?? 0) + document.querySelectorAll("main img").length`); made != 0 {
		t.Error("a message became an element")
	}
	steered := 0
	for _, request := range m.Requests() {
		for _, message := range request.Messages {
			if strings.Contains(string(message.Content), "foghorns") && strings.Contains(string(message.Content), "Mind the") {
				steered++
			}
		}
	}
	if steered == 0 {
		t.Error("the model was not told of the message")
	}
	wantLooks(t, page)

	m.ScriptChat(modeltest.Hang())
	other := s.research(t, map[string]any{"depth": 1})
	other.until(t, updates(t, 1, "plan", "started"))
	open(t, page, s.ends.API+"/runs/"+other.run)
	awaitPage(t, page, `[...document.querySelectorAll("button")].some(b => b.textContent === "Cancel run" && !b.hidden)`)
	press(t, page, "Cancel run")
	awaitPage(t, page, `document.querySelector("dialog")?.open`)
	click(t, page, `document.querySelector("dialog button.first")`)
	awaitPage(t, page, `!!document.querySelector("p[role=status] .state.canceled")`)
	if run, err := s.Run(t.Context(), other.run); err != nil || run.Status != "canceled" {
		t.Errorf("the run is %s, %v", run.Status, err)
	}
}

// TestConsoleRunsAreLive watches a question that waits for a decision in the list and on its
// page, where it is approved.
func TestConsoleRunsAreLive(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	change := map[string]any{"tools": map[string]any{"approval": []string{"documents_rag"}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", change, nil); status != http.StatusOK {
		t.Fatalf("the project is refused: status %d", status)
	}
	search := modeltest.Call(model.ToolCall{ID: "north", Name: "documents_rag", Arguments: `{"query":"northern pier"}`})
	m.ScriptChat(search, modeltest.Text("Done."), search, modeltest.Text("Done."))
	a := s.query(t, "What is on the pier?")
	(&reader{run: a.run, body: a}).until(t, func(list []event) bool { return len(statuses(t, list)) == 1 })
	s.signInto(t, page)
	open(t, page, s.ends.API+"/runs")
	awaitPage(t, page, `!!document.querySelector(".state.running")`)
	do(t, page, chromedp.Evaluate(`window.stays = true; document.querySelector("tr:has(.state.running) a").focus()`, nil))
	if status := s.call(t, "POST", "/runs/"+a.run+"/calls/north", map[string]any{"decision": "approve"}, nil); status != http.StatusOK {
		t.Fatalf("the call is not approved: status %d", status)
	}
	awaitPage(t, page, `window.stays && !document.querySelector(".state.running") && document.querySelectorAll(".state.completed").length === 2`)
	if at := evaluate[string](t, page, `document.activeElement.getAttribute("href")`); at != "/runs/"+a.run {
		t.Errorf("a row that is drawn again has left the focus to %q", at)
	}

	b := s.query(t, "What is on the other pier?")
	open(t, page, s.ends.API+"/runs/"+b.run)
	awaitPage(t, page, `!!document.querySelector(".timeline .call.waiting")`)
	wantLooks(t, page)
	press(t, page, "Approve")
	awaitPage(t, page, `!!document.querySelector(".timeline .call.completed") && !!document.querySelector("p[role=status] .state.completed")`)
	if run, err := s.Run(t.Context(), b.run); err != nil || run.Status != "completed" {
		t.Errorf("the run is %s, %v", run.Status, err)
	}
}

// TestConsoleRunsOfAPerson chooses the runs that one person started.
func TestConsoleRunsOfAPerson(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	for _, person := range []string{"ann", `<img src=x onerror=ran=1>`} {
		m.ScriptChat(modeltest.Text("Nothing."))
		if status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": "What is on the pier?", "userId": person}, nil); status != http.StatusOK {
			t.Fatalf("query: status %d", status)
		}
	}
	s.signInto(t, page)
	do(t, page, chromedp.EmulateViewport(1280, 900))
	open(t, page, s.ends.API+"/runs")
	const people = `[...document.querySelectorAll('table[aria-label="Runs"] tbody tr')].map(r => r.cells[3].textContent)`
	awaitPage(t, page, people+`.length === 2 && `+people+`.includes("ann")`)
	isText(t, page, `<img src=x onerror=ran=1>`)
	do(t, page, chromedp.SendKeys(`input[aria-label="Person"]`, "ann"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, people+`.join() === "ann"`)
	wantLooks(t, page)
}

// TestConsoleFiltersRuns chooses runs by status and by project; the address keeps both.
func TestConsoleFiltersRuns(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	var other struct{ ID string }
	if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"name": "Harbour"}, &other); status >= 300 {
		t.Fatalf("make a project: status %d", status)
	}
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.wantFailed(t, s.sendFiles(t, nil, file{"broken.pdf", []byte("%PDF-1.7 and nothing else")})[0], "extract", "corrupt")
	var sent client.Document
	body := map[string]any{"name": "horns", "externalId": "horns", "content": map[string]string{"text": "The southern pier has a foghorn."}}
	if status := s.call(t, "POST", webhooks+"/document?projectId="+other.ID, body, &sent); status != http.StatusAccepted {
		t.Fatalf("upload: status %d", status)
	}
	s.ended(t, sent)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/runs")
	const rows = `[...document.querySelectorAll('table[aria-label="Runs"] tbody tr')].map(r => r.cells[1].querySelector(".state").textContent + " in " + r.cells[2].textContent).join()`
	choose := func(name, value string) {
		t.Helper()
		do(t, page, chromedp.SetValue(`select[name="`+name+`"]`, value, chromedp.ByQuery), chromedp.Evaluate(`document.querySelector('select[name="`+name+`"]').dispatchEvent(new Event("change"))`, nil))
	}
	awaitPage(t, page, `document.querySelectorAll('table[aria-label="Runs"] tbody tr').length === 3 && !!document.querySelector('select[name="project"] option[value="`+other.ID+`"]')`)
	choose("status", "failed")
	awaitPage(t, page, rows+` === "failed in default" && location.search === "?status=failed"`)
	choose("project", other.ID)
	awaitPage(t, page, `document.querySelector(".empty:not([hidden])")?.checkVisibility() && `+rows+` === ""`)
	choose("status", "completed")
	awaitPage(t, page, rows+` === "completed in Harbour"`)
	do(t, page, chromedp.Reload())
	awaitPage(t, page, rows+` === "completed in Harbour" && location.search === "?status=completed&project=`+other.ID+`" && document.querySelector('select[name="project"]').selectedOptions[0].textContent === "Harbour"`)
	wantLooks(t, page)
}
