package e2e_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// moving is JavaScript for what moves on a page: animations and transitions in the styles of
// its elements, those that run, scrolling that glides, and bars that move without end.
const moving = `(() => {
	const found = [];
	for (const one of document.querySelectorAll("*")) for (const part of [null, "::before", "::after", "::backdrop"]) {
		const style = getComputedStyle(one, part);
		if (style.animationName !== "none" || style.transitionDuration.split(",").some(time => parseFloat(time) > 0) || style.scrollBehavior === "smooth") found.push(one.tagName + "." + one.className + (part ?? ""));
	}
	for (const bar of document.querySelectorAll("progress:indeterminate")) if (getComputedStyle(bar).appearance !== "none") found.push("progress");
	return [...found, ...document.getAnimations().map(one => one.animationName ?? "transition")];
})()`

func emulateMotion(preferred string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: preferred}})
}

// TestConsoleMovesNothing opens every page with a system that wants no motion, also while an
// answer and an upload are under way: nothing moves there.
func TestConsoleMovesNothing(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.putPublication(t, nil)
	m.ScriptEmbeddings(modeltest.Hang())
	waits := s.upload(t, "waits", "The southern pier has a foghorn.")
	m.ScriptChat(modeltest.Hang())
	s.signInto(t, page)
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, `!!document.querySelector(".answer.live .phase") && location.pathname !== "/ask"`)
	do(t, page, emulateMotion("no-preference"))
	if control := evaluate[[]string](t, page, moving); len(control) == 0 {
		t.Error("nothing moves where motion is wanted, so that the test sees nothing")
	}
	do(t, page, emulateMotion("reduce"))
	wantStill(t, page, "the answer")
	run := s.runsOf(t, "query")[0]
	for _, path := range []string{
		"/ask", "/documents", "/documents?status=pending", "/documents/" + waits.ID, "/runs", "/runs/" + run, "/imports", "/syncs", "/evaluations", "/evaluations/sets", "/evaluations/new", "/evaluations/compare", "/evaluations/insights",
		"/projects", "/projects/default", "/projects/default/privacy", "/projects/default/try", "/projects/default/publication", "/projects/default/webhooks", "/projects/default/secrets", "/projects/default/keys", "/projects/default/code", "/projects/default/danger",
		"/keys", "/members", "/roles", "/grants", "/holds", "/retention", "/audit", "/operations", "/usage", "/agents/guide",
	} {
		open(t, page, s.ends.API+path)
		awaitPage(t, page, `!!document.querySelector("main > * > *") && !document.querySelector("main .problem")`)
		wantStill(t, page, path)
	}
	open(t, page, s.ends.API+"/documents")
	awaitPage(t, page, `!!document.querySelector("table progress")`)
	do(t, page, chromedp.Evaluate(`document.querySelector("table progress").removeAttribute("value")`, nil))
	wantStill(t, page, "a bar without an end")
	press(t, page, "Add an address or a text")
	awaitPage(t, page, `!!document.querySelector("dialog textarea")`)
	wantStill(t, page, "a dialog")
}

// wantStill checks that nothing moves on the page.
func wantStill(t *testing.T, page context.Context, name string) {
	t.Helper()
	if found := evaluate[[]string](t, page, moving); len(found) > 0 {
		t.Errorf("%s: there move %q", name, found)
	}
}

// runsOf returns the ids of the runs of a kind, newest first.
func (s *server) runsOf(t *testing.T, kind string) (ids []string) {
	t.Helper()
	var list struct{ Data []struct{ ID string } }
	s.call(t, "GET", "/workspaces/default/runs?kind="+kind, nil, &list)
	for _, one := range list.Data {
		ids = append(ids, one.ID)
	}
	return ids
}
