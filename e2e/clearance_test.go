package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// doors are the routes that return text of a document or tell of it. Each is asked once for a
// document above the clearance of the caller, and once for one that it reaches.
var doors = []struct {
	name, method, path string
	body               string
	lists              bool // the answer is 200 for whatever is not found
}{
	{"the document", "GET", "/workspaces/default/documents/{document}", "", false},
	{"its chunks", "GET", "/workspaces/default/documents/{document}/chunks", "", false},
	{"its original", "GET", "/workspaces/default/documents/{document}/content", "", false},
	{"its text", "GET", "/workspaces/default/documents/{document}/parsed", "", false},
	{"its versions", "GET", "/workspaces/default/documents/{document}/versions", "", false},
	{"a chunk", "GET", "/chunks/{chunk}", "", false},
	{"the list of documents", "GET", "/workspaces/default/documents", "", true},
	{"the list of the seed", "GET", webhooks + "/documents?projectId=default", "", true},
	{"a search", "POST", webhooks + "/retrieve-context", `{"text": "{word}"}`, true},
	{"a question", "POST", webhooks + "/query", `{"text": "{word}?", "projectId": "default"}`, true},
	{"a search among documents", "POST", "/tools/rag_search", `{"query": "{word}"}`, true},
	{"a search of chosen documents", "POST", "/tools/rag_search", `{"query": "{word}", "document_ids": ["{document}"]}`, false},
	{"a chat of OpenAI", "POST", "/v1/chat/completions", `{"model": "project:default", "messages": [{"role": "user", "content": "{word}?"}]}`, true},
	{"a search of OpenAI", "POST", "/v1/vector_stores/default/search", `{"query": "{word}"}`, true},
	{"a file of OpenAI", "GET", "/v1/vector_stores/default/files", "", true},
}

// classified is a document with a word of its own.
type classified struct{ document, chunk, word string }

func (s *server) classified(t *testing.T, word, level string) classified {
	t.Helper()
	id := s.publishIn(t, "default", word, "The word of the day is "+word+".", map[string]any{"classification": level})
	var chunks struct{ Data []struct{ ID string } }
	if s.call(t, "GET", "/workspaces/default/documents/"+id+"/chunks", nil, &chunks); len(chunks.Data) != 1 {
		t.Fatalf("%s has the chunks %v", word, chunks.Data)
	}
	return classified{id, chunks.Data[0].ID, word}
}

// tells reports whether a door shows a document to a caller.
func (s *server) tells(t *testing.T, d classified, method, path, body string, header ...string) (status int, told bool) {
	t.Helper()
	fill := strings.NewReplacer("{document}", d.document, "{chunk}", d.chunk, "{word}", d.word)
	mediaType := ""
	if body != "" {
		mediaType = "application/json"
	}
	res, answer := s.raw(t, method, fill.Replace(path), mediaType, []byte(fill.Replace(body)), header...)
	said := string(answer)
	if res.StatusCode != http.StatusOK {
		return res.StatusCode, strings.Contains(said, "day is "+d.word) // an id that was asked for comes back
	}
	return res.StatusCode, strings.Contains(said, d.document) || strings.Contains(said, "day is "+d.word) || strings.Contains(said, `"name":"`+d.word+`"`)
}

