package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// insights are what the API shows of the questions to a project.
type insights struct {
	Read      int         `json:"questions_read"`
	Questions []insightOf `json:"questions"`
	Unanswer  []insightOf `json:"unanswered"`
	LowRated  []insightOf `json:"low_rated"`
	Unused    []insightOf `json:"unused_documents"`
	Uncited   []insightOf `json:"uncited_passages"`
	Stale     []insightOf `json:"stale_documents"`
	Against   []insightOf `json:"contradictions"`
	Cost      struct {
		Questions int
		Runs      []string
	}
	Days []struct {
		Day       string
		Questions int
		Failed    int
		Median    *float64 `json:"latency_p50"`
		Slow      *float64 `json:"latency_p95"`
		Runs      []string
	}
}

// insightOf is an entry of one of the lists, with its runs.
type insightOf struct {
	Question, Reason, Name, Text string
	DocumentID                   string `json:"document_id"`
	Shown                        int
	Runs                         []string
	Ratings                      []struct{ Comment string }
}

// pumpModel cites the first passage, answers one question without a citation, and refuses one.
func pumpModel(r protocol.ChatRequest) modeltest.Reply {
	last := string(r.Messages[len(r.Messages)-1].Content)
	asked := last[max(0, strings.LastIndex(last, "Question")):]
	switch {
	case strings.Contains(asked, "refuse"):
		return modeltest.Reply{Status: http.StatusBadRequest}
	case strings.Contains(asked, "moon"):
		return modeltest.Text("The documents do not say so.")
	}
	return modeltest.Text("It has so many valves. <source_1>")
}

// TestInsights asks questions about documents of which two contradict each other, one is never
// cited and one is replaced afterwards. Each entry leads to its runs.
func TestInsights(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Reply: pumpModel})
	s := start(t, at(m.URL())...)
	first := s.publish(t, "pump-a", "The main bilge pump of the northern pier station has 12 valves for seawater.")
	s.publish(t, "pump-b", "The main bilge pump of the northern pier station has 14 valves for seawater.")
	unused := s.publish(t, "canteen", "Soup is served in the canteen of the harbour on Thursdays.")
	hidden := s.publishIn(t, "default", "hidden", "The valves of the northern pier station are kept in the vault.", map[string]any{"access": map[string]any{"users": []string{"nobody"}}})
	ask := func(text string) string {
		a := s.query(t, text)
		s.follow(t, a.run, 0)
		return a.run
	}
	valves := []string{ask("How many valves has the main bilge pump of the northern pier station?"), ask("How many valves has the main bilge pump of the northern pier station?")}
	moon, refused := []string{ask("How many valves has the moon?"), ask("How many valves has the moon, then?")}, ask("Will you refuse the valves?")
	for _, run := range valves {
		if status := s.call(t, "POST", "/workspaces/default/runs/"+run+"/feedback", map[string]any{"rating": "down", "comment": "it has 14"}, nil); status != http.StatusOK {
			t.Fatalf("feedback: status %d", status)
		}
	}
	got := s.insights(t)
	lists := map[string]struct {
		list []insightOf
		runs []string
		is   func(insightOf) bool
	}{
		"questions":      {got.Questions, valves, func(i insightOf) bool { return strings.Contains(i.Question, "bilge") }},
		"unanswered":     {got.Unanswer, moon, func(i insightOf) bool { return strings.Contains(i.Question, "moon") }},
		"failed":         {got.Unanswer, []string{refused}, func(i insightOf) bool { return i.Reason != "" && strings.Contains(i.Question, "refuse") }},
		"low rated":      {got.LowRated, valves, func(i insightOf) bool { return len(i.Ratings) == 2 && i.Ratings[0].Comment == "it has 14" }},
		"contradictions": {got.Against, valves, func(insightOf) bool { return true }},
		"uncited passages": {got.Uncited, valves, func(i insightOf) bool {
			return i.DocumentID == unused.ID && i.Shown >= 2 && strings.HasPrefix(i.Text, "Soup")
		}},
		"unused documents": {got.Unused, valves, func(i insightOf) bool { return i.DocumentID == unused.ID }},
	}
	for name, want := range lists {
		at := slices.IndexFunc(want.list, want.is)
		if at < 0 {
			t.Errorf("%s: %+v", name, want.list)
			continue
		}
		for _, run := range want.runs {
			if !slices.Contains(want.list[at].Runs, run) {
				t.Errorf("%s does not name the run %s: %+v", name, run, want.list[at])
			}
		}
	}
	today := time.Now().UTC().Format(time.DateOnly)
	if got.Read != 5 || got.Cost.Questions != 5 || len(got.Days) == 0 || got.Days[0].Day > today || got.Days[0].Failed != 1 || got.Days[0].Median == nil || *got.Days[0].Slow < *got.Days[0].Median || len(got.Days[0].Runs) == 0 {
		t.Errorf("%d questions, cost %+v, days %+v", got.Read, got.Cost, got.Days)
	}
	s.wantHidden(t, hidden)
	if len(got.Stale) > 0 {
		t.Errorf("stale are %+v", got.Stale)
	}
	cited := s.citedBy(t, valves[0])
	s.publish(t, map[bool]string{true: "pump-a", false: "pump-b"}[cited == first.ID], "The pump was replaced by a crane, which has none.")
	later := s.insights(t)
	if len(later.Stale) != 1 || later.Stale[0].DocumentID != cited || later.Stale[0].Reason != "replaced" || !slices.Contains(later.Stale[0].Runs, valves[1]) {
		t.Errorf("after the change stale are %+v", later.Stale)
	}
	if len(later.Against) > 0 {
		t.Errorf("a version that was replaced contradicts: %+v", later.Against)
	}
}

func (s *server) insights(t *testing.T) (got insights) {
	t.Helper()
	if status := s.call(t, "GET", "/workspaces/default/insights?project_id=default", nil, &got); status != http.StatusOK {
		t.Fatalf("insights: status %d", status)
	}
	return got
}

// citedBy returns the document that the answer of a run cites.
func (s *server) citedBy(t *testing.T, run string) string {
	t.Helper()
	for _, e := range s.follow(t, run, 0) {
		var answer struct {
			Sources []struct {
				DocumentID string `json:"documentId"`
				Used       bool   `json:"usedInResponse"`
			}
		}
		if e.Name != "completedMessage" {
			continue
		}
		if err := json.Unmarshal(e.Data, &answer); err != nil {
			t.Fatal(err)
		}
		for _, source := range answer.Sources {
			if source.Used {
				return source.DocumentID
			}
		}
	}
	t.Fatalf("the answer of run %s cites nothing", run)
	return ""
}

// wantHidden fails the test if the insights of a caller who may not read a document name it. The
// instance's administrator reads it.
func (s *server) wantHidden(t *testing.T, hidden string) {
	t.Helper()
	other := s.newKey(t, map[string]any{"name": "manager", "scopes": []string{"read", "write", "admin"}})
	reader := s.newKey(t, map[string]any{"name": "a reader", "scopes": []string{"read", "write"}})
	for _, look := range []struct {
		key    string
		status int
	}{{other, http.StatusOK}, {reader, http.StatusForbidden}} {
		res, answer := s.raw(t, "GET", "/workspaces/default/insights?project_id=default", "", nil, "Authorization", "Bearer "+look.key)
		if res.StatusCode != look.status {
			t.Errorf("status %d: %.200s", res.StatusCode, answer)
		}
		if strings.Contains(string(answer), "vault") {
			t.Error(fmt.Sprint("the insights quote document ", hidden))
		}
	}
}
