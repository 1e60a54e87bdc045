package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// told is one request that a receiver got.
type told struct {
	id      string // of the event
	kind    string
	subject string // the document
	version int
	body    map[string]any
}

// receiver is a webhook. It checks the signature of each request.
type receiver struct {
	t      *testing.T
	url    string
	mu     sync.Mutex
	tries  []told // every request, also those that it refused
	taken  []told
	answer func(w http.ResponseWriter, now told) (taken bool) // nil = it takes everything
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL + "/hook"
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the server was killed
	}
	verifier, err := standardwebhooks.NewWebhook(hookSecret)
	if err == nil {
		err = verifier.Verify(body, request.Header)
	}
	now := told{id: request.Header.Get("webhook-id")}
	if err == nil {
		err = json.Unmarshal(body, &now.body)
	}
	if err != nil || request.Header.Get("knowledge-project-apiKey") != "key of theirs" {
		r.t.Errorf("a request that cannot be trusted: %v, %v", err, request.Header)
		return
	}
	payload, _ := now.body["payload"].(map[string]any)
	now.kind, _ = now.body["type"].(string)
	now.subject, _ = payload["id"].(string)
	version, _ := payload["version"].(float64)
	now.version = int(version)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries = append(r.tries, now)
	if r.answer == nil || r.answer(w, now) {
		r.taken = append(r.taken, now)
	}
}

// behave sets what the receiver does.
func (r *receiver) behave(answer func(w http.ResponseWriter, now told) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func status(code int) func(http.ResponseWriter, told) bool {
	return func(w http.ResponseWriter, _ told) bool {
		w.WriteHeader(code)
		return code < 300
	}
}

// of returns the types of the events of a document that were taken, each event once.
func (r *receiver) of(document string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	kinds, seen := []string{}, map[string]bool{}
	for _, x := range r.taken {
		if x.subject == document && !seen[x.id] {
			kinds = append(kinds, x.kind)
		}
		seen[x.id] = true
	}
	return kinds
}

func (r *receiver) await(document string, kinds ...string) {
	r.t.Helper()
	await(r.t, time.Minute, fmt.Sprintf("the receiver has %v", kinds), func(context.Context) error {
		if got := r.of(document); !slices.Equal(got, kinds) {
			return fmt.Errorf("it has %v", got)
		}
		return nil
	})
}

// subscribe gives the default project these webhooks.
func (s *server) subscribe(t *testing.T, receivers ...*receiver) (ids []string) {
	t.Helper()
	hooks := []map[string]any{}
	for _, r := range receivers {
		hooks = append(hooks, map[string]any{
			"url": r.url, "types": []string{"documents_created", "documents_updated", "documents_deleted"}, "secret": hookSecret, "apiKey": "key of theirs",
		})
	}
	var project struct {
		Webhooks []struct {
			ID string `json:"id"`
		} `json:"webhooks"`
	}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"webhooks": hooks}, &project); status != http.StatusOK {
		t.Fatalf("subscribe: status %d", status)
	}
	for _, w := range project.Webhooks {
		ids = append(ids, w.ID)
	}
	return ids
}

type delivery struct {
	ID         string  `json:"id"`
	EventID    string  `json:"event_id"`
	Type       string  `json:"type"`
	Status     string  `json:"status"`
	Attempts   int     `json:"attempts"`
	HTTPStatus *int    `json:"http_status"`
	Error      *string `json:"error"`
}

func (s *server) deliveries(t *testing.T, query string) []delivery {
	t.Helper()
	var list struct {
		Data []delivery `json:"data"`
	}
	if status := s.call(t, "GET", "/workspaces/default/webhook_deliveries"+query, nil, &list); status != http.StatusOK {
		t.Fatalf("list deliveries: status %d", status)
	}
	return list.Data
}

