package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsoleActsOnAnAnswer asks with a model and a tag, copies the answer with its sources,
// asks again, and walks through the sources.
func TestConsoleActsOnAnAnswer(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	for name, tag := range map[string]string{"lighthouse": "north", "keeper": "north", "foghorn": "south"} {
		body := map[string]any{"name": name, "externalId": name, "tags": []string{tag}, "content": map[string]string{"text": "The pier has a " + name + "."}}
		if status := s.call(t, "POST", webhooks+"/document?projectId=default", body, nil); status != http.StatusAccepted {
			t.Fatalf("upload: status %d", status)
		}
	}
	s.awaitPublished(t, 3)
	s.signInto(t, page)
	do(t, page, chromedp.Evaluate(`(() => {
		const pasted = new DataTransfer();
		pasted.items.add(new File(["a"], "pasted.txt"));
		document.querySelector("textarea.question").dispatchEvent(new ClipboardEvent("paste", {clipboardData: pasted, cancelable: true, bubbles: true}));
	})()`, nil))
	awaitPage(t, page, `document.querySelector(".chips")?.textContent.includes("pasted.txt")`)
	press(t, page, "Do not send pasted.txt")
	awaitPage(t, page, `document.querySelectorAll(".chips li").length === 0`)
	click(t, page, `document.querySelector(".options summary")`)
	do(t, page, chromedp.SendKeys(`.options label:nth-child(1) input`, "other-model", chromedp.ByQuery), chromedp.SendKeys(`.options label:nth-child(2) input`, "north", chromedp.ByQuery))
	m.ScriptChat(modeltest.Text("There is a lighthouse <source_1>."), modeltest.Text("What does the pier have?"), modeltest.Text("As before, a lighthouse <source_1>."))
	askOnPage(t, page, "What does the pier have?")
	awaitPage(t, page, answersOnPage+" === 1")
	if asked := m.Requests(); asked[len(asked)-1].Model != "other-model" {
		t.Errorf("the model %s was asked", asked[len(asked)-1].Model)
	}
	do(t, page, chromedp.Evaluate(`navigator.clipboard.writeText = async text => { window.copied = text }`, nil))
	press(t, page, "Copy with sources")
	awaitPage(t, page, `window.copied?.startsWith("There is a lighthouse [1].\n\n[1] ") && document.getElementById("said").textContent === "Copied"`)
	press(t, page, "Ask again")
	awaitPage(t, page, answersOnPage+` === 2 && document.querySelectorAll(".words")[1].textContent.startsWith("As before")`)

	click(t, page, `document.querySelector(".citation")`)
	const title = `(document.querySelector(".panel h2")?.textContent ?? "")`
	awaitPage(t, page, title+`.startsWith("[1] ")`)
	first := evaluate[string](t, page, title)
	press(t, page, "Next source")
	awaitPage(t, page, title+`.startsWith("[2] ")`)
	second := evaluate[string](t, page, title)
	press(t, page, "Next source") // there are two
	awaitPage(t, page, title+`.startsWith("[1] ")`)
	press(t, page, "Previous source")
	awaitPage(t, page, title+`.startsWith("[2] ")`)
	if both := first + second; !strings.Contains(both, "lighthouse") || !strings.Contains(both, "keeper") {
		t.Errorf("the sources are %s and %s", first, second)
	}
	press(t, page, "Zoom in")
	if zoom := evaluate[string](t, page, `getComputedStyle(document.querySelector(".panel .pages")).getPropertyValue("--zoom")`); zoom != "125%" {
		t.Errorf("enlarged to %s", zoom)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsoleDecidesAndStops refuses a call of a tool with a reason on the page to ask on,
// stops an answer, and stops a research that it began.
func TestConsoleDecidesAndStops(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	change := map[string]any{"tools": map[string]any{"approval": []string{"documents_rag"}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", change, nil); status != http.StatusOK {
		t.Fatalf("the project is refused: status %d", status)
	}
	evaluateThen := func(script string) { do(t, page, chromedp.Evaluate(script, nil)) }
	s.signInto(t, page)
	evaluateThen(`localStorage.setItem("cairn.project", "default")`)
	do(t, page, chromedp.Reload())
	awaitPage(t, page, `document.querySelector("select[name=project]")?.value === "default"`)
	m.ScriptChat(modeltest.Call(model.ToolCall{ID: "north", Name: "documents_rag", Arguments: `{"query":"northern pier"}`}), modeltest.Text("Then not."))
	askOnPage(t, page, "What is on the pier?")
	awaitPage(t, page, `!!document.querySelector(".answer .call.waiting[open]")`)
	wantLooks(t, page)
	do(t, page, chromedp.SendKeys(`.call input`, "not <b>now</b>", chromedp.ByQuery))
	press(t, page, "Refuse")
	awaitPage(t, page, answersOnPage+` === 1 && document.querySelector(".answer .call.refused")?.textContent.includes("not <b>now</b>")`)
	told := false
	for _, message := range m.Requests()[len(m.Requests())-1].Messages {
		told = told || strings.Contains(string(message.Content), "not <b>now</b>") || strings.Contains(string(message.Content), `not \u003cb\u003enow`)
	}
	if !told {
		t.Error("the model was not told the reason")
	}

	for kind, begin := range map[string]string{"query": `0`, "research": `[...document.querySelectorAll(".composer .choice")].find(l => l.textContent === "Deep research").querySelector("input").click()`} {
		open(t, page, s.ends.API+"/ask")
		awaitPage(t, page, `!!document.querySelector("textarea.question")`)
		evaluateThen(begin)
		m.ScriptChat(modeltest.Hang())
		askOnPage(t, page, "What is on the other pier?")
		awaitPage(t, page, `location.pathname !== "/ask" && !!document.querySelector(".answer.live")`)
		press(t, page, "Stop")
		awaitPage(t, page, answersOnPage+` === 1 && document.querySelector(".answer").textContent.includes("Stopped.") && document.querySelector(".stop").hidden`)
		var runs struct{ Data []struct{ Status string } }
		s.call(t, "GET", "/workspaces/default/runs?kind="+kind, nil, &runs)
		if len(runs.Data) == 0 || runs.Data[0].Status != "canceled" {
			t.Errorf("%s: the runs are %+v", kind, runs.Data)
		}
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
