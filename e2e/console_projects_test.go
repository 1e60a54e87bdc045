package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// setField sets the field of a setting.
func setField(t *testing.T, page context.Context, path, value string) {
	t.Helper()
	field := fmt.Sprintf(`document.getElementById("field-" + %q)`, path)
	awaitPage(t, page, "!!"+field)
	do(t, page, chromedp.Evaluate(fmt.Sprintf(`%s.value = %q`, field, value), nil))
}

// savedProject is a project as the API shows it.
type savedProject struct {
	Name string
	AI   struct {
		Temperature *float64
		Prompt      string
		Retrieval   struct {
			Strategy       string
			NumberOfChunks int
			Compress       bool
		}
		TextSplitter struct{ ChunkSize int }
		Failover     []string
	} `json:"ai"`
	Tools struct{ Custom map[string]any }
}

func (s *server) project(t *testing.T, id string) (found savedProject) {
	t.Helper()
	if status := s.call(t, "GET", "/workspaces/default/projects/"+id, nil, &found); status != http.StatusOK {
		t.Fatalf("project %s: status %d", id, status)
	}
	return found
}

// TestConsoleProjectSettings makes a project, changes its settings, and is refused one.
func TestConsoleProjectSettings(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	s.signInto(t, page)
	do(t, page, chromedp.Click(`nav a[href="/projects"]`, chromedp.ByQuery))
	awaitPage(t, page, `document.querySelectorAll('table[aria-label="Projects"] tbody tr').length === 1`)
	wantLooks(t, page)
	const hostile = `<img src=x onerror=ran=1>`
	do(t, page, chromedp.SendKeys(`main form input`, hostile+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `!!document.querySelector("dialog .once") && !!document.getElementById("field-name")`)
	isText(t, page, hostile)
	press(t, page, "Close")
	id := evaluate[string](t, page, `location.pathname.split("/")[2]`)

	setField(t, page, "ai.retrieval.numberOfChunks", "7")
	setField(t, page, "ai.retrieval.strategy", "bm25")
	setField(t, page, "ai.retrieval.compress", "true")
	setField(t, page, "ai.temperature", "0.5")
	setField(t, page, "tools.custom", `{"lamp": {"type": "automation", "description": "d", "automation": {"url": "https://example.com/", "headers": {"a": "b"}}}}`)
	press(t, page, "Save")
	awaitPage(t, page, `document.querySelector("form [role=status]").textContent.includes("Saved")`)
	got := s.project(t, id)
	if r := got.AI.Retrieval; r.NumberOfChunks != 7 || r.Strategy != "bm25" || !r.Compress || *got.AI.Temperature != .5 || got.Tools.Custom["lamp"] == nil {
		t.Errorf("saved is %+v", got)
	}
	wantLooks(t, page)
	do(t, page, chromedp.Evaluate(`document.querySelector(".fields details").open = true`, nil))
	wantLooks(t, page)

	setField(t, page, "ai.retrieval.numberOfChunks", "500")
	press(t, page, "Save")
	awaitPage(t, page, `document.getElementById("field-ai.retrieval.numberOfChunks-wrong").textContent === "expected number <= 100"`)
	setField(t, page, "ai.retrieval.numberOfChunks", "")
	setField(t, page, "ai.temperature", "")
	setField(t, page, "tools.custom", `{`)
	press(t, page, "Save")
	awaitPage(t, page, `document.getElementById("field-tools.custom-wrong").textContent.includes("JSON")`)
	setField(t, page, "tools.custom", `{}`)
	press(t, page, "Save")
	awaitPage(t, page, `document.getElementById("field-ai.retrieval.numberOfChunks").value === "10"`)
	if got := s.project(t, id); got.AI.Temperature != nil || got.AI.Retrieval.Strategy != "bm25" || len(got.Tools.Custom) > 0 {
		t.Errorf("after it was taken back: %+v", got)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// TestConsoleReindexes changes how documents are cut, and has them cut again.
func TestConsoleReindexes(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	d := s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.signInto(t, page)
	open(t, page, s.ends.API+"/projects/default")
	setField(t, page, "ai.textSplitter.chunkSize", "500")
	press(t, page, "Save")
	awaitPage(t, page, `document.querySelector(".notice")?.textContent.includes("1 documents")`)
	wantLooks(t, page)
	press(t, page, "Reindex")
	press(t, page, "Reindex")
	awaitPage(t, page, `!!document.querySelector(".notice[role=status]")`)
	awaitPage(t, page, fmt.Sprintf(`fetch("/workspaces/default/documents/%s").then(r => r.json()).then(d => d.publishedVersion > %d)`, d.ID, d.PublishedVersion))
}
