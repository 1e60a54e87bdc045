package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/client"
)

// picturesIn names the folder that TestConsolePictures writes to.
const picturesIn = "CAIRN_CONSOLE_PICTURES"

// TestConsolePictures writes a picture of every page of the console: light, dark, and as
// wide as a phone. A person looks at them.
func TestConsolePictures(t *testing.T) {
	folder := os.Getenv(picturesIn)
	if folder == "" {
		t.Skip(picturesIn + " names no folder for the pictures: make console-pictures sets it")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	page := browser(t)
	s := start(t, "CAIRN_EGRESS__ALLOW=127.0.0.0/8")
	open(t, page, s.ends.API+"/")
	awaitPage(t, page, `!!document.querySelector("dialog.signin")`)
	pictures(t, page, folder, "sign-in")
	s.signInto(t, page)
	pictures(t, page, folder, "ask-empty")
	document := s.sendSamples(t)
	askOnPage(t, page, "How is the HX-4 calibrated?")
	awaitPage(t, page, `!!document.querySelector('[aria-label="Answer"]:not(.live) .citation')`)
	pictures(t, page, folder, "answer")
	do(t, page, chromedp.Evaluate(`document.querySelector(".citation:not(:disabled)").click()`, nil))
	awaitPage(t, page, `!!document.querySelector(".panel:not([hidden]) :is(img, blockquote)")`)
	pictures(t, page, folder, "answer-source")
	var small []byte // the picture of the README
	do(t, page, chromedp.EmulateViewport(1280, 900), chromedp.FullScreenshot(&small, 70))
	if err := os.WriteFile(filepath.Join(folder, "readme.jpg"), small, 0o644); err != nil {
		t.Fatal(err)
	}

	var runs struct{ Data []struct{ ID string } }
	s.call(t, "GET", "/workspaces/default/runs?kind=query", nil, &runs)
	paths := map[string]string{"run": "/runs/" + runs.Data[0].ID, "project": "/projects/default", "keys": "/keys", "document": "/documents/" + document, "usage": "/usage", "audit": "/audit", "missing-document": "/documents/none"}
	for _, path := range evaluate[[]string](t, page, `[...document.querySelectorAll("nav a")].map(a => a.getAttribute("href"))`) {
		paths[strings.TrimPrefix(path, "/")] = path
	}
	hold := s.picturedRights(t, document)
	for name, path := range map[string]string{"roles": "/roles", "grants": "/grants", "holds": "/holds", "hold": "/holds/" + hold, "retention": "/retention", "member": "/members/ann", "project-privacy": "/projects/default/privacy"} {
		paths[name] = path
	}
	for name, path := range paths {
		do(t, page, chromedp.EmulateViewport(1280, 900)) // the end of a table is in sight, so it loads
		open(t, page, s.ends.API+path)
		awaitPage(t, page, `!!document.querySelector("main > *") && (!document.querySelector("table.wide") || !!document.querySelector("table.wide tbody tr, .empty:not([hidden])"))`)
		pictures(t, page, folder, name)
	}
	s.picturesOfForms(t, page, folder, document)
	s.picturesOfPanels(t, page, folder, document)
	s.picturesOfSyncs(t, page, folder)
	s.picturesOfEvaluations(t, page, folder)
}

// picturesOfSyncs writes pictures of the pages of syncs: empty, with one that is well and one
// that has failed, and with the open forms.
func (s *server) picturesOfSyncs(t *testing.T, page context.Context, folder string) {
	t.Helper()
	open(t, page, s.ends.API+"/syncs")
	awaitPage(t, page, `document.querySelectorAll(".empty:not([hidden])").length === 2`)
	pictures(t, page, folder, "syncs-empty")
	c := newCloud(t)
	at := c.world.Create(0, "Contracts", true, "")
	for _, name := range []string{"Lease of the northern pier.txt", "Insurance 2026.md", "Notes.md"} {
		c.world.Create(at, name, false, "The northern pier is leased until 2031.")
	}
	c.world.Create(at, "Scan of the lease.txt", false, "")
	well := s.syncEnds(t, c.connect(t, s, client.NewSync{Every: "15m", Scope: map[string]string{"folder": "Contracts"}, Permissions: "mirror", Tags: []string{"contract"}}))
	other, err := s.AddSync(t.Context(), client.NewSync{ConnectionID: well.ConnectionID, ProjectID: "default", Scope: map[string]string{"folder": "Minutes"}, Every: "24h"})
	if err != nil {
		t.Fatal(err)
	}
	s.awaitImport(t, other.LastRun.ID)
	open(t, page, s.ends.API+"/syncs")
	awaitPage(t, page, `!!document.querySelector(".state.failed") && !!document.querySelector(".sync option")`)
	press(t, page, "Check: "+c.URL+c.fake.Base+" · "+c.fake.Username)
	awaitPage(t, page, said+` === "The service accepts it."`)
	pictures(t, page, folder, "syncs")
	do(t, page, chromedp.Evaluate(`document.querySelectorAll("details.new").forEach(one => one.open = true)`, nil))
	press(t, page, "Check")
	awaitPage(t, page, `!!document.querySelector(".found ul")`)
	pictures(t, page, folder, "syncs-forms")
	do(t, page, chromedp.Evaluate(`document.querySelector("details.connection").scrollIntoView()`, nil))
	pictures(t, page, folder, "connection-form")
	for name, y := range map[string]string{"sync": well.ID, "sync-failed": other.ID} {
		open(t, page, s.ends.API+"/syncs/"+y)
		awaitPage(t, page, `!!document.querySelector('table[aria-label="Runs"] tbody tr')`)
		pictures(t, page, folder, name)
	}
	open(t, page, s.ends.API+"/operations")
	awaitPage(t, page, `!!document.querySelector('table[aria-label="Syncs"]')`)
	do(t, page, chromedp.Evaluate(`document.querySelector('table[aria-label="Syncs"]').scrollIntoView()`, nil))
	pictures(t, page, folder, "operations-syncs")
}

// picturesOfPanels writes pictures of what the page of a document shows when it is asked: the sheet
// of a workbook, and who sees the document.
func (s *server) picturesOfPanels(t *testing.T, page context.Context, folder, document string) {
	t.Helper()
	book := s.sendFiles(t, nil, file{"piers.xlsx", pierBook(t)})[0]
	s.ended(t, book)
	s.wantPublished(t, book.ID)
	open(t, page, s.ends.API+"/documents/"+book.ID)
	awaitPage(t, page, `(() => { const p = document.querySelector(".reader img"); return p?.complete && p.naturalWidth > 0 && document.querySelectorAll(".reader .box").length > 0; })()`)
	pictures(t, page, folder, "sheet")
	open(t, page, s.ends.API+"/documents/"+document)
	awaitPage(t, page, `!!document.querySelector(".who ul")`)
	do(t, page, chromedp.Evaluate(`document.querySelector('.who input[name="user"]').value = "ann"`, nil))
	press(t, page, "Check")
	awaitPage(t, page, `document.querySelector(".who [role=status]").textContent !== ""`)
	do(t, page, chromedp.Evaluate(`document.querySelector(".who").scrollIntoView()`, nil))
	pictures(t, page, folder, "who-sees")
}

// sendSamples publishes the sample documents beside two that fail, and returns the id of the
// manual.
func (s *server) sendSamples(t *testing.T) (manual string) {
	t.Helper()
	names, err := filepath.Glob("../samples/documents/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d samples, %v", len(names), err)
	}
	var files []file
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{filepath.Base(name), data})
	}
	sent := s.sendFiles(t, nil, files...)
	s.awaitPublished(t, len(sent))
	for _, d := range sent {
		if strings.HasSuffix(d.Name, ".pdf") {
			manual = d.ID
		}
	}
	for _, d := range s.sendFiles(t, nil, file{"broken.pdf", []byte("%PDF-1.7 and nothing else")}, file{"harbour.wav", silence(1)}) {
		s.wantFailed(t, d, "extract", "corrupt", "needs_component")
	}
	return manual
}

