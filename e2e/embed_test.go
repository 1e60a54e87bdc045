package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// slowWords is an answer that a kill or a reload can interrupt.
func slowWords(count int) modeltest.Reply {
	return modeltest.Reply{Text: strings.TrimSpace(strings.Repeat("word ", count)), TokenDelay: 15 * time.Millisecond}
}

// heldWords is slowWords, and does not end before rest is closed.
func heldWords(count int, rest <-chan struct{}) modeltest.Reply {
	held := slowWords(count)
	held.Rest = rest
	return held
}

// wordsOnPage is JavaScript for the number of words of the last answer.
const wordsOnPage = `([...document.querySelectorAll(".words")].at(-1)?.textContent.match(/word/g) ?? []).length`

// TestAgentPage asks on the page of an agent, reloads it in mid answer, opens a cited passage,
// rates the answer and begins anew.
func TestAgentPage(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.putPublication(t, map[string]any{"description": "Ask me about <b>piers</b>.", "starters": []string{"What is on the northern pier?"}, "avatar": "⚓"})
	rest := make(chan struct{})
	m.ScriptChat(heldWords(400, rest), heldWords(400, rest)) // that of before the kill, and that of after it
	thrown, asked := thrownIn(page), trafficOf(t, page)
	open(t, page, s.ends.API+"/agents/guide")
	awaitPage(t, page, `document.querySelector(".welcome")?.textContent.includes("Ask me about <b>piers</b>.") && document.title === "The guide of the harbour"`)
	for _, look := range []struct {
		colours string
		width   int64
	}{{"light", 1280}, {"dark", 360}} {
		do(t, page, chromedp.EmulateViewport(look.width, 900), emulateColours(look.colours))
		wantAccessible(t, page, axeCore(t))
	}
	press(t, page, "What is on the northern pier?")
	awaitPage(t, page, wordsOnPage+` > 20`)
	before := evaluate[int](t, page, wordsOnPage)
	do(t, page, chromedp.Reload())
	awaitPage(t, page, fmt.Sprintf(`%s > %d && document.querySelector(".asked p").textContent === "What is on the northern pier?"`, wordsOnPage, before))
	s.kill()
	close(rest)
	s.restart()
	awaitPage(t, page, answersOnPage+` === 1`)
	if n := evaluate[int](t, page, wordsOnPage); n != 400 {
		t.Errorf("the answer has %d words, not 400", n)
	}
	m.ScriptChat(modeltest.Text("What else is on the northern pier?"), modeltest.Text("There is a lighthouse [1].")) // the question alone, then its answer
	askOnPage(t, page, "And what else?")
	awaitPage(t, page, answersOnPage+` === 2`)
	click(t, page, `document.querySelector(".citation")`)
	awaitPage(t, page, `document.querySelector("dialog[open] .text")?.textContent.includes("The northern pier has a lighthouse.")`)
	wantAccessible(t, page, axeCore(t))
	press(t, page, "Close")
	press(t, page, "Good answer")
	awaitPage(t, page, `document.querySelector('[aria-pressed="true"]')?.textContent === "Good answer"`)
	if links := evaluate[int](t, page, `document.querySelectorAll('a[href^="/runs/"], a[href^="/documents/"]').length`); links != 0 {
		t.Errorf("%d links lead to pages that are closed to visitors", links)
	}
	press(t, page, "New conversation")
	awaitPage(t, page, `!!document.querySelector(".welcome") && !document.querySelector(".answer")`)
	do(t, page, emulation.SetLocaleOverride().WithLocale("de-DE"), chromedp.Evaluate(`localStorage.setItem("cairn.language", "de")`, nil), chromedp.Reload())
	awaitPage(t, page, `document.documentElement.lang === "de" && document.body.textContent.includes("Neue Unterhaltung")`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// foreignSite serves pages of another site, whose name is localhost, that show the agent of a
// server.
func foreignSite(t *testing.T, s *server, attributes string) *httptest.Server {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/theme.css" {
			w.Header().Set("Content-Type", "text/css")
			fmt.Fprint(w, `:root { --cairn-accent: rgb(255, 200, 80); --cairn-on-accent: rgb(20, 20, 20); --cairn-paper: rgb(16, 20, 24); --cairn-font: Georgia, serif; --cairn-scheme: dark; --cairn-width: 20rem }`)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src "+s.ends.API+"; frame-src "+s.ends.API)
		theme := ""
		if r.URL.Path == "/themed" {
			theme = `<link rel="stylesheet" href="/theme.css">`
		}
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Shop</title>%s<h1>%s</h1><a href="/next">Next</a><script src="%s/embed.js" data-agent="guide" %s defer></script>`, theme, r.URL.Path, s.ends.API, attributes)
	}))
	t.Cleanup(site.Close)
	site.URL = strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	return site
}

// launcher is JavaScript for the button that embed.js adds to a page.
const launcher = `[...document.querySelectorAll("body > div")].at(-1)?.shadowRoot?.querySelector("button")`

// frameOnPage is JavaScript for the frame that embed.js adds to a page.
const frameOnPage = `[...document.querySelectorAll("body > div")].at(-1).shadowRoot.querySelector("iframe")`

// frameOf returns the frame of the agent on a page.
func frameOf(t *testing.T, page context.Context, s *server) context.Context {
	t.Helper()
	var frame context.Context
	await(t, time.Minute, "the frame is there", func(context.Context) error {
		targets, err := chromedp.Targets(page)
		if err != nil {
			return err
		}
		for _, one := range targets {
			if one.Type == "iframe" && strings.HasPrefix(one.URL, s.ends.API+"/agents/guide/frame") {
				frame = frameContext(t, page, one.TargetID)
				return nil
			}
		}
		return fmt.Errorf("there are %d targets", len(targets))
	})
	return frame
}

func frameContext(t *testing.T, page context.Context, id target.ID) context.Context {
	t.Helper()
	frame, leave := chromedp.NewContext(page, chromedp.WithTargetID(id))
	t.Cleanup(leave)
	return frame
}

// TestEmbeddedChat asks by the chat on a page of another origin, navigates to another page of that
// site in mid answer, and finds the answer there.
func TestEmbeddedChat(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	made := s.putPublication(t, nil)
	token := strings.TrimPrefix(signed(t, made.Secret, person("ann"))[1], "Bearer ")
	site := foreignSite(t, s, `data-user-token="`+token+`"`)
	stranger := foreignSite(t, s, "")
	s.putPublication(t, map[string]any{"allowedOrigins": []string{site.URL}})
	rest := make(chan struct{})
	m.ScriptChat(heldWords(300, rest))
	thrown := thrownIn(page)
	open(t, page, site.URL+"/first")
	awaitPage(t, page, launcher+`?.checkVisibility() === true`)
	wantAccessible(t, page, axeCore(t))
	click(t, page, launcher)
	frame := frameOf(t, page, s)
	awaitPage(t, frame, `!!document.querySelector("textarea.question")`)
	askOnPage(t, frame, "What is on the northern pier?")
	awaitPage(t, frame, wordsOnPage+` > 20`)
	open(t, page, site.URL+"/next")
	close(rest)
	frame = frameOf(t, page, s)
	awaitPage(t, frame, answersOnPage+` === 1 && document.querySelector(".asked p").textContent === "What is on the northern pier?"`)
	if n := evaluate[int](t, frame, wordsOnPage); n != 300 {
		t.Errorf("the answer has %d words, not 300", n)
	}
	if open := evaluate[string](t, page, launcher+`.getAttribute("aria-expanded")`); open != "true" {
		t.Error("the chat is closed on the next page")
	}
	var list struct{ Data []struct{ ID string } }
	if s.call(t, "GET", "/agents/guide/conversations", nil, &list, signed(t, made.Secret, person("ann"))...); len(list.Data) != 1 {
		t.Errorf("ann has the conversations %v", list.Data)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}

	open(t, page, stranger.URL)
	awaitPage(t, page, `!!`+launcher)
	do(t, page, chromedp.Evaluate(`(() => { const frame = `+frameOnPage+`; frame.addEventListener("load", () => window.refused = true); frame.src = frame.src; })()`, nil))
	awaitPage(t, page, `window.refused === true`) // its module would have run before
	if evaluate[bool](t, page, launcher+`.checkVisibility()`) {
		t.Error("a page of an origin that is not listed shows the chat")
	}
}

// TestEmbeddedChatByKeyboard asks by the chat on a page of another origin without a mouse, in the
// colours of that page, closes it, and opens it again.
func TestEmbeddedChatByKeyboard(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	site := foreignSite(t, s, `data-title="Harbour chat" data-lang="de"`)
	s.putPublication(t, map[string]any{"allowedOrigins": []string{site.URL}})
	open(t, page, site.URL+"/themed")
	awaitPage(t, page, launcher+`?.checkVisibility() === true`)
	// Keys are sent to the document that says it has the focus: sent to the page, Chromium without
	// a window now and then leaves them there, though the frame says that it has the focus.
	keys := func(to context.Context, text string) { t.Helper(); do(t, to, chromedp.KeyEvent(text)) }
	keys(page, kb.Tab+kb.Tab) // past the link of the page
	awaitPage(t, page, launcher+` === document.activeElement.shadowRoot?.activeElement && `+launcher+`.getAttribute("aria-label") === "Chat öffnen"`)
	keys(page, kb.Enter)
	frame := frameOf(t, page, s)
	awaitPage(t, frame, `document.hasFocus() && document.activeElement.matches("textarea.question")`)
	keys(frame, "What is on the northern pier?"+kb.Enter)
	awaitPage(t, frame, answersOnPage+` === 1 && document.querySelector(".answer").textContent.includes("lighthouse")`)
	look := evaluate[[]string](t, frame, `(() => { const of = (e) => getComputedStyle(e), send = of(document.querySelector("button.first"));
		return [of(document.body).backgroundColor, send.backgroundColor, send.color, of(document.body).fontFamily, of(document.documentElement).colorScheme]; })()`)
	if want := []string{"rgb(16, 20, 24)", "rgb(255, 200, 80)", "rgb(20, 20, 20)", "Georgia, serif", "dark"}; !slices.Equal(look, want) {
		t.Errorf("the chat has %q, want %q", look, want)
	}
	around := evaluate[[]string](t, page, `[`+frameOnPage+`.title, getComputedStyle(`+launcher+`).backgroundColor, getComputedStyle(`+frameOnPage+`).width]`)
	if !slices.Equal(around, []string{"Harbour chat", "rgb(255, 200, 80)", "320px"}) {
		t.Errorf("the page around it has %q", around)
	}
	wantAccessible(t, frame, axeCore(t))
	wantAccessible(t, page, axeCore(t))
	click(t, frame, `document.querySelector(".citation")`)
	awaitPage(t, frame, `!!document.querySelector("dialog[open] .text")`)
	wantAccessible(t, frame, axeCore(t))
	keys(frame, kb.Escape)
	awaitPage(t, frame, `!document.querySelector("dialog")`)
	if evaluate[bool](t, page, frameOnPage+`.hidden`) {
		t.Error("the key that closes a passage has closed the chat")
	}
	keys(frame, kb.Escape)
	awaitPage(t, page, frameOnPage+`.hidden && `+launcher+` === document.activeElement.shadowRoot?.activeElement`)
	keys(page, kb.Enter)
	awaitPage(t, frame, `document.hasFocus() && document.activeElement.matches("textarea.question")`)
}
