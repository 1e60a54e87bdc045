package embedded_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/embedded"
)

var (
	keyDocument = temporal.NewSearchAttributeKeyKeyword("CairnDocument")
	keyProject  = temporal.NewSearchAttributeKeyKeyword("CairnProject")
	keyBuilds   = temporal.NewSearchAttributeKeyKeywordList("BuildIds")
)

func listConfig(dir string) embedded.Config {
	return embedded.Config{
		Dir: dir,
		SearchAttributes: map[string]enumspb.IndexedValueType{
			"CairnDocument": enumspb.INDEXED_VALUE_TYPE_KEYWORD, "CairnProject": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		},
		ListedBy: []string{"CairnDocument"},
	}
}

// runListed runs two workflows and leaves the second one open.
func runListed(t *testing.T, c client.Client) {
	t.Helper()
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		workflow.GetVersion(ctx, "listed", workflow.DefaultVersion, 1)
		return nil
	}, workflow.RegisterOptions{Name: "Short"})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil)
		return nil
	}, workflow.RegisterOptions{Name: "Long"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	for id, name := range map[string]string{"first": "Short", "second": "Long"} {
		options := client.StartWorkflowOptions{ID: id, TaskQueue: queue, TypedSearchAttributes: temporal.NewSearchAttributes(
			keyDocument.ValueSet("doc-"+id), keyProject.ValueSet("default"), keyBuilds.ValueSet([]string{"unversioned"}))}
		run, err := c.ExecuteWorkflow(t.Context(), options, name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "Short" {
			if err := run.Get(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// listed returns the ids of the workflows that a query finds.
func listed(t *testing.T, c client.Client, query string) []string {
	t.Helper()
	r, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query})
	if err != nil {
		t.Fatalf("list %s: %v", query, err)
	}
	ids := []string{}
	for _, execution := range r.GetExecutions() {
		ids = append(ids, execution.GetExecution().GetWorkflowId())
	}
	slices.Sort(ids)
	return ids
}

// waitListed waits until a query finds the workflows: lists follow a moment
// later.
func waitListed(t *testing.T, c client.Client, query string, want ...string) {
	t.Helper()
	var got []string
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if got = listed(t, c, query); slices.Equal(got, want) {
			return
		}
	}
	t.Errorf("list %q: got %v, want %v", query, got, want)
}

func TestLists(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "temporal")
	s := start(t, listConfig(dir))
	c := dial(t, s)
	t.Cleanup(c.Close)
	runListed(t, c)
	waitListed(t, c, `ExecutionStatus = "Completed"`, "first")
	for query, want := range map[string][]string{
		``:                             {"first", "second"},
		`WorkflowType = "Long"`:        {"second"},
		`WorkflowId = "first"`:         {"first"},
		`ExecutionStatus = "Running"`:  {"second"},
		`CairnDocument = "doc-second"`: {"second"},
		`CairnProject = "default"`:     {"first", "second"}, // no index
		`TaskQueue = "` + queue + `" AND HistoryLength > 1`:                  {"first"}, // no index
		`TemporalChangeVersion = "listed-1"`:                                 {"first"}, // full text
		`TemporalReportedProblems IN ("category=Any")`:                       {},        // full text, the UI's page of failing tasks
		`CairnDocument = "doc-first" AND StartTime > "2020-01-01T00:00:00Z"`: {"first"},
	} {
		waitListed(t, c, query, want...)
	}
	checkUIList(t, s)
	if _, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: `BuildIds = "unversioned"`}); err == nil {
		t.Error("a list by build ids was answered, want it refused")
	}
	if got := indexedColumns(t, dir); len(got) != 5 {
		t.Errorf("got indexes on %v, want indexes on the order, document, id, type and status", got)
	}
}

// checkUIList asks as the UI's first page asks.
func checkUIList(t *testing.T, s *embedded.Server) {
	t.Helper()
	r, err := http.Get(s.UIURL() + "/api/v1/namespaces/cairn/workflows?query=" + url.QueryEscape("`WorkflowType`=\"Short\""))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var page struct {
		Executions []struct{ Execution struct{ WorkflowID string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&page); err != nil || len(page.Executions) != 1 || page.Executions[0].Execution.WorkflowID != "first" {
		t.Errorf("the UI's list holds %+v, %v", page, err)
	}
}

// indexedColumns returns the second column of each index on the workflows, ""
// for an expression.
func indexedColumns(t *testing.T, dir string) []string {
	t.Helper()
	columns := []string{}
	query(t, dir, `SELECT COALESCE(i.name, '') FROM sqlite_master m, pragma_index_info(m.name) i
		WHERE m.type = 'index' AND m.tbl_name = 'executions_visibility' AND m.sql IS NOT NULL AND i.seqno = 1`, func(text string) {
		columns = append(columns, text)
	})
	slices.Sort(columns)
	return columns
}

// query calls do with the one column of each row.
func query(t *testing.T, dir, statement string, do func(string), args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "visibility.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the visibility database: %v", err)
		}
	}()
	rows, err := db.QueryContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		do(text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestListsOfAnOlderFolder starts on a visibility database with the server's
// full schema and one workflow in it.
func TestListsOfAnOlderFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "temporal")
	s := start(t, listConfig(dir))
	c := dial(t, s)
	description, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "cairn"})
	if err != nil {
		t.Fatal(err)
	}
	column := ""
	for field, attribute := range description.GetConfig().GetCustomSearchAttributeAliases() {
		if attribute == "CairnDocument" {
			column = field
		}
	}
	c.Close()
	s.Stop()
	old := filepath.Join(t.TempDir(), "temporal")
	if err := os.MkdirAll(old, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"temporal.db", "temporal.db-wal"} { // the server's plugin never closes its files
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(old, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := embedded.CreateFullVisibility(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if full := indexedColumns(t, old); len(full) < 50 {
		t.Fatalf("the full schema has %d indexes", len(full))
	}
	attributes := fmt.Sprintf(`{"%s": "doc-old", "TemporalChangeVersion": "old-1", "BuildIds": "unversioned"}`, column)
	query(t, old, `INSERT INTO executions_visibility (namespace_id, run_id, _version, start_time, execution_time, workflow_id, workflow_type_name, status, encoding, search_attributes)
		VALUES (?, 'b6f1a7ac-0000-4000-8000-000000000000', 1, '2026-01-02 03:04:05+00:00', '2026-01-02 03:04:05+00:00', 'old', 'Short', 2, '', ?) RETURNING run_id`,
		func(string) {}, description.GetNamespaceInfo().GetId(), attributes)

	for range 2 { // the second start finds nothing to change
		s = start(t, listConfig(old))
		c = dial(t, s)
		waitListed(t, c, `CairnDocument = "doc-old"`, "old")
		waitListed(t, c, `TemporalChangeVersion = "old-1"`, "old")
		c.Close()
		s.Stop()
		if diff := cmp.Diff([]string{"", column, "status", "workflow_id", "workflow_type_name"}, indexedColumns(t, old)); diff != "" {
			t.Errorf("indexes (-want +got):\n%s", diff)
		}
	}
	query(t, old, "SELECT name FROM sqlite_master WHERE type = 'trigger'", func(name string) {
		if !strings.HasPrefix(name, "cairn_") {
			t.Errorf("trigger %s of the server's schema is still there", name)
		}
	})
}