// startForHooks starts a server that may dial receivers on this machine.
func startForHooks(t *testing.T) *server {
	t.Helper()
	m := standIn(t, modeltest.Options{})
	return start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	s := startForHooks(t)
	r := receive(t)
	s.subscribe(t, r)

	t.Run("a receiver is told of the life of a document, in order", func(t *testing.T) { tellsTheLifeOfADocument(t, s, r) })

	t.Run("an answer that is an error is recorded on the document", func(t *testing.T) {
		r.behave(func(w http.ResponseWriter, _ told) bool {
			fmt.Fprint(w, `{"status":"error","error":{"message":"the shelf is full"}}`)
			return true
		})
		d := s.publish(t, "shelf", "A book.")
		r.await(d.ID, "documents_created")
		await(t, time.Minute, "the document has the answer", func(context.Context) error {
			var shown struct {
				Errors []knowledge.WebhookError `json:"webhookErrors"`
			}
			s.call(t, "GET", "/workspaces/default/documents/"+d.ID, nil, &shown)
			if len(shown.Errors) != 1 || shown.Errors[0].Message != "the shelf is full" || shown.Errors[0].Type != knowledge.WebhookCreated {
				return fmt.Errorf("it has %+v", shown.Errors)
			}
			return nil
		})
	})

	for _, test := range []struct {
		name    string
		answer  func(http.ResponseWriter, told) bool
		status  string
		message string
	}{
		{"a refusal ends a delivery with its error", status(404), "failed", "the address answered 404"},
		{"an answer of 10 MB ends a delivery", func(w http.ResponseWriter, _ told) bool {
			for range 10 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					break
				}
			}
			return true
		}, "delivered", ""},
		{"an error of the receiver is tried again", status(500), "pending", "the address answered 500"},
		{"a webhook that is gone is disabled", status(410), "failed", "the address answered 410: it wants no more events"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r.behave(test.answer)
			d := s.publish(t, test.name, "A text.")
			await(t, time.Minute, "the delivery is "+test.status, func(context.Context) error {
				list := s.deliveries(t, "?document_id="+d.ID)
				if len(list) != 1 || list[0].Attempts == 0 || list[0].Status != test.status || list[0].Error == nil != (test.message == "") || test.message != "" && *list[0].Error != test.message {
					return fmt.Errorf("it is %+v", list)
				}
				return nil
			})
		})
	}

	t.Run("a delivery is made again on request, with the same id", func(t *testing.T) { deliversAgain(t, r, s) })
}

func tellsTheLifeOfADocument(t *testing.T, s *server, r *receiver) {
	d := s.publish(t, "lights", "The northern pier has a lighthouse.")
	r.await(d.ID, "documents_created")
	s.publish(t, "lights", "The northern pier has no lighthouse any more.")
	if status := s.call(t, "PATCH", "/workspaces/default/documents/"+d.ID, map[string]any{"tags": []string{"pier"}}, nil); status != http.StatusOK {
		t.Fatalf("patch: status %d", status)
	}
	removal, err := s.RemoveDocument(t.Context(), d.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), removal.RunID, nil); err != nil {
		t.Fatal(err)
	}
	r.await(d.ID, "documents_created", "documents_updated", "documents_updated", "documents_deleted")
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.taken[0].body
	var fields []string
	for name := range first {
		fields = append(fields, name)
	}
	slices.Sort(fields)
	if diff := cmp.Diff([]string{"createdAt", "payload", "project", "projectId", "sessionId", "type"}, fields); diff != "" {
		t.Error(diff)
	}
	payload, project := first["payload"].(map[string]any), first["project"].(map[string]any)
	if payload["externalId"] != "lights" || payload["status"] != "pending" || payload["version"] != 1.0 || project["id"] != "default" || first["projectId"] != "default" {
		t.Errorf("payload %v, project %v", payload, project)
	}
	last := r.taken[len(r.taken)-1].body
	if diff := cmp.Diff(map[string]any{"id": d.ID}, last["payload"]); diff != "" {
		t.Error(diff)
	}
}

