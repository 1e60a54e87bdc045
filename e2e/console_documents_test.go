package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	download "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestConsoleDocuments uploads files in a browser, watches them become searchable, opens
// one on its page, and removes one.
func TestConsoleDocuments(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	s.signInto(t, page)
	do(t, page, chromedp.Click(`nav a[href="/documents"]`, chromedp.ByQuery))
	awaitPage(t, page, `!!document.querySelector(".empty:not([hidden])")`)
	manual, err := filepath.Abs("../samples/documents/hx4-service-manual.pdf")
	if err != nil {
		t.Fatal(err)
	}
	hostile := filepath.Join(t.TempDir(), `<img src=x onerror=ran=1>.adoc`)
	const lights = "= Lights\n\nThe northern pier has a lighthouse.\n\ninclude::annex.adoc[]\n"
	broken := filepath.Join(t.TempDir(), "broken.pdf")
	for file, text := range map[string]string{hostile: lights, broken: "%PDF-1.7 and nothing else"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do(t, page, chromedp.SetUploadFiles(`input[type="file"]:not([webkitdirectory])`, []string{manual, hostile, broken}, chromedp.ByQuery))
	awaitPage(t, page, `document.querySelectorAll('table[aria-label="Documents"] .state.published').length === 2 && document.querySelectorAll(".state.error").length === 1`)
	if made := evaluate[int](t, page, `(window.ran ?? 0) + document.querySelectorAll("tbody img").length`); made != 0 {
		t.Error("the name of a file became an element")
	}
	wantLooks(t, page)

	click(t, page, `[...document.querySelectorAll("tbody a")].find(a => a.textContent.includes("hx4"))`)
	awaitPage(t, page, `(() => { const p = document.querySelector(".reader img"); return p?.complete && p.naturalWidth > 0 && document.querySelectorAll(".reader .box").length > 1 && document.querySelectorAll(".passages li").length > 1; })()`)
	press(t, page, "Next page")
	awaitPage(t, page, `location.search === "?page=2" && document.querySelector(".reader img").src.includes("/pages/2.png")`)
	wantLooks(t, page)
	walkHits(t, page, "calibration")

	open(t, page, s.ends.API+"/documents")
	awaitPage(t, page, `document.querySelectorAll("tbody a").length === 3`)
	click(t, page, `[...document.querySelectorAll("tbody a")].find(a => a.textContent.includes("<img"))`)
	awaitPage(t, page, `document.querySelector(".document .wrong")?.textContent === "the text includes 1 other files, which were not read; send them too"`)
	wantOriginal(t, page, lights)

	open(t, page, s.ends.API+"/documents")
	awaitPage(t, page, `document.querySelectorAll("tbody a").length === 3`)
	click(t, page, `[...document.querySelectorAll("tbody a")].find(a => a.textContent.includes("broken"))`)
	awaitPage(t, page, `!!document.querySelector(".document .state.error")`)
	press(t, page, "Remove")
	awaitPage(t, page, `!!document.querySelector("dialog button.first")`)
	if !evaluate[bool](t, page, `document.querySelector("dialog button.first").disabled`) {
		t.Error("a document can be removed without its name")
	}
	do(t, page, chromedp.SendKeys(`dialog input`, "broken.pdf"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `location.pathname === "/documents" && document.querySelectorAll("tbody a").length >= 2 && ![...document.querySelectorAll("tbody tr")].some(r => r.textContent.includes("broken") && !r.querySelector(".deleting"))`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// walkHits finds words on the page of a document, and goes from hit to hit until the reader
// shows another page, and one hit back.
func walkHits(t *testing.T, page context.Context, words string) {
	t.Helper()
	const shown = `document.querySelector(".document .find [role=status]").textContent`
	const sheet = `document.querySelector(".reader img").src`
	do(t, page, chromedp.SendKeys(`.document .find input`, words, chromedp.ByQuery))
	awaitPage(t, page, shown+`.startsWith("1 of ") && !!document.querySelector(".passages li.chosen")`)
	first := evaluate[string](t, page, sheet)
	at := 1
	for ; evaluate[string](t, page, sheet) == first; at++ {
		if all := evaluate[string](t, page, shown); strings.HasSuffix(all, fmt.Sprintf(" of %d", at)) {
			t.Fatalf("all hits are on one page: %s", all)
		}
		do(t, page, chromedp.SendKeys(`.document .find input`, kb.Enter, chromedp.ByQuery))
		awaitPage(t, page, fmt.Sprintf(`%s.startsWith("%d of ") && document.querySelector(".passages li.chosen")?.textContent.toLowerCase().includes(%q)`, shown, at+1, strings.ToLower(words)))
	}
	do(t, page, chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierShift)))
	awaitPage(t, page, fmt.Sprintf(`%s.startsWith("%d of ") && %s === %q`, shown, at-1, sheet, first))
}

// wantOriginal downloads the document of the page that is open.
func wantOriginal(t *testing.T, page context.Context, want string) {
	t.Helper()
	folder := t.TempDir()
	do(t, page, download.SetDownloadBehavior(download.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(folder))
	click(t, page, `[...document.querySelectorAll("a.button")].find(a => a.textContent === "Original")`)
	await(t, time.Minute, "the original is downloaded", func(context.Context) error {
		files, err := filepath.Glob(filepath.Join(folder, "*.adoc"))
		if err != nil || len(files) != 1 {
			return errors.Join(err, fmt.Errorf("%d files", len(files)))
		}
		got, err := os.ReadFile(files[0])
		if err == nil && string(got) != want {
			err = fmt.Errorf("it is %q", got)
		}
		return err
	})
}

// TestConsoleTakesManyFiles drops more files at once than a request may hold, pauses while
// they are sent, kills the server, and wants each once, in the list too.
func TestConsoleTakesManyFiles(t *testing.T) {
	t.Parallel()
	const count = 1000
	page := browser(t)
	s := start(t)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/documents")
	awaitPage(t, page, `!!document.querySelector(".empty:not([hidden])")`)
	drop := fmt.Sprintf(`(() => {
		const dropped = new DataTransfer();
		for (let i = 0; i < %d; i++) dropped.items.add(new File(["The word of file " + i + " is pier" + i + "."], "file-" + i + ".txt"));
		document.querySelector(".documents").dispatchEvent(new DragEvent("drop", {dataTransfer: dropped, cancelable: true, bubbles: true}));
	})()`, count)
	do(t, page, chromedp.Evaluate(drop, nil))
	awaitPage(t, page, `document.querySelector(".uploads progress").value > 20`)
	press(t, page, "Pause")
	const taken = `document.querySelector(".uploads progress").value`
	held := evaluate[int](t, page, taken)
	s.kill()
	s.restart()
	if now := evaluate[int](t, page, taken); now > held+3 { // those that were under way
		t.Errorf("%d files were sent during the pause", now-held)
	}
	press(t, page, "Go on")
	for sent := count / 20; sent <= count; sent += count / 20 { // each part has the time of a wait
		awaitPage(t, page, fmt.Sprintf(`parseInt(document.querySelector(".uploads [role=status]").textContent) >= %d`, sent))
	}
	awaitPage(t, page, fmt.Sprintf(`document.querySelector(".uploads [role=status]").textContent === "%d files sent"`, count))
	s.awaitPublished(t, count)
	awaitPage(t, page, `document.querySelectorAll(".state.pending").length === 0 && document.querySelectorAll(".state.published").length >= 50`)
	const listed = `(window.listed ??= new Set(), document.querySelectorAll("tbody a").forEach(a => listed.add(a.textContent)), document.querySelector("main").scrollTo(0, 1e9), listed.size)`
	awaitPage(t, page, fmt.Sprintf(`%s === %d`, listed, count))
}

// wantLooks checks a page in both themes and both widths.
func wantLooks(t *testing.T, page context.Context) {
	t.Helper()
	axe := axeCore(t)
	for _, colours := range []string{"dark", "light"} {
		for _, width := range []int64{400, 1280} {
			do(t, page, chromedp.EmulateViewport(width, 900), emulateColours(colours))
			wantAccessible(t, page, axe)
		}
	}
}
