package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// The values of the secrets of TestSecrets, none of which may appear anywhere.
const (
	shopValue   = "the-key-of-the-shop"
	storedValue = "the-key-that-was-stored"
)

// outsider is a server that answers tools, and imports with an empty listing. It keeps
// the Authorization headers of its requests.
type outsider struct {
	*httptest.Server

	mu       sync.Mutex
	received []string
}

func newOutsider(t *testing.T) *outsider {
	t.Helper()
	r := &outsider{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.mu.Lock()
		r.received = append(r.received, request.Header.Get("Authorization"))
		r.mu.Unlock()
		fmt.Fprint(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated></ListBucketResult>`)
	}))
	t.Cleanup(r.Close)
	return r
}

// take returns the headers since the last call.
func (r *outsider) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.received
	r.received = nil
	return list
}

// tool is a project with a tool that sends a secret to the outsider.
func (r *outsider) tool(secret string) map[string]any {
	return map[string]any{"tools": map[string]any{"custom": map[string]any{"order": map[string]any{"type": "automation", "automation": map[string]any{
		"url": r.URL, "method": "GET", "headers": map[string]string{"Authorization": "Bearer ${secrets." + secret + "}"},
	}}}}}
}

// bucket is an import from the outsider.
func (r *outsider) bucket(secret string) map[string]any {
	return map[string]any{"project_id": "default", "source": map[string]any{
		"type": "s3", "uri": "s3://shelf/", "secret": secret, "options": map[string]any{"endpoint": r.URL, "path_style": true},
	}}
}

// answered returns the status and the body of an answer.
func (s *server) answered(t *testing.T, method, path string, body any, header ...string) (int, string) {
	t.Helper()
	response, err := s.send(t.Context(), method, path, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestSecrets lets the administrator of a workspace try to use the secrets of another one,
// of nobody, and of the server.
func TestSecrets(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	outside := newOutsider(t)
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8", "SHOP_KEY="+shopValue, "AWS_ACCESS_KEY_ID=AKSERVER", "AWS_SECRET_ACCESS_KEY=x",
		"CAIRN_SECRETS__SHOP=env:SHOP_KEY", "CAIRN_SECRETS__SHOP__WORKSPACE=default", "CAIRN_SECRETS__SHOP__USES=header,import", "CAIRN_SECRETS__SHOP__HOSTS=127.0.0.1",
		"CAIRN_SECRETS__OLD=env:SHOP_KEY", "CAIRN_IMPORT__AMBIENT_IDENTITY=default")...)
	asStranger := []string{"Authorization", "Bearer " + s.otherKey(t)}
	if status := s.call(t, "POST", "/workspaces/other/webhooks/projects", map[string]any{"slug": "default", "name": "Default"}, nil, asStranger...); status >= 300 {
		t.Fatalf("status %d", status)
	}

	t.Run("are refused to another workspace like names that do not exist", func(t *testing.T) { refusesSecretsOfOthers(t, outside, s, asStranger) })

	t.Run("are not sent by a tool that was allowed once", func(t *testing.T) {
		path := "/workspaces/other/secrets/shop"
		own := map[string]any{"value": storedValue, "uses": []string{"header"}, "hosts": []string{"127.0.0.1"}}
		for _, step := range []struct {
			method, path string
			body         any
		}{{"PUT", path, own}, {"PATCH", "/workspaces/other/projects/default", outside.tool("shop")}} {
			if status, text := s.answered(t, step.method, step.path, step.body, asStranger...); status != http.StatusOK {
				t.Fatalf("%s: status %d, %s", step.path, status, text)
			}
		}
		s.wantOrder(t, m, "other", asStranger...)
		if got := outside.take(); len(got) != 1 || got[0] != "Bearer "+storedValue {
			t.Errorf("with its own secret, the tool sent %q", got)
		}
		if status := s.call(t, "DELETE", path, nil, nil, asStranger...); status != http.StatusNoContent {
			t.Fatalf("status %d", status)
		}
		words := s.wantOrder(t, m, "other", asStranger...)
		if got := outside.take(); len(got) > 0 || !strings.Contains(words, "is no secret") {
			t.Errorf("after the removal the tool sent %q, and the model read %q", got, words)
		}
	})

	t.Run("are sent for their owner", func(t *testing.T) {
		if status := s.call(t, "PATCH", "/workspaces/default/projects/default", outside.tool("shop"), nil); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		s.wantOrder(t, m, "default")
		if got := outside.take(); len(got) != 1 || got[0] != "Bearer "+shopValue {
			t.Errorf("the tool sent %q", got)
		}
	})

	t.Run("that were stored open a bucket", func(t *testing.T) {
		own := map[string]any{"value": `{"access_key_id":"AKSTORED","secret_access_key":"` + storedValue + `"}`, "uses": []string{"import"}, "hosts": []string{"127.0.0.1"}}
		if status := s.call(t, "PUT", "/workspaces/default/secrets/shelf", own, nil); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		s.wantSigned(t, outside, "shelf", "AKSTORED")
	})

	t.Run("of the server are for the allowed workspace alone", func(t *testing.T) {
		s.wantSigned(t, outside, "", "AKSERVER")
		status, text := s.answered(t, "POST", "/workspaces/other/imports", outside.bucket(""), asStranger...)
		if got := outside.take(); status != http.StatusUnprocessableEntity || !strings.Contains(text, "import.ambient_identity") || len(got) > 0 {
			t.Errorf("another workspace: status %d, %s, received %q", status, text, got)
		}
	})

	t.Run("are nowhere readable", func(t *testing.T) {
		log, err := os.ReadFile(s.log)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(log), "secrets.old cannot be used by any project") {
			t.Error("the log does not say that a secret of the earlier form is closed")
		}
		texts := map[string]string{"the log": string(log)}
		for _, path := range []string{"/workspaces/default/secrets", "/workspaces/default/secrets/shop", "/workspaces/default/secrets/shelf", "/workspaces/default/projects/default", "/workspaces/default/imports"} {
			_, texts[path] = s.answered(t, "GET", path, nil)
		}
		for where, text := range texts {
			if strings.Contains(text, shopValue) || strings.Contains(text, storedValue) {
				t.Errorf("%s has the value of a secret", where)
			}
		}
	})
}

func refusesSecretsOfOthers(t *testing.T, outside *outsider, s *server, asStranger []string) {
	doors := map[string]func(secret string) (string, string, any){
		"tool": func(n string) (string, string, any) {
			return "PATCH", "/workspaces/other/projects/default", outside.tool(n)
		},
		"import": func(n string) (string, string, any) { return "POST", "/workspaces/other/imports", outside.bucket(n) },
		"dry run": func(n string) (string, string, any) {
			body := outside.bucket(n)
			body["dry_run"] = true
			return "POST", "/workspaces/other/imports", body
		},
	}
	for name, door := range doors {
		refusal := func(secret string) string {
			method, path, body := door(secret)
			status, text := s.answered(t, method, path, body, asStranger...)
			if status != http.StatusUnprocessableEntity {
				t.Errorf("%s with %s: status %d, %s", name, secret, status, text)
			}
			return strings.ReplaceAll(text, secret, "NAME")
		}
		for _, secret := range []string{"shop", "old"} {
			if got, missing := refusal(secret), refusal("nothing"); got != missing {
				t.Errorf("%s: %s is answered with\n%s\na name that does not exist with\n%s", name, secret, got, missing)
			}
		}
	}
	if got := outside.take(); len(got) > 0 {
		t.Errorf("received %q", got)
	}
}

// wantOrder asks a question whose model calls the tool order once, and returns the words
// of the tool.
func (s *server) wantOrder(t *testing.T, m *modeltest.Server, workspace string, header ...string) string {
	t.Helper()
	m.ScriptChat(modeltest.Call(model.ToolCall{ID: "call", Name: "order", Arguments: "{}"}), modeltest.Text("Done."))
	var answer client.Answer
	body := map[string]any{"text": "What of the order?", "projectId": "default"}
	if status := s.call(t, "POST", "/workspaces/"+workspace+"/webhooks/query", body, &answer, header...); status != http.StatusOK || answer.Text != "Done." {
		t.Fatalf("status %d, %+v", status, answer)
	}
	return lastWords(m)
}

// wantSigned runs an import of the default workspace whose requests a key must sign.
func (s *server) wantSigned(t *testing.T, outside *outsider, secret, key string) {
	t.Helper()
	var begun client.Import
	if status := s.call(t, "POST", "/workspaces/default/imports", outside.bucket(secret), &begun); status != http.StatusAccepted {
		t.Fatalf("status %d", status)
	}
	i := s.awaitImport(t, begun.ID)
	if got := outside.take(); i.Status != "completed" || len(got) == 0 || !strings.Contains(got[0], "Credential="+key+"/") {
		t.Errorf("the import is %s, %v after requests signed with %q", i.Status, i.Error, got)
	}
}
