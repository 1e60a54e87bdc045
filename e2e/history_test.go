package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdk "go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// history reads the history of a workflow with Temporal's own client.
func (s *server) history(t *testing.T, workflow string) *historypb.History {
	t.Helper()
	h := &historypb.History{}
	events := s.operator(t).GetWorkflowHistory(t.Context(), workflow, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
	return h
}

var encoded = regexp.MustCompile(`"data":"([A-Za-z0-9+/=]+)"`)

// plain returns all text of a history: every payload as it is, and the items of
// the event log decoded.
func plain(t *testing.T, h *historypb.History) string {
	t.Helper()
	raw, err := proto.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	all.Write(raw)
	for _, match := range encoded.FindAllSubmatch(raw, -1) {
		item, err := base64.StdEncoding.DecodeString(string(match[1]))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(item)
	}
	return all.String()
}

func TestHistoryOfALongDocument(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	const rare = "vermiculant"
	var pages [][]string
	for page := range 300 {
		var lines []string
		for line := range 45 {
			lines = append(lines, fmt.Sprintf("Page %d line %d tells of the %s and how it is measured.", page+1, line+1, rare))
		}
		pages = append(pages, lines)
	}
	d, err := s.UploadFile(t.Context(), client.Upload{Project: "default", Name: "long.pdf", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(textPDF(pages))), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), d.RunID, nil); err != nil {
		t.Fatal(err)
	}
	if d = s.document(t, d.ID); d.Status != knowledge.StatusPublished || d.PageCount != 300 || d.ChunkCount < 300 {
		t.Fatalf("the document is %s, %+v, with %d pages and %d passages", d.Status, d.Error, d.PageCount, d.ChunkCount)
	}
	h := s.history(t, "ingest/default/"+d.ID)
	size := proto.Size(h)
	t.Logf("300 pages, %d passages: %d events, %d bytes", d.ChunkCount, len(h.Events), size)
	if len(h.Events) >= 500 || size >= 300_000 {
		t.Errorf("the history has %d events and %d bytes; want fewer than 500 and 300,000", len(h.Events), size)
	}
	for _, word := range []string{rare, "how it is measured", "long.pdf"} {
		if strings.Contains(plain(t, h), word) {
			t.Errorf("the history says %q", word)
		}
	}
}

