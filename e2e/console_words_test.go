package e2e_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestConsoleNamesLanguagesAndStages reads in German what the API names by codes: the languages of
// documents, in the list, its filter and on their pages, and the stages and steps of runs.
func TestConsoleNamesLanguagesAndStages(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	long := s.publish(t, "lights", "The northern pier has a lighthouse, and the keeper of the lighthouse writes each ship that passes into his log.")
	s.publish(t, "short", "Pier 7")
	s.signInto(t, page)
	do(t, page, chromedp.EmulateViewport(1280, 900), chromedp.Evaluate(`localStorage.setItem("cairn.language", "de")`, nil))
	open(t, page, s.ends.API+"/documents")
	const languages = `[...document.querySelectorAll("tbody tr")].map(r => r.cells[0].textContent + " " + r.cells[5].textContent).sort().join()`
	awaitPage(t, page, languages+` === "lights Englisch,short nicht bekannt"`)
	const filter = `document.querySelector("select[name=language]")`
	if offered := evaluate[string](t, page, `[...`+filter+`.options].map(o => o.textContent).filter(name => ["Jede Sprache", "Deutsch", "Englisch", "nicht bekannt", "und"].includes(name)).join()`); offered != "Jede Sprache,Deutsch,Englisch,nicht bekannt" {
		t.Errorf("the filter offers %s", offered)
	}
	fillField(t, page, filter, "und")
	awaitPage(t, page, languages+` === "short nicht bekannt" && location.search === "?language=und"`)
	stages := evaluate[string](t, page, `[...document.querySelector("select[name=stage]").options].map(o => o.textContent).join()`)
	if stages != "Jede Stufe,abrufen,prüfen,auslesen,anreichern,teilen,einbetten,veröffentlichen" {
		t.Errorf("the stages are %s", stages)
	}
	wantLooks(t, page)

	open(t, page, s.ends.API+"/documents/"+long.ID)
	awaitPage(t, page, `document.querySelector(".facts")?.textContent.includes("SpracheEnglisch")`)
	for _, path := range []string{"/documents/" + long.ID, "/runs/" + s.runsOf(t, "ingest")[1]} {
		open(t, page, s.ends.API+path)
		for _, stage := range []string{"auslesen", "teilen", "einbetten", "veröffentlichen"} {
			awaitPage(t, page, fmt.Sprintf(`[...document.querySelectorAll(".timeline > li")].some(l => l.textContent.startsWith(%q))`, stage))
		}
	}
	asked := s.query(t, "What does the northern pier have?")
	s.follow(t, asked.run, 0)
	open(t, page, s.ends.API+"/runs/"+asked.run)
	awaitPage(t, page, `[...document.querySelectorAll(".steps tbody tr")].some(r => r.cells[0].textContent === "Modellaufruf 1")`)
}
