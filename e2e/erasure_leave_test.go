package e2e_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// somebody is a person who leaves unique words in everything that takes words.
type somebody struct {
	*testing.T
	s      *server
	m      *modeltest.Server
	name   string
	header []string
	words  map[string]string // where each was left, by the word

	documents     []string // ids
	held          string   // the id of a document
	heldWords     []string
	conversations []string
	runs          []string
}

// word returns a new word that the person leaves in a place.
func (p *somebody) word(place string) string {
	word := fmt.Sprintf("zq%s%03dxv", p.name, len(p.words))
	p.words[word] = place
	return word
}

// join makes the person a member, who signs in with a JWT.
func (s *server) join(t *testing.T, m *modeltest.Server, name string) *somebody {
	t.Helper()
	if _, err := s.PutMember(t.Context(), name, client.NewMember{Roles: []string{"editor"}}); err != nil {
		t.Fatal(err)
	}
	p := &somebody{T: t, s: s, m: m, name: name, header: tokenOf(t, name), words: map[string]string{}}
	await(t, 5*time.Second, name+" is let in", func(context.Context) error {
		if status := s.call(t, "GET", "/workspaces/default/documents", nil, nil, p.header...); status != http.StatusOK {
			return fmt.Errorf("status %d", status)
		}
		return nil
	})
	return p
}

// send sends a request as the person and decodes the answer.
func (p *somebody) send(method, path string, body, out any, more ...string) {
	p.Helper()
	if status := p.s.call(p.T, method, path, body, out, append(p.header, more...)...); status >= 300 {
		p.Fatalf("%s %s as %s: status %d", method, path, p.name, status)
	}
}

// upload publishes a document of the person.
func (p *somebody) upload(external string, body map[string]any) accepted {
	p.Helper()
	var a accepted
	body["externalId"] = external
	p.send("POST", webhooks+"/document?projectId=default", body, &a, "Idempotency-Key", p.word("idempotency key"))
	if _, err := p.s.Wait(p.Context(), a.RunID, nil); err != nil {
		p.Fatal(err)
	}
	return a
}

// leave leaves words everywhere.
func (p *somebody) leave() {
	p.Helper()
	p.leaveDocuments()
	p.leaveFiles()
	p.leaveAnswers()
	p.leaveResearch()
	p.leaveProfile()
	p.leaveRest()
	p.leaveLate()
}

func (p *somebody) leaveDocuments() {
	p.Helper()
	for i := range 30 {
		a := p.upload(p.word("external id"), map[string]any{
			"name": p.word("name of a document"), "tags": []string{p.word("tag")}, "metadata": map[string]any{p.word("key of metadata"): p.word("metadata")},
			"content": map[string]string{"text": fmt.Sprintf("Sheet %d of the harbour is about %s.", i, p.word("text of a document"))},
		})
		p.documents = append(p.documents, a.ID)
	}
	text := func(n string) map[string]any {
		return map[string]any{"content": map[string]string{"text": n + " edition of the almanac: " + p.word("version of a document")}}
	}
	p.upload("almanac of "+p.name, text("First"))
	a := p.upload("almanac of "+p.name, text("Second"))
	p.documents = append(p.documents, a.ID)
	p.s.call(p.T, "PATCH", "/workspaces/default/documents/"+a.ID, map[string]any{"tags": []string{p.word("patched tag")}}, nil)
	words := []string{p.word("held"), p.word("held"), p.word("held")}
	held := p.upload("held of "+p.name, map[string]any{"name": words[0], "tags": []string{words[1]}, "content": map[string]string{"text": "The contract is about " + words[2] + "."}})
	p.held, p.heldWords = held.ID, words
}

