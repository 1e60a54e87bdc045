package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestEmbeddingEndpoint names other endpoints for the same embedding model: one with the same
// vectors, one that does not answer, and one with other vectors of the same length.
func TestEmbeddingEndpoint(t *testing.T) {
	t.Parallel()
	chat, first := standIn(t, modeltest.Options{}), newTwoModels(t)
	file := filepath.Join(t.TempDir(), "cairn.yaml")
	configure := func(url string) {
		text := fmt.Sprintf("models:\n  embedding: {base_url: %q, model: model-a}\n", url)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure(first.URL)
	s := start(t, "CAIRN_CONFIG="+file, "CAIRN_MODELS__CHAT__BASE_URL="+chat.URL(), "CAIRN_MODELS__CHAT__MODEL="+modeltest.ModelName)
	s.searchByTopic(t)
	for n := range 3 {
		s.publish(t, fmt.Sprint("document ", n), fmt.Sprintf("topic%dx is told of here.", n))
	}
	env := []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key, "CAIRN_CONFIG=" + file}
	moveTo := func(url string) {
		t.Helper()
		s.stop()
		configure(url)
		s.restart()
	}
	details := func(t *testing.T) client.Readiness {
		t.Helper()
		state, err := s.Details(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	finds := func(t *testing.T) {
		t.Helper()
		for n := range 3 {
			if err := s.findsTopic(t.Context(), n); err != nil {
				t.Error(err)
			}
		}
	}

	// The same vectors at another address, as behind a proxy: nothing changes.
	proxy := newTwoModels(t)
	moveTo(proxy.URL)
	finds(t)
	if state := details(t); len(state.StaleEmbeddings)+len(state.UncomparedEmbeddings) > 0 {
		t.Errorf("behind a proxy: %+v", state)
	}

	// Other vectors, at an address that does not answer first.
	other := newTwoModels(t)
	other.shift = 5
	gone := httptest.NewServer(nil)
	gone.Close()
	moveTo(gone.URL)
	if state := details(t); len(state.UncomparedEmbeddings) != 1 || state.UncomparedEmbeddings[0].Model != "model-a/0" {
		t.Errorf("without an endpoint: %+v", state)
	}
	if _, out, _ := command(t, env, "doctor"); !strings.Contains(out, "has another address than the one that embedded the documents") {
		t.Errorf("doctor does not say that the endpoint moved:\n%s", out)
	}
	late := s.upload(t, "late", "topic9x is told of here.")
	await(t, time.Minute, "the document waits", func(context.Context) error {
		if s.document(t, late.ID).Waiting == nil {
			return errors.New("it does not")
		}
		return nil
	})

	moveTo(other.URL)
	state := details(t)
	if len(state.StaleEmbeddings) != 1 || state.StaleEmbeddings[0] != (client.StaleEmbeddings{EmbeddedWith: "model-a/0", Configured: "model-a #2/0", Documents: 3}) {
		t.Fatalf("with other vectors: %+v", state)
	}
	if log, err := os.ReadFile(s.log); err != nil || !strings.Contains(string(log), "3 documents of project default/default: embedded with model-a, and model-a #2 is configured now") {
		t.Errorf("the start does not say that documents are stale: %v\n%s", err, log)
	}
	finds(t) // by their words
	if code, out, said := command(t, env, "documents", "reingest", "--all", "--stale"); code != 0 {
		t.Fatalf("exit code %d, %s%s", code, out, said)
	}
	await(t, time.Minute, "the documents have vectors of the other endpoint", func(ctx context.Context) error {
		state, err := s.Details(ctx)
		if err == nil && len(state.StaleEmbeddings) > 0 {
			err = errors.New(state.StaleEmbeddings[0].EmbeddedWith + " is in use")
		}
		return err
	})
	finds(t)
	wantRetryPublishes(t, env, s, late)
}

// wantRetryPublishes retries a document that waited for the endpoint.
func wantRetryPublishes(t *testing.T, env []string, s *server, late accepted) {
	t.Helper()
	if _, out, said := command(t, env, "documents", "retry", "--all"); strings.Contains(said, "error") {
		t.Errorf("retry says %s%s", out, said)
	}
	await(t, time.Minute, "the waiting document is published", func(context.Context) error {
		if d := s.document(t, late.ID); d.Status != knowledge.StatusPublished {
			return fmt.Errorf("it is %s, %+v", d.Status, d.Waiting)
		}
		return nil
	})
	if err := s.findsTopic(t.Context(), 9); err != nil {
		t.Error(err)
	}
}
