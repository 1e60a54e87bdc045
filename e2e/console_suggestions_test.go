package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsoleSuggests shows the questions that may come next below an answer, and asks one of
// them in the same conversation.
func TestConsoleSuggests(t *testing.T) {
	t.Parallel()
	const hostile = `What is <img src=x onerror=ran=1> there?`
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	s.signInto(t, page)
	do(t, page, chromedp.Evaluate(`localStorage.setItem("cairn.project", "default")`, nil), chromedp.Reload())
	awaitPage(t, page, `document.querySelector("select[name=project]")?.value === "default"`)
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, answersOnPage+" === 1")
	if there := evaluate[bool](t, page, `!!document.querySelector(".answer .suggestions")`); there {
		t.Error("questions are suggested that nobody asked for")
	}

	change := map[string]any{"ai": map[string]any{"postQuery": map[string]any{"suggestions": true}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", change, nil); status != http.StatusOK {
		t.Fatalf("the project is refused: status %d", status)
	}
	m.ScriptChat(modeltest.Text("What is on the pier?"), modeltest.Text("A foghorn."), modeltest.Text("Who keeps the lighthouse?\n"+hostile))
	askOnPage(t, page, "And on the southern pier?")
	const offered = `[...document.querySelectorAll('.answer .suggestions[aria-label="Related questions"] button')].map(b => b.textContent).join("|")`
	awaitPage(t, page, answersOnPage+` === 2 && `+offered+` === "Who keeps the lighthouse?|`+strings.ReplaceAll(hostile, `"`, `\"`)+`"`)
	isText(t, page, hostile)
	wantLooks(t, page)
	conversation := evaluate[string](t, page, `location.pathname`)
	press(t, page, "Who keeps the lighthouse?")
	awaitPage(t, page, answersOnPage+` === 3 && [...document.querySelectorAll(".asked p")].at(-1).textContent === "Who keeps the lighthouse?"`)
	if now := evaluate[string](t, page, `location.pathname`); now != conversation {
		t.Errorf("the suggested question is asked in %s, not in %s", now, conversation)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
