package e2e_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// wantNamed looks for an element by its role and name, as a screen reader does.
func wantNamed(t *testing.T, page context.Context, role, name string) {
	t.Helper()
	type value struct {
		Value any `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored bool  `json:"ignored"`
			Role    value `json:"role"`
			Name    value `json:"name"`
		} `json:"nodes"`
	}
	// The types of chromedp do not know each property of a newer Chromium.
	do(t, page, chromedp.ActionFunc(func(ctx context.Context) error { return cdp.Execute(ctx, "Accessibility.getFullAXTree", nil, &tree) }))
	found := 0
	for _, one := range tree.Nodes {
		if !one.Ignored && one.Role.Value == role && one.Name.Value == name {
			found++
		}
	}
	if found == 0 {
		t.Errorf("a screen reader finds no %s %q", role, name)
	}
}

// TestConsoleNames finds what the pages promise to screen readers by their roles and names. Of two
// answers the last one is the region.
func TestConsoleNames(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.signInto(t, page)
	do(t, page, chromedp.EmulateViewport(1280, 900))
	wantNamed(t, page, "textbox", "Question")
	wantNamed(t, page, "button", "Ask")
	m.ScriptChat(modeltest.Text("There is a lighthouse <source_1>."), modeltest.Text("What is on the northern pier?"), modeltest.Hang())
	askOnPage(t, page, "What is on the northern pier?")
	awaitPage(t, page, answersOnPage+" === 1")
	if left := evaluate[string](t, page, `document.querySelector("textarea.question").value`); left != "" {
		t.Errorf("after the question the field has %q", left)
	}
	wantNamed(t, page, "region", "Answer")
	wantNamed(t, page, "list", "Sources")
	askOnPage(t, page, "What else?")
	awaitPage(t, page, `!!document.querySelector(".answer.live")`)
	wantNamed(t, page, "button", "Stop")
	if regions := evaluate[string](t, page, `[...document.querySelectorAll('[aria-label="Answer"]')].map(one => one.getAttribute("role")).join()`); regions != ",region" {
		t.Errorf("the roles of the answers are %q", regions)
	}
	wantLooks(t, page)
	for path, names := range map[string][][2]string{"/documents": {{"button", "Upload"}, {"table", "Documents"}}, "/runs": {{"table", "Runs"}}} {
		open(t, page, s.ends.API+path)
		awaitPage(t, page, `!!document.querySelector("tbody tr")`)
		for _, one := range names {
			wantNamed(t, page, one[0], one[1])
		}
	}
}
