package e2e_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsoleSearchesConversations finds conversations by words of their answers, among more
// than the list shows at once.
func TestConsoleSearchesConversations(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown := thrownIn(page)
	for _, answer := range []string{"A <b>LIGHTHOUSE</b> is there.", "A foghorn is there."} {
		m.ScriptChat(modeltest.Text(answer))
		if status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": "What is on the pier?"}, nil); status != http.StatusOK {
			t.Fatalf("query: status %d", status)
		}
	}
	for i := range 60 {
		if status := s.call(t, "POST", "/workspaces/default/conversations", map[string]any{"title": fmt.Sprintf("Note %d", i)}, nil); status != http.StatusCreated {
			t.Fatalf("make a conversation: status %d", status)
		}
	}
	s.signInto(t, page)
	do(t, page, chromedp.EmulateViewport(1280, 900)) // on less, the list is folded
	const listed = `[...document.querySelectorAll('ul[aria-label="Conversations"] a')].map(a => a.textContent)`
	awaitPage(t, page, listed+`.length === 50`)
	do(t, page, chromedp.SendKeys(`input[aria-label="Search conversations"]`, "lightho", chromedp.ByQuery))
	awaitPage(t, page, listed+`.join() === "What is on the pier?"`)
	click(t, page, `document.querySelector('ul[aria-label="Conversations"] a')`)
	awaitPage(t, page, `document.querySelector(".words")?.textContent.includes("LIGHTHOUSE")`)

	do(t, page, chromedp.SendKeys(`input[aria-label="Search conversations"]`, "note 5", chromedp.ByQuery))
	awaitPage(t, page, listed+`.length === 11 && `+listed+`.every(t => t.startsWith("Note 5"))`)
	do(t, page, chromedp.SendKeys(`input[aria-label="Search conversations"]`, "x", chromedp.ByQuery))
	awaitPage(t, page, listed+`.length === 0 && document.querySelector(".conversations").textContent.includes("No conversation has these words.")`)
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
