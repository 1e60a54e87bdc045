package e2e_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsoleEvaluations goes from the list of evaluations to one, and scores an answer as a
// person.
func TestConsoleEvaluations(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{Reply: answerer(func() bool { return true })})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	publishLamps(t, s, 6)
	e := s.evaluate(t, map[string]any{"test_set_id": s.testSet(t, lampQuestions(6))})
	s.evaluated(t, e.ID, "it has ended", hasEnded)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/evaluations")
	awaitPage(t, page, `document.querySelector('table[aria-label="Evaluations"] tbody')?.textContent.includes("6 of 6, 0 failed")`)
	wantLooks(t, page)
	click(t, page, `document.querySelector('table[aria-label="Evaluations"] tbody a')`)
	awaitPage(t, page, `document.querySelectorAll('table[aria-label="Answers"] tbody tr select').length === 6 && document.querySelector('table[aria-label="Measure"]').textContent.includes("Faithfulness")`)
	wantLooks(t, page)
	do(t, page, chromedp.Evaluate(`(() => { const choice = document.querySelector('table[aria-label="Answers"] select'); choice.value = "1.5"; choice.dispatchEvent(new Event("change")); })()`, nil))
	awaitPage(t, page, `/^0 \(/.test(document.querySelector('table[aria-label="Measure"] tbody tr td:last-child').textContent)`)
	var shown evaluation
	if s.call(t, "GET", "/workspaces/default/evaluations/"+e.ID, nil, &shown); len(shown.Items) != 6 || len(shown.Items[0].Reviews) != 1 || *shown.Items[0].Reviews[0].Score != 1.5 {
		t.Errorf("the reviews are %+v", shown.Items)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
