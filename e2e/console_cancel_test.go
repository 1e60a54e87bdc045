package e2e_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/client"
)

// TestConsoleCancelsAnImport asks before it cancels an import, and shows the new state of it on
// its page, in the list and on the page of its run without a reload.
func TestConsoleCancelsAnImport(t *testing.T) {
	t.Parallel()
	const objects = 400
	page := browser(t)
	b := newBucket(t)
	b.fill("notes/", objects)
	b.hold(objects - 20)
	s := startForImports(t)
	thrown := thrownIn(page)
	notes := client.NewImport{Source: b.source("notes/")}
	i := s.begin(t, notes)
	s.awaitPublishedObjects(t, i.ID, 5)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/imports/"+i.ID)
	awaitPage(t, page, `!!document.querySelector(".state.running") && !!document.querySelector("main progress")`)
	do(t, page, chromedp.Evaluate(`window.stays = true`, nil))
	press(t, page, "Cancel import")
	awaitPage(t, page, `document.querySelector("dialog h2")?.textContent.length > 0`)
	wantLooks(t, page)
	do(t, page, chromedp.KeyEvent(kb.Escape)) // a question that is not answered changes nothing
	awaitPage(t, page, `!document.querySelector("dialog")`)
	if now, err := s.Import(t.Context(), i.ID); err != nil || now.Status != "running" {
		t.Fatalf("without an answer the import is %s, %v", now.Status, err)
	}
	press(t, page, "Cancel import")
	awaitPage(t, page, `document.querySelector("dialog")?.open`)
	click(t, page, `document.querySelector("dialog button.first")`)
	awaitPage(t, page, `window.stays && !!document.querySelector("main .state.canceled") && !document.querySelector("main progress")`)
	const buttons = `[...document.querySelectorAll("main button")].filter(b => b.checkVisibility()).map(b => b.textContent).filter(one => ["Pause", "Resume", "Cancel import"].includes(one)).join()`
	if left := evaluate[string](t, page, buttons); left != "" {
		t.Errorf("a canceled import still offers %s", left)
	}
	canceled := s.awaitImport(t, i.ID)
	if canceled.Status != "canceled" || canceled.Published == 0 || canceled.Published >= objects {
		t.Errorf("the import is %s with %d of %d objects", canceled.Status, canceled.Published, objects)
	}

	i = s.begin(t, notes)
	open(t, page, s.ends.API+"/imports")
	row := fmt.Sprintf(`document.querySelector('tbody tr:has(a[href="/imports/%s"])')`, i.ID)
	awaitPage(t, page, row+`?.querySelector(".state.running") !== null && !!`+row)
	do(t, page, chromedp.Evaluate(`window.stays = true`, nil))
	if _, err := s.PauseImport(t.Context(), i.ID); err != nil {
		t.Fatal(err)
	}
	awaitPage(t, page, `window.stays && !!`+row+`.querySelector(".state.paused")`)
	open(t, page, s.ends.API+"/runs/"+i.RunID)
	awaitPage(t, page, `!!document.querySelector("p[role=status] .state.paused")`)
	press(t, page, "Resume")
	awaitPage(t, page, `!!document.querySelector("p[role=status] .state.running")`)
	press(t, page, "Cancel run")
	awaitPage(t, page, `document.querySelector("dialog")?.open`)
	click(t, page, `document.querySelector("dialog button.first")`)
	awaitPage(t, page, `!!document.querySelector("p[role=status] .state.canceled")`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
