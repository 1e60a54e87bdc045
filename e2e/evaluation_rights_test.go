package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// vaultModel answers about the vault or the crane, and its judge quotes the answer.
func vaultModel(r protocol.ChatRequest) modeltest.Reply {
	last := string(r.Messages[len(r.Messages)-1].Content)
	text := "The crane lifts Feldspar."
	if strings.Contains(last, "vault") {
		text = "The vault opens with Tourmaline."
	}
	if len(r.Tools) == 0 {
		return modeltest.Text(`{"reason": "It says: ` + text + `", "grade": 2, "sentences": [{"number": 1, "verdict": "supported", "reason": "` + text + `"}]}`)
	}
	return modeltest.Text(text + " <source_1>")
}

// TestEvaluationsKeepDocumentsHidden evaluates with answers from a document that only the starter may
// read. Another editor reads the evaluation without the answers that rest on it.
func TestEvaluationsKeepDocumentsHidden(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Reply: vaultModel})
	s := start(t, at(m.URL(), "TOKEN_SECRET="+tokenSecret, "CAIRN_AUTH__JWT__SECRET_ENV=TOKEN_SECRET")...)
	s.publishIn(t, "default", "vault", "The vault of the northern pier opens with Tourmaline.", map[string]any{"access": map[string]any{"users": []string{"ann"}}})
	s.publishIn(t, "default", "crane", "The crane of the southern quay lifts Feldspar.", nil)
	for _, user := range []string{"ann", "bob"} {
		if _, err := s.PutMember(t.Context(), user, client.NewMember{Roles: []string{"editor"}}); err != nil {
			t.Fatal(err)
		}
	}
	ann, bob := tokenOf(t, "ann"), tokenOf(t, "bob")
	var set struct{ ID string }
	items := []map[string]any{{"id": "v", "question": "What opens the vault of the northern pier?", "reference": "a word"}, {"id": "c", "question": "What does the crane of the southern quay lift?", "reference": "a stone"}}
	if status := s.call(t, "POST", "/workspaces/default/test_sets", map[string]any{"name": "both", "items": items}, &set, ann...); status != http.StatusCreated {
		t.Fatalf("test set: status %d", status)
	}
	judges := []map[string]any{{"model": modeltest.ModelName}, {"model": "cairn-offline"}}
	var ids []string
	for _, judge := range judges {
		var e evaluation
		if status := s.call(t, "POST", "/workspaces/default/evaluations", map[string]any{"test_set_id": set.ID, "judge": judge}, &e, ann...); status != http.StatusAccepted {
			t.Fatalf("evaluation: status %d", status)
		}
		if e = s.evaluated(t, e.ID, "it has ended", hasEnded); e.Status != "completed" {
			t.Fatalf("it is %s, %+v", e.Status, e.Error)
		}
		ids = append(ids, e.ID)
	}
	const evaluations = "/workspaces/default/evaluations/"
	for _, id := range ids {
		for _, query := range []string{"", "?sampling=random", "?item=v"} {
			_, hers := s.raw(t, "GET", evaluations+id+query, "", nil, ann...)
			if !strings.Contains(string(hers), "Tourmaline") {
				t.Errorf("the starter does not see her answer: %.600s", hers)
			}
			_, his := s.raw(t, "GET", evaluations+id+query, "", nil, bob...)
			if strings.Contains(string(his), "Tourmaline") || !strings.Contains(string(his), `"withheld":true`) {
				t.Errorf("%s shows what rests on the hidden document: %s", query, his)
			}
			if query != "?item=v" && !strings.Contains(string(his), "Feldspar") {
				t.Errorf("%s hides the other answer: %s", query, his)
			}
		}
	}
	res, compared := s.raw(t, "GET", evaluations+ids[0]+"/compare/"+ids[1], "", nil, bob...)
	if res.StatusCode != http.StatusOK || strings.Contains(string(compared), "Tourmaline") {
		t.Errorf("the comparison, status %d: %s", res.StatusCode, compared)
	}
	res, reviewed := s.raw(t, "POST", evaluations+ids[0]+"/items/v/review", "application/json", []byte(`{"score": 2}`), bob...)
	if strings.Contains(string(reviewed), "Tourmaline") {
		t.Errorf("the review, status %d: %s", res.StatusCode, reviewed)
	}
	var e evaluation
	s.call(t, "GET", evaluations+ids[0]+"?item=v", nil, &e, ann...)
	for _, door := range []string{"", "/events"} {
		if _, run := s.raw(t, "GET", "/workspaces/default/runs/"+e.Items[0].RunID+door, "", nil, bob...); strings.Contains(string(run), "Tourmaline") {
			t.Errorf("the run%s: %s", door, run)
		}
	}
}
