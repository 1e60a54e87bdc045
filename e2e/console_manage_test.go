package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const rowsOnPage = `[...document.querySelectorAll('table[aria-label="Documents"] tbody a')].map(a => a.textContent).join("|")`

// TestConsoleFiltersAndActs adds documents by text, filters and orders the list, and removes
// what a filter chooses.
func TestConsoleFiltersAndActs(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	s.signInto(t, page)
	do(t, page, chromedp.EmulateViewport(1280, 900))
	open(t, page, s.ends.API+"/documents")
	words := []int{9, 3, 6} // neither by name nor by size is the order that of the list at first
	for i, name := range []string{"anchor.md", "<i>crane</i>", "buoy.md"} {
		press(t, page, "Add an address or a text")
		awaitPage(t, page, `!!document.querySelector("dialog textarea")`)
		do(t, page, chromedp.SendKeys(`dialog input:not([type=url])`, name, chromedp.ByQuery),
			chromedp.SendKeys(`dialog textarea`, strings.Repeat("The pier has a word. ", words[i]), chromedp.ByQuery))
		press(t, page, "Add")
		awaitPage(t, page, fmt.Sprintf(`!document.querySelector("dialog") && document.querySelectorAll(".state.published").length === %d`, i+1))
	}
	awaitPage(t, page, rowsOnPage+` === "buoy.md|<i>crane</i>|anchor.md"`)
	press(t, page, "Name")
	awaitPage(t, page, rowsOnPage+` === "<i>crane</i>|anchor.md|buoy.md"`)
	press(t, page, "Size")
	awaitPage(t, page, rowsOnPage+` === "anchor.md|buoy.md|<i>crane</i>" && document.querySelector('th[aria-sort="descending"]').textContent === "Size"`)
	wantLooks(t, page)

	var list struct{ Data []struct{ ID, Name string } }
	s.call(t, "GET", "/workspaces/default/documents", nil, &list)
	for _, d := range list.Data {
		if d.Name != "anchor.md" {
			s.call(t, "PATCH", "/workspaces/default/documents/"+d.ID, map[string]any{"tags": []string{"old"}}, nil)
		}
	}
	do(t, page, chromedp.SendKeys(`input[name=tag]`, "old"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, rowsOnPage+` === "buoy.md|<i>crane</i>" && location.search === "?tag=old"`)
	do(t, page, chromedp.Reload())
	awaitPage(t, page, rowsOnPage+`.split("|").length === 2 && document.querySelector("input[name=tag]").value === "old"`)
	click(t, page, `document.querySelector(".bulk summary")`)
	press(t, page, "Remove")
	awaitPage(t, page, `document.querySelector("dialog button.first")?.disabled && document.querySelector("dialog h2").textContent === "Remove: 2 documents?"`)
	do(t, page, chromedp.SendKeys(`dialog input`, "2"+kb.Enter, chromedp.ByQuery))
	s.awaitDocuments(t, "default", 1, "")
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsoleChangesADocument edits tags and access of a document, reads it as it was parsed,
// and finds a word in it.
func TestConsoleChangesADocument(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	s.publish(t, "lights", "# Piers\n\nThe northern pier has a lighthouse.\n\nThe southern pier has a foghorn.")
	s.publish(t, "lights", "# Piers\n\nThe northern pier has a lamp.\n\nThe southern pier has a foghorn.")
	var list struct{ Data []struct{ ID string } }
	s.call(t, "GET", "/workspaces/default/documents", nil, &list)
	path := "/documents/" + list.Data[0].ID
	s.signInto(t, page)
	open(t, page, s.ends.API+path)
	click(t, page, `document.querySelector(".parsed summary")`)
	awaitPage(t, page, `document.querySelector(".parsed .text")?.textContent.includes("lamp")`)
	do(t, page, chromedp.SendKeys(`.find input`, "foghorn", chromedp.ByQuery))
	awaitPage(t, page, `document.querySelector(".find [role=status]").textContent === "1 of 1" && document.querySelector(".passages li.chosen").textContent.includes("foghorn")`)
	wantLooks(t, page)

	press(t, page, "Edit")
	awaitPage(t, page, `!!document.querySelector("dialog input")`)
	do(t, page, chromedp.SendKeys(`dialog input`, `new, <b>bold`, chromedp.ByQuery))
	wantLooks(t, page)
	click(t, page, `document.querySelector("dialog fieldset input[type=checkbox]")`)
	press(t, page, "Save")
	awaitPage(t, page, `!document.querySelector("dialog") && document.querySelector(".facts").textContent.includes("new, <b>bold")`)
	var d struct {
		Tags   []string
		Access struct{ Workspace bool }
	}
	s.call(t, "GET", "/workspaces/default"+path, nil, &d)
	if len(d.Tags) != 2 || d.Tags[1] != "<b>bold" || d.Access.Workspace {
		t.Errorf("the document is %+v", d)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsoleChoosesStaleDocumentsAndColumns lists what was made with earlier settings, makes it
// again, and keeps the choice of the columns.
func TestConsoleChoosesStaleDocumentsAndColumns(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	s.publish(t, "old.txt", "The northern pier has a lighthouse.")
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"ai": map[string]any{"textSplitter": map[string]any{"chunkSize": 300}}}, nil); status != 200 {
		t.Fatalf("the project is refused: status %d", status)
	}
	s.publish(t, "new.txt", "The southern pier has a foghorn.")
	s.signInto(t, page)
	do(t, page, chromedp.EmulateViewport(1280, 900))
	open(t, page, s.ends.API+"/documents?stale=true")
	awaitPage(t, page, rowsOnPage+` === "old.txt" && document.querySelector("select[name=stale]").value === "true"`)
	click(t, page, `document.querySelector(".bulk summary")`)
	press(t, page, "Read again")
	awaitPage(t, page, `document.querySelector("dialog h2")?.textContent === "Read again: 1 documents?"`)
	press(t, page, "Read again")
	awaitPage(t, page, `!document.querySelector("dialog")`)
	await(t, 2*time.Minute, "nothing is stale", func(context.Context) error {
		var found struct{ Data []struct{ Status string } }
		if status := s.call(t, "GET", "/workspaces/default/documents?project_id=default&stale=true", nil, &found); status != 200 || len(found.Data) > 0 {
			return fmt.Errorf("status %d, %+v", status, found)
		}
		return nil
	})
	open(t, page, s.ends.API+"/documents?stale=true")
	awaitPage(t, page, `document.querySelector(".empty:not([hidden])")?.textContent === "No document matches."`)

	open(t, page, s.ends.API+"/documents")
	awaitPage(t, page, rowsOnPage+`.split("|").length === 2`)
	const titles = `[...document.querySelectorAll("th")].map(h => h.textContent).join()`
	click(t, page, `document.querySelector(".documents .menu summary")`)
	for _, name := range []string{"Pages", "Type"} {
		click(t, page, fmt.Sprintf(`[...document.querySelectorAll(".menu label")].find(l => l.textContent === %q)?.querySelector("input")`, name))
	}
	wantLooks(t, page)
	const chosen = `Name,Status,Passages,Size,Type,Language,Tags,Changed`
	awaitPage(t, page, titles+` === "`+chosen+`" && document.querySelector("tbody tr").cells.length === 8`)
	do(t, page, chromedp.Reload())
	awaitPage(t, page, titles+` === "`+chosen+`" && document.querySelector("tbody tr")?.cells[4].textContent === "text/plain"`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