// TestClearance asks at every door for documents above and below the clearance of a key.
func TestClearance(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	above, below := s.classified(t, "Tourmaline", "restricted"), s.classified(t, "Feldspar", "internal")
	for _, caller := range []struct {
		name string
		key  map[string]any
		sees bool // above
	}{
		{"a reader", map[string]any{"name": "reader", "scopes": []string{"read"}}, false},
		{"an editor", map[string]any{"name": "editor", "scopes": []string{"write"}}, false},
		{"a reader with a clearance", map[string]any{"name": "cleared", "scopes": []string{"read"}, "clearance": "restricted"}, true},
		{"an administrator", map[string]any{"name": "admin", "scopes": []string{"admin"}}, true},
		{"an administrator with a lower clearance", map[string]any{"name": "low", "scopes": []string{"admin"}, "clearance": "confidential"}, false},
	} {
		header := []string{"Authorization", "Bearer " + s.newKey(t, caller.key)}
		for _, door := range doors {
			if status, told := s.tells(t, below, door.method, door.path, door.body, header...); status != http.StatusOK || !told {
				t.Errorf("%s, %s of a document that it reaches: status %d, told %t", caller.name, door.name, status, told)
			}
			status, told := s.tells(t, above, door.method, door.path, door.body, header...)
			if told != caller.sees || (status == http.StatusOK) != (caller.sees || door.lists) || status != http.StatusOK && status != http.StatusNotFound {
				t.Errorf("%s, %s of a document of the level restricted: status %d, told %t", caller.name, door.name, status, told)
			}
		}
	}
}

// TestAChangeOfClearanceShowsWithinTwoSeconds changes the classification of a document and the
// clearance of a member.
func TestAChangeOfClearanceShowsWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL(), "TOKEN_SECRET="+tokenSecret, "CAIRN_AUTH__JWT__SECRET_ENV=TOKEN_SECRET")...)
	d := s.classified(t, "Tourmaline", "confidential")
	ann, bob := tokenOf(t, "ann"), tokenOf(t, "bob")
	wants := func(what string, who []string, sees bool) {
		t.Helper()
		await(t, 2*time.Second, what, func(context.Context) error {
			_, found := s.tells(t, d, "POST", webhooks+"/retrieve-context", `{"text": "{word}"}`, who...)
			status, opened := s.tells(t, d, "GET", "/workspaces/default/documents/{document}/content", "", who...)
			if found != sees || opened != sees {
				return fmt.Errorf("found %t, opened %t, status %d", found, opened, status)
			}
			return nil
		})
	}
	put := func(user, level string) {
		t.Helper()
		if _, err := s.PutMember(t.Context(), user, client.NewMember{Roles: []string{"reader"}, Clearance: level}); err != nil {
			t.Fatal(err)
		}
	}
	put("ann", "")
	put("bob", "restricted")
	wants("bob sees it", bob, true)
	wants("ann does not", ann, false)
	put("ann", "confidential")
	wants("ann is cleared", ann, true)
	for level, sees := range map[string]bool{"restricted": false} {
		if status := s.call(t, "PATCH", "/workspaces/default/documents/"+d.document, map[string]any{"classification": level}, nil); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		wants("as "+level, ann, sees)
		wants("bob sees it as "+level, bob, true)
	}
	if status := s.call(t, "PATCH", "/workspaces/default/documents/"+d.document, map[string]any{"classification": "public"}, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	wants("it is public", ann, true)
	var explained client.AccessExplanation
	s.call(t, "GET", "/workspaces/default/access/explain?document_id="+d.document+"&user=ann", nil, &explained)
	if said, _ := json.Marshal(explained); !explained.Allowed || !strings.Contains(string(said), `"classification"`) {
		t.Errorf("explained: %s", said)
	}
	for _, wrong := range []struct {
		method, path string
		body         any
	}{
		{"PATCH", "/workspaces/default/documents/" + d.document, map[string]any{"classification": "cosmic"}},
		{"PUT", "/workspaces/default/members/cleo", map[string]any{"roles": []string{"reader"}, "clearance": "cosmic"}},
		{"POST", webhooks + "/document?projectId=default", map[string]any{"name": "x", "content": map[string]string{"text": "x"}, "override": map[string]any{"classification": "cosmic"}}},
		{"POST", "/workspaces/default/keys", map[string]any{"name": "x", "scopes": []string{"read"}, "clearance": "cosmic"}},
	} {
		if status := s.call(t, wrong.method, wrong.path, wrong.body, nil); status != http.StatusUnprocessableEntity {
			t.Errorf("%s %s: status %d", wrong.method, wrong.path, status)
		}
	}
}
