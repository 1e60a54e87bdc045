package e2e_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// summary is how the API counts documents by cause.
type summary struct {
	ByCode []struct {
		Code                string
		Count, Acknowledged int
	} `json:"by_code"`
}

// TestConsoleOperations has documents that failed for two causes: those of one are retried
// by a button, and the other one is acknowledged.
func TestConsoleOperations(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	s.publish(t, "before", "The northern pier has a lighthouse.")
	m.ScriptEmbeddings(modeltest.Fail(http.StatusUnauthorized))
	refused := s.upload(t, "refused", "The southern pier has a foghorn.").ID
	await(t, 30*time.Second, "the document fails", func(context.Context) error {
		if d := s.document(t, refused); d.Status != knowledge.StatusError {
			return fmt.Errorf("it is %s", d.Status)
		}
		return nil
	})
	broken := s.sendFiles(t, nil, file{`<img src=x onerror=ran=1>.pdf`, []byte("%PDF-1.7 and nothing else")})[0]
	s.wantFailed(t, broken, knowledge.StageExtract, knowledge.CodeCorrupt)

	s.signInto(t, page)
	do(t, page, chromedp.Click(`nav a[href="/operations"]`, chromedp.ByQuery))
	const failed = `[...document.querySelectorAll('table[aria-label="Failed documents"] tbody tr')].map(r => r.querySelector("strong").textContent + " " + r.lastChild.textContent).sort().join()`
	awaitPage(t, page, failed+` === "corrupt 1,provider_failed 1" && !!document.querySelector('table[aria-label="Machine"]')`)
	if text := evaluate[string](t, page, `document.querySelector("main").textContent`); !strings.Contains(text, "see that the endpoint of the model answers") || !strings.Contains(text, "databaseup") {
		t.Errorf("the page shows %s", text)
	}
	const machine = `[...document.querySelectorAll('table[aria-label="Machine"] tbody tr')].map(r => r.textContent).join("|")`
	for _, want := range []string{"component Tesseract", "sandbox", "memory"} {
		if got := evaluate[string](t, page, machine); !strings.Contains(got, want) {
			t.Errorf("the checks of the machine have no %s: %s", want, got)
		}
	}
	wantLooks(t, page)
	press(t, page, "Retry all: provider_failed")
	awaitPage(t, page, failed+` === "corrupt 1"`)
	await(t, 30*time.Second, "the retried document is published", func(context.Context) error {
		if d := s.document(t, refused); d.Status != knowledge.StatusPublished {
			return fmt.Errorf("it is %s", d.Status)
		}
		return nil
	})
	press(t, page, "Acknowledge: corrupt")
	awaitPage(t, page, `document.querySelector("main").textContent.includes("No failed document needs you.")`)
	var now summary
	s.call(t, "GET", "/workspaces/default/documents/summary", nil, &now)
	if len(now.ByCode) != 1 || now.ByCode[0].Code != "corrupt" || now.ByCode[0].Count != 0 || now.ByCode[0].Acknowledged != 1 {
		t.Errorf("the API counts %+v", now)
	}
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// TestConsoleShowsAModelThatIsAway has an endpoint that takes no requests, and then does.
func TestConsoleShowsAModelThatIsAway(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	l := newLimiter(t, m.URL())
	s := start(t, at(l.url)...)
	s.publish(t, "before", "The northern pier has a lighthouse.")
	l.on.Store(true)
	id := s.upload(t, "waiting", "The southern pier has a foghorn.").ID
	s.signInto(t, page)
	open(t, page, s.ends.API+"/operations")
	const cause = `document.querySelector('table[aria-label="Waiting documents"] tbody tr')?.textContent ?? ""`
	awaitPage(t, page, `(`+cause+`).includes("provider_failed")`)
	await(t, time.Minute, "the document names the cause that the page shows", func(context.Context) error {
		waiting, shown := s.document(t, id).Waiting, evaluate[string](t, page, cause)
		if waiting == nil || !strings.Contains(shown, waiting.Message) {
			return fmt.Errorf("the page shows %q, the API %+v", shown, waiting)
		}
		return nil
	})
	endpoint := evaluate[string](t, page, `document.querySelector('table[aria-label="Model endpoints"] tbody').textContent`)
	if host := strings.TrimPrefix(strings.TrimSuffix(l.url, "/v1"), "http://"); !strings.Contains(endpoint, "embedding "+host+"failed") {
		t.Errorf("the endpoint is shown as %q", endpoint)
	}
	wantLooks(t, page)
	open(t, page, s.ends.API+"/documents/"+id)
	awaitPage(t, page, `[...document.querySelectorAll("button")].some(one => one.textContent === "Try now")`)
	open(t, page, s.ends.API+"/operations")
	awaitPage(t, page, `(`+cause+`).includes("provider_failed")`)
	l.on.Store(false)
	press(t, page, "Try now: provider_failed")
	awaitPage(t, page, `document.querySelector("main").textContent.includes("No document waits.") && !document.querySelector(".counts .pending")`)
	if d := s.document(t, id); d.Status != knowledge.StatusPublished {
		t.Errorf("it is %s", d.Status)
	}
}

// TestConsoleUsage asks questions for two people, and reads who used how much.
func TestConsoleUsage(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_MODELS__CURRENCY=EUR", "CAIRN_MODELS__PRICES__0__MODEL="+modeltest.ModelName, "CAIRN_MODELS__PRICES__0__INPUT=1000", "CAIRN_MODELS__PRICES__0__OUTPUT=2000")...)
	thrown := thrownIn(page)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	for _, user := range []string{"ann", "ann", `<img src=x onerror=ran=1>`} {
		if status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": "What is on the northern pier?", "external_user_id": user}, nil); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
	}
	s.signInto(t, page)
	open(t, page, s.ends.API+"/usage?by=user")
	const rows = `[...document.querySelectorAll('table[aria-label="Usage"] tbody tr')].map(r => [...r.cells].slice(0, 3).map(c => c.textContent).join(" ")).sort().join("|")`
	awaitPage(t, page, rows+` === "<img src=x onerror=ran=1> 1 0|ann 2 0|belongs to none 0 1"`)
	const shown = `({
		chart: document.querySelector('svg[role="img"] title').textContent, means: document.querySelector('svg[role="img"] desc').textContent.split(" ")[0],
		bars: document.querySelectorAll("svg rect").length, table: document.querySelector('table[aria-label="Questions per day"] tbody').rows[0].cells[1].textContent,
		ran: String(window.ran ?? document.querySelectorAll("main img").length)})`
	want := map[string]any{"chart": "Questions per day", "means": "3", "bars": 4.0, "table": "3", "ran": "0"}
	if got := evaluate[map[string]any](t, page, shown); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the page shows %v, want %v", got, want)
	}
	s.wantCosts(t, page)
	wantLooks(t, page)
	do(t, page, chromedp.Evaluate(`(() => { const whose = document.querySelectorAll(".period select")[1]; whose.value = [...whose.options].find(o => o.textContent === "ann").value; whose.dispatchEvent(new Event("change")); })()`, nil))
	awaitPage(t, page, `document.querySelector('table[aria-label="Questions per day"] tbody').rows[0].cells[1].textContent === "2"`)
	do(t, page, chromedp.Evaluate(`(() => { const by = document.querySelector(".period select"); by.value = "project"; by.dispatchEvent(new Event("change")); })()`, nil))
	awaitPage(t, page, rows+` === "All projects 3 0|default 0 1" && location.search.startsWith("?by=project&from=")`)

	var reader struct{ Key string }
	s.call(t, "POST", "/workspaces/default/keys", map[string]any{"name": "reader", "scopes": []string{"read"}}, &reader)
	evaluate[int](t, page, `fetch("/auth/session", {method: "DELETE"}).then(r => r.status)`)
	do(t, page, chromedp.Reload())
	do(t, page, chromedp.SendKeys(`dialog input`, reader.Key+kb.Enter, chromedp.ByQuery))
	awaitPage(t, page, `(document.querySelector('main [role="alert"]')?.textContent ?? "").includes("permission usage.read")`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
}

// wantCosts compares the costs on the page of the usage, on that of a run and in the API with
// those of the tokens, at the prices of TestConsoleUsage.
func (s *server) wantCosts(t *testing.T, page context.Context) {
	t.Helper()
	var usage struct {
		Currency string
		Data     []struct {
			Total struct {
				PromptTokens     float64 `json:"prompt_tokens"`
				CompletionTokens float64 `json:"completion_tokens"`
				EmbeddingTokens  float64 `json:"embedding_tokens"`
				Cost             float64
			}
		}
	}
	s.call(t, "GET", "/workspaces/default/usage?by=project", nil, &usage)
	all := 0.0
	for _, one := range usage.Data {
		want := (one.Total.PromptTokens+one.Total.EmbeddingTokens)/1000 + one.Total.CompletionTokens/500
		if all += want; math.Abs(one.Total.Cost-want) > 1e-6 {
			t.Errorf("the cost is %v, want %v", one.Total.Cost, want)
		}
	}
	if usage.Currency != "EUR" || all == 0 {
		t.Errorf("the cost is %v %s", all, usage.Currency)
	}
	const day = `document.querySelector('table[aria-label="Cost per day"] tbody').rows[0].cells[1].textContent`
	if got, want := evaluate[string](t, page, day), fmt.Sprintf("€%.2f", all); got != want {
		t.Errorf("the page shows %s, want %s", got, want)
	}
	var runs struct {
		Data []struct {
			Usage struct {
				Cost     float64
				Currency string
			}
		}
	}
	s.call(t, "GET", "/workspaces/default/runs?kind=query", nil, &runs)
	if len(runs.Data) != 3 || runs.Data[0].Usage.Cost <= 0 || runs.Data[0].Usage.Currency != "EUR" {
		t.Errorf("the runs are %+v", runs.Data)
	}
}
