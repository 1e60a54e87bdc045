package e2e_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestWrongKeysLockNobodyOut sends forty wrong keys in a row, and then the right one.
func TestWrongKeysLockNobodyOut(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	const path = "/workspaces/default/documents"
	for i := range 40 {
		res, err := s.send(t.Context(), "GET", path, nil, "Authorization", "Bearer cairn_wrong"+strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // only its status counts
		want := http.StatusUnauthorized
		if i >= 10 {
			want = http.StatusTooManyRequests
		}
		if res.StatusCode != want || i >= 10 && res.Header.Get("Retry-After") == "" {
			t.Fatalf("wrong key %d returned %d with Retry-After %q, want %d", i, res.StatusCode, res.Header.Get("Retry-After"), want)
		}
	}
	if status := s.call(t, "GET", path, nil, nil); status != http.StatusOK {
		t.Errorf("the right key returned %d", status)
	}
}

// TestARevokedKeyEndsItsStream revokes the key of a reader in the middle of an answer.
func TestARevokedKeyEndsItsStream(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{Tokens: 600, TokenDelay: 50 * time.Millisecond}).URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	key, err := s.CreateKey(t.Context(), client.NewKey{Name: "reader", Scopes: []string{"read"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	res, err := s.send(ctx, "POST", webhooks+"/query", map[string]any{"text": "What is on the northern pier?", "projectId": "default", "sse": true}, "Authorization", "Bearer "+key.Secret)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	link := res.Header.Get("Cairn-Events-Url")
	byLink, err := s.send(ctx, "GET", link, nil, "Authorization", "")
	if err != nil {
		t.Fatal(err)
	}
	defer byLink.Body.Close()
	for _, stream := range []*http.Response{res, byLink} {
		if stream.StatusCode != http.StatusOK {
			t.Fatalf("status %d", stream.StatusCode)
		}
		if _, err := io.ReadFull(stream.Body, make([]byte, 20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RevokeKey(ctx, key.ID, false); err != nil {
		t.Fatal(err)
	}
	revoked := time.Now()
	for _, stream := range []*http.Response{res, byLink} {
		rest, err := io.ReadAll(stream.Body)
		if took := time.Since(revoked); err != nil || took > 2*time.Second || bytes.Contains(rest, []byte("completedMessage")) {
			t.Errorf("the stream ended after %v: %v", took, err)
		}
	}
	if status := s.call(t, "GET", link, nil, nil, "Authorization", ""); status != http.StatusUnauthorized {
		t.Errorf("its link returned %d", status)
	}
}
