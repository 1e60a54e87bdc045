package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// answersOnPage is JavaScript for the number of answers that are complete.
const answersOnPage = `document.querySelectorAll('[aria-label="Answer"]:not(.live)').length`

// TestConsoleAttaches drops a file on the page to ask on, and asks about it.
func TestConsoleAttaches(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	s.signInto(t, page)
	do(t, page, chromedp.Evaluate(`(() => {
		const dropped = new DataTransfer();
		dropped.items.add(new File(["The harbour master of Drumlin Quay is called Petrosyan."], "<b>master<b>.txt"));
		document.querySelector(".ask").dispatchEvent(new DragEvent("drop", {dataTransfer: dropped, cancelable: true, bubbles: true}));
	})()`, nil))
	awaitPage(t, page, `document.querySelector(".chips")?.textContent.includes("<b>master<b>.txt")`)
	askOnPage(t, page, "Who is the harbour master of Drumlin Quay?")
	awaitPage(t, page, answersOnPage+` === 1 && document.querySelector(".words").textContent.includes("Petrosyan")`)
	if left := evaluate[int](t, page, `document.querySelectorAll(".chips li").length`); left != 0 {
		t.Errorf("%d files stay in the form", left)
	}
	var list struct{ Data []struct{ ID string } }
	s.call(t, "GET", "/workspaces/default/conversations", nil, &list)
	var attached struct{ Data []struct{ Name string } }
	s.call(t, "GET", "/workspaces/default/conversations/"+list.Data[0].ID+"/attachments", nil, &attached)
	if len(attached.Data) != 1 || attached.Data[0].Name != "<b>master<b>.txt" {
		t.Errorf("attached are %+v", attached.Data)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// TestConsoleRatesAndRenames rates an answer, and finds the rating after a reload; it
// renames the conversation, changes a question and deletes it all.
func TestConsoleRatesAndRenames(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	s.signInto(t, page)
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, answersOnPage+" === 1")
	press(t, page, "Bad answer")
	do(t, page, chromedp.SendKeys(`.feedback textarea:first-child`, "the wrong pier", chromedp.ByQuery))
	press(t, page, "Send")
	awaitPage(t, page, `!document.querySelector(".feedback")`)
	var runs struct{ Data []struct{ ID string } }
	s.call(t, "GET", "/workspaces/default/runs?kind=query", nil, &runs)
	var given struct {
		Data []struct{ Rating, Comment string }
	}
	s.call(t, "GET", "/workspaces/default/runs/"+runs.Data[0].ID+"/feedback", nil, &given)
	if len(given.Data) != 1 || given.Data[0].Rating != "down" || given.Data[0].Comment != "the wrong pier" {
		t.Errorf("stored is %+v", given.Data)
	}
	do(t, page, chromedp.Reload())
	awaitPage(t, page, `document.querySelector('[aria-pressed="true"]')?.textContent === "Bad answer"`)
	wantLooks(t, page)

	click(t, page, `document.querySelector('[aria-label^="Rename the conversation"]')`)
	awaitPage(t, page, `document.activeElement.matches("dialog input")`)
	do(t, page, chromedp.SendKeys(`dialog input`, kb.End+" <i>again</i>"+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `!document.querySelector("dialog") && document.querySelector(".conversations li").textContent.includes("<i>again</i>")`)
	press(t, page, "Edit")
	if text := evaluate[string](t, page, `document.querySelector("textarea.question").value`); text != "What is on the northern pier?" {
		t.Errorf("to be changed is %q", text)
	}
	click(t, page, `document.querySelector('[aria-label^="Delete the conversation"]')`)
	awaitPage(t, page, `!!document.querySelector("dialog")`)
	press(t, page, "Delete")
	awaitPage(t, page, `location.pathname === "/ask" && document.querySelectorAll(".conversations li").length === 0`)
}

// TestConsoleQueuesAndShares asks a second question before the first is answered, and sees
// both on another tab with their questions.
func TestConsoleQueuesAndShares(t *testing.T) {
	t.Parallel()
	page := browser(t)
	told := make(chan struct{})
	slow := modeltest.Reply{Text: strings.TrimSpace(strings.Repeat("word ", 300)), Until: told}
	m := standIn(t, always(slow))
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	s.signInto(t, page)
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, `document.querySelectorAll(".answer.live").length === 1 && location.pathname !== "/ask"`)
	askOnPage(t, page, "What is on the southern pier?")
	awaitPage(t, page, `document.querySelectorAll(".answer.live").length === 2 && document.querySelectorAll(".phase")[1].textContent.startsWith("Waits")`)

	other := otherTab(t, page)
	open(t, other, evaluate[string](t, page, `location.href`))
	inFront(t, other)
	const asked = `[...document.querySelectorAll(".asked p")].map(p => p.textContent).join("|")`
	const both = "What is on the northern pier?|What is on the southern pier?"
	awaitPage(t, other, asked+fmt.Sprintf(" === %q", both))
	close(told)
	for _, tab := range []context.Context{other, page} {
		inFront(t, tab)
		awaitPage(t, tab, answersOnPage+" === 2")
		wantSame(t, "the questions", evaluate[string](t, tab, asked), both)
		wantSame(t, "the second answer", evaluate[string](t, tab, `document.querySelectorAll(".words")[1].textContent`), slow.Text)
	}
}

// TestConsoleShowsThePassage points at a citation, and looks for words in the cited document.
func TestConsoleShowsThePassage(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	s.publish(t, "lights", "# Piers\n\n| Pier | Has |\n| --- | --- |\n| northern | a lighthouse |\n| southern | a foghorn |\n")
	s.signInto(t, page)
	askOnPage(t, page, "What does the southern pier have?")
	awaitPage(t, page, `!!document.querySelector('[aria-label="Answer"]:not(.live) .citation')`)
	do(t, page, chromedp.Evaluate(`document.querySelector(".citation").focus()`, nil))
	awaitPage(t, page, `document.querySelector(".peek")?.textContent.includes("foghorn")`)
	do(t, page, chromedp.KeyEvent(kb.Enter))
	awaitPage(t, page, `!document.querySelector(".peek") && document.querySelector(".panel table")?.textContent.includes("foghorn")`)
	if row := evaluate[string](t, page, `document.querySelector(".panel .marked")?.textContent ?? ""`); !strings.Contains(row, "foghorn") || strings.Contains(row, "lighthouse") {
		t.Errorf("marked is %q", row)
	}
	do(t, page, chromedp.SendKeys(`.find input`, "lighthouse", chromedp.ByQuery))
	awaitPage(t, page, `document.querySelector(".find [role=status]").textContent === "1 of 1"`)
	wantLooks(t, page)
}

// TestConsoleSteers adds words to a question while its answer is under way, and finds them
// after a reload.
func TestConsoleSteers(t *testing.T) {
	t.Parallel()
	page := browser(t)
	told := make(chan struct{})
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	m.ScriptChat(longReply(), modeltest.Reply{Text: "A lighthouse. <source_1>", Until: told})
	thrown := thrownIn(page)
	s.signInto(t, page)
	askOnPage(t, page, "What is on the piers?")
	awaitPage(t, page, `(document.querySelector(".words")?.textContent ?? "").includes("word")`)
	do(t, page, chromedp.SendKeys(`textarea.question`, "Only <i>the northern</i> one", chromedp.ByQuery))
	wantLooks(t, page)
	press(t, page, "Steer the answer")
	const added = `[...document.querySelectorAll(".asked p")].map(p => p.textContent).join("|")`
	const both = "What is on the piers?|Only <i>the northern</i> one"
	awaitPage(t, page, added+fmt.Sprintf(" === %q", both)+` && document.querySelector(".words").textContent === "" && document.querySelector("textarea.question").value === ""`)
	close(told)
	awaitPage(t, page, answersOnPage+` === 1 && document.querySelector(".words").textContent.startsWith("A lighthouse.")`)
	if left := evaluate[bool](t, page, `[...document.querySelectorAll(".composer button")].some(b => ["Steer the answer", "Stop"].includes(b.textContent) && b.checkVisibility())`); left {
		t.Error("the form still offers to steer")
	}
	do(t, page, chromedp.Reload())
	awaitPage(t, page, answersOnPage+` === 1 && `+added+fmt.Sprintf(" === %q", both)+` && document.querySelectorAll(".added").length === 1`)
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}
