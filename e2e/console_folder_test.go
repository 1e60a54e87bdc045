package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// dropOn drops files and folders of this machine on an element, as a person does with a mouse.
func dropOn(t *testing.T, page context.Context, element string, paths ...string) {
	t.Helper()
	at := evaluate[[]float64](t, page, `(() => { const at = document.querySelector("`+element+`").getBoundingClientRect(); return [at.left + at.width / 2, at.top + 20]; })()`)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}
	for _, step := range []input.DispatchDragEventType{input.DragEnter, input.DragOver, input.Drop} {
		do(t, page, input.DispatchDragEvent(step, at[0], at[1], data))
	}
}

// TestConsoleFromAFolderToABox goes the whole way of a newcomer: a folder is dropped on the page of
// documents, its files become searchable under their paths, and a question about one leads to the
// cited sentence, boxed on its page. The file that was refused says why, and is sent again.
func TestConsoleFromAFolderToABox(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	manual, err := os.ReadFile("../samples/documents/hx4-service-manual.pdf")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "Handbücher")
	for path, content := range map[string][]byte{
		"meters/hx4/manual.pdf": manual, "meters/note.txt": []byte("The meters are in the red shed."), "note.txt": []byte("The keys are in the blue shed."), "heavy.txt": []byte("It is heavy."),
	} {
		path = filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.signInto(t, page)
	do(t, page, chromedp.EmulateViewport(1280, 900))
	open(t, page, s.ends.API+"/documents")
	awaitPage(t, page, `!!document.querySelector(".empty:not([hidden])")`)
	const refusing = `(() => { const real = window.fetch; window.fetch = (url, options) => options?.body instanceof FormData && options.body.get("files").name === "heavy.txt"
		? Promise.resolve(Response.json({code: "too_large", detail: "the file has too many bytes"}, {status: 413})) : real(url, options); window.allow = () => { window.fetch = real; }; })()`
	do(t, page, chromedp.Evaluate(refusing, nil))
	dropOn(t, page, ".documents .empty", folder)
	const sent = `document.querySelector(".uploads [role=status]").textContent`
	awaitPage(t, page, sent+` === "3 files sent, 1 refused" && document.querySelector(".uploads li").textContent === "Handbücher/heavy.txt: the file has too many bytes"`)
	wantLooks(t, page)
	do(t, page, chromedp.Evaluate(`window.allow()`, nil))
	press(t, page, "Send the refused ones again")
	awaitPage(t, page, sent+` === "1 files sent"`)
	s.awaitPublished(t, 4)
	awaitPage(t, page, `document.querySelectorAll(".state.published").length === 4`)
	var list struct{ Data []struct{ ExternalID string } }
	s.call(t, "GET", "/workspaces/default/documents?sort=name", nil, &list)
	got := map[string]bool{}
	for _, one := range list.Data {
		got[one.ExternalID] = true
	}
	if diff := cmp.Diff(map[string]bool{"Handbücher/meters/hx4/manual.pdf": true, "Handbücher/meters/note.txt": true, "Handbücher/note.txt": true, "Handbücher/heavy.txt": true}, got); diff != "" {
		t.Errorf("the external ids (-want +got):\n%s", diff)
	}

	open(t, page, s.ends.API+"/ask")
	openCited(t, page, "How is the HX-4 calibrated?")
	awaitPage(t, page, `(() => { const picture = document.querySelector(".panel img"); return picture?.complete && picture.naturalWidth > 0 && document.querySelectorAll(".panel .box").length > 0; })()`)
	if title := evaluate[string](t, page, `document.querySelector(".panel h2").textContent`); !strings.Contains(title, "] manual.pdf, page ") {
		t.Errorf("the panel shows %s", title)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}
