package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/service"
)

// milvusServer starts Milvus's light server. The test is skipped if it is not installed,
// but fails in CI.
func milvusServer(t *testing.T) *service.Process {
	t.Helper()
	p, err := service.Milvus(filepath.Join("..", "bin", "tools"))
	if errors.Is(err, service.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err == nil {
		err = p.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestGenerationsOnMilvus is TestGenerations in small with the index in Milvus: a project of
// 320 chunks is embedded again while it is searched, and its collections are filled again.
func TestGenerationsOnMilvus(t *testing.T) {
	t.Parallel()
	const documents, sections, clients = 5, topics, 2
	m, chat, index := newTwoModels(t), standIn(t, modeltest.Options{}), milvusServer(t)
	env := func(prefix string) []string {
		return at(chat.URL(), "CAIRN_MODELS__EMBEDDING__BASE_URL="+m.URL, "CAIRN_MODELS__EMBEDDING__MODEL=model-a",
			"CAIRN_VECTOR__URL="+index.MilvusURL()+"&prefix="+prefix)
	}
	s := start(t, env("first")...)
	s.searchByTopic(t)
	var runs []string
	for d := range documents {
		runs = append(runs, s.upload(t, fmt.Sprint("document ", d), topicText(d, sections)).RunID)
	}
	s.published(t, runs)

	t.Run("while clients search", func(t *testing.T) {
		asking := s.askTopics(t, clients)
		p := s.reindexed(t, s.reindexAs(t, "model-b", documents))
		asked := asking.end()
		t.Logf("%d searches beside the reindex, %d failed", asked, asking.failed.Load())
		if p.Embedded != documents || asked < clients {
			t.Errorf("%d searches and %d documents prove little", asked, p.Embedded)
		}
		if err := s.findsTopic(t.Context(), 5); err != nil {
			t.Error(err)
		}
	})
	t.Run("collections that were lost are filled without the model", func(t *testing.T) {
		s.stop()
		if unnamed := s.unnamedVectors(t); unnamed > 0 {
			t.Errorf("%d blobs of vectors are named by no manifest", unnamed)
		}
		s.child = childserver.New(childserver.Config{Program: binary, Data: s.folder, Log: s.log, Env: env("second")})
		s.boot()
		if err := s.findsTopic(t.Context(), 5); err == nil {
			t.Fatal("the index is not empty, so this proves nothing")
		}
		before := m.embedded("model-b")
		started, err := s.RebuildIndex(t.Context(), "default")
		if err != nil {
			t.Fatal(err)
		}
		p := s.reindexed(t, started.RunID)
		if asked := m.embedded("model-b") - before; asked != 0 || p.Embedded != documents {
			t.Errorf("%d texts were embedded for %d documents", asked, p.Embedded)
		}
		for n := range topics {
			if err := s.findsTopic(t.Context(), n); err != nil {
				t.Error(err)
			}
		}
	})
}
