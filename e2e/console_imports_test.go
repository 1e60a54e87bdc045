package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/client"
)

// newImport opens the form of a new import and fills it in for a bucket.
func newImport(t *testing.T, page context.Context, b *bucket, uri string, options ...string) {
	t.Helper()
	do(t, page, chromedp.Evaluate(`document.querySelector("details.new").open = true`, nil),
		chromedp.SetValue(`textarea[name="uri"]`, uri, chromedp.ByQuery), chromedp.SetValue(`input[name="endpoint"]`, b.url, chromedp.ByQuery))
	for _, option := range options {
		do(t, page, chromedp.Click(fmt.Sprintf(`input[name=%q]`, option), chromedp.ByQuery))
	}
}

// TestConsoleImports checks and starts an import in a browser, pauses and resumes it, and
// repairs the object that failed.
func TestConsoleImports(t *testing.T) {
	t.Parallel()
	const objects = 150
	const hostile = `<img src=x onerror=ran=1>.txt`
	page := browser(t)
	b := newBucket(t)
	b.fill("notes/", objects)
	b.put("notes/"+hostile, "")
	s := startForImports(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	s.signInto(t, page)
	do(t, page, chromedp.Click(`nav a[href="/imports"]`, chromedp.ByQuery))
	awaitPage(t, page, `!!document.querySelector(".empty:not([hidden])")`)
	newImport(t, page, b, "s3://shelf/notes/", "path_style", "anonymous")
	wantLooks(t, page)
	press(t, page, "Check")
	awaitPage(t, page, fmt.Sprintf(`document.querySelector(".found").textContent.includes("%d found: %d to import")`, objects+1, objects+1))
	if documents := s.imported(t); len(documents) != 0 {
		t.Errorf("the check has taken in %d documents", len(documents))
	}
	b.slow(time.Second)
	release := b.hold(objects - 10)
	press(t, page, "Start")
	awaitPage(t, page, `location.pathname.startsWith("/imports/") && !!document.querySelector("main progress")`)
	id := evaluate[string](t, page, `location.pathname.split("/")[2]`)
	do(t, page, chromedp.Evaluate(`window.stays = true`, nil))
	awaitPage(t, page, `window.stays && /[\d.]+ documents\/s, .*\d.* left/.test(document.querySelector("main p + progress + p")?.textContent)`)
	press(t, page, "Pause")
	awaitPage(t, page, `!!document.querySelector(".state.paused")`)
	if i, err := s.Import(t.Context(), id); err != nil || i.Status != "paused" {
		t.Errorf("the import is %s, %v", i.Status, err)
	}
	wantLooks(t, page)
	b.slow(0)
	release()
	press(t, page, "Resume")
	awaitPage(t, page, `!!document.querySelector(".state.completed") && document.querySelectorAll("tbody tr").length === 1`)
	wantCounts(t, s.awaitImport(t, id), counts{discovered: objects + 1, published: objects, failed: 1})
	row := evaluate[string](t, page, `document.querySelector('table[aria-label="Failures"] tbody tr').textContent`)
	if !strings.Contains(row, hostile) || !strings.Contains(row, "empty: ") {
		t.Errorf("the failure is shown as %q", row)
	}
	if made := evaluate[int](t, page, `(window.ran ?? 0) + document.querySelectorAll("main img").length`); made != 0 {
		t.Error("the name of an object became an element")
	}
	wantLooks(t, page)

	b.put("notes/"+hostile, "It is no longer empty.")
	press(t, page, "Retry all failed")
	awaitPage(t, page, fmt.Sprintf(`document.querySelector("main").textContent.includes("%d published, 0 unchanged, 0 failed") && !document.querySelector("tbody tr")`, objects+1))
	wantCounts(t, s.awaitImport(t, id), counts{discovered: objects + 1, published: objects + 1})
	click(t, page, `document.querySelector('.facts a[href^="/runs/"]')`)
	awaitPage(t, page, `!!document.querySelector('.facts a[href="/imports/`+id+`"]')`)
	open(t, page, s.ends.API+"/imports")
	awaitPage(t, page, `document.querySelectorAll('table[aria-label="Imports"] tbody tr').length === 2`)
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// TestConsoleKeepsNoCredentials types the credentials of a bucket, and the name of one that
// there is not.
func TestConsoleKeepsNoCredentials(t *testing.T) {
	t.Parallel()
	const value = `{"access_key_id":"shelf","secret_access_key":"qzbaca"}`
	page := browser(t)
	b := newBucket(t)
	b.fill("notes/", 3)
	s := startForImports(t)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/imports")
	awaitPage(t, page, `!!document.querySelector("details.new")`)
	newImport(t, page, b, "s3://nowhere/", "path_style")
	do(t, page, chromedp.SendKeys(`input[name="value"]`, value, chromedp.ByQuery))
	press(t, page, "Check")
	awaitPage(t, page, `document.activeElement.name === "secret"`) // credentials need a name
	do(t, page, chromedp.SendKeys(`input[name="secret"]`, "shelf", chromedp.ByQuery))
	press(t, page, "Check")
	awaitPage(t, page, `document.querySelector(".found .state.failed")?.parentElement.textContent.includes("nowhere")`)
	do(t, page, chromedp.SetValue(`textarea[name="uri"]`, "s3://shelf/notes/", chromedp.ByQuery))
	press(t, page, "Check")
	awaitPage(t, page, `document.querySelector(".found").textContent.includes("3 found: 3 to import")`)
	var secrets client.List[struct {
		Name        string
		Uses, Hosts []string
	}]
	s.call(t, "GET", "/workspaces/default/secrets", nil, &secrets)
	if len(secrets.Data) != 1 || secrets.Data[0].Name != "shelf" || fmt.Sprint(secrets.Data[0].Uses, secrets.Data[0].Hosts) != "[import] [127.0.0.1]" {
		t.Errorf("stored is %+v", secrets.Data)
	}
	const kept = `JSON.stringify([localStorage, sessionStorage, history.state]) + document.documentElement.outerHTML + [...document.querySelectorAll("input")].map(i => i.value).join()`
	if strings.Contains(evaluate[string](t, page, kept), "qzbaca") {
		t.Error("the page keeps the credentials")
	}
}

// TestConsoleImportsByRules fills in the form of an import: metadata and access for all
// documents, and a rule that tags some by their path.
func TestConsoleImportsByRules(t *testing.T) {
	t.Parallel()
	page := browser(t)
	b := newBucket(t)
	b.put("notes/legal/terms.txt", "The pier is closed at night.")
	b.put("notes/lights.txt", "The northern pier has a lighthouse.")
	s := startForImports(t)
	thrown := thrownIn(page)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/imports")
	awaitPage(t, page, `!!document.querySelector("details.new")`)
	newImport(t, page, b, "s3://shelf/notes/", "path_style", "anonymous")
	do(t, page, chromedp.Click(`details.new details summary`, chromedp.ByQuery), chromedp.SendKeys(`textarea[name="metadata"]`, `[2026]`, chromedp.ByQuery))
	press(t, page, "Check")
	awaitPage(t, page, `document.activeElement.validationMessage.includes("must be an object")`)
	do(t, page, chromedp.Evaluate(`document.activeElement.select()`, nil), chromedp.SendKeys(`textarea[name="metadata"]`, `{"year": 2026}`, chromedp.ByQuery),
		chromedp.Click(`input[name="limited"]`, chromedp.ByQuery))
	awaitPage(t, page, `document.querySelector('input[name="groups"]').checkVisibility()`)
	do(t, page, chromedp.Click(`input[name="everybody"]`, chromedp.ByQuery), chromedp.SendKeys(`input[name="groups"]`, "harbour, law", chromedp.ByQuery))
	press(t, page, "Add a rule")
	awaitPage(t, page, `!!document.querySelector('input[name="match"]')`)
	do(t, page, chromedp.SendKeys(`input[name="match"]`, "legal/**", chromedp.ByQuery), chromedp.SendKeys(`input[name="rule_tags"]`, "contract", chromedp.ByQuery))
	wantLooks(t, page)
	press(t, page, "Start")
	awaitPage(t, page, `location.pathname.startsWith("/imports/") && !!document.querySelector(".state.completed")`)
	var list struct {
		Data []struct {
			ExternalID string
			Tags       []string
			Metadata   map[string]any
			Access     struct {
				Workspace bool
				Groups    []string
			}
		}
	}
	s.call(t, "GET", "/workspaces/default/documents", nil, &list)
	for _, d := range list.Data {
		legal := strings.Contains(d.ExternalID, "legal")
		if d.Metadata["year"] != 2026.0 || d.Access.Workspace || fmt.Sprint(d.Access.Groups) != "[harbour law]" || (fmt.Sprint(d.Tags) == "[contract]") != legal {
			t.Errorf("imported is %+v", d)
		}
	}
	if len(list.Data) != 2 || len(*thrown) > 0 {
		t.Errorf("%d documents; the pages threw %s", len(list.Data), *thrown)
	}
}
