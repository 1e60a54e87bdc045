package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestProjectRemoval removes a project while one of its documents is ingested, and kills
// the server in the middle of it.
func TestProjectRemoval(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	const gone = "quillobasalt"
	s.publish(t, "neighbour", "Harbour notes are about ropes and knots.")
	project, err := s.SaveProject(t.Context(), client.Project{Name: "Field"})
	if err != nil {
		t.Fatal(err)
	}
	add := func(i int) accepted {
		var a accepted
		body := map[string]any{"name": fmt.Sprintf("%s-%d", gone, i), "content": map[string]string{"text": strings.Repeat(fmt.Sprintf("Sheet %d is about %s. ", i, gone), 60)}}
		if status := s.call(t, "POST", webhooks+"/document?projectId="+project.ID, body, &a); status != http.StatusAccepted {
			t.Fatalf("the upload has status %d", status)
		}
		return a
	}
	for i := range 12 {
		if _, err := s.Wait(t.Context(), add(i).RunID, nil); err != nil {
			t.Fatal(err)
		}
	}
	if files := s.scan(t, gone); len(files) == 0 {
		t.Fatal("the scan does not find what is there, so it proves nothing")
	}
	m.ScriptChat(modeltest.Text("It is so. <source_1>"))
	asked := s.ask(t, webhooks+"/query", map[string]any{"text": "What is about " + gone + "?", "projectId": project.ID, "sse": true})
	s.follow(t, asked.run, 0)
	m.ScriptEmbeddings(modeltest.Reply{Delay: 20 * time.Second})
	running := add(12)

	removed, err := s.RemoveProject(t.Context(), project.ID)
	if err != nil {
		t.Fatal(err)
	}
	if status := s.call(t, "GET", "/workspaces/default/projects/"+project.ID, nil, nil); status != http.StatusNotFound {
		t.Errorf("right after the removal was accepted GET returned %d", status)
	}
	if found, err := s.retrieve(t.Context(), "What is about "+gone+"?", gone); err != nil || len(found) != 0 {
		t.Errorf("right after the removal was accepted readers see %v, %v", found, err)
	}
	moment := time.Duration(rand.IntN(100)) * time.Millisecond
	t.Logf("killed %v after the removal was accepted", moment)
	time.Sleep(moment)
	s.kill()
	s.restart()
	if again, err := s.RemoveProject(t.Context(), project.ID); err == nil && again.RunID != removed.RunID {
		t.Errorf("a second request has the run %s, the first %s", again.RunID, removed.RunID)
	} else if err != nil && s.call(t, "GET", "/runs/"+removed.RunID, nil, nil) != http.StatusOK {
		t.Errorf("a second request: %v", err)
	}
	last, err := s.Wait(t.Context(), removed.RunID, nil)
	if err != nil {
		t.Fatal(err)
	}
	var end client.Ended
	if err := last.Decode(&end); err != nil || end.Status != "completed" {
		t.Fatalf("the removal ended with %s %s", last.Name, last.Data)
	}
	if files := s.scan(t, gone); len(files) > 0 {
		t.Errorf("%q still stands in %v", gone, files)
	}
	s.awaitNoHistory(t, asked.run)
	for _, path := range []string{"/workspaces/default/documents/" + running.ID, "/runs/" + running.RunID} {
		if status := s.call(t, "GET", path, nil, nil); status != http.StatusNotFound {
			t.Errorf("GET %s returned %d", path, status)
		}
	}
	s.refuses(t, "DELETE", "/workspaces/default/projects/"+project.ID, nil, http.StatusNotFound, knowledge.CodeNotFound)
	if found, err := s.retrieve(t.Context(), "What are the harbour notes about?", "ropes"); err != nil || len(found) != 1 {
		t.Errorf("of another project readers see %v, %v", found, err)
	}
}

// awaitNoHistory waits until Temporal has no history of a question.
func (s *server) awaitNoHistory(t *testing.T, run string) {
	t.Helper()
	workflows := s.operator(t)
	var err error
	var missing *serviceerror.NotFound
	for end := time.Now().Add(30 * time.Second); !errors.As(err, &missing); time.Sleep(50 * time.Millisecond) {
		if _, err = workflows.DescribeWorkflowExecution(t.Context(), knowledge.KindQuery.WorkflowID("default", run), ""); time.Now().After(end) {
			t.Fatalf("the history of question %s is still there (%v)", run, err)
		}
	}
}
