package e2e_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsolePlaysARecording opens a citation of a recording at the second of the quoted
// sentence, and goes to another one by the transcript.
func TestConsolePlaysARecording(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, transcribing(m)...)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	d := s.sendFiles(t, nil, file{"harbour.wav", silence(7)})[0]
	s.ended(t, d)
	s.wantPublished(t, d.ID)
	s.signInto(t, page)
	askOnPage(t, page, "When does the swing bridge open?")
	awaitPage(t, page, `!!document.querySelector('[aria-label="Answer"]:not(.live) .citation')`)
	click(t, page, `document.querySelector(".citation")`)
	const said = `[...document.querySelectorAll(".transcript li")]`
	awaitPage(t, page, said+`.length > 1 && document.querySelector(".panel video").readyState > 0`)
	const at = `(time) => Math.abs(document.querySelector(".panel video").currentTime - time) < .3`
	awaitPage(t, page, `(`+at+`)(.5)`)
	if marked := evaluate[string](t, page, said+`.filter(l => l.classList.contains("marked")).map(l => l.textContent).join("|")`); marked != evaluate[string](t, page, said+`[0].textContent`) {
		t.Errorf("marked is %q", marked)
	}
	wantLooks(t, page)
	click(t, page, said+`.find(l => l.textContent.includes("Ferries")).querySelector("button")`)
	awaitPage(t, page, `document.querySelector(".panel video").currentTime >= 2.7`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}
