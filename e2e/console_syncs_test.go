package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/client"
)

// hostileFile is the name of a file that would run in pages which take text for HTML.
const hostileFile = `<img src=x onerror=ran=1>.txt`

// connectOnPage types a connection to the cloud.
func connectOnPage(t *testing.T, page context.Context, c *cloud, password string) {
	t.Helper()
	do(t, page, chromedp.Evaluate(`document.querySelector("details.connection").open = true`, nil),
		chromedp.SetValue(`.connection input[name="url"]`, c.URL+c.fake.Base, chromedp.ByQuery),
		chromedp.SetValue(`.connection input[name="username"]`, c.fake.Username, chromedp.ByQuery),
		chromedp.SetValue(`.connection input[name="secret"]`, password, chromedp.ByQuery))
	press(t, page, "Connect")
}

// newSecretOnPage types the secret of the only connection anew.
func newSecretOnPage(t *testing.T, page context.Context, secret string) {
	t.Helper()
	click(t, page, `[...document.querySelectorAll("button")].find(b => b.textContent === "New secret")`)
	awaitPage(t, page, `!!document.querySelector("dialog input")`)
	wantLooks(t, page)
	do(t, page, chromedp.SendKeys(`dialog input`, secret+kb.Enter, chromedp.ByQuery))
}

// said is an expression of what the page says to a connection.
const said = `document.querySelector("[role=status] .state")?.textContent`

