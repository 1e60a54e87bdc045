package e2e_test

import (
	"fmt"
	"slices"
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
	if stages != "Jede Stufe,abrufen,prüfen,auslesen,schwärzen,anreichern,teilen,einbetten,veröffentlichen" {
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

// TestConsoleExplainsInGerman reads in German why somebody does not see a document, and why another
// document failed.
func TestConsoleExplainsInGerman(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	document := s.publish(t, "lights", "The northern pier has a lighthouse.").ID
	failed := s.wantFailed(t, s.sendFiles(t, nil, file{"broken.pdf", []byte("%PDF-1.7 and nothing else")})[0], "extract", "corrupt")
	s.picturedRights(t, document) // bob is a member for the project alone, and a grant denies him the document
	s.signInto(t, page)
	do(t, page, chromedp.Evaluate(`localStorage.setItem("cairn.language", "de")`, nil))
	open(t, page, s.ends.API+"/documents/"+document)
	awaitPage(t, page, `!!document.querySelector(".who ul")`)
	do(t, page, chromedp.Evaluate(`document.querySelector('.who input[name="user"]').value = "bob"`, nil))
	press(t, page, "Prüfen")
	awaitPage(t, page, `!!document.querySelector(".who .reasons li")`)
	reasons := evaluate[[]string](t, page, `[...document.querySelectorAll(".who .reasons li")].map(one => one.textContent)`)
	for _, want := range []string{
		"erlaubt Die Person ist Mitglied des Workspace. Nur für das Projekt default.",
		"erlaubt Die Person ist auf das Projekt des Dokuments beschränkt, default.",
		"verweigert Eine Freigabe verweigert es der Person bob, für das Dokument " + document + ". Grund: until the review of the manual",
	} {
		if !slices.Contains(reasons, want) {
			t.Errorf("the reasons %q have no %q", reasons, want)
		}
	}
	open(t, page, s.ends.API+"/documents/"+failed.ID)
	awaitPage(t, page, fmt.Sprintf(`document.querySelector("main").textContent.includes(%q)`, "Datei beschädigt ("+failed.Error.Message+")"))
}
