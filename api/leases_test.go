package api_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestStreamsEndWithTheirKey revokes a key while streams are open, by the key itself and by
// the links that it got, and looks at the streams of another key meanwhile.
func TestStreamsEndWithTheirKey(t *testing.T) {
	t.Parallel()
	e := open(t)
	server := httptest.NewServer(e.handler)
	t.Cleanup(server.Close)
	key := e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeWrite}})
	keyID := e.principal(key).KeyID()
	body := e.do("POST", hooks+"/document", key, `{"name":"a.txt","content":{"text":"one"}}`).want(202)
	run, link := body["runId"].(string), body["eventsUrl"].(string)
	original := own + "/documents/" + body["id"].(string) + "/content?token=" + e.access.SignOriginal(e.principal(key), body["id"].(string), "", e.later())
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	follow := func(path, key string) <-chan error {
		if key == "" {
			return followStream(ctx, t, server.URL+path, "", "")
		}
		return followStream(ctx, t, server.URL+path, "Authorization", "Bearer "+key)
	}
	byKey, byLink, other := follow("/runs/"+run+"/events", key), follow(link, ""), follow("/runs/"+run+"/events", e.editor)
	_, token, _ := strings.Cut(link, "token=")
	socket := dial(ctx, t, "ws"+strings.TrimPrefix(server.URL, "http")+own+"/websocket?runId="+run+"&token="+token, nil)

	revoked := time.Now()
	e.do("DELETE", own+"/keys/"+keyID, e.admin, nil).want(204)
	for name, ended := range map[string]<-chan error{"the key": byKey, "its link": byLink} {
		select {
		case err := <-ended:
			if took := time.Since(revoked); err != nil || took > 5*time.Second {
				t.Errorf("the stream of %s ended after %v: %v", name, took, err)
			}
		case <-ctx.Done():
			t.Fatalf("the stream of %s is open", name)
		}
	}
	if _, end := readSocket(t, socket); end.Code != websocket.StatusPolicyViolation {
		t.Errorf("the WebSocket closed with %v", end)
	}
	for _, path := range []string{link, original} {
		if got := e.do("GET", path, "", nil); got.status != 401 {
			t.Errorf("the link %s answers %d", path, got.status)
		}
	}
	select {
	case err := <-other:
		t.Errorf("the stream of another key ended: %v", err)
	default:
	}
}

// followStream reads a stream with a header, "" = none, and returns a channel that gets the error
// with which the stream ends, nil for its end.
func followStream(ctx context.Context, t *testing.T, address, header, value string) <-chan error {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != "" {
		r.Header.Set(header, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("GET %s: %v, %v", address, res, err)
	}
	ended := make(chan error, 1)
	go func() {
		defer res.Body.Close()
		_, err := io.Copy(io.Discard, res.Body)
		ended <- err
	}()
	return ended
}
