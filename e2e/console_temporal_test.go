package e2e_test

import (
	"fmt"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// workflowOnPage is JavaScript for the address to which the page of a run leads for its workflow.
const workflowOnPage = `[...document.querySelectorAll(".facts dt")].find(one => one.textContent === "In Temporal")?.nextElementSibling.querySelector("a")?.href ?? ""`

// TestConsoleLeadsToTheWorkflow follows the links of a question and of both ingests of a
// document into Temporal's UI, and finds there the execution that Temporal's own client names.
func TestConsoleLeadsToTheWorkflow(t *testing.T) {
	t.Parallel()
	page := browser(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	document := s.publish(t, "lights", "The northern pier has a lighthouse.")
	id := "ingest/default/" + document.ID
	s.awaitClosed(t, id)
	first := s.execution(t, id)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	s.awaitClosed(t, id)
	second := s.execution(t, id)
	m.ScriptChat(modeltest.Hang())
	asked := s.query(t, "What is on the northern pier?").run
	ingests := s.runsOf(t, "ingest")
	if first == second || len(ingests) != 2 {
		t.Fatalf("the ingests %v are executions %s and %s", ingests, first, second)
	}
	s.signInto(t, page)
	for _, test := range []struct{ run, workflow, execution string }{
		{asked, "query/default/" + asked, s.execution(t, "query/default/"+asked)}, {ingests[0], id, second}, {ingests[1], id, first},
	} {
		open(t, page, s.ends.API+"/runs/"+test.run)
		awaitPage(t, page, `!!document.querySelector(".facts dt")`)
		address := evaluate[string](t, page, workflowOnPage)
		open(t, page, address)
		awaitPage(t, page, fmt.Sprintf(`decodeURIComponent(decodeURIComponent(location.pathname)).includes("/workflows/%s/") && location.pathname.includes(%q) && document.body.innerText.includes(%q)`, test.workflow, test.execution, test.execution))
	}
}

// execution returns the run id that Temporal has for the newest execution of a workflow.
func (s *server) execution(t *testing.T, workflow string) string {
	t.Helper()
	found, err := s.operator(t).DescribeWorkflowExecution(t.Context(), workflow, "")
	if err != nil {
		t.Fatal(err)
	}
	return found.GetWorkflowExecutionInfo().GetExecution().GetRunId()
}

// TestConsoleLeadsNowhereWithoutTemporalsUI opens the page of a run of a cluster that has no
// UI of Temporal: it names the workflow without a link.
func TestConsoleLeadsNowhereWithoutTemporalsUI(t *testing.T) {
	t.Parallel()
	page := browser(t)
	c := startCluster(t, "CAIRN_TEMPORAL__UI_URL=")
	c.migrate()
	_, s := c.api()
	c.worker()
	document := s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.signInto(t, page)
	open(t, page, s.ends.API+"/runs/"+s.runsOf(t, "ingest")[0])
	awaitPage(t, page, `document.querySelector(".facts")?.textContent.includes("ingest/default/`+document.ID+`")`)
	if address := evaluate[string](t, page, workflowOnPage); address != "" {
		t.Errorf("the page leads to %s", address)
	}
	open(t, page, s.ends.API+"/documents/"+document.ID)
	awaitPage(t, page, `!!document.querySelector(".facts dd") && !!document.querySelector(".happened .run")`)
	if links := evaluate[int](t, page, `[...document.querySelectorAll("main a")].filter(one => one.href.includes("/namespaces/") || one.getAttribute("href") === "").length`); links > 0 {
		t.Errorf("the page of the document has %d links to it", links)
	}
}