// leaveFiles uploads files: one that fails, and an archive.
func (p *somebody) leaveFiles() {
	p.Helper()
	mediaType, body := form(p.T, nil, file{p.word("name of a file that failed") + ".pdf", []byte("%PDF-1.4\n" + p.word("bytes of a file that failed"))})
	res, answer := p.s.raw(p.T, "POST", filesRoute, mediaType, body, p.header...)
	var taken struct{ Documents []client.Document }
	if decode(p.T, answer, &taken); len(taken.Documents) != 1 {
		p.Fatalf("files: status %d, %.300s", res.StatusCode, answer)
	}
	p.s.ended(p.T, taken.Documents[0])
	p.documents = append(p.documents, taken.Documents[0].ID)
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for range 3 {
		w, err := z.Create(p.word("name in an archive") + ".txt")
		if err == nil {
			_, err = w.Write([]byte("The foghorn says " + p.word("text in an archive") + " twice a minute."))
		}
		if err != nil {
			p.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		p.Fatal(err)
	}
	mediaType, body = form(p.T, nil, file{p.word("name of an archive") + ".zip", archive.Bytes()})
	_, answer = p.s.raw(p.T, "POST", filesRoute, mediaType, body, p.header...)
	var imported struct{ Import *client.Import }
	if decode(p.T, answer, &imported); imported.Import == nil {
		p.Fatalf("archive: %.300s", answer)
	}
	if _, err := p.s.Wait(p.Context(), imported.Import.RunID, nil); err != nil {
		p.Fatal(err)
	}
}

// ask asks a question in a conversation of its own.
func (p *somebody) ask(question, answer string) (a answered) {
	p.Helper()
	p.m.ScriptChat(modeltest.Text(answer))
	p.send("POST", webhooks+"/query", map[string]any{"text": question, "projectId": "default"}, &a)
	p.conversations, p.runs = append(p.conversations, a.ConversationID), append(p.runs, a.RunID)
	return a
}

func (p *somebody) leaveAnswers() {
	p.Helper()
	for range 10 {
		p.ask("What of "+p.word("question")+"?", "It is "+p.word("answer")+".")
	}
	p.m.ScriptChat(modeltest.Text("What of the later one?"), modeltest.Text("It is "+p.word("later answer")+"."))
	conversation := p.conversations[0]
	p.send("POST", webhooks+"/query", map[string]any{"text": "And of " + p.word("later question") + "?", "projectId": "default", "conversationId": conversation}, nil)
	p.send("PATCH", "/workspaces/default/conversations/"+conversation, map[string]any{"title": p.word("title of a conversation")}, nil)
	mediaType, body := form(p.T, nil, file{p.word("name of an attachment") + ".txt", []byte("Attached is " + p.word("attachment") + ".")})
	if res, answer := p.s.raw(p.T, "POST", "/workspaces/default/conversations/"+conversation+"/attachments", mediaType, body, p.header...); res.StatusCode >= 300 {
		p.Fatalf("attachment: status %d, %.300s", res.StatusCode, answer)
	}
	p.m.ScriptChat(longReply(), modeltest.Text("Then it is "+p.word("steered answer")+"."))
	a := p.s.ask(p.T, webhooks+"/query?compact=true", map[string]any{"text": "Tell " + p.word("steered question"), "projectId": "default", "sse": true}, p.header...)
	r := &reader{run: a.run, body: a}
	r.until(p.T, hasWords)
	p.send("POST", "/runs/"+a.run+"/messages", map[string]any{"text": "Rather " + p.word("steering message")}, nil)
	r.until(p.T, never)
	for i, run := range p.runs[:5] {
		p.send("POST", "/workspaces/default/runs/"+run+"/feedback", map[string]any{"rating": []string{"up", "down"}[i%2], "comment": p.word("comment"), "expected": p.word("expected answer")}, nil)
	}
	p.send("POST", "/tools/rag_search", map[string]any{"query": "search for " + p.word("query of a tool"), "project_id": "default"}, nil)
}

// leaveResearch asks for a report.
func (p *somebody) leaveResearch() {
	p.Helper()
	var a answered
	p.send("POST", webhooks+"/query", map[string]any{
		"text": "What stands on the pier of " + p.word("question of a research") + "?", "projectId": "default", "deepResearch": true,
		"projectConfigOverride": map[string]any{"tools": map[string]any{"deep_research": map[string]any{"breadth": 1, "depth": 1}}},
	}, &a)
}

// leaveProfile has an identity provider tell of the person.
func (p *somebody) leaveProfile() {
	p.Helper()
	token := p.s.scimToken(p.T)
	p.s.provision(p.T, token, "POST", "/Users", string(mustJSON(p.T, map[string]any{
		"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:User"}, "userName": p.name, "active": true,
		"displayName": p.word("display name"), "nickName": p.word("nickname"), "title": p.word("title of a person"),
		"name":         map[string]string{"givenName": p.word("given name"), "familyName": p.word("family name")},
		"emails":       []map[string]any{{"value": p.word("mail") + "@example.org", "type": "work", "primary": true}},
		"phoneNumbers": []map[string]any{{"value": p.word("phone"), "type": "work"}},
	})))
}