func deliversAgain(t *testing.T, r *receiver, s *server) {
	r.behave(nil)
	s.subscribe(t, r) // which enables it
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"webhooks": []map[string]any{
		{"url": r.url, "types": []string{"documents_created"}, "enabled": true},
	}}, nil); status != http.StatusOK {
		t.Fatalf("enable: status %d", status)
	}
	failed := s.deliveries(t, "?status=failed")
	if len(failed) == 0 {
		t.Fatal("no delivery has failed")
	}
	if status := s.call(t, "POST", "/workspaces/default/webhook_deliveries/"+failed[0].ID+"/redeliver", nil, nil); status != http.StatusAccepted {
		t.Fatalf("redeliver: status %d", status)
	}
	await(t, time.Minute, "it is delivered", func(context.Context) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !slices.ContainsFunc(r.taken, func(x told) bool { return x.id == failed[0].EventID }) {
			return fmt.Errorf("%d events are", len(r.taken))
		}
		return nil
	})
}

// TestWebhookOverKills kills the server after publications and before their
// deliveries, and among many of both.
func TestWebhookOverKills(t *testing.T) {
	t.Parallel()
	s := startForHooks(t)
	r := receive(t)
	s.subscribe(t, r)

	r.behave(status(503))
	d := s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.publish(t, "lights", "The northern pier has no lighthouse any more.")
	s.kill()
	r.behave(nil)
	s.restart()
	r.await(d.ID, "documents_created", "documents_updated")
	r.mu.Lock()
	if first, taken := r.tries[0], r.taken[0]; first.id != taken.id {
		t.Errorf("the event was %s, and is %s", first.id, taken.id)
	}
	r.mu.Unlock()

	const documents = 20
	accepted := make([]accepted, documents)
	var uploads sync.WaitGroup
	for c := range 4 {
		uploads.Go(func() {
			for i := c; i < documents; i += 4 {
				accepted[i] = s.uploadThrough(t, i)
			}
		})
	}
	for _, after := range []int{5, 12} {
		await(t, time.Minute, fmt.Sprintf("%d more events are delivered", after), func(context.Context) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			if len(r.taken) < 2+after {
				return fmt.Errorf("%d are", len(r.taken)-2)
			}
			return nil
		})
		s.kill()
		s.restart()
	}
	uploads.Wait()
	if t.Failed() {
		return
	}
	for _, a := range accepted {
		r.await(a.ID, "documents_created")
	}
}

// TestSlowWebhook gives a project a receiver that hangs, and one that does not.
func TestSlowWebhook(t *testing.T) {
	t.Parallel()
	s := startForHooks(t)
	hanging, quick := receive(t), receive(t)
	release := make(chan struct{})
	blocked := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(blocked.Close)
	t.Cleanup(func() { close(release) })
	hanging.url = blocked.URL
	s.subscribe(t, hanging, quick)
	for i := range 40 {
		s.upload(t, fmt.Sprint("document ", i), "A text.")
	}
	began := time.Now()
	await(t, 15*time.Second, "the quick receiver has every event", func(context.Context) error {
		quick.mu.Lock()
		defer quick.mu.Unlock()
		if len(quick.taken) < 40 {
			return fmt.Errorf("it has %d", len(quick.taken))
		}
		return nil
	})
	t.Logf("40 documents: the quick receiver had every event after %v", time.Since(began).Round(time.Millisecond))
	await(t, time.Minute, "only deliveries to the receiver that hangs are pending", func(context.Context) error {
		if list := s.deliveries(t, "?status=pending&limit=500"); len(list) != 40 {
			return fmt.Errorf("%d are pending", len(list))
		}
		return nil
	})
	var project strings.Builder
	res, err := s.send(t.Context(), "GET", "/workspaces/default/projects/default", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(&project, res.Body); err != nil || strings.Contains(project.String(), "whsec_") || !strings.Contains(project.String(), blocked.URL) {
		t.Errorf("the project shows %s, %v", project.String(), err)
	}
}
