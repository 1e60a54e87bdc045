package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestSteerAnAnswer sends messages to questions that are being answered, and that were.
func TestSteerAnAnswer(t *testing.T) {
	t.Parallel()
	e := open(t)
	first, err := e.store.RunForSystem(t.Context(), "default", e.do("POST", hooks+"/query", e.reader, `{"text":"What is on the pier?","stream":true}`).want(202)["runId"].(string))
	if err != nil {
		t.Fatal(err)
	}
	asked := func(status knowledge.RunStatus) string {
		id := knowledge.NewID()
		if err := e.store.AddRun(t.Context(), store.Run{ID: id, Workspace: "default", Kind: knowledge.KindQuery, Status: knowledge.RunRunning, Owner: first.Owner, CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if status == knowledge.RunRunning {
			return own + "/runs/" + id + "/messages"
		}
		if err := e.store.EndRun(t.Context(), "default", id, store.RunEnd{Status: status, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		return own + "/runs/" + id + "/messages"
	}
	path := asked(knowledge.RunRunning)
	if got := e.do("POST", path, e.reader, `{"text":"Only the northern one"}`); got.want(202)["kind"] != "query" {
		t.Errorf("run %s", got.body)
	}
	if len(e.work.steers) != 1 {
		t.Fatalf("its workflow was told %q", e.work.steers)
	}
	var kept record.SteerMessage
	if err := e.blobs.GetJSON(t.Context(), e.work.steers[0], &kept); err != nil || kept.Text != "Only the northern one" || kept.ID == "" || kept.CreatedAt.IsZero() {
		t.Errorf("kept is %+v, %v", kept, err)
	}
	e.do("POST", path, e.reader, `{"text":" "}`).refused(422, knowledge.CodeInvalid)
	e.do("POST", path, e.admin, `{"text":"a"}`).refused(403, knowledge.CodeForbidden) // it would be in the reader's conversation
	e.do("POST", path, e.stranger, `{"text":"a"}`).refused(404, knowledge.CodeNotFound)
	for _, status := range []knowledge.RunStatus{knowledge.RunCompleted, knowledge.RunFailed, knowledge.RunCanceled} {
		refused := e.do("POST", asked(status), e.reader, `{"text":"a"}`)
		refused.refused(409, knowledge.CodeConflict)
		if body := string(refused.body); !strings.Contains(body, "it is "+string(status)) || !strings.Contains(body, "in its conversation instead") {
			t.Errorf("a run that is %s: %s", status, body)
		}
	}
	e.work.fail = knowledge.Errorf(knowledge.CodeLimitReached, "this answer has 20 messages already")
	e.do("POST", path, e.reader, `{"text":"a"}`).refused(409, knowledge.CodeLimitReached)
}
