package milvus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/milvus-io/milvus/client/v2/milvusclient"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/milvus"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/service"
)

// makeDatabase creates a database on a server.
func makeDatabase(t *testing.T, s *service.Process, name string) {
	t.Helper()
	client, err := milvusclient.New(t.Context(), &milvusclient.ClientConfig{Address: s.Address, APIKey: service.MilvusToken})
	if err == nil {
		err = errors.Join(client.CreateDatabase(t.Context(), milvusclient.NewCreateDatabaseOption(name)), client.Close(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestConsistency runs two processes' indexes on a whole Milvus server, in a database of
// their own: each read sees what was written before it, by whichever process, and a killed
// server keeps what it has acknowledged. The server has no search for words.
func TestConsistency(t *testing.T) {
	t.Parallel()
	s := closed(t, started(t, service.MilvusServer))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cfg := milvus.Config{Address: s.Address, Token: service.MilvusToken, WithoutPartitionKey: true, ListEvery: 100 * time.Millisecond}.WithoutWords()
	stranger := cfg
	stranger.Token = "root:guessed"
	refused(t, stranger, knowledge.CodeUnavailable, "vector.token_env")
	cfg.Database = "library"
	makeDatabase(t, s, cfg.Database)
	writer, reader := open(t, cfg), open(t, cfg)
	found := func(when string, filter knowledge.Filter, want int) {
		t.Helper()
		hits, err := reader.Dense(ctx, index.Query{Principal: member(), Limit: 100, Filter: filter}, []float32{1, 0})
		if err != nil || len(hits) != want {
			t.Errorf("%s the other process finds %d entries, %v; want %d", when, len(hits), err, want)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	const documents = 5
	for i := range documents {
		must(writer.Upsert(ctx, []index.Entry{passage(fmt.Sprint("d", i))}))
		found("after a write", nil, i+1)
	}
	must(writer.Upsert(ctx, []index.Entry{passage("d0")}))
	found("after the same write", nil, documents)
	public := knowledge.Filter{{Field: "classification", Type: knowledge.OpEq, Value: "public"}}
	must(writer.SetAttributes(ctx, "acme", "d0", 1, index.Attributes{ACL: []string{"w:acme"}, Classification: "public"}))
	found("after a change of the attributes", public, 1)
	must(writer.SetAttributes(ctx, "acme", "d0", 1, index.Attributes{ACL: []string{"u:ann"}, Classification: "public"}))
	found("after the access was taken away", nil, documents-1)
	must(writer.RemoveDocument(ctx, "acme", "d1", 1))
	found("after a removal", nil, documents-2)
	if counts, err := reader.Count(ctx, "acme", "d1"); err != nil || len(counts) > 0 {
		t.Errorf("of a removed document %v are left, %v", counts, err)
	}

	must(s.Kill())
	must(s.Start(ctx))
	for reader.Ping(ctx) != nil && ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
	}
	found("after the server was killed and started again", nil, documents-2)
	must(writer.Upsert(ctx, []index.Entry{passage("new")}))
	found("after a write to the server that was started again", nil, documents-1)
}
