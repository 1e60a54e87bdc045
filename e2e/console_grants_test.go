package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/client"
)

// bodyRows are the rows of the first table of the page, each with the texts of its cells.
const bodyRows = `[...document.querySelectorAll("main table.wide tbody tr")].map(r => [...r.cells].map(c => c.textContent).join("|")).join(";")`

// TestConsoleGrants adds a grant on the page of a document and another one on the page of grants,
// filters the list, which has one that has ended too, and removes grants. Searches of readers
// follow each change.
func TestConsoleGrants(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	private := map[string]any{"access": map[string]any{"workspace": false}, "tags": []string{"pier"}}
	lights := s.publishIn(t, "default", "lights", "The northern pier has a lighthouse.", private)
	s.publishIn(t, "default", "cranes", "The eastern pier has a crane.", private)
	reader := s.newKey(t, map[string]any{"name": "application", "scopes": []string{"read"}})
	sees := func(want int) {
		t.Helper()
		var list struct{ Data []struct{ ID string } }
		s.call(t, "GET", "/workspaces/default/documents?userId=ann", nil, &list, "Authorization", "Bearer "+reader)
		if len(list.Data) != want {
			t.Errorf("ann sees %d documents, want %d", len(list.Data), want)
		}
	}
	sees(0)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/documents/"+lights)
	awaitPage(t, page, `document.querySelector(".rights")?.textContent.includes("No grant names it.")`)
	press(t, page, "Give a grant")
	typeInto(t, page, "name", "ann")
	typeInto(t, page, "reason", `<img src=x onerror=ran=1>`)
	wantLooks(t, page)
	press(t, page, "New grant")
	awaitPage(t, page, `document.querySelector(".rights tbody tr")?.textContent.includes("allows reading")`)
	isText(t, page, `<img src=x onerror=ran=1>`)
	wantLooks(t, page)
	sees(1)

	soon := time.Now().Add(2 * time.Second)
	s.addGrant(t, map[string]any{"subject": map[string]string{"group": "press"}, "object": map[string]string{"tag": "pier"}, "effect": "deny", "permission": "read", "expires_at": soon})
	open(t, page, s.ends.API+"/grants")
	awaitPage(t, page, bodyRows+`.split(";").length === 2`)
	press(t, page, "New grant")
	typeInto(t, page, "name", "ann")
	typeInto(t, page, "on", "cranes")
	press(t, page, "New grant")
	awaitPage(t, page, bodyRows+`.split(";").length === 3`)
	sees(2)
	awaitPage(t, page, fmt.Sprintf(`Date.now() > %d`, soon.UnixMilli()))
	open(t, page, s.ends.API+"/grants")
	awaitPage(t, page, `/denies reading\|group press\|tag pier\|\|ended /.test(`+bodyRows+`)`)
	if ended := evaluate[int](t, page, `[...document.querySelectorAll("main table.wide tbody tr")].filter(r => r.cells[4].textContent.startsWith("ended")).length`); ended != 1 {
		t.Errorf("%d grants have ended", ended)
	}
	wantLooks(t, page)

	typeInto(t, page, "user", "ann")
	awaitPage(t, page, bodyRows+`.split(";").length === 2 && location.search === "?user=ann"`)
	typeInto(t, page, "document_id", lights)
	awaitPage(t, page, bodyRows+`.split(";").length === 1`)
	click(t, page, `document.querySelector("main tbody button")`)
	awaitPage(t, page, `!!document.querySelector("dialog")`)
	press(t, page, "Remove")
	awaitPage(t, page, `document.querySelector(".empty:not([hidden])")?.textContent === "No grants."`)
	sees(1)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// addGrant makes a grant.
func (s *server) addGrant(t *testing.T, body map[string]any) {
	t.Helper()
	if status := s.call(t, "POST", "/workspaces/default/grants", body, nil); status != http.StatusCreated {
		t.Fatalf("grant: status %d", status)
	}
}

// TestConsoleHolds places a hold by a filter, with the count of its documents first, sees its name
// at a document that cannot be removed, and lifts it with a reason. Another one is placed by names.
func TestConsoleHolds(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	lights := s.publishIn(t, "default", "lights", "The northern pier has a lighthouse.", map[string]any{"tags": []string{"smith"}})
	s.publishIn(t, "default", "cranes", "The eastern pier has a crane.", map[string]any{"tags": []string{"smith"}})
	free := s.publishIn(t, "default", "free", "The western pier has nothing.", nil)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/holds")
	awaitPage(t, page, `document.querySelector(".empty:not([hidden])")?.textContent === "No legal holds."`)
	press(t, page, "Place a hold")
	const hostile = `Smith <img src=x onerror=ran=1>`
	typeInto(t, page, "hold", hostile)
	typeInto(t, page, "reason", "notice of 3 May")
	click(t, page, `document.querySelector('dialog input[value="filter"]')`)
	typeInto(t, page, "tags", "smith")
	press(t, page, "Count first")
	awaitPage(t, page, `document.querySelector("dialog .notice")?.textContent.startsWith("This hold keeps 2 documents now")`)
	wantLooks(t, page)
	s.wantHolds(t, 0)
	press(t, page, "Place it")
	awaitPage(t, page, `!document.querySelector("dialog") && /\|holds\|2\|tags smith\|.*notice of 3 May/.test(`+bodyRows+`)`)
	isText(t, page, hostile)
	wantLooks(t, page)
	for id, want := range map[string]int{lights: http.StatusConflict, free: http.StatusOK} {
		if status := s.call(t, "DELETE", "/workspaces/default/documents/"+id, nil, nil); status != want {
			t.Errorf("the removal: status %d, want %d", status, want)
		}
	}

	open(t, page, s.ends.API+"/documents/"+lights)
	awaitPage(t, page, `document.querySelector(".rights li a")?.textContent === "`+hostile+`"`)
	press(t, page, "Place a hold")
	typeInto(t, page, "hold", "Jones")
	typeInto(t, page, "reason", "another one")
	typeInto(t, page, "documents", lights+"\ncranes\nnothing")
	press(t, page, "Count first")
	awaitPage(t, page, `document.querySelector(".failure")?.textContent.includes("There is no document “nothing”.")`)
	typeInto(t, page, "documents", lights+"\ncranes")
	press(t, page, "Count first")
	awaitPage(t, page, `document.querySelector("dialog .notice")?.textContent.startsWith("This hold keeps 2 documents.")`)
	press(t, page, "Place it")
	awaitPage(t, page, `document.querySelectorAll(".rights li").length === 2`)
	wantLooks(t, page)

	click(t, page, `document.querySelectorAll(".rights li a")[1]`)
	awaitPage(t, page, `location.pathname.startsWith("/holds/") && document.querySelectorAll("tbody a").length === 2 && document.querySelector("tbody").textContent.includes("cranes")`)
	wantLooks(t, page)
	press(t, page, "Lift")
	awaitPage(t, page, `!!document.querySelector("dialog")`)
	typeInto(t, page, "reason", "settled")
	press(t, page, "Lift")
	awaitPage(t, page, `!document.querySelector("dialog") && document.querySelector("main").textContent.includes("settled")`)
	s.wantHolds(t, 1)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// wantHolds counts the holds that nobody has lifted.
func (s *server) wantHolds(t *testing.T, want int) {
	t.Helper()
	list, err := s.Holds(t.Context(), true, "", "", 0)
	if err != nil || len(list.Data) != want {
		t.Errorf("%d holds, want %d: %v", len(list.Data), want, err)
	}
}

// TestConsoleRetention shows the rules of projects, counts what is due, and removes it.
func TestConsoleRetention(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	s.publishIn(t, "default", "old", "The text of old.", map[string]any{"tags": []string{"draft"}})
	s.publishIn(t, "default", "held", "The text of held.", map[string]any{"tags": []string{"draft"}})
	s.publishIn(t, "default", "kept", "The text of kept.", nil)
	if _, err := s.PlaceHold(t.Context(), client.NewHold{Name: "Smith", Reason: "notice", DocumentIDs: []string{s.idOf(t, "held")}}); err != nil {
		t.Fatal(err)
	}
	rules := map[string]any{"documents": []map[string]any{{"tag": "draft", "days": 0, "action": "remove"}, {"classification": "public", "days": 30, "action": "inactive"}}, "runs": 365}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"retention": rules}, nil); status != http.StatusOK {
		t.Fatalf("the rules: status %d", status)
	}
	s.signInto(t, page)
	open(t, page, s.ends.API+"/retention")
	awaitPage(t, page, `/default\|tag draft: removed after 0 daysclassified public: inactive after 30 days\|kept\|365 days\|Change/.test(`+bodyRows+`)`)
	press(t, page, "Count what is due")
	awaitPage(t, page, `document.querySelector(".notice")?.textContent.startsWith("Due are 1 documents, 0 conversations and 0 runs. Legal holds keep 1 further documents.")`)
	if s.idOf(t, "old") == "" {
		t.Error("counting has removed a document")
	}
	wantLooks(t, page)
	press(t, page, "Remove it now")
	awaitPage(t, page, `!!document.querySelector("dialog")`)
	press(t, page, "Remove it now")
	click(t, page, `document.querySelector(".notice a")`)
	awaitPage(t, page, `location.pathname.startsWith("/runs/")`)
	await(t, time.Minute, "the document is removed", func(context.Context) error {
		if id := s.idOf(t, "old"); id != "" {
			return fmt.Errorf("%s is there", id)
		}
		return nil
	})
	if s.idOf(t, "held") == "" || s.idOf(t, "kept") == "" {
		t.Error("a document that is held, or without a rule, is gone")
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsolePrivacy counts what was found in the documents of a project, beside one that looks
// for nothing.
func TestConsolePrivacy(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"slug": "letters", "privacy": map[string]any{"pii": "detect"}}, nil); status >= 300 {
		t.Fatalf("project: status %d", status)
	}
	const name, text = `letter <img src=x onerror=ran=1>`, "Write to ann.smith@halden.example or to bob@halden.example. The IBAN of the holder is DE89370400440532013000."
	for project, more := range map[string]string{"letters": "none", "default": "none"} {
		s.publishIn(t, project, name, text, nil)
		s.publishIn(t, project, more, "The northern pier has a lighthouse.", nil)
	}
	s.publishIn(t, "letters", "secret", text, map[string]any{"classification": "restricted"})
	reader := s.newKey(t, map[string]any{"name": "reader", "scopes": []string{"read"}, "clearance": "internal"})
	for key, want := range map[string]int{reader: 2, s.key: 3} {
		var counted struct{ Data []client.Counted }
		if s.call(t, "GET", "/workspaces/default/projects/letters/pii", nil, &counted, "Authorization", "Bearer "+key); len(counted.Data) != want {
			t.Errorf("the counts are %+v, want those of %d documents", counted.Data, want)
		}
	}
	s.signInAs(t, page, reader, "/projects/letters/privacy")
	awaitPage(t, page, `document.querySelector("main [role=status]")?.textContent === "2 documents read; 1 of them have personal data."`)
	rows := evaluate[string](t, page, `[...document.querySelectorAll("main tbody tr")].map(r => [...r.cells].map(c => c.textContent).join("|")).join(";")`)
	if want := "EMAIL_ADDRESS|2|1;IBAN_CODE|1|1;" + name + "|3|EMAIL_ADDRESS, IBAN_CODE"; rows != want {
		t.Errorf("the page shows\n%s, want\n%s", rows, want)
	}
	isText(t, page, name)
	if evaluate[bool](t, page, `document.body.textContent.includes("halden.example")`) {
		t.Error("a value is shown")
	}
	wantLooks(t, page)
	open(t, page, s.ends.API+"/projects/default/privacy")
	awaitPage(t, page, `document.querySelector("main [role=status]")?.textContent === "2 documents read; 0 of them have personal data." && !!document.querySelector(".empty")`)
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsoleClassifies uploads a document with a level, changes it on its page, and warns of a
// level above the clearance of whoever is signed in.
func TestConsoleClassifies(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	writer := s.newKey(t, map[string]any{"name": "writer", "scopes": []string{"read", "write"}})
	s.signInAs(t, page, writer, "/documents")
	const levels = `[...document.querySelector('select[name="classification"]').options].map(o => o.textContent).join("|")`
	if got := evaluate[string](t, page, levels); got != "Classification: as before, or none|public|internal|confidential (above your clearance: you will not find it)|restricted (above your clearance: you will not find it)" {
		t.Errorf("the levels are %s", got)
	}
	typeInto(t, page, "classification", "public")
	handbook, err := filepath.Abs("../samples/documents/handbook.md")
	if err != nil {
		t.Fatal(err)
	}
	do(t, page, chromedp.SetUploadFiles(`input[type="file"]`, []string{handbook}, chromedp.ByQuery))
	awaitPage(t, page, rowsOnPage+` === "handbook.md" && document.querySelector("tbody .state.published")`)
	click(t, page, `document.querySelector("tbody a")`)
	awaitPage(t, page, `document.querySelector(".facts")?.textContent.includes("Classificationpublic")`)
	press(t, page, "Edit")
	typeInto(t, page, "classification", "")
	press(t, page, "Save")
	awaitPage(t, page, `document.querySelector(".facts").textContent.includes("Classificationnot classified: counts as internal")`)
	var list struct {
		Data []struct{ ID, Classification string }
	}
	s.call(t, "GET", "/workspaces/default/documents?"+url.Values{"named": {"handbook.md"}}.Encode(), nil, &list)
	if len(list.Data) != 1 || list.Data[0].Classification != "" {
		t.Errorf("the documents are %+v", list.Data)
	}
	wantLooks(t, page)
}
