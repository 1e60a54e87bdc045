package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
	"github.com/cairn-rag/cairn/internal/tool"
)

// wiretap passes requests on to a stand-in model, and keeps their bodies.
type wiretap struct {
	*httptest.Server

	mu     sync.Mutex
	bodies []string
}

func tap(t *testing.T, m *modeltest.Server) *wiretap {
	t.Helper()
	target, err := url.Parse(strings.TrimSuffix(m.URL(), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	w := &wiretap{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has left
		}
		w.mu.Lock()
		w.bodies = append(w.bodies, r.URL.Path+" "+string(body))
		w.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(out, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// sent returns what was sent to the model, and forgets it.
func (w *wiretap) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.bodies
	w.bodies = nil
	return sent
}

// holders asks for values of personal data, one of which is in no document.
const holders = "Is ann.private@marker.example or IBAN GB82WEST12345698765432 the holder of the quillobasalt fund?"

// repeats is a model that first searches for what it was asked, and then repeats all placeholders
// that it was given, in several forms, each of which is split over two pieces or more.
func repeats(delay time.Duration) func(protocol.ChatRequest) modeltest.Reply {
	return func(r protocol.ChatRequest) modeltest.Reply {
		var all strings.Builder
		called := false
		for _, m := range r.Messages {
			all.WriteString(string(m.Content) + "\n")
			called = called || m.Role == model.RoleTool
		}
		names := regexp.MustCompile(`<((?:[A-Z]+_)+\d+)>`).FindAllStringSubmatch(all.String(), -1)
		if len(r.Tools) > 0 && !called && len(names) > 0 {
			arguments, _ := json.Marshal(map[string]string{"query": "quillobasalt fund of <EMAIL_ADDRESS_1>"})
			return modeltest.Call(model.ToolCall{ID: "call_1", Name: tool.DocumentsRAG, Arguments: string(arguments)})
		}
		said := "The holders are:\n"
		for i, name := range names {
			switch i % 4 {
			case 0:
				said += "- <" + name[1] + ">\n"
			case 1:
				said += "- **<" + strings.ToLower(name[1]) + ">**\n"
			case 2:
				said += "- `" + name[1] + "`\n"
			case 3:
				said += `- \<` + strings.ReplaceAll(name[1], "_", `\_`) + `\>` + "\n"
			}
		}
		var pieces []string
		for said += "and nobody else."; len(said) > 5; said = said[5:] {
			pieces = append(pieces, said[:5])
		}
		return modeltest.Reply{Pieces: append(pieces, said), TokenDelay: delay}
	}
}

// keeping makes a project with a privacy and adds the statement to it.
func (s *server) keeping(t *testing.T, slug string, privacy map[string]any) {
	t.Helper()
	project := map[string]any{"slug": slug, "privacy": privacy}
	if status := s.call(t, "POST", webhooks+"/projects", project, nil); status >= 300 {
		t.Fatalf("project: status %d", status)
	}
	if d := s.ended(t, s.addPrivate(t, slug, "statement of person3@marker3.example", statement())); d.Status != knowledge.StatusPublished {
		t.Fatalf("%s: %+v", d.Status, d.Error)
	}
}

// smallPieces returns a text in pieces of four bytes, as a model streams it.
func smallPieces(text string) (pieces []string) {
	for ; len(text) > 4; text = text[4:] {
		pieces = append(pieces, text[:4])
	}
	return append(pieces, text)
}

// planted are the values of the statement and of the question.
func planted() []string {
	values := []string{"ann.private@marker.example", "GB82WEST12345698765432"}
	for value := range personalMarkers() {
		values = append(values, value)
	}
	return values
}

// wantKept fails if a planted value stands in what was sent.
func wantKept(t *testing.T, sent []string) {
	t.Helper()
	if len(sent) == 0 {
		t.Error("the model was not asked, so nothing is shown")
	}
	for _, body := range sent {
		for _, value := range planted() {
			if strings.Contains(body, value) {
				t.Errorf("%q went to a model: %.300s", value, body)
			}
		}
	}
}

// wantValues fails if an answer lacks the values of the question, or has placeholders.
func wantValues(t *testing.T, what, text string) {
	t.Helper()
	found := 0
	for _, value := range planted() {
		if strings.Contains(text, value) {
			found++
		}
	}
	if found < 10 || !strings.Contains(text, planted()[0]) || !strings.Contains(text, planted()[1]) || regexp.MustCompile(`(?i)(EMAIL|IBAN)\\?_`).MatchString(text) {
		t.Errorf("%s has %d values: %.1500s", what, found, text)
	}
}

// TestModelsGetNoPersonalData asks about documents with personal data in a project that keeps it
// from models: chat, embedding and the tools of the model. A control in another project shows that
// the values go to the model otherwise.
func TestModelsGetNoPersonalData(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Reply: repeats(0)})
	w := tap(t, m)
	s := start(t, at(w.URL+"/v1")...)
	s.keeping(t, "kept", map[string]any{"providers": "redact"})
	wantKept(t, w.sent())

	ask := map[string]any{"text": holders, "projectId": "kept"}
	list := s.follow(t, s.ask(t, webhooks+"/query?compact=true", map[string]any{"text": holders, "projectId": "kept", "sse": true}).run, 0)
	tr := read(t, list)
	wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
	wantValues(t, "the streamed answer", tr.text)
	if shown := string(mustJSON(t, list)); !regexp.MustCompile(`quillobasalt fund of [a-z0-9.]+@marker`).MatchString(shown) {
		t.Errorf("the tool was not called with a value: %s", shown)
	}
	var answer map[string]any
	if status := s.call(t, "POST", webhooks+"/query", ask, &answer); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	wantValues(t, "the answer", fmt.Sprint(answer["answer"]))
	var chat map[string]any
	body := map[string]any{"model": "project:kept", "messages": []map[string]any{{"role": "user", "content": "I am ann.private@marker.example."}, {"role": "assistant", "content": "Hello."}, {"role": "user", "content": holders}}}
	if status := s.call(t, "POST", webhooks+"/v1/chat/completions", body, &chat); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	wantValues(t, "the completion", fmt.Sprint(chat["choices"]))
	wantKept(t, w.sent())

	key := s.newKey(t, map[string]any{"name": "kept", "scopes": []string{"read"}, "project_id": "kept"})
	body["model"] = modeltest.ModelName
	if status, text := s.answered(t, "POST", webhooks+"/v1/chat/completions", body, "Authorization", "Bearer "+key); status != http.StatusForbidden || !strings.Contains(text, "privacy.providers") {
		t.Errorf("status %d: %s", status, text)
	}
	embed := map[string]any{"model": modeltest.ModelName, "input": holders}
	if status, text := s.answered(t, "POST", webhooks+"/v1/embeddings", embed, "Authorization", "Bearer "+key); status != http.StatusForbidden {
		t.Errorf("embeddings: status %d: %s", status, text)
	}
	if sent := w.sent(); len(sent) > 0 {
		t.Errorf("a refused request went to the model: %.300s", sent)
	}

	s.keeping(t, "open", nil)
	ask["projectId"] = "open"
	if status := s.call(t, "POST", webhooks+"/query", ask, &answer); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if sent := strings.Join(w.sent(), "\n"); !strings.Contains(sent, planted()[0]) || !strings.Contains(sent, "person4@marker4.example") {
		t.Error("the control does not send the values, so nothing is shown")
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestKeptPersonalDataOverAKill kills the server twice while an answer streams whose values the
// model does not get.
func TestKeptPersonalDataOverAKill(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Reply: repeats(25 * time.Millisecond)})
	w := tap(t, m)
	s := start(t, at(w.URL+"/v1")...)
	s.keeping(t, "kept", map[string]any{"providers": "redact"})
	a := s.ask(t, webhooks+"/query?compact=true", map[string]any{"text": holders, "projectId": "kept", "sse": true})
	r := &reader{run: a.run, body: a}
	for _, n := range []int{2, 9} {
		enough := func(list []event) bool { return strings.Count(answerText(t, list), "\n- ") >= n }
		if n == 2 {
			r.until(t, enough)
		} else {
			r.reconnect(t, s, enough)
		}
		if r.ended() {
			t.Fatal("the answer ended before the kill")
		}
		s.kill()
		s.restart()
	}
	r.reconnect(t, s, never)
	tr := read(t, r.list)
	wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
	wantValues(t, "the answer", tr.text)
	if tr.resets != 0 {
		t.Errorf("%d resets of an answer whose placeholders are the same", tr.resets)
	}
	wantKept(t, w.sent())
}

// TestAnswersWithoutPersonalData asks in a project whose answers are redacted: neither the stream
// nor what is stored has values that the model wrote.
func TestAnswersWithoutPersonalData(t *testing.T) {
	t.Parallel()
	values := planted()[2:]
	slices.Sort(values)
	m := standIn(t, modeltest.Options{Reply: func(protocol.ChatRequest) modeltest.Reply {
		var said strings.Builder
		for _, value := range values {
			fmt.Fprintf(&said, "The %s of the holder is %s.\n\n", personalMarkers()[value], value)
		}
		return modeltest.Reply{Pieces: smallPieces(said.String())}
	}})
	s := start(t, at(m.URL())...)
	for _, answers := range []string{"redact", "off"} {
		slug := "answers-" + answers
		project := map[string]any{"slug": slug, "privacy": map[string]any{"answers": answers}}
		if status := s.call(t, "POST", webhooks+"/projects", project, nil); status >= 300 {
			t.Fatalf("project: status %d", status)
		}
		a := s.ask(t, webhooks+"/query?compact=true", map[string]any{"text": "Who is the holder?", "projectId": slug, "sse": true})
		list := s.follow(t, a.run, 0)
		tr := read(t, list)
		wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
		shown := []string{string(mustJSON(t, list)), s.bodyOf(t, "/workspaces/default/runs/"+a.run)}
		if answers == "off" {
			if !strings.Contains(shown[0], values[0]) {
				t.Error("the control does not show the values, so nothing is shown")
			}
			continue
		}
		wantNoMarkers(t, shown)
		if n := strings.Count(tr.text, "of the holder is <"); n != len(values) {
			t.Errorf("%d placeholders for %d values: %s", n, len(values), tr.text)
		}
		wantNoMarkers(t, s.inFiles(t))
	}
}
