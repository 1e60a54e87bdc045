package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestTokensEndDuringAnImport uses up the tokens of a key's day while an import of it runs: the import
// continues to its end, and the next one is refused. Another key imports on.
func TestTokensEndDuringAnImport(t *testing.T) {
	t.Parallel()
	const documents = 40
	b := newBucket(t)
	b.fill("notes/", documents)
	b.put("later/a.txt", "The later note.")
	release := make(chan struct{})
	b.fail(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/shelf/"+b.key("notes/", 0) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		b.inner.ServeHTTP(w, r)
	})
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	key := s.newKey(t, map[string]any{"name": "importer", "scopes": []string{"write"}, "limits": map[string]any{"tokensPerDay": 2000}})
	by, err := client.New(client.Config{URL: s.ends.API, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	i, err := by.StartImport(t.Context(), client.NewImport{Project: "default", Source: b.source("notes/")})
	if err != nil {
		t.Fatal(err)
	}
	await(t, time.Minute, "the tokens are used up", func(context.Context) error {
		status, code := s.refusalBy(t, key, "POST", webhooks+"/query", map[string]any{"text": "What is the password?", "projectId": "default"})
		if status != http.StatusTooManyRequests || code != string(knowledge.CodeRateLimited) {
			return fmt.Errorf("status %d, %s", status, code)
		}
		return nil
	})
	now, err := s.Import(t.Context(), i.ID)
	if err != nil || now.EndedAt != nil {
		t.Fatalf("the import ended before the tokens did: %+v, %v", now, err)
	}
	close(release)
	if i = s.awaitImport(t, i.ID); i.Published != documents || i.Failed != 0 {
		t.Errorf("%d of %d objects were published, %d failed", i.Published, documents, i.Failed)
	}
	next := client.NewImport{Project: "default", Source: b.source("later/")}
	if _, err := by.StartImport(t.Context(), next); err == nil || !strings.Contains(err.Error(), string(knowledge.CodeRateLimited)) {
		t.Errorf("the next import of the key: %v", err)
	}
	if i = s.begin(t, next); s.awaitImport(t, i.ID).Published != 1 {
		t.Error("another key imports nothing")
	}
}
