package e2e_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestReingestStale has stale documents in three projects: two with another embedding model,
// which a reindex embeds again, and one with another splitter, whose document gets a new
// version. The command names the runs and waits for all of them.
func TestReingestStale(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	endpoint := newGate(t, m.URL())
	s := start(t, at(endpoint.url)...)
	env := []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key, "CAIRN_DATA=" + s.folder}
	projects := map[string]map[string]any{}
	for name, ai := range map[string]map[string]any{
		"piers": {"embeddings": map[string]any{"model": "another-model"}}, "ferries": {"embeddings": map[string]any{"model": "another-model"}},
		"buoys": {"textSplitter": map[string]any{"chunkSize": 300}},
	} {
		project, err := s.SaveProject(t.Context(), client.Project{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.AddDocument(t.Context(), client.NewDocument{Project: project.ID, Name: name, Content: client.Content{Text: "A text about " + name + "."}})
		if err != nil {
			t.Fatal(err)
		}
		s.ended(t, d)
		projects[project.ID] = ai
	}
	endpoint.shut()
	for id, ai := range projects {
		if status := s.call(t, "PATCH", "/workspaces/default/projects/"+id, map[string]any{"ai": ai}, nil); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
	}
	type result struct {
		code      int
		out, said string
	}
	ended := make(chan result, 1)
	go func() {
		code, out, said := command(t, env, "documents", "reingest", "--all", "--stale", "--wait")
		ended <- result{code, out, said}
	}()
	const underWay = "2 documents embedded with " + modeltest.ModelName
	await(t, 2*time.Minute, "doctor says that they are reindexed", func(context.Context) error {
		_, said, _ := command(t, env, "doctor")
		if !strings.Contains(said, underWay) || !strings.Contains(said, "a reindex is under way") || strings.Contains(said, "cairn documents reingest --all --stale") {
			return errors.New(said)
		}
		return nil
	})
	select {
	case end := <-ended:
		t.Fatalf("the command did not wait: %+v", end)
	default:
	}
	endpoint.open()
	end := <-ended
	if end.code != 0 || !strings.Contains(end.out, "ingested again 3 of 3 documents, 0 failed") {
		t.Errorf("exit code %d:\n%s%s", end.code, end.out, end.said)
	}
	runs := regexp.MustCompile(`run (\S+): (reindex of project|document)`).FindAllStringSubmatch(end.out, -1)
	if len(runs) != 3 || strings.Count(end.out, "reindex of project") != 2 {
		t.Errorf("the command names the runs %v:\n%s", runs, end.out)
	}
	for _, run := range runs {
		if ran, err := s.Run(t.Context(), run[1]); err != nil || ran.Status != "completed" {
			t.Errorf("run %s is %s, %v", run[1], ran.Status, err)
		}
	}
	if state, err := s.Details(t.Context()); err != nil || len(state.StaleEmbeddings) != 0 {
		t.Errorf("after the wait %+v are stale, %v", state.StaleEmbeddings, err)
	}
	t.Run("a reindex that fails", func(t *testing.T) { reindexThatFails(t, s, m, env, projects) })
}

// reindexThatFails has an endpoint that refuses the new model.
func reindexThatFails(t *testing.T, s *server, m *modeltest.Server, env []string, projects map[string]map[string]any) {
	for id, ai := range projects {
		if ai["embeddings"] == nil {
			continue
		}
		change := map[string]any{"ai": map[string]any{"embeddings": map[string]any{"model": "third-model"}}}
		if status := s.call(t, "PATCH", "/workspaces/default/projects/"+id, change, nil); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
	}
	m.ScriptEmbeddings(modeltest.Fail(http.StatusUnauthorized), modeltest.Fail(http.StatusUnauthorized))
	code, out, said := command(t, env, "documents", "reingest", "--all", "--stale", "--wait")
	if code != 1 || strings.Count(out, "provider_failed") != 2 || !strings.Contains(said, "2 of 2 documents failed") {
		t.Errorf("exit code %d:\n%s%s", code, out, said)
	}
	if _, found, _ := command(t, env, "doctor"); !strings.Contains(found, "2 documents embedded with another-model") || !strings.Contains(found, "cairn documents reingest --all --stale") {
		t.Errorf("doctor says\n%s", found)
	}
}
