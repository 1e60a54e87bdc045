package milvus_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/indextest"
	"github.com/cairn-rag/cairn/internal/index/milvus"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/service"
)

// config returns the configuration of an empty index on a light server.
func config(s *service.Process) milvus.Config {
	return milvus.Config{Address: s.Address, Prefix: "t" + rand.Text(), Analyzer: "standard", ListEvery: time.Millisecond}
}

func open(t testing.TB, cfg milvus.Config) *milvus.Index {
	t.Helper()
	x, err := milvus.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return x
}

func TestContract(t *testing.T) {
	t.Parallel()
	s := shared(t)
	indextest.Run(t, func(t *testing.T) index.Index { return open(t, config(s)) },
		indextest.WholeUpserts, indextest.LeastOfEqual, indextest.OwnStatistics)
}

// member returns a principal of the workspace acme.
func member() knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: "acme"})
}
