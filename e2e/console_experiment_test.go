package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// lampCSV writes lampQuestions to a CSV file and returns its name.
func lampCSV(t *testing.T, count int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("id,question,reference,expected_documents\n")
	for _, item := range lampQuestions(count) {
		fmt.Fprintf(&text, "%v,%v,%v,lamps\n", item["id"], item["question"], item["reference"])
	}
	name := filepath.Join(t.TempDir(), "lamps.csv")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// fillField sets the value of a field of the page, as a person does.
func fillField(t *testing.T, page context.Context, element, value string) {
	t.Helper()
	awaitPage(t, page, fmt.Sprintf(`(() => { const field = %s; if (!field) return false; field.value = %q; field.dispatchEvent(new Event("input", {bubbles: true})); field.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`, element, value))
}

// labelledField is the JavaScript of the control in a label with this text.
func labelledField(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("main label")].find(l => l.textContent.includes(%q) && l.checkVisibility())?.querySelector("input, select, textarea")`, text)
}

// TestConsoleExperiment uploads a test set, starts an experiment by the form, watches it, scores answers
// by keyboard only, compares two configurations, and makes the better one the saved one.
func TestConsoleExperiment(t *testing.T) {
	t.Parallel()
	const items = 14
	page := browser(t)
	m := standIn(t, modeltest.Options{Reply: promptedAnswerer})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, items)
	asked, thrown := trafficOf(t, page), thrownIn(page)
	s.signInto(t, page)
	startExperimentOnPage(t, s, page, lampCSV(t, items))
	awaitPage(t, page, `location.pathname.match(/evaluations.[0-9a-f-]{36}$/) && document.querySelectorAll('table[aria-label="Configurations"] tbody tr').length === 2`)
	id := evaluate[string](t, page, `location.pathname.split("/")[2]`)
	s.evaluated(t, id, "it has ended", hasEnded)
	awaitPage(t, page, `document.querySelector('table[aria-label="Configurations"] tbody tr:nth-child(2) .verdict.better')?.textContent === "better"`)
	wantLooks(t, page)

	click(t, page, `[...document.querySelectorAll('table[aria-label="Configurations"] a')].find(a => a.textContent === "Compare")`)
	awaitPage(t, page, fmt.Sprintf(`document.querySelectorAll(".changed details").length === %d && document.querySelector('table[aria-label="Differences"]').textContent.includes("Answer")`, items))
	click(t, page, `document.querySelector(".changed summary")`)
	awaitPage(t, page, `(() => { const sides = document.querySelectorAll(".changed .reader section"); return sides.length === 2 && /has 9\d\d lamps/.test(sides[0].textContent) && /has 1\d\d lamps/.test(sides[1].textContent); })()`)
	wantLooks(t, page)

	open(t, page, s.ends.API+"/evaluations/"+id)
	reviewByKeyboard(t, s, page, id)

	open(t, page, s.ends.API+"/evaluations/"+id)
	press(t, page, "Use this configuration: 2")
	awaitPage(t, page, `document.querySelector("dialog")?.textContent.includes("ai.prompt")`)
	wantLooks(t, page)
	press(t, page, "Use this configuration")
	awaitPage(t, page, `document.querySelector('.notice[role="status"]')?.textContent.includes("The project has this configuration now.")`)
	if got := s.promptOf(t); got != exact {
		t.Errorf("the prompt of the project is %q", got)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// startExperimentOnPage uploads a test set and starts an experiment with another prompt.
func startExperimentOnPage(t *testing.T, s *server, page context.Context, file string) {
	t.Helper()
	open(t, page, s.ends.API+"/evaluations/sets")
	awaitPage(t, page, `!!document.querySelector(".empty:not([hidden])") && document.querySelectorAll("details.new").length === 3`)
	do(t, page, chromedp.Evaluate(`document.querySelectorAll("details.new").forEach(d => d.open = true)`, nil))
	wantLooks(t, page)
	do(t, page, chromedp.SetUploadFiles(`input[type="file"]`, []string{file}, chromedp.ByQuery))
	press(t, page, "Upload")
	awaitPage(t, page, `document.querySelector("h1")?.textContent === "lamps.csv" && document.querySelectorAll('table[aria-label="Questions"] tbody tr').length === 14`)
	wantLooks(t, page)
	click(t, page, `[...document.querySelectorAll("main a")].find(a => a.textContent === "Evaluate")`)
	fillField(t, page, labelledField("Ask with"), "grid")
	awaitPage(t, page, `document.querySelector(".grid [role=status]")?.textContent === "Choose values of at least one setting."`)
	wantLooks(t, page)
	fillField(t, page, labelledField("prompt"), exact)
	awaitPage(t, page, `document.querySelector(".grid [role=status]").textContent === "2 configurations, with the saved settings"`)
	press(t, page, "Evaluate")
}

// reviewByKeyboard opens the review of an evaluation from its page, and scores two answers with keys
// alone. The judge's score is hidden until the answer is scored.
func reviewByKeyboard(t *testing.T, s *server, page context.Context, id string) {
	t.Helper()
	awaitPage(t, page, `[...document.querySelectorAll("main a")].some(a => a.textContent === "Review" && a.checkVisibility())`)
	for range 40 {
		if evaluate[bool](t, page, `document.activeElement.textContent === "Review"`) {
			break
		}
		do(t, page, chromedp.KeyEvent(kb.Tab))
	}
	do(t, page, chromedp.KeyEvent(kb.Enter))
	awaitPage(t, page, `document.activeElement.matches(".review") && document.querySelectorAll(".review fieldset").length === 2`)
	const comment = "as the log has it"
	const judge = `document.querySelector('.review [aria-label="Judge"]')`
	if evaluate[bool](t, page, `!!`+judge) {
		t.Error("the judge's score is shown before the person's")
	}
	wantLooks(t, page)
	first := evaluate[string](t, page, `document.querySelector(".review h2").textContent`)
	do(t, page, chromedp.KeyEvent("2"))
	awaitPage(t, page, judge+`?.textContent.includes("The judge says: answer")`)
	do(t, page, chromedp.KeyEvent("1"))
	awaitPage(t, page, `document.querySelectorAll('.review [aria-pressed="true"]').length === 2`)
	do(t, page, chromedp.KeyEvent("c"), chromedp.KeyEvent(comment), chromedp.KeyEvent(kb.Escape))
	awaitPage(t, page, `document.getElementById("said").textContent === "The comment is stored"`)
	wantLooks(t, page)
	do(t, page, chromedp.KeyEvent("n"))
	awaitPage(t, page, fmt.Sprintf(`document.querySelector(".review h2").textContent !== %q && !%s`, first, judge))
	do(t, page, chromedp.KeyEvent("0"))
	awaitPage(t, page, `!!`+judge)
	do(t, page, chromedp.KeyEvent("p"))
	awaitPage(t, page, fmt.Sprintf(`document.querySelector(".review h2").textContent === %q`, first))
	if got := evaluate[string](t, page, `document.querySelector(".review textarea").value`); got != comment {
		t.Errorf("the comment of the answer is %q", got)
	}
	var shown struct {
		Items []struct {
			Question string
			Reviews  []struct {
				Score, Context *float64
				Comment        string
			}
		}
	}
	if status := s.call(t, "GET", "/workspaces/default/evaluations/"+id+"?limit=100", nil, &shown); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	reviewed := map[string]string{}
	for _, item := range shown.Items {
		for _, r := range item.Reviews {
			context := -1.0
			if r.Context != nil {
				context = *r.Context
			}
			reviewed[item.Question] += fmt.Sprintf("%g %g %s", *r.Score, context, r.Comment)
		}
	}
	if len(reviewed) != 2 || reviewed[first] != "2 1.5 "+comment {
		t.Errorf("the reviews are %q", reviewed)
	}
}

// TestConsoleInsights follows the lines of the insights to their runs.
func TestConsoleInsights(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.publish(t, "cranes", "The eastern pier has a crane.")
	m.ScriptChat(modeltest.Text("I do not know."))
	s.signInto(t, page)
	do(t, page, chromedp.SetValue(`form.composer select[name="project"]`, "default", chromedp.ByQuery))
	askOnPage(t, page, "Who paints the lighthouse?")
	awaitPage(t, page, answersOnPage+" === 1")
	open(t, page, s.ends.API+"/evaluations/insights")
	awaitPage(t, page, `document.querySelector('section[aria-label="Unanswered questions"] li strong')?.textContent === "Who paints the lighthouse?"`)
	awaitPage(t, page, `document.querySelector('section[aria-label="Documents that no answer cites"]').textContent.includes("cranes")`)
	awaitPage(t, page, `document.querySelector('section[aria-label="Passages that are shown and that no answer cites"]') && document.querySelector('section[aria-label="Answers that rest on old documents"]') && document.querySelectorAll('table[aria-label="Cost and latency by day"] tbody tr').length === 1`)
	wantLooks(t, page)
	click(t, page, `document.querySelector('section[aria-label="Unanswered questions"] a[href^="/runs/"]')`)
	awaitPage(t, page, `location.pathname.startsWith("/runs/") && document.querySelector("main").textContent.includes("Who paints the lighthouse?")`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
