package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestBrowserShowsThePages opens /docs, which must need no other host, and be of
// use by keyboard and with a screen reader.
func TestBrowserShowsThePages(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	asked := trafficOf(t, page)

	t.Run("an operation opens with its example, and is copied by keyboard", func(t *testing.T) {
		open(t, page, s.ends.API+"/docs")
		const shows = `(() => {
			const query = document.getElementById("query");
			query.querySelector("summary").click();
			return {title: document.title, open: query.open, text: query.innerText, operations: document.querySelectorAll("details .method").length};
		})()`
		var shown struct {
			Title, Text string
			Open        bool
			Operations  int
		}
		if err := chromedp.Run(page, chromedp.Evaluate(shows, &shown)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(shown.Title, "Cairn") || !shown.Open || shown.Operations < 40 ||
			!strings.Contains(shown.Text, "POST /workspaces/{workspaceId}/webhooks/query") || !strings.Contains(shown.Text, "conversationId") {
			t.Errorf("the page shows %+v", shown)
		}
		wantCopied(t, page, "#query .copied button", "curl ", "/workspaces/default/webhooks/query")
	})
	t.Run("a link to an operation opens it", func(t *testing.T) {
		open(t, page, s.ends.API+"/docs#add-files")
		awaitPage(t, page, `document.getElementById("add-files").open`)
	})
	for _, look := range []struct {
		path, colours string
		width         int64
	}{{"/docs", "light", 1280}, {"/docs", "dark", 400}} {
		t.Run(fmt.Sprintf("%s is accessible in %s at %d pixels", look.path, look.colours, look.width), func(t *testing.T) {
			axe := axeCore(t)
			if err := chromedp.Run(page, chromedp.EmulateViewport(look.width, 900), emulateColours(look.colours)); err != nil {
				t.Fatal(err)
			}
			open(t, page, s.ends.API+look.path)
			if width := evaluate[string](t, page, `getComputedStyle(document.body).maxWidth`); width == "none" {
				t.Error("the page has no style")
			}
			do(t, page, chromedp.Evaluate(openOperations, nil))
			wantAccessible(t, page, axe)
		})
	}
	asked.wantOnly(t, s.ends.API)
}

// wantCopied presses a button with the keyboard, and checks the selection or clipboard
// that it makes and that the page says so to a screen reader.
func wantCopied(t *testing.T, page context.Context, button string, wants ...string) {
	t.Helper()
	const intercept = `navigator.clipboard.writeText = async text => { window.copied = text }; true`
	if err := chromedp.Run(page, chromedp.Evaluate(intercept, nil), chromedp.Focus(button, chromedp.ByQuery), chromedp.KeyEvent("\r")); err != nil {
		t.Fatal(err)
	}
	awaitPage(t, page, `window.copied && document.querySelector("[role=status]").textContent === "Copied"`)
	var copied string
	if err := chromedp.Run(page, chromedp.Evaluate(`window.copied`, &copied)); err != nil {
		t.Fatal(err)
	}
	for _, want := range wants {
		if !strings.Contains(copied, want) {
			t.Errorf("%s copies %q without %q", button, copied, want)
		}
	}
}

// emulateColours makes a page think that its reader prefers light or dark colours.
func emulateColours(preferred string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: preferred}})
}

// axeCore returns the script of axe-core.
func axeCore(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "bin", "tools", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		lacking := "axe-core is missing; .ci/stand-ins installs it below bin/tools"
		if os.Getenv("CI") != "" {
			t.Fatal(lacking)
		}
		t.Skip(lacking)
	}
	return string(script)
}

// openOperations opens operations of /docs with all that they can show.
const openOperations = `
	for (const id of ["query", "add-files", "list-documents", "get-document-page", "schema-Document"])
		for (const d of document.querySelectorAll("#" + id + ", #" + id + " details")) d.open = true;`

// wantAccessible fails for what axe-core calls serious or critical in a page, for landmarks with
// the same name, and if the page is wider than its window.
func wantAccessible(t *testing.T, page context.Context, axe string) {
	t.Helper()
	const check = `axe.run(document, {resultTypes: ["violations"]}).then(found => ({
		passes: found.passes.length, violations: found.violations.map(v => ({rule: v.id, impact: v.impact, places: v.nodes.slice(0, 5).map(n => n.html)})),
		overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
	}))`
	type result struct {
		Passes, Overflow int
		Violations       []struct {
			Rule, Impact string
			Places       []string
		}
	}
	do(t, page, chromedp.Evaluate(axe, nil)) // by the browser itself, whatever the policy of the page
	found := evaluate[result](t, page, check)
	if found.Passes == 0 {
		t.Error("axe-core found nothing to check")
	}
	if found.Overflow > 0 {
		t.Errorf("the page is %d pixels wider than its window", found.Overflow)
	}
	for _, v := range found.Violations {
		t.Logf("%s (%s): %q", v.Rule, v.Impact, v.Places)
		if v.Impact == "serious" || v.Impact == "critical" || v.Rule == "landmark-unique" {
			t.Errorf("axe-core calls %s %s", v.Rule, v.Impact)
		}
	}
}
