package e2e_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestConsolePipeline tries a step on a document, and reads in the run of a document what
// became of the step.
func TestConsolePipeline(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := startForHooks(t)
	thrown := thrownIn(page)
	st := newStepper(t)
	step := map[string]any{"at": "extracted", "name": "letterhead", "webhook": st.at("/extracted", says(`{"tags":["stepped"]}`))}
	s.pipeline(t, step)
	d, run := s.settled(t, "lamp", "The harbour lamp burns gas.")
	s.signInto(t, page)
	open(t, page, s.ends.API+"/runs/"+run)
	awaitPage(t, page, `document.querySelector(".timeline")?.textContent.includes("letterhead")`)
	open(t, page, s.ends.API+"/projects/default/pipeline")
	do(t, page, chromedp.WaitVisible("#try-document", chromedp.ByQuery), chromedp.SendKeys("#try-document", d.ID, chromedp.ByQuery))
	press(t, page, "Try the step")
	awaitPage(t, page, `document.querySelector("main [role=status]")?.textContent.includes("It changes something.")`)
	awaitPage(t, page, `document.querySelector("main pre[aria-label=Answered]")?.textContent.includes("stepped")`)
	wantLooks(t, page)
	if n := st.count("/extracted"); n != 2 {
		t.Errorf("the step was asked %d times", n)
	}
	if status := s.call(t, "POST", "/workspaces/default/projects/default/pipeline/try", map[string]any{"step": step, "document_id": "00000000-0000-4000-8000-000000000000"}, nil); status != http.StatusNotFound {
		t.Errorf("a document that is not there: status %d", status)
	}
	if len(*thrown) > 0 {
		t.Errorf("the page threw %v", *thrown)
	}
}
