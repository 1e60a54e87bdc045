package workflows_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/websearch"
	"github.com/cairn-rag/cairn/workflows"
)

// smallWeb is a web of two pages, of which one cannot be read. It fails for queries with
// the word fail.
type smallWeb struct{}

const (
	readable   = "https://pumps.example/hx-4?a=1&b=2"
	unreadable = "https://broken.example/hx-4"
)

func (smallWeb) Search(_ context.Context, q websearch.Query) ([]websearch.Result, error) {
	if strings.Contains(q.Text, "fail") {
		return nil, knowledge.Errorf(knowledge.CodeProviderFailed, "the search engine did not answer")
	}
	return []websearch.Result{
		{Title: "Broken", URL: unreadable, Snippet: "The HX-4 pump costs nothing.", Score: 1},
		{Title: `The "HX-4"`, URL: readable, Snippet: "The HX-4 pump costs 90 euros.", Score: 0.5},
	}, nil
}

func (smallWeb) Read(_ context.Context, addresses []string, _ func(*url.URL) bool) []scrape.Page {
	pages := make([]scrape.Page, 0, len(addresses))
	for _, address := range addresses {
		page := scrape.Page{URL: address, Failure: scrape.FailureFetch}
		if address == readable {
			page = scrape.Page{URL: address, Text: "The HX-4 pump costs 90 euros, and is sold in Bremen."}
		}
		pages = append(pages, page)
	}
	return pages
}

// failingRetriever fails for queries with the word seals.
type failingRetriever struct{ answering.Retriever }

func (r failingRetriever) Retrieve(ctx context.Context, q retrieve.Request) (retrieve.Result, error) {
	if strings.Contains(q.Query, "seals") {
		return retrieve.Result{}, knowledge.Errorf(knowledge.CodeProviderFailed, "the index did not answer")
	}
	return r.Retriever.Retrieve(ctx, q)
}

// newWebResearchTest is newResearchTest with the small web.
func newWebResearchTest(t *testing.T) *researchTest {
	t.Helper()
	test := &researchTest{loopTest: newLoopTest(t)}
	test.env = newEnvironment()
	acts := test.activities(func(d *answering.Dependencies) {
		d.Workflows, d.Web, d.Pages = logByID{env: test.env}, smallWeb{}, smallWeb{}
		d.Retriever = failingRetriever{d.Retriever}
	})
	test.env.RegisterActivity(acts.Activities)
	test.env.RegisterWorkflow(workflows.RunLog)
	test.env.RegisterWorkflow(workflows.ResearchQuestion)
	test.publish("pump", []string{"The HX-4 pump weighs 12 kg."})
	return test
}

// researchWeb runs the workflow for a project with web_search.
func (test *researchTest) researchWeb(web knowledge.WebSearchConfig) {
	test.Helper()
	request := test.request("What is to know of the pump?", knowledge.ResearchConfig{Depth: 1})
	request.Config.Tools.WebSearch = &web
	_, err := test.blobs.PutJSON(test.Context(), test.run.RequestKey(), request)
	test.must(err)
	test.env.ExecuteWorkflow(workflows.DeepResearch, workflows.NewResearchInput(record.NewAnswerInput(test.run, request)))
	test.must(test.env.GetWorkflowError())
}

func notesOf(text string, sources ...int) modeltest.Reply {
	return forced("take_notes", map[string]any{"notes": []any{map[string]any{"text": text, "sources": sources}}, "missing": ""})
}

