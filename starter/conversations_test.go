package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestConversationsAreSearched has a server that knows one conversation, by its words.
func TestConversationsAreSearched(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		data := "[]"
		if r.URL.Path == "/workspaces/default/conversations" && r.URL.Query().Get("q") == "light pier" {
			data = `[{"id":"c-1","title":"About piers","project_id":null,"created_at":"2026-11-29T10:00:00Z","updated_at":"2026-11-29T10:00:00Z"}]`
		}
		fmt.Fprintf(w, `{"data":%s,"next_cursor":null}`, data)
	}))
	t.Cleanup(server.Close)
	code, stdout, stderr := command(t, "conversations", "list", "--search", "light pier", "--url", server.URL, "--key", "k")
	if code != exitDone || !strings.Contains(stdout, "c-1") || !strings.Contains(stdout, "About piers") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