func TestHistories(t *testing.T) {
	t.Parallel()
	m, engine := standIn(t, modeltest.Options{}), newSearchEngine(t)
	s := start(t, at(m.URL(), append(engine.at(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)...)
	hook := receive(t)
	attempts := 0
	hook.behave(func(w http.ResponseWriter, _ told) bool { // the first attempt fails, so that the history has a rest
		if attempts++; attempts == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return attempts > 1
	})
	subscription := s.subscribe(t, hook)[0]
	document := s.publish(t, "lights", "The northern pier has a lighthouse whose lens is a catadioptric assembly.")

	// The history may hold the words of the answer, and no other text.
	m.ScriptChat(modeltest.Text("It is so. <source_1>"))
	query := s.query(t, "Kindly elucidate the pharology of that pier")
	s.follow(t, query.run, 0)
	m.ScriptChat(
		modeltest.Reply{Text: "Let me see.", ToolCalls: []model.ToolCall{
			{ID: "call_1", Name: "documents_rag", Arguments: `{"query":"luminous apparatus northern"}`},
			{ID: "call_2", Name: "documents_rag", Arguments: `{"query":"refracting prisms"}`},
		}},
		modeltest.Text(strings.Repeat("It is so indeed. ", 20)+"<source_1>"))
	tools := s.query(t, "Kindly elucidate the pharology once more")
	tr := read(t, s.follow(t, tools.run, 0))
	if !strings.Contains(tr.answer.Text, "indeed") || tr.resets != 1 {
		t.Fatalf("the answer with tools is %q after %d resets", tr.answer.Text, tr.resets)
	}
	m.ScriptChat(modeltest.Text("It is so. <source_1>"))
	tool := s.ask(t, "/tools/rag_search", map[string]any{"query": "Kindly elucidate the pharology", "stream": true})
	s.follow(t, tool.run, 0)
	research, onWeb := s.recordedResearch(t, m), s.recordedWebResearch(t, m, engine)
	asking, asked := s.recordedAgent(t, m)
	// The removal deletes this history.
	s.wantHistory(t, "ingest_document", "ingest/default/"+document.ID, "whsec_", "key of theirs", hook.url)
	removal, err := s.RemoveDocument(t.Context(), document.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), removal.RunID, nil); err != nil {
		t.Fatal(err)
	}
	hook.await(document.ID, "documents_created", "documents_deleted")

	for _, test := range []struct{ name, workflow string }{
		{"answer_query", "query/default/" + query.run},
		{"answer_query_tools", "query/default/" + tools.run},
		{"answer_query_steered", "query/default/" + s.recordedSteering(t, m)},
		{"answer_query_agent", "query/default/" + asking},
		{"answer_query_as_agent", "query/default/" + asked},
		{"run_tool", "tool/default/" + tool.run},
		{"deep_research", "research/default/" + research},
		{"research_question", "research/default/" + research + "/round-1-question-1"},
		{"research_question_web", "research/default/" + onWeb + "/round-1-question-1"},
		{"run_log", "log/default/" + research},
		{"remove_document", "remove/default/" + document.ID},
		{"deliver_webhook", "webhook/default/" + subscription},
	} {
		s.wantHistory(t, test.name, test.workflow, "whsec_", "key of theirs", hook.url)
	}
	s.publish(t, "lights", "The northern pier has a lighthouse whose lens is a catadioptric assembly.")
	s.reindex(t)
	s.wantHistory(t, "reindex_project", "reindex/default/default")
	s.wantHistory(t, "evaluate_project", knowledge.KindEvaluate.WorkflowID("default", s.recordedJudging(t, m)))
	s.wantHistory(t, "evaluate_project_offline", knowledge.KindEvaluate.WorkflowID("default", s.recordedEvaluation(t, m)))
	s.wantHistory(t, "generate_test_set", knowledge.KindGenerate.WorkflowID("default", s.recordedGeneration(t, m)), "dioptric")
	m.ScriptChat(modeltest.Text("It is so. <source_1>"))
	attached := s.ask(t, "/workspaces/default/webhooks/query?compact=true", map[string]any{
		"text": "Kindly elucidate the pharology of the file", "projectId": "default", "sse": true,
		"attachments": []any{map[string]any{"name": "lights", "content": map[string]any{"text": "A lighthouse has a catadioptric lens."}}},
	})
	s.follow(t, attached.run, 0)
	s.wantHistory(t, "answer_query_attachments", "query/default/"+attached.run)
	m.ScriptChat(modeltest.Text("<summary>A file was asked for.</summary>"), modeltest.Text("It is so."))
	later := s.ask(t, "/workspaces/default/webhooks/query?compact=true", map[string]any{
		"text": "Kindly elucidate it again", "projectId": "default", "sse": true, "conversationId": conversationOf(t, s.follow(t, attached.run, 0)),
		"projectConfigOverride": map[string]any{"ai": map[string]any{"history": map[string]any{"messages": 1}}},
	})
	s.follow(t, later.run, 0)
	s.wantHistory(t, "answer_query_summarized", "query/default/"+later.run)
	gone, err := s.RemoveProject(t.Context(), "piers")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), gone.RunID, nil); err != nil {
		t.Fatal(err)
	}
	s.wantHistory(t, "remove_project", knowledge.KindRemoveProject.WorkflowID("default", "piers"))
	m.ScriptChat(researchGiven()...)
	a := newAsker(t)
	given, list := s.askedResearch(t, a, "default", "Kindly elucidate the chunks")
	if tr := read(t, list); !strings.Contains(tr.answer.Text, "indeed") {
		t.Fatalf("the report is %q", tr.answer.Text)
	}
	s.wantHistory(t, "deep_research_webhook", "research/default/"+given, a.url)
	s.wantHistory(t, "research_question_given", "research/default/"+given+"/round-1-question-1", a.url)
}

// wantHistory checks the history of a workflow of TestHistories, and records it.
func (s *server) wantHistory(t *testing.T, name, workflow string, secrets ...string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		s.awaitClosed(t, workflow)
		h := s.history(t, workflow)
		said := plain(t, h)
		words := slices.Concat(secrets, []string{"elucidate", "pharology", "lighthouse", "catadioptric", "luminous", "refracting", `"query"`})
		if name != "ingest_document" { // whose summary names the external id of the document
			words = append(words, "lights")
		}
		for _, word := range words {
			if strings.Contains(said, word) {
				t.Errorf("the history says %q", word)
			}
		}
		s.wantNotes(t, workflow, h)
		if *updateHistories {
			record(t, name, h)
		}
	})
}

