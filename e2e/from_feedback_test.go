package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// asKey makes a request with a key.
func (s *server) asKey(t *testing.T, key, method, path string, body, into any) (int, http.Header) {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, answer := s.raw(t, method, "/workspaces/default"+path, "application/json", encoded, "Authorization", "Bearer "+key)
	if into != nil && res.StatusCode < 300 {
		if err := json.Unmarshal(answer, into); err != nil {
			t.Fatalf("%v: %.300s", err, answer)
		}
	}
	return res.StatusCode, res.Header
}

// rate asks a question with a key and rates its answer.
func (s *server) rate(t *testing.T, key, question string, feedback map[string]any) (run string) {
	t.Helper()
	status, header := s.asKey(t, key, "POST", "/webhooks/query", map[string]any{"text": question, "projectId": "default"}, nil)
	if status != http.StatusOK {
		t.Fatalf("question: status %d", status)
	}
	run = header.Get("Cairn-Run-Id")
	if status, _ := s.asKey(t, key, "POST", "/runs/"+run+"/feedback", feedback, nil); status != http.StatusOK {
		t.Fatalf("feedback on %q: status %d", run, status)
	}
	return run
}

// fromFeedback makes a test set with a key, and returns its questions.
func (s *server) fromFeedback(t *testing.T, key string, body map[string]any, want int) (items []map[string]any) {
	t.Helper()
	var set struct{ ID string }
	status, _ := s.asKey(t, key, "POST", "/test_sets/from_feedback", body, &set)
	if status != want {
		t.Errorf("%v: status %d, not %d", body, status, want)
	}
	if status != http.StatusCreated {
		return nil
	}
	var whole struct{ Items []map[string]any }
	s.asKey(t, key, "GET", "/test_sets/"+set.ID, nil, &whole)
	return whole.Items
}

// TestTestSetFromFeedback makes test sets of rated answers: one's own, and with runs.admin everybody's.
func TestTestSetFromFeedback(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Reply: pumpModel})
	s := start(t, at(m.URL())...)
	pump := s.publish(t, "pump", "The bilge pump of the northern pier has 12 valves.")
	keyOf := func(name string, scopes ...string) string {
		return s.newKey(t, map[string]any{"name": name, "scopes": scopes})
	}
	ann, bob, nobody := keyOf("ann", "read", "write"), keyOf("bob", "read", "write"), keyOf("nobody", "read", "write")
	liked := s.rate(t, ann, "How many valves has the bilge pump?", map[string]any{"rating": "up"})
	disliked := s.rate(t, ann, "How many valves has the other bilge pump?", map[string]any{"rating": "down", "expected": "14 valves"})
	his := s.rate(t, bob, "How many valves are in the northern pier?", map[string]any{"rating": "up", "expected": "Twelve."})
	byID := func(items []map[string]any) map[string]map[string]any {
		found := map[string]map[string]any{}
		for _, item := range items {
			id, _ := item["id"].(string)
			found[id] = item
		}
		return found
	}
	own := byID(s.fromFeedback(t, ann, map[string]any{"project_id": "default"}, http.StatusCreated))
	up, down := own[liked], own[disliked]
	if len(own) != 2 || up == nil || down == nil {
		t.Fatalf("ann's are %v", own)
	}
	documents, _ := up["expected_documents"].([]any)
	reference, _ := up["reference"].(string)
	if up["question"] != "How many valves has the bilge pump?" || !strings.HasPrefix(reference, "It has so many valves.") || strings.Contains(reference, "<") || !slices.Contains(documents, any(pump.ID)) {
		t.Errorf("liked: %v", up)
	}
	if down["reference"] != "14 valves" || down["expected_documents"] != nil {
		t.Errorf("disliked: %v", down)
	}
	for rating, want := range map[string]string{"up": liked, "down": disliked} {
		if got := byID(s.fromFeedback(t, ann, map[string]any{"rating": rating}, http.StatusCreated)); len(got) != 1 || got[want] == nil {
			t.Errorf("rated %s: %v", rating, got)
		}
	}
	if got := byID(s.fromFeedback(t, s.key, map[string]any{}, http.StatusCreated)); len(got) != 3 || got[his]["reference"] != "Twelve." {
		t.Errorf("everybody's are %v", got)
	}
	s.fromFeedback(t, nobody, map[string]any{}, http.StatusConflict)
	s.fromFeedback(t, keyOf("a reader", "read"), map[string]any{}, http.StatusForbidden)
}
