package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
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
	s := start(t)
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
	for name, path := range paths {
		open(t, page, s.ends.API+path)
		awaitPage(t, page, `!!document.querySelector("main > *")`)
		pictures(t, page, folder, name)
	}
	s.picturesOfPanels(t, page, folder, document)
	s.picturesOfEvaluations(t, page, folder)
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
