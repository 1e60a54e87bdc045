package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// analyzer stands in for Presidio's: it knows a person and a place, and may be down.
type analyzer struct {
	*httptest.Server
	down atomic.Bool
}

func newAnalyzer(t *testing.T) *analyzer {
	t.Helper()
	a := &analyzer{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Text     string
			Entities []string
		}
		if a.down.Load() || json.NewDecoder(r.Body).Decode(&in) != nil || r.URL.Path != "/analyze" {
			http.Error(w, `{"error": "down"}`, http.StatusInternalServerError)
			return
		}
		type found struct {
			Entity string  `json:"entity_type"`
			Start  int     `json:"start"`
			End    int     `json:"end"`
			Score  float64 `json:"score"`
		}
		list := []found{}
		for value, entity := range map[string]string{"Wilhelmina Quaggles": "PERSON", "Gloomhaven": "LOCATION"} {
			for at := range []rune(in.Text) {
				if strings.HasPrefix(string([]rune(in.Text)[at:]), value) {
					list = append(list, found{entity, at, at + len(value), .85})
				}
			}
		}
		_ = json.NewEncoder(w).Encode(list) // the server has left
	}))
	t.Cleanup(a.Close)
	return a
}

// TestNamesOfAnAnalyzer adds a document whose names an analyzer finds, first while it is down, and
// asks about it.
func TestNamesOfAnAnalyzer(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Reply: repeats(0)})
	w, a := tap(t, m), newAnalyzer(t)
	s := start(t, at(w.URL+"/v1", "CAIRN_PRIVACY__ANALYZER__URL="+a.URL)...)
	privacy := map[string]any{"pii": "detect", "providers": "redact", "recognisers": map[string]any{"PERSON": "analyzer", "LOCATION": "analyzer"}, "thresholds": map[string]any{"LOCATION": .9}}
	project := map[string]any{"slug": "names", "privacy": privacy}
	if status := s.call(t, "POST", webhooks+"/projects", project, nil); status >= 300 {
		t.Fatalf("project: status %d", status)
	}
	a.down.Store(true)
	var d client.Document
	body := map[string]any{"name": "lease", "content": map[string]any{"text": "Grüße 😀: Wilhelmina Quaggles of Gloomhaven rents the quillobasalt flat."}}
	if status := s.call(t, "POST", webhooks+"/document?projectId=names", body, &d); status != http.StatusAccepted {
		t.Fatalf("add: status %d", status)
	}
	await(t, 30*time.Second, "the document waits for the analyzer", func(context.Context) error {
		var shown struct {
			Status  string
			Waiting *knowledge.Waiting
		}
		s.call(t, "GET", "/workspaces/default/documents/"+d.ID, nil, &shown)
		if shown.Waiting == nil || shown.Waiting.Code != knowledge.CodeUnavailable || !strings.Contains(shown.Waiting.Message, "analyzer") {
			return fmt.Errorf("status %s, waiting %+v", shown.Status, shown.Waiting)
		}
		return nil
	})
	if sent := w.sent(); len(sent) > 0 {
		t.Errorf("a model got %.300s", sent)
	}
	a.down.Store(false)
	if status := s.call(t, "POST", "/workspaces/default/documents/"+d.ID+"/retry", nil, nil); status >= 300 {
		t.Errorf("retry: status %d", status)
	}
	if d = s.ended(t, d); d.Status != knowledge.StatusPublished {
		t.Fatalf("%s: %+v", d.Status, d.Error)
	}
	if list := s.bodyOf(t, "/workspaces/default/documents/"+d.ID+"/pii"); strings.Count(list, `"entity"`) != 1 || !strings.Contains(list, `"start":9,"end":28`) || !strings.Contains(list, `"recogniser":"analyzer"`) {
		t.Errorf("findings: %s", list)
	}
	ask := map[string]any{"text": "Where does Wilhelmina Quaggles of the quillobasalt flat live?", "projectId": "names"}
	var answer map[string]any
	if status := s.call(t, "POST", webhooks+"/query", ask, &answer); status != http.StatusOK || !strings.Contains(fmt.Sprint(answer["answer"]), "Wilhelmina Quaggles") {
		t.Errorf("status %d, answer %v", status, answer)
	}
	sent := strings.Join(w.sent(), "\n")
	if strings.Contains(sent, "Quaggles") || !strings.Contains(sent, "PERSON_1") || !strings.Contains(sent, "Gloomhaven") {
		t.Errorf("the model got %.2000s", sent)
	}
}
