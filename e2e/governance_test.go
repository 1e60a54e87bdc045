package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestGrants allows and denies a user a document, and waits for the end of a grant.
func TestGrants(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	private := s.publishIn(t, "default", "private", "The word of the day is Tourmaline.", map[string]any{"access": map[string]any{"users": []string{"nobody"}}})
	open := s.publishIn(t, "default", "open", "The word of the day is Feldspar.", map[string]any{"tags": []string{"common"}})
	header := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "reader", "scopes": []string{"read"}})}
	sees := func(user string) string {
		t.Helper()
		_, found := s.raw(t, "POST", webhooks+"/retrieve-context", "application/json", []byte(`{"text": "the word of the day", "userId": "`+user+`"}`), header...)
		shown := ""
		for word, id := range map[string]string{"Tourmaline": private, "Feldspar": open} {
			res, _ := s.raw(t, "GET", "/workspaces/default/documents/"+id+"/content?userId="+user, "", nil, header...)
			if isFound := strings.Contains(string(found), word); isFound != (res.StatusCode == http.StatusOK) {
				t.Errorf("%s finds %s: %t, and opens it with status %d", user, word, isFound, res.StatusCode)
			} else if isFound {
				shown += word
			}
		}
		return strings.Replace(shown, "TourmalineFeldspar", "FeldsparTourmaline", 1)
	}
	grant := func(g client.NewGrant) client.Grant {
		t.Helper()
		added, err := s.AddGrant(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		return added
	}
	if ann := sees("ann"); ann != "Feldspar" {
		t.Fatalf("before the grants she sees %s", ann)
	}
	endless := grant(client.NewGrant{Subject: client.GrantSubject{User: "ann"}, Object: client.GrantObject{DocumentID: private}, Effect: "allow", Permission: "read"})
	end := time.Now().Add(5 * time.Second).UTC().Truncate(time.Second)
	grant(client.NewGrant{Subject: client.GrantSubject{User: "ann"}, Object: client.GrantObject{DocumentID: private}, Effect: "allow", Permission: "read", ExpiresAt: &end})
	deny := grant(client.NewGrant{Subject: client.GrantSubject{User: "ann"}, Object: client.GrantObject{Tag: "common"}, Effect: "deny", Permission: "read", Reason: "a test"})
	if ann, bob := sees("ann"), sees("bob"); ann != "Tourmaline" || bob != "Feldspar" {
		t.Errorf("with the grants ann sees %q, and bob %q", ann, bob)
	}
	explained, err := s.ExplainAccess(t.Context(), open, client.Reader{User: "ann"})
	if err != nil || explained.Allowed || !strings.Contains(fmt.Sprint(explained.Because), deny.ID) {
		t.Errorf("explained: %+v, %v", explained, err)
	}
	if err := s.RemoveGrant(t.Context(), endless.ID); err != nil { // the one with an end is left
		t.Fatal(err)
	}
	s.opensUntil(t, end, "/workspaces/default/documents/"+private+"/content?userId=ann", header)
	if ann := sees("ann"); ann != "" {
		t.Errorf("after its end she sees %s", ann)
	}
	if err := s.RemoveGrant(t.Context(), deny.ID); err != nil {
		t.Fatal(err)
	}
	if ann := sees("ann"); ann != "Feldspar" {
		t.Errorf("after the grants she sees %s", ann)
	}
}

// opensUntil requests an address again and again: it is opened by each request that is answered before a
// time, and by none that begins behind it.
func (s *server) opensUntil(t *testing.T, end time.Time, address string, header []string) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for over := false; !over; <-ticker.C {
		over = !time.Now().Before(end)
		res, _ := s.raw(t, "GET", address, "", nil, header...)
		if early := time.Now().Before(end); early && res.StatusCode != http.StatusOK || over && res.StatusCode != http.StatusNotFound {
			t.Fatalf("status %d, and the end is over: %t", res.StatusCode, over)
		}
	}
}

