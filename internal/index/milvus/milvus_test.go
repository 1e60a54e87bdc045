package milvus_test

import (
	"crypto/rand"
	"encoding/json"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/indextest"
	"github.com/cairn-rag/cairn/internal/index/milvus"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// config returns the configuration of an empty index on a light server.
func config(s *server) milvus.Config {
	return milvus.Config{Address: s.address(), Prefix: "t" + rand.Text(), Analyzer: "standard", ListEvery: time.Millisecond}
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

// member returns a principal of the workspace acme, as from the stored snapshot
// of a run.
func member(t testing.TB) (p knowledge.Principal) {
	t.Helper()
	data, err := json.Marshal(knowledge.Claims{Workspace: "acme"})
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}
