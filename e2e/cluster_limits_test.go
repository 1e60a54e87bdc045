package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// sharesRoom uploads more documents over both APIs at once than a project may have.
func sharesRoom(t *testing.T, one, two *server) {
	t.Helper()
	const limit, uploads = 7, 30
	var project struct{ ID string }
	if status := one.call(t, "POST", webhooks+"/projects", map[string]any{"name": "full", "limits": map[string]any{"documents": limit}}, &project); status >= 300 {
		t.Fatalf("status %d", status)
	}
	path := webhooks + "/document?projectId=" + project.ID
	var taken atomic.Int64
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range uploads {
		s := []*server{one, two}[i%2]
		all.Go(func() {
			<-begin
			body := map[string]any{"name": fmt.Sprint("buoy ", i), "content": map[string]string{"text": fmt.Sprintf("Buoy %d is red.", i)}}
			switch status := s.call(t, "POST", path, body, nil); status {
			case http.StatusAccepted:
				taken.Add(1)
			case http.StatusConflict: // of limit_reached
			default:
				t.Errorf("status %d", status)
			}
		})
	}
	close(begin)
	all.Wait()
	var page struct{ Total int64 }
	if status := two.call(t, "GET", webhooks+"/documents?projectId="+project.ID, nil, &page); status != http.StatusOK || page.Total != limit || taken.Load() != limit {
		t.Errorf("status %d: %d documents of %d uploads that were accepted, want %d", status, page.Total, taken.Load(), limit)
	}
}

// allowLoopback lets users name addresses of loopback, but not the addresses of a
// cluster's processes.
var allowLoopback = []string{"CAIRN_EGRESS__ALLOW=127.0.0.0/8", "CAIRN_EGRESS__DENY=127.0.0.1/32"}

// refusesItself has users name the address of a process of the cluster in requests that
// another process checks, and a third one carries out.
func refusesItself(t *testing.T, s, other *server) {
	t.Helper()
	inside := other.ends.API + "/healthz"
	outside := pier(t)
	var answer struct {
		Attachments []struct{ Error *knowledge.DocumentError }
	}
	question := map[string]any{"text": "Why?", "projectId": "default", "attachments": []any{inside}}
	if status := s.call(t, "POST", webhooks+"/query", question, &answer); status != http.StatusOK || len(answer.Attachments) != 1 || !isRefused(answer.Attachments[0].Error) {
		t.Errorf("an attachment: status %d, %+v", status, answer.Attachments)
	}
	question = map[string]any{"text": "Why?", "projectId": "default", "callback": map[string]any{"url": inside}}
	if status := s.call(t, "POST", webhooks+"/query", question, nil); status != http.StatusUnprocessableEntity {
		t.Errorf("a callback: status %d", status)
	}
	hook := map[string]any{"webhooks": []any{map[string]any{"url": inside, "types": []string{"documents_created"}}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", hook, nil); status != http.StatusUnprocessableEntity {
		t.Errorf("a webhook: status %d", status)
	}
	s.importsFail(t, []string{inside}, func(address string) client.ImportSource { return client.ImportSource{Type: "crawl", URI: address} })
	fetched := func(address string) client.Document {
		var d client.Document
		body := map[string]any{"name": address, "content": map[string]string{"url": address}}
		if status := s.call(t, "POST", webhooks+"/document?projectId=default&wait=true", body, &d); status >= 300 {
			t.Fatalf("a document at %s: status %d", address, status)
		}
		return d
	}
	redirect := outside + "/?to=" + url.QueryEscape(inside)
	if d := fetched(redirect); !isRefused(d.Error) {
		t.Errorf("behind a redirect: %s, %+v", d.Status, d.Error)
	}
	if d := fetched(outside + "/pier.txt"); d.Status != knowledge.StatusPublished { // else nothing was allowed
		t.Errorf("at another address: %s, %+v", d.Status, d.Error)
	}
}

func isRefused(err *knowledge.DocumentError) bool {
	return err != nil && strings.Contains(err.Message, "refused address")
}

// pier is a site at an address of loopback that the processes of a cluster do not have. It
// redirects to ?to=.
func pier(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.3:0")
	if err != nil {
		t.Skipf("this machine has no second address of loopback: %v", err)
	}
	site := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return
		}
		fmt.Fprint(w, "The pier has a lamp.")
	})}}
	site.Start()
	t.Cleanup(site.Close)
	return site.URL
}
