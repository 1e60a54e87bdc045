package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// signInto signs a browser in with the server's admin key.
func (s *server) signInto(t *testing.T, page context.Context) {
	t.Helper()
	open(t, page, s.ends.API+"/")
	do(t, page, chromedp.SendKeys(`dialog input`, s.key+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `!!document.querySelector("textarea.question")`)
}

func do(t *testing.T, page context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(page, actions...); err != nil {
		t.Fatal(err)
	}
}

// evaluate returns the value of a JavaScript expression, or of its promise.
func evaluate[T any](t *testing.T, page context.Context, expression string) T {
	t.Helper()
	var value T
	do(t, page, chromedp.Evaluate(expression, &value, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return value
}

// askOnPage types a question and sends it by keyboard.
func askOnPage(t *testing.T, page context.Context, text string) {
	t.Helper()
	do(t, page, chromedp.SendKeys(`textarea[aria-label="Question"]`, text+kb.Enter, chromedp.ByQuery))
}

// openCited asks a question and opens the first citation of its whole answer.
func openCited(t *testing.T, page context.Context, question string) {
	t.Helper()
	askOnPage(t, page, question)
	awaitPage(t, page, `!!document.querySelector('[aria-label="Answer"]:not(.live) .citation')`)
	click(t, page, `document.querySelector(".citation")`)
}

// press clicks the button with this text or label, in the dialog if one is open.
func press(t *testing.T, page context.Context, name string) {
	t.Helper()
	button := fmt.Sprintf(`[...(document.querySelector("dialog") ?? document).querySelectorAll("button")]
		.find(b => (b.textContent === %[1]q || b.getAttribute("aria-label") === %[1]q) && b.checkVisibility() && !b.disabled)`, name)
	click(t, page, button)
}

// click clicks the element of an expression once it is there. The page finds and clicks it in
// one step, because it may replace the element at any time.
func click(t *testing.T, page context.Context, element string) {
	t.Helper()
	awaitPage(t, page, fmt.Sprintf(`(() => { const found = %s; found?.click(); return !!found; })()`, element))
}

// thrownIn records the errors that the scripts of a page throw.
func thrownIn(page context.Context) *[]string {
	var found []string
	chromedp.ListenTarget(page, func(e any) {
		if e, ok := e.(*runtime.EventExceptionThrown); ok {
			found = append(found, e.ExceptionDetails.Error())
		}
	})
	return &found
}

func TestConsoleSignsInByTheLinkOnce(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	link := s.ends.API + "/#token=" + s.printedToken(t)
	open(t, page, link)
	awaitPage(t, page, `!!document.querySelector("textarea.question")`)
	if address := evaluate[string](t, page, `location.href`); strings.Contains(address, "token") {
		t.Errorf("the token stays in the address %s", address)
	}
	s.kill()
	s.restart()
	open(t, page, s.ends.API+"/ask")
	awaitPage(t, page, `!!document.querySelector("textarea.question")`) // the session is in the database

	evaluate[int](t, page, `fetch("/auth/session", {method: "DELETE"}).then(r => r.status)`)
	open(t, page, s.ends.API+"/healthz") // a change of the fragment alone loads no page
	open(t, page, link)
	awaitPage(t, page, `!!document.querySelector("dialog.signin")`)
	for _, accept := range []string{"text/html", "*/*"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.ends.API+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", accept)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		console := strings.Contains(response.Header.Get("Content-Security-Policy"), "require-trusted-types-for")
		if got := response.Header.Get("Content-Type"); got != "text/html; charset=utf-8" || console != (accept == "text/html") {
			t.Errorf("/ for %s is %s, the console: %v", accept, got, console)
		}
	}
}

// TestConsoleCites asks about a PDF, and opens a citation on its page.
func TestConsoleCites(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	found := thrownIn(page)
	manual, err := os.ReadFile("../samples/documents/hx4-service-manual.pdf")
	if err != nil {
		t.Fatal(err)
	}
	if d := s.sendPDF(t, "hx4-service-manual.pdf", manual, nil); d.Status != "published" {
		t.Fatalf("the manual is %+v", d)
	}
	asked := trafficOf(t, page)
	s.signInto(t, page)
	askOnPage(t, page, "How is the HX-4 calibrated?")
	awaitPage(t, page, `!!document.querySelector('[aria-label="Answer"]:not(.live) .citation')`)
	if address := evaluate[string](t, page, `location.pathname`); !strings.HasPrefix(address, "/ask/") {
		t.Errorf("the address of the conversation is %s", address)
	}
	click(t, page, `document.querySelector(".citation")`)
	awaitPage(t, page, `(() => { const picture = document.querySelector(".panel img"); return picture?.complete && picture.naturalWidth > 0 && document.querySelectorAll(".panel .box").length > 0; })()`)
	const inside = `(() => {
		const sheet = document.querySelector(".sheet").getBoundingClientRect();
		return [...document.querySelectorAll(".box")].every(one => { const b = one.getBoundingClientRect(); return b.width > 20 && b.left >= sheet.left && b.right <= sheet.right && b.top >= sheet.top && b.bottom <= sheet.bottom; });
	})()`
	if !evaluate[bool](t, page, inside) {
		t.Error("a box is not on its page")
	}
	if count := evaluate[int](t, page, `document.querySelectorAll('ol[aria-label="Sources"] li').length`); count == 0 {
		t.Error("the answer shows no sources")
	}
	wantLooks(t, page)
	if len(*found) > 0 {
		t.Errorf("the pages threw %s", *found)
	}
	asked.wantOnly(t, s.ends.API)
}

// always is for a model that answers so however often it is asked: a step whose heartbeat comes late is
// done again.
func always(reply modeltest.Reply) modeltest.Options {
	return modeltest.Options{Reply: func(protocol.ChatRequest) modeltest.Reply { return reply }}
}

// TestConsoleGoesOnOverKills reloads the page and kills the server in the middle of an answer.
func TestConsoleGoesOnOverKills(t *testing.T) {
	t.Parallel()
	page := browser(t)
	text := strings.TrimSpace(strings.Repeat("word ", 800))
	rest := make(chan struct{})
	m := standIn(t, always(modeltest.Reply{Text: text, TokenDelay: 15 * time.Millisecond, Rest: rest}))
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	s.signInto(t, page)
	askOnPage(t, page, "What is on the northern pier?")
	const asked = `document.querySelector(".asked p")?.textContent === "What is on the northern pier?"`
	const words = `(document.querySelector(".words")?.textContent.match(/word/g) ?? []).length`
	awaitPage(t, page, words+` > 30`)
	do(t, page, chromedp.Reload())
	awaitPage(t, page, words+` > 60 && `+asked)
	s.kill()
	awaitPage(t, page, `!!document.querySelector(".lost:not([hidden])")`)
	close(rest)
	s.restart()
	awaitPage(t, page, `!!document.querySelector(".resumed")`)
	awaitPage(t, page, `!!document.querySelector('[aria-label="Answer"]:not(.live)')`)
	wantSame(t, "the answer in the page", evaluate[string](t, page, `document.querySelector(".words").textContent`), text)
	if stored := s.lastAnswer(t); stored != text {
		t.Errorf("stored are %d bytes, shown %d", len(stored), len(text))
	}
}

// lastAnswer returns the text of the last answer of the newest conversation.
func (s *server) lastAnswer(t *testing.T) string {
	t.Helper()
	var list struct{ Data []struct{ ID string } }
	s.call(t, "GET", "/workspaces/default/conversations", nil, &list)
	var found struct{ Messages []struct{ Text string } }
	s.call(t, "GET", "/workspaces/default/conversations/"+list.Data[0].ID, nil, &found)
	return found.Messages[len(found.Messages)-1].Text
}

// TestConsoleShowsHostileTextAsText has a model answer with what would run in other pages.
func TestConsoleShowsHostileTextAsText(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, `<img src=x onerror="window.ran=1">`, "The northern pier has a lighthouse.")
	hostile := strings.Join([]string{
		`<script>window.ran=1</script>`, `<img src=x onerror="window.ran=1">`, `[a](javascript:window.ran=1)`, `![b](http://203.0.113.1/leak.png)`,
		`<a href="javascript:window.ran=1">c</a>`, "`<svg onload=window.ran=1>`", `<iframe srcdoc="<script>parent.ran=1</script>"></iframe>`,
		`<web_citation url="javascript:window.ran=1" title="x">[1]</web_citation>`, `[d](data:text/html,<script>window.ran=1</script>)`, `<style>@import "http://203.0.113.1/"</style>`,
	}, "\n\n")
	m.ScriptChat(modeltest.Text(hostile))
	asked := trafficOf(t, page)
	s.signInto(t, page)
	askOnPage(t, page, `What is <img src=x onerror="window.ran=1"> there?`)
	awaitPage(t, page, `!!document.querySelector('[aria-label="Answer"]:not(.live)')`)
	const state = `({ran: window.ran ?? 0, made: document.querySelectorAll("main script, main iframe, main style, main .words img, a[href^='javascript'], a[href^='data']").length})`
	if got := evaluate[map[string]int](t, page, state); got["ran"] != 0 || got["made"] != 0 {
		t.Errorf("the page made of it %v", got)
	}
	if !strings.Contains(evaluate[string](t, page, `document.querySelector(".words").textContent`), `<script>window.ran=1</script>`) {
		t.Error("the text is not shown as it is")
	}
	asked.wantOnly(t, s.ends.API)
}
