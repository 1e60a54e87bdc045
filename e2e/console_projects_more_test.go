package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/standin"
)

// TestConsoleWebhooks adds a receiver that refuses its first event, and delivers it again.
func TestConsoleWebhooks(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := startForHooks(t)
	thrown := thrownIn(page)
	var secret atomic.Value
	var ids [2]atomic.Value // the event of the first and of the second request
	var count atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		verifier, wrong := standardwebhooks.NewWebhook(secret.Load().(string))
		if err != nil || wrong != nil || verifier.Verify(body, r.Header) != nil {
			t.Errorf("a request that the shown secret did not sign: %v, %v", err, wrong)
		}
		n := count.Add(1)
		if n <= 2 {
			ids[n-1].Store(r.Header.Get("webhook-id"))
		}
		if n == 1 {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(receiver.Close)
	s.signInto(t, page)
	do(t, page, chromedp.EmulateViewport(1280, 1600)) // a list is loaded when it is in sight
	open(t, page, s.ends.API+"/projects/default/webhooks")
	do(t, page, chromedp.WaitVisible(`main input[type="url"]`, chromedp.ByQuery), chromedp.SendKeys(`main input[type="url"]`, receiver.URL+"/hook"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `document.querySelector("dialog .once")?.textContent.startsWith("whsec_")`)
	secret.Store(evaluate[string](t, page, `document.querySelector("dialog .once").textContent`))
	press(t, page, "Close")

	s.publish(t, "lights", "The northern pier has a lighthouse.")
	open(t, page, s.ends.API+"/projects/default/webhooks")
	const deliveries = `document.querySelector('table[aria-label="Deliveries"]')`
	awaitPage(t, page, deliveries+`?.querySelector(".state.error") && `+deliveries+`.textContent.includes("404")`)
	wantLooks(t, page)
	press(t, page, "Redeliver")
	awaitPage(t, page, deliveries+`.querySelectorAll(".state.published").length === 1`)
	if ids[0].Load() != ids[1].Load() || count.Load() != 2 {
		t.Errorf("%d requests, of the events %v and %v", count.Load(), ids[0].Load(), ids[1].Load())
	}

	hooks := func() (found struct{ Webhooks []struct{ Enabled bool } }) {
		s.call(t, "GET", "/workspaces/default/projects/default", nil, &found)
		return found
	}
	press(t, page, "Turn off")
	awaitPage(t, page, `[...document.querySelectorAll("button")].some(b => b.textContent === "Turn on")`)
	if got := hooks().Webhooks; len(got) != 1 || got[0].Enabled {
		t.Errorf("turned off: %+v", got)
	}
	press(t, page, "Remove")
	awaitPage(t, page, `!!document.querySelector("dialog")`)
	press(t, page, "Remove")
	awaitPage(t, page, `[...document.querySelectorAll(".empty:not([hidden])")].some(e => e.textContent.includes("No webhooks"))`)
	if got := hooks().Webhooks; len(got) != 0 {
		t.Errorf("removed: %+v", got)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsoleSecrets stores a secret for the tools of a project, and removes it.
func TestConsoleSecrets(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	custom := map[string]any{"lamp": map[string]any{"type": "automation", "description": "d", "automation": map[string]any{"url": "https://example.com/"}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"tools": map[string]any{"custom": custom}}, nil); status != http.StatusOK {
		t.Fatalf("add a tool: status %d", status)
	}
	s.signInto(t, page)
	open(t, page, s.ends.API+"/projects/default/secrets")
	awaitPage(t, page, `document.querySelector("main li")?.textContent.includes("lamp · automation")`)
	const fields = `main form input[aria-label=%q]`
	do(t, page,
		chromedp.SendKeys(fmt.Sprintf(fields, "Name"), "lamp_token", chromedp.ByQuery),
		chromedp.SendKeys(fmt.Sprintf(fields, "Value"), "lamp-value-7", chromedp.ByQuery),
		chromedp.SendKeys(fmt.Sprintf(fields, "Hosts"), "example.com, *.example.org"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `document.querySelector("tbody")?.textContent.includes("lamp_token")`)
	wantLooks(t, page)
	if evaluate[bool](t, page, `document.body.textContent.includes("lamp-value-7") || [...document.querySelectorAll("input")].some(i => i.value === "lamp-value-7")`) {
		t.Error("the value of the secret is shown")
	}
	type secret struct {
		Name      string
		ProjectID string `json:"project_id"`
		Hosts     []string
	}
	stored := func() []secret {
		var found struct{ Data []secret }
		s.call(t, "GET", "/workspaces/default/secrets", nil, &found)
		return found.Data
	}
	if got := stored(); len(got) != 1 || got[0].Name != "lamp_token" || got[0].ProjectID != "default" || len(got[0].Hosts) != 2 {
		t.Errorf("stored is %+v", got)
	}
	press(t, page, "Remove")
	awaitPage(t, page, `!!document.querySelector("dialog")`)
	press(t, page, "Remove")
	awaitPage(t, page, `!!document.querySelector(".empty:not([hidden])")`)
	if got := stored(); len(got) != 0 {
		t.Errorf("removed, yet %+v", got)
	}
}

// runPython runs a program with OpenAI's package and returns what it printed.
func runPython(t *testing.T, m *modeltest.Server, program string) string {
	t.Helper()
	m.ScriptChat(modeltest.Text("A lighthouse is there."))
	out, _ := exec.CommandContext(t.Context(), standin.Program{Path: "openai/bin/python", Install: ".ci/stand-ins"}.Installed(t), "-c", program).CombinedOutput()
	return string(out) // an error of the program is in it
}

// runNode is runPython in JavaScript. Node finds packages from the folder of the program.
func runNode(t *testing.T, m *modeltest.Server, program string) string {
	t.Helper()
	m.ScriptChat(modeltest.Text("A lighthouse is there."))
	installed := standin.Program{Path: "openai-js/node_modules/openai/package.json", Install: ".ci/stand-ins"}.Installed(t)
	folder := t.TempDir()
	if err := os.Symlink(filepath.Dir(filepath.Dir(installed)), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "ask.mjs")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.CommandContext(t.Context(), "node", file).CombinedOutput()
	return string(out) // an error of the program is in it
}

// TestConsoleShowsHowToAsk runs the lines that the page shows, with a key of the project.
func TestConsoleShowsHowToAsk(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	var project struct{ ID, APIKey string }
	if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"name": `<img src=x onerror=ran=1>`}, &project); status != http.StatusOK {
		t.Fatalf("make a project: status %d", status)
	}
	s.publishIn(t, project.ID, "lights", "The northern pier has a lighthouse.", nil)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/projects/"+project.ID+"/code")
	awaitPage(t, page, `document.querySelectorAll("pre.code").length === 4`)
	isText(t, page, `<img src=x onerror=ran=1>`)
	wantLooks(t, page)
	shown := func(name string) string {
		return strings.ReplaceAll(evaluate[string](t, page, fmt.Sprintf(`document.querySelector('pre[aria-label=%q]').textContent`, name)), "YOUR_KEY", project.APIKey)
	}
	m.ScriptChat(modeltest.Text("A lighthouse is there."))
	out, err := exec.CommandContext(t.Context(), "sh", "-c", shown("curl")).CombinedOutput()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err != nil || json.Unmarshal(out, &answer) != nil || len(answer.Choices) != 1 || !strings.Contains(answer.Choices[0].Message.Content, "A lighthouse") {
		t.Errorf("curl answered %v, %s", err, out)
	}
	for name, answered := range map[string]string{"Python": runPython(t, m, shown("Python")), "JavaScript": runNode(t, m, shown("JavaScript"))} {
		if !strings.Contains(answered, "A lighthouse is there.") {
			t.Errorf("%s answered %s", name, answered)
		}
	}
	var client struct {
		Servers map[string]struct {
			URL     string
			Headers map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(shown("MCP")), &client); err != nil {
		t.Fatal(err)
	}
	at := client.Servers["cairn"]
	initialize := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}}}
	if status := s.call(t, "POST", at.URL, initialize, nil, "Authorization", at.Headers["Authorization"], "Accept", "application/json, text/event-stream"); status != http.StatusOK {
		t.Errorf("MCP answered %d", status)
	}
}

// TestConsoleDeletesAProject wants its name first.
func TestConsoleDeletesAProject(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	var project struct{ ID string }
	s.call(t, "POST", webhooks+"/projects", map[string]any{"name": "Old piers"}, &project)
	s.signInto(t, page)
	open(t, page, s.ends.API+"/projects/"+project.ID+"/danger")
	press(t, page, "Delete project")
	if !evaluate[bool](t, page, `document.querySelector("dialog button.first").disabled`) {
		t.Error("a project can be deleted without its name")
	}
	wantLooks(t, page)
	do(t, page, chromedp.SendKeys(`dialog input`, "Old piers"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `location.pathname === "/projects" && !document.querySelector("main").textContent.includes("Old piers")`)
	if status := s.call(t, "GET", "/workspaces/default/projects/"+project.ID, nil, nil); status != http.StatusNotFound {
		t.Errorf("the deleted project: status %d", status)
	}
}

// TestConsoleTriesOut compares two strategies, and then two numbers of passages.
func TestConsoleTriesOut(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	for i, what := range []string{"lighthouse", "foghorn", "crane", "ferry"} {
		s.publish(t, what, fmt.Sprintf("Pier %d has a %s. Ships know the %s.", i, what, what))
	}
	s.signInto(t, page)
	open(t, page, s.ends.API+"/projects/default/try")
	slow := modeltest.Reply{Text: "They have a lighthouse.", TokenDelay: 20 * time.Millisecond}
	m.ScriptChat(slow, slow)
	setField(t, page, "ai.retrieval.strategy", "bm25")
	do(t, page, chromedp.SendKeys(`main textarea[aria-label="Question"]`, "Which pier has a lighthouse?", chromedp.ByQuery))
	press(t, page, "Compare")
	const columns = `[...document.querySelectorAll(".reader > section")]`
	const answered = columns + `.length === 2 && ` + columns + `.every(c => c.querySelector(".words")?.textContent.includes("They have a lighthouse.") && c.querySelectorAll("table tbody tr").length > 0)`
	awaitPage(t, page, answered)
	const byWords = columns + `.map(c => [...c.querySelectorAll("tbody tr")].every(r => r.cells[2].textContent === "–" && r.cells[3].textContent !== "–"))`
	if got := evaluate[[]bool](t, page, byWords); got[0] || !got[1] {
		t.Errorf("ranked by words alone: %v, want it of the changed settings", got)
	}
	wantLooks(t, page)

	setField(t, page, "ai.retrieval.strategy", "")
	setField(t, page, "ai.retrieval.numberOfChunks", "1")
	m.ScriptChat(slow, slow)
	press(t, page, "Compare")
	awaitPage(t, page, answered+` && `+columns+`[1].querySelectorAll("tbody tr").length === 1`)
	const state = columns + `.map(c => [c.querySelectorAll("th").length, c.querySelectorAll("mark").length])`
	if got := evaluate[[][]int](t, page, state); got[0][0] != 6 || got[1][0] != 6 || got[0][1] != 3 || got[1][1] != 0 {
		t.Errorf("columns and marks are %v", got)
	}
	setField(t, page, "ai.retrieval.numberOfChunks", "500")
	press(t, page, "Compare")
	awaitPage(t, page, `document.getElementById("field-ai.retrieval.numberOfChunks-wrong").textContent === "expected number <= 100"`)
}