// reindex changes how the documents of the default project are cut, and makes their
// new versions.
func (s *server) reindex(t *testing.T) {
	t.Helper()
	change := client.Project{ID: "default", AI: json.RawMessage(`{"textSplitter":{"chunkSize":400}}`)}
	if _, err := s.SaveProject(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	started, err := s.ReindexProject(t.Context(), "default", false)
	if err != nil {
		t.Fatal(err)
	}
	last, err := s.Wait(t.Context(), started.RunID, nil)
	if err != nil {
		t.Fatal(err)
	}
	var end client.Ended
	var p knowledge.ReindexProgress
	if err = last.Decode(&end); err == nil {
		err = json.Unmarshal(end.Result, &p)
	}
	if err != nil || end.Status != "completed" || p.Matched != 1 || p.Published != 1 {
		t.Fatalf("the reindex ended as %s with %+v, %v", end.Status, p, err)
	}
	if again, err := s.ReindexProject(t.Context(), "default", true); err != nil || again.Matched != 0 {
		t.Errorf("afterwards %d documents are outdated, %v", again.Matched, err)
	}
}

func (s *server) awaitClosed(t *testing.T, workflow string) {
	t.Helper()
	if err := s.operator(t).GetWorkflow(t.Context(), workflow, "").Get(t.Context(), nil); err != nil {
		t.Fatalf("%s ended with %v", workflow, err)
	}
}

// wantNotes checks that an operator sees a summary of a workflow and of each of its
// activities, and its search attributes.
func (s *server) wantNotes(t *testing.T, workflow string, h *historypb.History) {
	t.Helper()
	if len(h.Events[0].GetUserMetadata().GetSummary().GetData()) == 0 {
		t.Error("the workflow has no summary")
	}
	for _, e := range h.Events {
		if e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED && len(e.GetUserMetadata().GetSummary().GetData()) == 0 {
			t.Errorf("activity %s has no summary", e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName())
		}
	}
	description, err := s.operator(t).DescribeWorkflow(t.Context(), workflow, "")
	if err != nil {
		t.Fatal(err)
	}
	// The start named the worker's build, so Temporal had no reason to write the
	// workflow's visibility record again.
	builds, _ := description.TypedSearchAttributes.GetKeywordList(sdk.NewSearchAttributeKeyKeywordList("BuildIds"))
	if len(builds) != 2 || builds[0] != "unversioned" || !strings.HasPrefix(builds[1], "unversioned:") {
		t.Errorf("it is listed with the builds %q", builds)
	}
	for name, want := range map[string]string{"CairnWorkspace": "default", "CairnProject": "default"} {
		found := false
		for key, value := range description.TypedSearchAttributes.GetUntypedValues() {
			found = found || key.GetName() == name && value == want
		}
		// A rag_search without a project covers all of them.
		everywhere := name == "CairnProject" && strings.HasPrefix(workflow, "tool/")
		another := name == "CairnProject" && (strings.HasSuffix(t.Name(), "_as_agent") || strings.HasSuffix(t.Name(), "/remove_project"))
		if !found && !everywhere && !another {
			t.Errorf("the search attribute %s is not %q", name, want)
		}
	}
}

// machine matches the names of workers and of their own queues, which depend on the
// machine that made a history.
var machine = regexp.MustCompile(`"(identity|name)":"(?:[0-9]+@[^"]*|[^":]*:[0-9a-f-]{36})"`)

// record writes a history into the folder that workflows/replay_test.go reads.
func record(t *testing.T, name string, h *historypb.History) {
	t.Helper()
	loose, err := protojson.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var tight, out bytes.Buffer
	if err := json.Compact(&tight, loose); err != nil { // protojson varies its spaces on purpose
		t.Fatal(err)
	}
	if err := json.Indent(&out, machine.ReplaceAll(tight.Bytes(), []byte(`"$1":"cairn"`)), "", " "); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	path := filepath.Join("..", "workflows", "testdata", "histories", name+".json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