func TestDeepResearchOnTheWeb(t *testing.T) {
	t.Parallel()

	t.Run("cites pages that were read beside documents, and no others", func(t *testing.T) {
		t.Parallel()
		test := newWebResearchTest(t)
		test.server.ScriptChat(
			plan("What does the HX-4 pump cost?"), notesOf("It is heavy and costs money.", 1, 2, 3), outline("Price"),
			modeltest.Text(`It weighs 12 kg <source_1> and costs 90 euros <source_2>, or nothing <source_3> <web_citation url="`+unreadable+`" title="Broken">[3]</web_citation>.`))
		test.researchWeb(knowledge.WebSearchConfig{Scrape: true})
		run, answer, shown, updates := test.outcome()
		if run.Status != knowledge.RunCompleted || shown != answer.Answer {
			t.Fatalf("%s, %+v; shown:\n%s\nstored:\n%s", run.Status, run.Error, shown, answer.Answer)
		}
		cited := `costs 90 euros <web_citation url="https://pumps.example/hx-4?a=1&amp;b=2" title="The &#34;HX-4&#34;">[2]</web_citation>, or nothing.`
		if !strings.Contains(shown, cited) || !strings.Contains(shown, `12 kg <citation id="`) || strings.Contains(shown, "broken") {
			t.Errorf("the report is\n%s", shown)
		}
		if len(answer.Sources) != 2 || answer.Sources[1].Page == nil || answer.Sources[1].Page.URL != readable || answer.Sources[1].Page.Text != "" || !answer.Sources[1].Used {
			t.Errorf("the sources are %+v", answer.Sources)
		}
		if prompted := fmt.Sprint(test.server.Requests()); !strings.Contains(prompted, "sold in Bremen") || strings.Contains(prompted, "costs nothing") {
			t.Errorf("the model read %s", prompted)
		}
		pages := 0
		for _, u := range updates {
			if u.Phase == "web" && u.Status == "completed" && u.Found != nil && len(u.Searches) == 2 {
				pages += *u.Found
			}
		}
		if pages != 1 {
			t.Errorf("%d pages in %+v", pages, updates)
		}
	})

	t.Run("reads the pages also where the project does not have them read", func(t *testing.T) {
		t.Parallel()
		test := newWebResearchTest(t)
		test.server.ScriptChat(plan("What does the HX-4 pump cost?"), notesOf("It costs money.", 2, 3), outline("Price"), modeltest.Text(`It costs 90 euros <source_2> or nothing <source_3>.`))
		test.researchWeb(knowledge.WebSearchConfig{})
		_, _, shown, _ := test.outcome()
		if !strings.Contains(shown, `90 euros <web_citation url="https://pumps.example/hx-4?a=1&amp;b=2"`) || strings.Contains(shown, "broken") {
			t.Errorf("the report is\n%s", shown)
		}
		if prompted := fmt.Sprint(test.server.Requests()); !strings.Contains(prompted, "sold in Bremen") || strings.Contains(prompted, "costs nothing") {
			t.Errorf("the model read %s", prompted)
		}
	})

	t.Run("names the part whose every search fails, and where one failed", func(t *testing.T) {
		t.Parallel()
		test := newWebResearchTest(t)
		test.server.ScriptChat(
			forced("plan_research", map[string]any{"questions": []any{
				map[string]any{"question": "Why do its seals fail?", "queries": []string{}},
				map[string]any{"question": "What does the HX-4 pump cost?", "queries": []string{"failing pumps"}},
			}}),
			notesOf("It weighs 12 kg.", 1), outline("Weight"), modeltest.Text(`It weighs 12 kg <source_1>.`))
		test.researchWeb(knowledge.WebSearchConfig{Scrape: true})
		run, _, shown, _ := test.outcome()
		if run.Status == knowledge.RunCompleted {
			t.Logf("the report is\n%s", shown)
		}
		for _, part := range []string{
			"- Failed: Why do its seals fail? (the index did not answer)", "- Not searched on the web: Why do its seals fail? (the search engine did not answer)",
			"- Not searched on the web: What does the HX-4 pump cost? (the search engine did not answer)",
		} {
			if !strings.Contains(shown, part) {
				t.Errorf("%s, %+v: the report has no %q:\n%s", run.Status, run.Error, part, shown)
			}
		}
	})
}

// TestDeepResearchFailover has the first model fail every call.
func TestDeepResearchFailover(t *testing.T) {
	t.Parallel()
	test := &researchTest{loopTest: newLoopTest(t)}
	test.env = newEnvironment()
	second := modeltest.New(modeltest.Options{})
	t.Cleanup(second.Close)
	acts := test.activities(func(d *answering.Dependencies) {
		d.Workflows, d.Failover = logByID{env: test.env}, []step.Chat{model.New(second.Endpoint(), nil)}
	})
	test.env.RegisterActivity(acts.Activities)
	test.env.RegisterWorkflow(workflows.RunLog)
	test.env.RegisterWorkflow(workflows.ResearchQuestion)
	test.publish("pump", []string{"The HX-4 pump weighs 12 kg."})
	test.server.ScriptChat(modeltest.Fail(503), modeltest.Fail(503), modeltest.Fail(503), modeltest.Fail(503))
	second.ScriptChat(plan("How heavy is the HX-4 pump?"), notes("It is heavy."), outline("Weight"), modeltest.Text("It weighs 12 kg <source_1>."))
	test.research("What is to know of the pump?", knowledge.ResearchConfig{Depth: 1})
	run, answer, shown, _ := test.outcome()
	if run.Status != knowledge.RunCompleted || shown != answer.Answer || !strings.Contains(shown, "It weighs 12 kg <citation id=") {
		t.Errorf("%s, %+v; shown:\n%s", run.Status, run.Error, shown)
	}
	var log stream.StoredLog
	test.must(test.blobs.GetJSON(t.Context(), run.LogKey, &log))
	failures := 0
	for _, item := range log.Items {
		if item.Topic == stream.TopicModelFailed {
			failures++
		}
	}
	if first, then := test.server.Totals().Chats.Asked, second.Totals().Chats.Asked; first != 4 || then != 4 || failures != 4 {
		t.Errorf("%d calls at the first model, %d at the second, %d events", first, then, failures)
	}
}