// leaveRest leaves words in preferences, test sets, keys and consents.
func (p *somebody) leaveRest() {
	p.Helper()
	p.send("PUT", "/preferences", map[string]any{"rag": map[string]any{"tags": []string{p.word("preferences")}}}, nil)
	items := []map[string]any{{"id": "item of " + p.name, "question": "What is " + p.word("question of an item") + "?", "reference": p.word("reference of an item")}}
	var set struct{ ID string }
	p.send("POST", "/workspaces/default/test_sets", map[string]any{"name": p.word("name of a test set"), "items": items}, &set)
	var e evaluation
	p.m.ScriptChat(modeltest.Text("Measured is " + p.word("answer of an evaluation") + "."))
	p.send("POST", "/workspaces/default/evaluations", map[string]any{"test_set_id": set.ID}, &e)
	p.s.evaluated(p.T, e.ID, "the evaluation of "+p.name+" has ended", hasEnded)
	p.send("POST", "/workspaces/default/evaluations/"+e.ID+"/items/"+items[0]["id"].(string)+"/review", map[string]any{"score": 2, "comment": p.word("review")}, nil)
	for path, body := range map[string]any{
		"/consents": map[string]any{"subject": p.name, "purpose": p.word("purpose of a consent"), "evidence": p.word("evidence of a consent")},
		"/grants":   map[string]any{"subject": map[string]string{"user": p.name}, "object": map[string]string{"tag": "common"}, "effect": "allow", "permission": "read", "reason": p.word("reason of a grant")},
	} {
		if status := p.s.call(p.T, "POST", "/workspaces/default"+path, body, nil); status != http.StatusCreated {
			p.Fatalf("%s: status %d", path, status)
		}
	}
}

// hold places a hold on the held document.
func (p *somebody) hold() client.Hold {
	p.Helper()
	h, err := p.s.PlaceHold(p.Context(), client.NewHold{Name: "Smith v. Acme", Reason: "notice", DocumentIDs: []string{p.held}})
	if err != nil {
		p.Fatal(err)
	}
	return h
}

// left returns the words of the person that stand in these texts, each with its place.
func (p *somebody) left(texts map[string][]byte) []string {
	var found []string
	for name, text := range texts {
		seen := map[string]bool{}
		prefix := []byte("zq" + p.name)
		for at := bytes.Index(text, prefix); at >= 0; at = bytes.Index(text, prefix) {
			text = text[at:]
			word := string(text[:min(len(text), len(prefix)+len("000xv"))])
			if place := p.words[word]; place != "" && !seen[word] {
				seen[word] = true
				found = append(found, fmt.Sprintf("%s (%s) in %s", word, place, name))
			}
			text = text[len(prefix):]
		}
	}
	return found
}

// findsOwn checks that the person still finds what the person left.
func (p *somebody) findsOwn() error {
	var shown []string
	paths := []string{"/preferences", "/workspaces/default/documents?limit=100"}
	for _, conversation := range p.conversations {
		paths = append(paths, "/workspaces/default/conversations/"+conversation+"?limit=100")
	}
	for _, path := range paths {
		res, body := p.s.raw(p.T, "GET", path, "", nil, p.header...)
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: status %d", path, res.StatusCode)
		}
		shown = append(shown, string(body))
	}
	text := strings.Join(shown, "\n")
	for word, place := range p.words {
		switch place {
		case "name of a document", "tag", "metadata", "question", "answer", "title of a conversation", "preferences", "name of a file that failed":
			if !strings.Contains(text, word) {
				return fmt.Errorf("%s (%s) is not shown to %s", word, place, p.name)
			}
		}
	}
	for word, place := range p.words {
		if place != "text of a document" {
			continue
		}
		_, body := p.s.raw(p.T, "POST", webhooks+"/retrieve-context", "application/json", []byte(`{"text": "What is about `+word+`?"}`), p.header...)
		if !strings.Contains(string(body), word) {
			return fmt.Errorf("%s is not found", word)
		}
		return nil
	}
	return nil
}