// TestHolds places a hold, and removes the document in every way: each answer names the hold.
func TestHolds(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	const first = "The first text of the contract."
	held := s.publishIn(t, "default", "contract", first, nil)
	free := s.publishIn(t, "default", "free", "Nobody holds this.", nil)
	editor := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "editor", "scopes": []string{"write"}})}
	if status := s.call(t, "POST", "/workspaces/default/holds", map[string]any{"name": "x", "reason": "x", "document_ids": []string{held}}, nil, editor...); status != http.StatusForbidden {
		t.Errorf("an editor places a hold: status %d", status)
	}
	placed, err := s.PlaceHold(t.Context(), client.NewHold{Name: "Smith v. Acme", Reason: "notice", DocumentIDs: []string{held}})
	if err != nil || placed.Documents != 1 {
		t.Fatalf("%+v, %v", placed, err)
	}
	s.publishIn(t, "default", "contract", "The second text of the contract.", nil)
	if res, content := s.raw(t, "GET", "/workspaces/default/documents/"+held+"/content?version=1", "", nil); string(content) != first {
		t.Errorf("the first version: status %d, %.200s", res.StatusCode, content)
	}
	for _, removal := range []struct{ method, path, body string }{
		{"DELETE", "/workspaces/default/documents/" + held, ""},
		{"DELETE", webhooks + "/document?projectId=default&id=" + held, ""},
		{"DELETE", "/workspaces/default/projects/default", ""},
	} {
		res, answer := s.raw(t, removal.method, removal.path, "", nil)
		if res.StatusCode != http.StatusConflict || !strings.Contains(string(answer), "Smith v. Acme") || !strings.Contains(string(answer), placed.ID) {
			t.Errorf("%s %s: status %d, %.300s", removal.method, removal.path, res.StatusCode, answer)
		}
	}
	if status := s.call(t, "DELETE", "/workspaces/default/documents/"+free, nil, nil); status >= 300 {
		t.Errorf("the removal of another document: status %d", status)
	}
	if _, err := s.LiftHold(t.Context(), placed.ID, "settled"); err != nil {
		t.Fatal(err)
	}
	if status := s.call(t, "DELETE", "/workspaces/default/documents/"+held, nil, nil); status >= 300 {
		t.Errorf("the removal after the hold: status %d", status)
	}
}

// TestRetention applies the retention of a project: what is due goes with its run, what a hold
// keeps and what is young stays.
func TestRetention(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	for name, tag := range map[string]string{"old": "draft", "held": "draft", "kept": "final"} {
		s.publishIn(t, "default", name, "The text of "+name+".", map[string]any{"tags": []string{tag}})
	}
	if _, err := s.PlaceHold(t.Context(), client.NewHold{Name: "Smith", Reason: "notice", DocumentIDs: []string{s.idOf(t, "held")}}); err != nil {
		t.Fatal(err)
	}
	rules := map[string]any{"documents": []map[string]any{{"tag": "draft", "days": 0, "action": "remove"}, {"tag": "final", "days": 30, "action": "remove"}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"retention": rules}, nil); status != http.StatusOK {
		t.Fatalf("the rules: status %d", status)
	}
	due, err := s.RunRetention(t.Context(), true)
	if err != nil || due.Due != 1 || due.KeptByHold != 1 || due.RunID != "" {
		t.Fatalf("a dry run finds %+v, %v", due, err)
	}
	if s.idOf(t, "old") == "" {
		t.Error("a dry run has removed a document")
	}
	if due, err = s.RunRetention(t.Context(), false); err != nil || due.RunID == "" {
		t.Fatalf("%+v, %v", due, err)
	}
	if _, err := s.Wait(t.Context(), due.RunID, nil); err != nil {
		t.Fatal(err)
	}
	await(t, 10*time.Second, "the document is removed", func(context.Context) error {
		if s.idOf(t, "old") != "" {
			return errors.New("it is there")
		}
		return nil
	})
	if s.idOf(t, "held") == "" || s.idOf(t, "kept") == "" {
		t.Error("a document that is held, or young, is gone")
	}
	var run struct {
		Kind, Status string
		Result       map[string]int
	}
	if s.call(t, "GET", "/runs/"+due.RunID, nil, &run); run.Kind != "retention" || run.Status != "completed" || run.Result["removed"] != 1 || run.Result["kept_by_hold"] != 1 {
		t.Errorf("the run is %+v", run)
	}
}

// idOf returns the id of a document by its external id, "" if there is none.
func (s *server) idOf(t *testing.T, external string) string {
	t.Helper()
	var list struct {
		Data []struct{ ID, ExternalID string }
	}
	s.call(t, "GET", "/workspaces/default/documents?external_id="+external, nil, &list)
	for _, d := range list.Data {
		if d.ExternalID == external {
			return d.ID
		}
	}
	return ""
}
