package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestQuestionsWithoutVectors asks while the endpoint of embeddings is down: questions are answered
// by words alone, at once, and say so.
func TestQuestionsWithoutVectors(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 5})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	m.ScriptEmbeddings(slices.Repeat([]modeltest.Reply{modeltest.Fail(http.StatusServiceUnavailable)}, 50)...)
	type answered struct {
		Answer   string
		Sources  []struct{ DocumentName string }
		Searches []struct{ Failures map[string]string }
		Notices  []struct{ Code, Message string }
	}
	ask := func() (got answered) {
		t.Helper()
		if status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": "Where is the lighthouse?"}, &got); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		return got
	}
	before, began := m.Totals().Embeddings.Asked, time.Now()
	for range 3 {
		got := ask()
		if len(got.Sources) != 1 || len(got.Searches) != 1 || got.Searches[0].Failures["embeddings"] == "" || len(got.Notices) != 1 || got.Notices[0].Code != "searched_by_words" {
			t.Errorf("%+v", got)
		}
	}
	if n, took := m.Totals().Embeddings.Asked-before, time.Since(began); n > 3 || took > 8*time.Second {
		t.Errorf("three questions took %s and asked the endpoint %d times", took, n)
	}
}

// TestLostIndex deletes the index of a stopped server: a question says that it is lost.
func TestLostIndex(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 5})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	s.stop()
	files, err := filepath.Glob(filepath.Join(s.folder, "index.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	s.restart()
	list := s.wantEnd(t, s.query(t, "Where is the lighthouse?").run, "failed", knowledge.CodeUnavailable)
	if last := string(list[len(list)-1].Data); !strings.Contains(last, "index") {
		t.Errorf("the question ends with %s", last)
	}
}
