package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// auditLines reads the audit as lines of JSON.
func (e *edge) auditLines(query string) []map[string]any {
	e.t.Helper()
	got := e.do("GET", own+"/audit?"+query, e.admin, nil)
	if got.status != 200 {
		e.t.Fatalf("status %d, %s", got.status, got.body)
	}
	var list []map[string]any
	for line := range bytes.Lines(got.body) {
		var one map[string]any
		if err := json.Unmarshal(line, &one); err != nil {
			e.t.Fatalf("%v in %s", err, line)
		}
		list = append(list, one)
	}
	return list
}

// TestAuditFormats reads more entries than the server reads at a time.
func TestAuditFormats(t *testing.T) {
	t.Parallel()
	e := open(t)
	const many = 620
	for range many {
		e.do("GET", "/chunks/absent", e.reader, nil).refused(404, knowledge.CodeNotFound)
	}
	lines := e.auditLines("format=jsonl&action=get-chunk")
	if len(lines) != many {
		t.Fatalf("the stream has %d lines, want %d", len(lines), many)
	}
	for i, line := range lines {
		if i > 0 && (line["seq"].(float64) <= lines[i-1]["seq"].(float64)) || line["outcome"] != "not_found" || line["object"] != "absent" {
			t.Fatalf("line %d is %v", i, line)
		}
	}
	var whole bytes.Buffer
	whole.Write(e.do("GET", own+"/audit?format=jsonl", e.admin, nil).body)
	report, err := audit.VerifyFile(&whole, audit.NewSigner([]byte("key")).PublicKey(), nil)
	if err != nil || report.Broken != nil || report.Entries < many {
		t.Errorf("the stream verifies as %+v, %v", report, err)
	}
	page := e.do("GET", own+"/audit?limit=2&action=get-chunk", e.admin, nil).want(200)
	if data := page["data"].([]any); len(data) != 2 || data[0].(map[string]any)["seq"].(float64) <= data[1].(map[string]any)["seq"].(float64) || page["next_cursor"] == nil {
		t.Errorf("the first page is %v", page)
	}
	events := e.auditLines("format=ocsf&action=get-chunk")
	if len(events) != many {
		t.Fatalf("there are %d events", len(events))
	}
	wantEvent(t, events[0], lines[0])
}

// wantEvent compares an event with its entry.
func wantEvent(t *testing.T, event, entry map[string]any) {
	t.Helper()
	metadata := event["metadata"].(map[string]any)
	got := []any{event["category_uid"], event["class_uid"], event["activity_id"], event["type_uid"], event["status_id"], event["status_code"], metadata["version"], metadata["uid"], metadata["tenant_uid"]}
	want := []any{6.0, 6003.0, 2.0, 600302.0, 2.0, "not_found", "1.3.0", entry["hash"], "default"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an event (-want +got): %s", diff)
	}
}

// fullDisk is a Sink that fails while it is full.
type fullDisk struct {
	full atomic.Bool
	rows atomic.Int64
}

func (f *fullDisk) Append(_ context.Context, rows []audit.Row) error {
	if f.full.Load() {
		return errors.New("no space left on device")
	}
	f.rows.Add(int64(len(rows)))
	return nil
}

// TestNothingLeavesWithoutItsRow reads a document while the audit cannot be written.
func TestNothingLeavesWithoutItsRow(t *testing.T) {
	t.Parallel()
	disk := &fullDisk{}
	e := open(t, func(_ *api.Config, d *api.Deps) { d.Audit = audit.NewRecorder(disk) })
	id := e.add(e.editor, "a.txt", "the lamp of the lighthouse")
	content := own + "/documents/" + id + "/content"
	if got := e.do("GET", content, e.editor, nil); got.status != 200 || !strings.Contains(string(got.body), "lighthouse") || got.header.Get("Cairn-Request-Id") == "" {
		t.Fatalf("status %d, %s", got.status, got.body)
	}
	rows := disk.rows.Load()
	disk.full.Store(true)
	got := e.do("GET", content, e.editor, nil)
	got.refused(503, knowledge.CodeUnavailable)
	if strings.Contains(string(got.body), "lighthouse") || got.header.Get("Content-Disposition") != "" || got.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("the refusal has %v and %s", got.header, got.body)
	}
	e.do("GET", own+"/projects", e.editor, nil).want(200) // it holds no text
	disk.full.Store(false)
	if got := e.do("GET", content, e.editor, nil); got.status != 200 || disk.rows.Load() != rows+1 {
		t.Errorf("status %d, %d rows more", got.status, disk.rows.Load()-rows)
	}
}

// TestWhatIsNotInTheAudit requests lists with and without the right to.
func TestWhatIsNotInTheAudit(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("GET", own+"/members", e.admin, nil).want(200)
	if list := e.auditLines("format=jsonl&action=list-members"); len(list) != 0 {
		t.Errorf("a list without text has the entries %v", list)
	}
	e.do("GET", own+"/members", e.reader, nil).refused(403, knowledge.CodeForbidden)
	if list := e.auditLines("format=jsonl&action=list-members"); len(list) != 1 || list[0]["outcome"] != "forbidden" {
		t.Errorf("its refusal has the entries %v", list)
	}
}
