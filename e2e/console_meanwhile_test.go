package e2e_test

import (
	"context"
	"net/http"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// otherTab opens a second tab of a browser that is signed in.
func otherTab(t *testing.T, page context.Context) context.Context {
	t.Helper()
	other, cancel := chromedp.NewContext(page)
	t.Cleanup(cancel)
	return other
}

// inFront shows a tab before the others: one behind another draws nothing.
func inFront(t *testing.T, tab context.Context) context.Context {
	t.Helper()
	do(t, tab, cdppage.BringToFront())
	return tab
}

const noticed = `document.querySelector(".notice[role=alert]")?.textContent ?? ""`

// TestConsoleSettingsInTwoTabs changes settings in two tabs: the second is told what the first
// has changed, keeps what was typed, and saves it on top.
func TestConsoleSettingsInTwoTabs(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.signInto(t, page)
	other := otherTab(t, page)
	thrown, thrownThere := thrownIn(page), thrownIn(other)
	for _, tab := range []context.Context{page, other} {
		open(t, inFront(t, tab), s.ends.API+"/projects/default")
		awaitPage(t, tab, `!!document.getElementById("field-ai.prompt")`)
	}
	setField(t, inFront(t, page), "ai.prompt", `Say <img src=x onerror=ran=1> {{context}}`)
	setField(t, page, "tools.custom", `{"lamp": {"type": "automation", "description": "d", "automation": {"url": "https://example.com/lamp"}}}`)
	press(t, page, "Save")
	awaitPage(t, page, `document.querySelector("form [role=status]").textContent.includes("Saved")`)

	setField(t, inFront(t, other), "ai.retrieval.numberOfChunks", "7")
	setField(t, other, "tools.custom", `{"bell": {"type": "automation", "description": "d", "automation": {"url": "https://example.com/bell"}}}`)
	press(t, other, "Save")
	awaitPage(t, other, `(`+noticed+`).includes("ai.prompt: ") && (`+noticed+`).includes("lamp") && document.getElementById("field-ai.retrieval.numberOfChunks").value === "7"`)
	isText(t, other, `<img src=x onerror=ran=1>`)
	if got := s.project(t, "default"); got.AI.Retrieval.NumberOfChunks == 7 || got.Tools.Custom["bell"] != nil {
		t.Errorf("the second change was made before its author decided: %+v", got)
	}
	wantLooks(t, other)
	press(t, other, "Save")
	awaitPage(t, other, `document.querySelector("form [role=status]").textContent.includes("Saved")`)
	got := s.project(t, "default")
	if got.AI.Retrieval.NumberOfChunks != 7 || got.AI.Prompt == "" || got.Tools.Custom["lamp"] == nil || got.Tools.Custom["bell"] == nil {
		t.Errorf("after both changes: %+v", got)
	}
	if len(*thrown)+len(*thrownThere) > 0 {
		t.Errorf("the pages threw %s %s", *thrown, *thrownThere)
	}
}

// TestConsoleWebhooksInTwoTabs changes webhooks and secrets in two tabs.
func TestConsoleWebhooksInTwoTabs(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	hooks := []map[string]any{{"url": "https://example.com/one", "types": []string{"documents_created"}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"webhooks": hooks}, nil); status != http.StatusOK {
		t.Fatalf("add a webhook: status %d", status)
	}
	s.signInto(t, page)
	other := otherTab(t, page)
	for _, tab := range []context.Context{page, other} {
		do(t, inFront(t, tab), chromedp.EmulateViewport(1280, 1600))
		open(t, tab, s.ends.API+"/projects/default/webhooks")
		awaitPage(t, tab, `document.querySelector("tbody")?.textContent.includes("example.com/one")`)
	}
	press(t, inFront(t, page), "Turn off")
	awaitPage(t, page, `[...document.querySelectorAll("button")].some(b => b.textContent === "Turn on")`)
	do(t, inFront(t, other), chromedp.SendKeys(`main input[type="url"]`, "https://example.com/two"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, other, `(`+noticed+`).includes("https://example.com/one.enabled") && document.querySelector("tbody")?.textContent.includes("Off")`)
	awaitPage(t, other, `document.querySelector('main input[type="url"]').value === "https://example.com/two"`) // it is not lost
	wantLooks(t, other)
	press(t, other, "Add webhook")
	awaitPage(t, other, `document.querySelector("dialog .once")?.textContent.startsWith("whsec_")`)
	var found struct {
		Webhooks []struct {
			URL     string
			Enabled bool
		}
	}
	s.call(t, "GET", "/workspaces/default/projects/default", nil, &found)
	if len(found.Webhooks) != 2 || found.Webhooks[0].Enabled {
		t.Errorf("the webhooks are %+v", found.Webhooks)
	}

	for _, tab := range []context.Context{page, other} {
		open(t, inFront(t, tab), s.ends.API+"/projects/default/secrets")
		awaitPage(t, tab, `!!document.querySelector(".empty:not([hidden])")`)
	}
	put := func(tab context.Context, host string) {
		for name, text := range map[string]string{"Name": "lamp", "Value": "v", "Hosts": host} {
			do(t, tab, chromedp.SetValue(`main form input[aria-label="`+name+`"]`, text, chromedp.ByQuery))
		}
		press(t, tab, "Store secret")
	}
	put(inFront(t, page), "first.example.com")
	awaitPage(t, page, `document.querySelector("tbody")?.textContent.includes("first.example.com")`)
	put(inFront(t, other), "second.example.com")
	awaitPage(t, other, `(`+noticed+`).includes("first.example.com") && document.querySelector("tbody")?.textContent.includes("first.example.com")`)
	press(t, other, "Store secret")
	awaitPage(t, other, `document.querySelector("tbody")?.textContent.includes("second.example.com")`)
}

// TestConsoleDocumentInTwoTabs edits a document in two tabs: the second is told what the first
// has changed, keeps what was typed, and saves it on top. What only the server changed
// meanwhile is no reason to ask.
func TestConsoleDocumentInTwoTabs(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.signInto(t, page)
	path := "/documents/" + s.publish(t, "lights", "The northern pier has a lighthouse.").ID
	other := otherTab(t, page)
	thrown, thrownThere := thrownIn(page), thrownIn(other)
	edit := func(tab context.Context, tags, metadata string) {
		open(t, inFront(t, tab), s.ends.API+path)
		awaitPage(t, tab, `!!document.querySelector(".facts")`)
		press(t, tab, "Edit")
		awaitPage(t, tab, `!!document.querySelector("dialog form")`)
		do(t, tab, chromedp.SetValue(`dialog textarea[name="metadata"]`, metadata, chromedp.ByQuery))
		do(t, tab, chromedp.SetValue(`dialog input`, tags, chromedp.ByQuery))
	}
	edit(page, "first", `{"a": 1}`)
	edit(other, "second", `{"b": 2}`)
	press(t, inFront(t, page), "Save")
	awaitPage(t, page, `!document.querySelector("dialog") && document.querySelector(".facts").textContent.includes("first")`)

	press(t, inFront(t, other), "Save")
	awaitPage(t, other, `(`+noticed+`).includes("tags") && (`+noticed+`).includes("first") && (`+noticed+`).includes("metadata.a") && document.querySelector("dialog input").value === "second"`)
	var found struct {
		Tags     []string
		Metadata map[string]any
	}
	if s.call(t, "GET", "/workspaces/default"+path, nil, &found); len(found.Tags) != 1 || found.Tags[0] != "first" {
		t.Errorf("the second change was made before its author decided: %+v", found)
	}
	wantLooks(t, other)
	press(t, other, "Save")
	awaitPage(t, other, `!document.querySelector("dialog") && document.querySelector(".facts").textContent.includes("second")`)
	if s.call(t, "GET", "/workspaces/default"+path, nil, &found); len(found.Tags) != 1 || found.Tags[0] != "second" || found.Metadata["a"] == nil || found.Metadata["b"] == nil {
		t.Errorf("after both changes: %+v", found)
	}

	edit(other, "third", `{"b": 2}`)
	s.publish(t, "lights", "The northern pier has a lighthouse, and the southern one a foghorn.")
	press(t, other, "Save")
	awaitPage(t, other, `!document.querySelector("dialog") && document.querySelector(".facts").textContent.includes("third")`)
	if len(*thrown)+len(*thrownThere) > 0 {
		t.Errorf("the pages threw %s %s", *thrown, *thrownThere)
	}
}
