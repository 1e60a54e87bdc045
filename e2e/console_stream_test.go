package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestConsoleSpeaksWholeSentences records what screen readers are told while an answer comes: each
// of its sentences, whole and once.
func TestConsoleSpeaksWholeSentences(t *testing.T) {
	t.Parallel()
	page := browser(t)
	told := []string{"The northern pier has a lamp.", "Does the southern pier have a horn?", "It does!", "Ships pass by day", "and by night"}
	text := told[0] + " " + told[1] + " " + told[2] + " " + told[3] + "\n\n" + told[4]
	m := standIn(t, always(modeltest.Reply{Text: text, TokenDelay: 60 * time.Millisecond}))
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.signInto(t, page)
	do(t, page, chromedp.Evaluate(`window.heard = []; new MutationObserver(() => heard.push(document.getElementById("said").textContent)).observe(document.getElementById("said"), {childList: true, characterData: true, subtree: true})`, nil))
	askOnPage(t, page, "What is on the piers?")
	awaitPage(t, page, `document.querySelector(".words")?.ariaBusy === "true"`)
	awaitPage(t, page, answersOnPage+` === 1 && !document.querySelector(".words").ariaBusy`)
	const heard = `heard.filter(one => one && !/^(Ask|Asking)/.test(one))`
	if got := evaluate[[]string](t, page, heard); len(got) < 2 || strings.Join(got, " ") != strings.Join(told, " ")+" The answer is complete." {
		t.Errorf("screen readers were told %q", got)
	}
}

// TestConsolePeeksNoLonger points at a citation of an answer that is still coming, whose words are
// drawn anew: what was shown of the passage goes when the pointer leaves.
func TestConsolePeeksNoLonger(t *testing.T) {
	t.Parallel()
	page := browser(t)
	rest := make(chan struct{})
	m := standIn(t, always(modeltest.Reply{Text: "There is a lighthouse <source_1>. " + strings.Repeat("It is lit. ", 40), TokenDelay: 5 * time.Millisecond, Rest: rest}))
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.signInto(t, page)
	askOnPage(t, page, "What is on the piers?")
	awaitPage(t, page, `document.querySelector(".answer.live .citation:not(:disabled)") && document.querySelector(".words").textContent.includes("It is lit. It is lit.")`)
	at := evaluate[[]float64](t, page, `(() => { const at = document.querySelector(".citation").getBoundingClientRect(); return [at.left + at.width / 2, at.top + at.height / 2]; })()`)
	do(t, page, chromedp.MouseEvent("mouseMoved", at[0], at[1]))
	awaitPage(t, page, `document.querySelector(".peek")?.textContent.includes("lighthouse")`)
	close(rest)
	awaitPage(t, page, answersOnPage+" === 1")
	do(t, page, chromedp.MouseEvent("mouseMoved", 1, 1))
	awaitPage(t, page, `!document.querySelector(".peek")`)
}