// TestConsoleSyncs goes the whole way of a sync in a browser: a connection whose password is
// wrong at first, a check that takes in nothing, a sync that publishes, a file that fails,
// a place that is gone, pause, resume and the end.
func TestConsoleSyncs(t *testing.T) {
	t.Parallel()
	page := browser(t)
	c := newCloud(t)
	folder := c.world.Create(0, "handbook", true, "")
	c.world.Create(folder, hostileFile, false, "The password of the lighthouse is seagull.")
	c.world.Create(folder, "empty.txt", false, "")
	c.world.Create(folder, "left out.md", false, "It is not followed.")
	s := startForImports(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	s.signInto(t, page)
	do(t, page, chromedp.Click(`nav a[href="/imports"]`, chromedp.ByQuery))
	click(t, page, `document.querySelector('main nav a[href="/syncs"]')`)
	awaitPage(t, page, `location.pathname === "/syncs" && document.querySelectorAll(".empty:not([hidden])").length === 2 && document.querySelector('.top nav a[aria-current]').textContent === "Imports"`)
	do(t, page, chromedp.Evaluate(`document.querySelectorAll("details.new").forEach(one => one.open = true)`, nil))
	wantLooks(t, page)

	connectOnPage(t, page, c, "qzwrong")
	awaitPage(t, page, said+`?.startsWith("forbidden: the server refused") && `+said+`.includes("app password")`)
	wantLooks(t, page)
	newSecretOnPage(t, page, c.fake.Password)
	awaitPage(t, page, said+` === "The service accepts it."`)
	if kept := evaluate[string](t, page, `JSON.stringify([localStorage, sessionStorage, history.state]) + document.documentElement.outerHTML + [...document.querySelectorAll("input")].map(i => i.value).join()`); strings.Contains(kept, "qzwrong") || strings.Contains(kept, c.fake.Password) {
		t.Error("the page keeps the password")
	}

	do(t, page, chromedp.Evaluate(`document.querySelector("details.sync").open = true`, nil),
		chromedp.SetValue(`.sync input[name="folder"]`, "handbook", chromedp.ByQuery), chromedp.SetValue(`.sync textarea[name="include"]`, "**/*.txt", chromedp.ByQuery))
	press(t, page, "Check")
	awaitPage(t, page, `document.querySelector(".found").textContent.includes("2 files to take in, 42 byte; 1 left out by the patterns")`)
	wantLooks(t, page)
	if documents := s.imported(t); len(documents) != 0 {
		t.Errorf("the check has taken in %d documents", len(documents))
	}
	press(t, page, "Start sync")
	awaitPage(t, page, `location.pathname.startsWith("/syncs/") && document.querySelector(".state.idle")?.textContent === "waiting for its next run" && document.querySelector("main").textContent.includes("1 taken in, 0 unchanged, 1 failed, 0 removed, of 2 listed")`)
	awaitPage(t, page, `document.querySelector('table[aria-label="Failures"] tbody')?.textContent.startsWith("empty.txtempty: ") && document.querySelector('table[aria-label="Runs"] tbody .state.completed') !== null`)
	if made := evaluate[int](t, page, `(window.ran ?? 0) + document.querySelectorAll("main img").length`); made != 0 {
		t.Error("the name of a file became an element")
	}
	wantLooks(t, page)
	s.syncOnPage(t, page, c, folder)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// syncOnPage follows the sync of the page that is open: over its document, a service that asks
// to wait, a folder that is gone, a change, pause, resume and removal.
func (s *server) syncOnPage(t *testing.T, page context.Context, c *cloud, folder int) {
	t.Helper()
	address := s.ends.API + evaluate[string](t, page, `location.pathname`)
	click(t, page, `document.querySelector('table[aria-label="Runs"] tbody a')`)
	awaitPage(t, page, `location.pathname.startsWith("/imports/") && !!document.querySelector('a[href^="/syncs/"]') && !!document.querySelector(".state.completed")`)
	open(t, page, s.ends.API+"/documents")
	click(t, page, `[...document.querySelectorAll('table[aria-label="Documents"] tbody a')].find(one => one.textContent.startsWith("<img"))`)
	awaitPage(t, page, fmt.Sprintf(`document.querySelector("h1")?.textContent === %q && !!document.querySelector(".passages li")`, hostileFile))

	open(t, page, address)
	c.set(func() { c.refuse = 4 })
	press(t, page, "Run now")
	awaitPage(t, page, `document.querySelector(".state.waiting")?.parentElement.textContent.includes("The service asked for fewer requests; it waits until")`)
	awaitPage(t, page, `!!document.querySelector(".state.idle")`)
	c.world.Delete(folder)
	press(t, page, "Run now")
	awaitPage(t, page, `document.querySelector(".state.failed")?.parentElement.textContent.includes('there is no folder "handbook"')`)
	open(t, page, address)
	awaitPage(t, page, `document.querySelector(".empty:not([hidden])")?.textContent === "The last run failed as a whole; the cause stands above."`)
	wantLooks(t, page)
	press(t, page, "Check")
	awaitPage(t, page, said+` === "The service accepts it."`)
	open(t, page, s.ends.API+"/operations")
	awaitPage(t, page, `document.querySelector('table[aria-label="Syncs"]')?.textContent.includes('there is no folder "handbook"')`)
	wantLooks(t, page)

	open(t, page, address)
	click(t, page, `[...document.querySelectorAll("summary")].find(one => one.textContent === "Change")`)
	do(t, page, chromedp.SetValue(`select[name="every"]`, "15m", chromedp.ByQuery))
	press(t, page, "Save")
	awaitPage(t, page, `document.querySelector(".facts").textContent.includes("15m") && document.querySelector("details [role=status]").textContent.startsWith("Saved.")`)
	press(t, page, "Pause")
	awaitPage(t, page, `!!document.querySelector(".state.paused")`)
	press(t, page, "Resume")
	awaitPage(t, page, `!!document.querySelector(".state.failed")`)
	press(t, page, "Remove sync")
	awaitPage(t, page, `document.querySelector("dialog button.first")?.disabled`)
	do(t, page, chromedp.SendKeys(`dialog input`, "handbook", chromedp.ByQuery))
	press(t, page, "Remove sync")
	awaitPage(t, page, `location.pathname === "/syncs" && !!document.querySelector('table[aria-label="Connections"] tbody tr') && !document.querySelector('table[aria-label="Syncs"] tbody tr')`)
	if list, err := s.Syncs(t.Context(), "", "", 0); err != nil || len(list.Data) != 0 {
		t.Errorf("the API lists %+v, %v", list.Data, err)
	}
	click(t, page, `[...document.querySelectorAll("button")].find(b => b.textContent === "Remove connection")`)
	press(t, page, "Remove connection")
	awaitPage(t, page, `!document.querySelector('table[aria-label="Connections"] tbody tr')`)
}

// TestConsoleSyncsByRow pauses, resumes and runs syncs in their list, which follows runs that
// other clients start.
func TestConsoleSyncsByRow(t *testing.T) {
	t.Parallel()
	page := browser(t)
	c := newCloud(t)
	c.world.Create(0, "a.txt", false, "The lighthouse is lit.")
	s := startForImports(t)
	y := s.syncEnds(t, c.connect(t, s, client.NewSync{Every: "24h", Permissions: "mirror"}))
	s.signInto(t, page)
	open(t, page, s.ends.API+"/syncs")
	row := func(want string) {
		t.Helper()
		awaitPage(t, page, fmt.Sprintf(`document.querySelector('table[aria-label="Syncs"] tbody tr')?.textContent.includes(%q)`, want))
	}
	row("1 taken in, 0 unchanged, 0 failed, 0 removed, of 1 listed")
	wantLooks(t, page)
	press(t, page, "Pause: "+c.URL+c.fake.Base)
	row("paused")
	await(t, 30*time.Second, "the sync is paused", func(ctx context.Context) error {
		if now, err := s.Sync(ctx, y.ID); err != nil || now.Status != "paused" {
			return errors.Join(err, fmt.Errorf("it is %s", now.Status))
		}
		return nil
	})
	press(t, page, "Resume: "+c.URL+c.fake.Base)
	row("waiting for its next run")
	c.world.Create(0, "b.txt", false, "Another lighthouse is lit.")
	press(t, page, "Run now: "+c.URL+c.fake.Base)
	row("1 taken in, 1 unchanged, 0 failed, 0 removed, of 2 listed")
	c.world.Create(0, "c.txt", false, "A third lighthouse is lit.")
	s.syncNow(t, y.ID)
	row("1 taken in, 2 unchanged, 0 failed, 0 removed, of 3 listed")

	do(t, page, chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Enter))
	awaitPage(t, page, `document.querySelector(".facts")?.textContent.includes("as in the service")`)
	s.mirrorOnPage(t, page, y.ConnectionID)
	var key struct{ Key string }
	if status := s.call(t, "POST", "/workspaces/default/keys", map[string]any{"name": "editor", "role": "editor"}, &key); status != http.StatusCreated {
		t.Fatalf("make a key: %d", status)
	}
	evaluate[int](t, page, `fetch("/auth/session", {method: "DELETE"}).then(r => r.status)`)
	open(t, page, s.ends.API+"/healthz")
	open(t, page, s.ends.API+"/syncs")
	do(t, page, chromedp.SendKeys(`dialog input`, key.Key+kb.Enter, chromedp.ByQuery))
	row("of 3 listed") // an editor reads syncs, and no connections
	awaitPage(t, page, `document.querySelector("section .empty:not([hidden])")?.textContent.includes("connections.read") && !document.querySelector("details.connection").checkVisibility()`)
}

// mirrorOnPage chooses connections in the form of a new sync: rights can be mirrored of this one,
// and not of a site.
func (s *server) mirrorOnPage(t *testing.T, page context.Context, connection string) {
	t.Helper()
	site, err := s.AddConnection(t.Context(), client.NewConnection{Type: "crawl", Options: map[string]string{"url": "https://example.com/handbook/"}})
	if err != nil {
		t.Fatal(err)
	}
	open(t, page, s.ends.API+"/syncs")
	for id, mirrored := range map[string]bool{connection: true, site.ID: false} {
		click(t, page, fmt.Sprintf(`document.querySelector('.sync option[value="%s"]')`, id)) // it is there
		do(t, page, chromedp.Evaluate(fmt.Sprintf(`(() => { const choice = document.querySelector('.sync select[name="connection"]'); choice.value = %q; choice.dispatchEvent(new Event("change")); })()`, id), nil))
		if enabled := evaluate[bool](t, page, `!document.querySelector('.sync input[name="mirror"]').disabled`); enabled != mirrored {
			t.Errorf("rights of connection %s can be mirrored: %v", id, enabled)
		}
	}
}
