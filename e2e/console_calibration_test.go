package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsoleCalibration scores the last answers of fifty by keyboard, reads what that says of the judge,
// and has a judge that is lenient and one that contradicts itself score the same answers.
func TestConsoleCalibration(t *testing.T) {
	t.Parallel()
	const items, before = 54, 48
	page := browser(t)
	j := &plantedJudge{}
	m := standIn(t, modeltest.Options{Reply: j.reply})
	s := start(t, at(m.URL())...)
	publishLamps(t, s, items)
	thrown := thrownIn(page)
	e := s.evaluate(t, map[string]any{"test_set_id": s.testSet(t, lampQuestions(items)), "judge": map[string]any{"model": modeltest.ModelName}})
	s.evaluated(t, e.ID, "it has ended", hasEnded)
	asked := j.answered.Load()
	for i := range before {
		if status := s.call(t, "POST", fmt.Sprintf("/workspaces/default/evaluations/%s/items/q%d/review", e.ID, i), map[string]any{"score": []int{2, 1, 0}[i%3]}, nil); status != http.StatusOK {
			t.Fatalf("review: status %d", status)
		}
	}
	s.signInto(t, page)
	open(t, page, s.ends.API+"/evaluations/"+e.ID)
	click(t, page, `[...document.querySelectorAll("main a")].find(a => a.textContent === "Calibrate" && a.checkVisibility())`)
	awaitPage(t, page, calibrated("48 of at least 50 answers", "Too few answers", "Kappa with quadratic weights1"))
	wantLooks(t, page)
	scoreBlind(t, page, 3)
	awaitPage(t, page, calibrated("51 of at least 50 answers", "This judge can gate.", "Kappa with quadratic weights1", "Same score100%", "always guessed the most frequent one3", "Bias, judge minus person0"))
	wantLooks(t, page)

	again := func(way int32, words ...string) {
		j.way.Store(way)
		do(t, page, chromedp.Evaluate(`document.querySelector("details.new").open = true`, nil))
		old := evaluate[string](t, page, `location.pathname`)
		press(t, page, "Evaluate")
		awaitPage(t, page, fmt.Sprintf(`location.pathname !== %q`, old))
		awaitPage(t, page, calibrated(append([]string{"51 of at least 50 answers", "This judge cannot gate:"}, words...)...))
		wantLooks(t, page)
	}
	again(judgeLenient, "away from those of people", "asked up to 3 times0 of 50")
	again(judgeFickle, "Answers with different scores when asked up to 3 times", "of 50")
	if evaluate[bool](t, page, calibrated("asked up to 3 times0 of 50")) {
		t.Error("a judge that contradicts itself is shown to agree with itself")
	}
	if j.answered.Load() != asked {
		t.Errorf("%d questions were asked again", j.answered.Load()-asked)
	}
	do(t, page, chromedp.Evaluate(`localStorage.setItem("cairn.language", "de")`, nil), chromedp.Reload())
	awaitPage(t, page, calibrated("51 von mindestens 50 Antworten", "Auf diese Bewertung ist kein Verlass:", "Kappa mit quadratischen Gewichten"))
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// calibrated is the JavaScript of whether the page has these words.
func calibrated(words ...string) string {
	js := "true"
	for _, word := range words {
		js += fmt.Sprintf(` && document.querySelector("main")?.textContent.includes(%q)`, word)
	}
	return js
}

// scoreBlind goes from the calibration of a judge to the answers, scores some of them as a person who
// is fair, with keys alone, and returns. The judge's score is nowhere before that of the person.
func scoreBlind(t *testing.T, page context.Context, count int) {
	t.Helper()
	do(t, page, chromedp.Evaluate(`window.answers = []; const ask = window.fetch; window.fetch = async (...given) => { const answer = await ask(...given); window.answers.push(await answer.clone().text()); return answer; }; [...document.querySelectorAll("main a")].find(a => a.textContent === "Score answers").focus()`, nil), chromedp.KeyEvent(kb.Enter))
	const judge = `document.querySelector('.review [aria-label="Judge"]')`
	for i := range count {
		awaitPage(t, page, `!!document.querySelector(".review h2") && document.activeElement.matches(".review") && !`+judge)
		if i == 0 {
			wantLooks(t, page)
			if sent := evaluate[string](t, page, `window.answers.find((text) => text.includes("to_review"))`); strings.Contains(sent, "as scripted") || !strings.Contains(sent, "How many lamps") {
				t.Errorf("before the person's score the page was sent %.300s", sent)
			}
		}
		asked := lampsAsked.FindStringSubmatch(evaluate[string](t, page, `document.querySelector(".review h2").textContent`))
		pier, err := strconv.Atoi(asked[1])
		if err != nil {
			t.Fatal(err)
		}
		do(t, page, chromedp.KeyEvent([]string{"2", "1", "0"}[pier%3]))
		awaitPage(t, page, judge+`?.textContent.includes("as scripted")`)
		do(t, page, chromedp.KeyEvent("n"))
	}
	awaitPage(t, page, `!!document.querySelector(".review h2") && !`+judge)
	click(t, page, `[...document.querySelectorAll("main a")].find(a => a.textContent.includes("Calibrate the judge"))`)
}