// pictures writes the page as it looks in both themes and on a phone.
func pictures(t *testing.T, page context.Context, folder, name string) {
	t.Helper()
	for _, look := range []struct {
		name, colours string
		width         int64
	}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"phone", "light", 400}} {
		var picture []byte
		// Two frames later the page has been drawn with its pictures.
		const drawn = `Promise.all([...document.images].map(i => i.decode().catch(() => {}))).then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`
		do(t, page, chromedp.EmulateViewport(look.width, 900), emulateColours(look.colours))
		evaluate[bool](t, page, drawn)
		do(t, page, chromedp.CaptureScreenshot(&picture))
		path := filepath.Join(folder, fmt.Sprintf("%s-%s.png", name, look.name))
		if err := os.WriteFile(path, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// picturesOfForms writes pictures of the forms of members, roles, grants and holds, and of the holds
// and grants of a document.
func (s *server) picturesOfForms(t *testing.T, page context.Context, folder, document string) {
	t.Helper()
	for path, button := range map[string]string{"/members": "Add somebody", "/roles": "New role", "/grants": "New grant", "/holds": "Place a hold"} {
		open(t, page, s.ends.API+path)
		press(t, page, button)
		awaitPage(t, page, `!!document.querySelector("dialog form")`)
		pictures(t, page, folder, strings.TrimPrefix(path, "/")+"-form")
	}
	open(t, page, s.ends.API+"/documents/"+document)
	awaitPage(t, page, `document.querySelectorAll(".rights tbody tr, .rights li").length === 2`)
	do(t, page, chromedp.Evaluate(`document.querySelector(".rights").scrollIntoView()`, nil))
	pictures(t, page, folder, "document-rights")
}

// picturedRights makes members, a role, grants and a hold, and returns the hold.
func (s *server) picturedRights(t *testing.T, document string) string {
	t.Helper()
	var hold struct{ ID string }
	for _, one := range []struct {
		method, path string
		body         map[string]any
	}{
		{"PUT", "/roles/uploader", map[string]any{"permissions": []string{"documents.read", "documents.write", "imports.write", "projects.read"}}},
		{"PUT", "/members/ann", map[string]any{"roles": []string{"editor", "auditor"}, "groups": []string{"legal", "press"}, "clearance": "confidential"}},
		{"PUT", "/members/bob", map[string]any{"roles": []string{"reader"}, "project_id": "default", "expires_at": "2031-01-01T00:00:00Z"}},
		{"PUT", "/members/nightly%20report", map[string]any{"kind": "service", "roles": []string{"uploader"}}},
		{"POST", "/grants", map[string]any{"subject": map[string]string{"user": "bob"}, "object": map[string]string{"document_id": document}, "effect": "deny", "permission": "read", "reason": "until the review of the manual"}},
		{"POST", "/grants", map[string]any{"subject": map[string]string{"group": "press"}, "object": map[string]string{"tag": "unreleased"}, "effect": "allow", "permission": "read", "expires_at": "2031-01-01T00:00:00Z"}},
		{"PATCH", "/projects/default", map[string]any{"retention": map[string]any{"documents": []map[string]any{{"tag": "draft", "days": 30, "action": "remove"}}, "conversations": 365}}},
		{"POST", "/holds", map[string]any{"name": "Smith v. Acme", "reason": "notice of 3 May", "document_ids": []string{document}}},
	} {
		if status := s.call(t, one.method, "/workspaces/default"+one.path, one.body, &hold); status >= 300 {
			t.Fatalf("%s: status %d", one.path, status)
		}
	}
	return hold.ID
}
