package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// drawFromAllSources asks about a document of the project, a file of the conversation and a
// page of the web, and again when the search engine is gone.
func drawFromAllSources(t *testing.T, s *server, m *modeltest.Server, engine *searchEngine) {
	s.setAI(t, map[string]any{"retrieval": map[string]any{"web": true}})
	var conversation struct{ ID string }
	if status := s.call(t, "POST", "/workspaces/default/conversations", map[string]any{}, &conversation); status != http.StatusCreated {
		t.Fatalf("no conversation: status %d", status)
	}
	file := s.publishWith(t, "pier.txt", "The lighthouse keeper charges his batteries on the pier.", map[string]any{"conversationId": conversation.ID}).ID
	type answer struct {
		Answer  string
		Sources []struct {
			Rank                     int
			ChunkID, DocumentID, URL string
			UsedInResponse           bool
		}
		Searches []struct {
			Sources  map[string][]int
			Failures map[string]string
		}
	}
	body := map[string]any{"text": "How are the batteries of the lighthouse on the northern pier charged?", "projectId": "default", "conversationId": conversation.ID, "toolChoice": "none"}
	ask := func() (a answer) {
		t.Helper()
		m.ScriptChat(modeltest.Text("In ten minutes <source_3>."))
		if status := s.call(t, "POST", webhooks+"/query", body, &a); status != http.StatusOK || len(a.Searches) != 1 {
			t.Fatalf("status %d, %+v", status, a)
		}
		return a
	}

	a := ask()
	if want := `<web_citation url="https://example.com/batteries" title="Solid state batteries">[3]</web_citation>`; !strings.Contains(a.Answer, want) {
		t.Errorf("answered %q, want %s in it", a.Answer, want)
	}
	of := map[string][]int{}
	for _, source := range a.Sources {
		kind := "documents"
		switch source.DocumentID {
		case file:
			kind = "files"
		case "":
			kind = "web"
		}
		of[kind] = append(of[kind], source.Rank)
		if source.UsedInResponse != (source.URL == "https://example.com/batteries") {
			t.Errorf("used: %+v", source)
		}
	}
	if diff := cmp.Diff(of, a.Searches[0].Sources); diff != "" || len(of) != 3 {
		t.Errorf("the sources are shown as (-sources +searches): %s", diff)
	}

	var found struct {
		Context string
		Chunks  []struct {
			ID, DocumentName, URL string
			Explain               struct {
				Source string
				Web    *struct{ Rank int }
			}
		}
	}
	s.call(t, "POST", webhooks+"/retrieve-context?explain=true", map[string]any{"text": body["text"], "projectId": "default"}, &found)
	pages := 0
	for _, c := range found.Chunks {
		if c.Explain.Source == "web" {
			pages++
			if c.Explain.Web == nil || c.Explain.Web.Rank != pages || c.URL == "" || c.ID != "" || !strings.Contains(found.Context, c.URL) {
				t.Errorf("explained: %+v", c)
			}
		}
	}
	if pages != 2 {
		t.Errorf("retrieve-context found %+v", found.Chunks)
	}

	engine.Close()
	a = ask()
	if a.Searches[0].Failures["web"] != "provider_failed" || len(a.Searches[0].Sources["documents"]) == 0 || len(a.Searches[0].Sources["web"]) > 0 {
		t.Errorf("without the search engine the search chose %+v", a.Searches)
	}
}
