package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sse"
)

const webhooks = "/workspaces/default/webhooks"

// send makes a request with the admin key. A body that is not nil is sent as JSON.
// The caller closes the body of the response.
func (s *server) send(ctx context.Context, method, path string, body any, header ...string) (*http.Response, error) {
	var reader io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(encoded)
	}
	if !strings.HasPrefix(path, "http") {
		path = s.ends.API + path
	}
	req, err := http.NewRequestWithContext(ctx, method, path, reader)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	return http.DefaultClient.Do(req)
}

// call makes a request, decodes a successful response into out, and returns the
// status.
func (s *server) call(t *testing.T, method, path string, body, out any, header ...string) int {
	t.Helper()
	res, err := s.send(t.Context(), method, path, body, header...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	if out != nil && res.StatusCode < 300 {
		if err := json.NewDecoder(res.Body).Decode(out); err != nil {
			t.Fatalf("%s %s: decode the answer: %v", method, path, err)
		}
	}
	return res.StatusCode
}

// accepted is the answer to an upload.
type accepted struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Version   int    `json:"version"`
	RunID     string `json:"runId"`
	EventsURL string `json:"eventsUrl"`
}

// upload sends a text as a document.
func (s *server) upload(t *testing.T, externalID, text string) accepted {
	t.Helper()
	var a accepted
	body := map[string]any{"name": externalID, "externalId": externalID, "content": map[string]string{"text": text}}
	if status := s.call(t, "POST", webhooks+"/document?projectId=default", body, &a); status != http.StatusAccepted {
		t.Fatalf("upload of %s: status %d", externalID, status)
	}
	return a
}

// publish uploads a text and waits until it is published.
func (s *server) publish(t *testing.T, externalID, text string) client.Document {
	t.Helper()
	a := s.upload(t, externalID, text)
	last, err := s.Wait(t.Context(), a.RunID, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := s.document(t, a.ID)
	if d.Status != knowledge.StatusPublished {
		t.Fatalf("document %s is %s after %s", externalID, d.Status, last.Data)
	}
	return d
}

func (s *server) document(t *testing.T, id string) client.Document {
	t.Helper()
	d, err := s.Document(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// passage is one passage of /retrieve-context.
type passage struct {
	ID         string `json:"id"`
	DocumentID string `json:"documentId"`
	Content    string `json:"content"`
}

// retrieve returns the passages for a question that contain a word.
func (s *server) retrieve(ctx context.Context, question, word string) ([]passage, error) {
	res, err := s.send(ctx, "POST", webhooks+"/retrieve-context", map[string]any{"text": question, "projectId": "default", "numberOfChunks": 20})
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var answer struct {
		Chunks []passage `json:"chunks"`
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("retrieve-context: status %d", res.StatusCode)
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return nil, err
	}
	var with []passage
	for _, p := range answer.Chunks {
		if strings.Contains(p.Content, word) {
			with = append(with, p)
		}
	}
	return with, nil
}

// event is one event of a stream, with its number.
type event struct {
	ID   int64
	Name string
	Data json.RawMessage
}

func (e event) terminal() bool { return client.Event{Name: e.Name}.Terminal() }

// decode reads the event's data.
func (e event) decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(e.Data, v); err != nil {
		t.Fatalf("event %d (%s): %v", e.ID, e.Name, err)
	}
}

// events reads a stream, without the client's retries, until it ends, the
// connection breaks or take returns false. Ids must follow last without a gap or a
// repeat.
func events(body io.Reader, last int64, take func(event) (more bool)) (int64, error) {
	return eventsOf(sse.Read(body), last, take)
}

func eventsOf(stream iter.Seq2[sse.Event, error], last int64, take func(event) (more bool)) (int64, error) {
	for raw, err := range stream {
		if err != nil {
			return last, nil // the connection broke
		}
		id, err := strconv.ParseInt(raw.ID, 10, 64)
		if err != nil || id != last+1 {
			return last, fmt.Errorf("event %q (%s) came after event %d", raw.ID, raw.Name, last)
		}
		last = id
		if !take(event{ID: id, Name: raw.Name, Data: raw.Data}) {
			return last, nil
		}
	}
	return last, nil
}

// follow reads the events of a run after last to the end of the stream.
func (s *server) follow(t *testing.T, run string, last int64) []event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	list, err := s.read(ctx, run, last)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (s *server) read(ctx context.Context, run string, last int64) ([]event, error) {
	res, err := s.send(ctx, "GET", "/runs/"+run+"/events?compact=true", nil, "Last-Event-ID", strconv.FormatInt(last, 10))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("events of run %s: status %d", run, res.StatusCode)
	}
	var list []event
	_, err = events(res.Body, last, func(e event) bool {
		list = append(list, e)
		return true
	})
	if err == nil && (len(list) == 0 || !list[len(list)-1].terminal()) {
		err = errors.Join(fmt.Errorf("the events of run %s ended without a last one after %d", run, len(list)), ctx.Err())
	}
	return list, err
}

// asked is a question whose answer is being streamed.
type asked struct {
	run       string
	eventsURL string // for readers without a key
	body      io.ReadCloser
}

// ask starts a run that streams its events. The test closes the body.
func (s *server) ask(t *testing.T, path string, body any, header ...string) asked {
	t.Helper()
	res, err := s.send(t.Context(), "POST", path, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: status %d", path, res.StatusCode)
	}
	return asked{run: res.Header.Get("Cairn-Run-Id"), eventsURL: res.Header.Get("Cairn-Events-Url"), body: res.Body}
}

// query asks a question with sse.
func (s *server) query(t *testing.T, text string) asked {
	t.Helper()
	return s.ask(t, webhooks+"/query?compact=true", map[string]any{"text": text, "projectId": "default", "sse": true})
}

// begun asks a question and returns once n events have come, while the run
// continues.
func (s *server) begun(t *testing.T, text string, n int) asked {
	t.Helper()
	a := s.query(t, text)
	if last, err := events(a.body, 0, func(e event) bool { return e.ID < int64(n) }); err != nil || last < int64(n) {
		t.Fatalf("%d events came of %d: %v", last, n, err)
	}
	return a
}

// transcript joins the words of an answer as a reader must: a reset drops the words
// before it.
type transcript struct {
	text   string
	resets int
	answer client.Answer
	last   event
}

func (tr *transcript) take(t *testing.T, e event) {
	t.Helper()
	tr.last = e
	switch e.Name {
	case client.EventChunk:
		var c client.TextChunk
		e.decode(t, &c)
		tr.text += c.Chunk.Data
	case client.EventReset:
		tr.text = ""
		tr.resets++
	case client.EventCompleted:
		e.decode(t, &tr.answer)
	}
}

func read(t *testing.T, list []event) transcript {
	t.Helper()
	var tr transcript
	for _, e := range list {
		tr.take(t, e)
	}
	return tr
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
