package milvus_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/milvus-io/milvus/client/v2/entity"
	"github.com/milvus-io/milvus/client/v2/milvusclient"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/milvus"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]milvus.Config{
		"milvus://localhost:19530":                 {Address: "localhost:19530"},
		"milvus://milvus.example.com":              {Address: "milvus.example.com:19530"},
		"milvus://h:1/knowledge?tls=true":          {Address: "h:1", Database: "knowledge", TLS: true},
		"milvus://h:1?ca_file=/etc/ssl/milvus.pem": {Address: "h:1", CAFile: "/etc/ssl/milvus.pem"},
		"milvus://h:1?index=flat&analyzer=standard&prefix=test&partition_key=false": {
			Address: "h:1", IndexType: "FLAT", Analyzer: "standard", Prefix: "test", WithoutPartitionKey: true,
		},
	} {
		got, err := milvus.ParseURL(address)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(milvus.Config{}, "Logger"), cmpopts.IgnoreUnexported(milvus.Config{})); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", address, err, diff)
		}
	}
	for address, says := range map[string]string{
		"milvus://":                     "milvus://host:19530/database",
		"sqlite:///x":                   "milvus://host:19530/database",
		"milvus://root:secret@h:1":      "vector.token_env",
		"milvus://h:1?token=x":          "no parameter",
		"milvus://h:1?tls=perhaps":      "true or false",
		"milvus://h:1?ca_file=ca.pem":   "absolute path",
		"milvus://h:1?index=TREE":       "HNSW, FLAT",
		"milvus://h:1?analyzer=a%22%7D": "analyzer",
		"milvus://h:1?prefix=1":         "prefix",
		"milvus://h:1/a-b":              "database",
	} {
		_, err := milvus.ParseURL(address)
		if !knowledge.IsCode(err, knowledge.CodeInvalid) || !strings.Contains(knowledge.AsError(err).Message, says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want %q in it", address, err, says)
		}
	}
}

// refused checks that an index cannot be opened, for a reason that can be read.
func refused(t *testing.T, cfg milvus.Config, code knowledge.Code, says string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	x, err := milvus.Open(ctx, cfg)
	if err == nil {
		_ = x.Close() // the test has failed
		t.Fatal("it was opened")
	}
	if e := knowledge.AsError(err); e.Code != code || !strings.Contains(e.Message, says) {
		t.Errorf("got %s %q, want %s and %q in it", e.Code, e.Message, code, says)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	t.Run("what_the_server_cannot_do_is_named", func(t *testing.T) {
		t.Parallel()
		cfg := config(light(t)) // of its own: it lists no collections while it has one that it cannot read
		cfg.Analyzer = "whitespace"
		refused(t, cfg, knowledge.CodeInvalid, "the tokenizer whitespace; add analyzer=standard to vector.url")
	})
	t.Run("a_server_without_partition_keys_and_most_indexes", func(t *testing.T) {
		t.Parallel()
		address := core(t).Address
		for says, change := range map[string]func(*milvus.Config){
			"cannot do a partition key; add partition_key=false to vector.url":                       func(c *milvus.Config) { c.IndexType = "FLAT" },
			"cannot do an index of type HNSW; add index=FLAT to vector.url":                          func(c *milvus.Config) { c.WithoutPartitionKey = true },
			"cannot do a partition key or an index of type HNSW; add partition_key=false&index=FLAT": func(*milvus.Config) {},
		} {
			cfg := milvus.Config{Address: address, Analyzer: "standard"}
			change(&cfg)
			refused(t, cfg, knowledge.CodeInvalid, says)
		}
	})
	t.Run("a_collection_of_another_kind_is_named", func(t *testing.T) {
		t.Parallel()
		cfg := config(shared(t))
		if err := open(t, cfg).Upsert(t.Context(), []index.Entry{passage("a")}); err != nil {
			t.Fatal(err)
		}
		open(t, cfg)
		for says, change := range map[string]func(*milvus.Config){
			"has index=HNSW, but vector.url asks for index=FLAT":                  func(c *milvus.Config) { c.IndexType = "FLAT" },
			"has analyzer=standard, but vector.url asks for analyzer=icu":         func(c *milvus.Config) { c.Analyzer = "icu" },
			"has partition_key=true, but vector.url asks for partition_key=false": func(c *milvus.Config) { c.WithoutPartitionKey = true },
		} {
			other := cfg
			change(&other)
			refused(t, other, knowledge.CodeInvalid, says)
		}
	})
	t.Run("a_collection_of_something_else_is_named", func(t *testing.T) {
		t.Parallel()
		cfg := config(light(t)) // of its own: others cannot read a collection without an index
		client, err := milvusclient.New(t.Context(), &milvusclient.ClientConfig{Address: cfg.Address})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close(context.WithoutCancel(t.Context())) }) // nothing is lost
		schema := entity.NewSchema().
			WithField(entity.NewField().WithName("id").WithDataType(entity.FieldTypeVarChar).WithMaxLength(32).WithIsPrimaryKey(true)).
			WithField(entity.NewField().WithName("workspace").WithDataType(entity.FieldTypeInt64)).
			WithField(entity.NewField().WithName("vector").WithDataType(entity.FieldTypeFloatVector).WithDim(2))
		if err := client.CreateCollection(t.Context(), milvusclient.NewCreateCollectionOption(cfg.Prefix+"_d0", schema)); err != nil {
			t.Fatal(err)
		}
		refused(t, cfg, knowledge.CodeInvalid, cfg.Prefix+"_d0 in Milvus has no field workspace of type VarChar")
	})
	t.Run("a_server_that_is_not_there", func(t *testing.T) {
		t.Parallel()
		s := light(t)
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		log := make(records, 10)
		_, err := milvus.Open(ctx, milvus.Config{Address: s.Address, Logger: slog.New(slog.NewTextHandler(log, nil))})
		if said := <-log; !strings.Contains(said, "waiting for Milvus") || !strings.Contains(said, s.Address) {
			t.Errorf("the log says %q", said)
		}
		if e := knowledge.AsError(err); e.Code != knowledge.CodeUnavailable || !e.Retryable || !strings.Contains(e.Message, "cannot be reached") {
			t.Errorf("got %v", err)
		}
	})
}

// records are the records of a log.
type records chan string

// Write implements io.Writer.
func (r records) Write(record []byte) (int, error) {
	r <- string(record)
	return len(record), nil
}

// passage returns an entry that member finds.
func passage(name string) index.Entry {
	return index.Entry{ChunkID: name, Workspace: "acme", Project: "p", DocumentID: name, Version: 1,
		Text: "common words", Vector: []float32{1, 0}, ACL: []string{"w:acme"}}
}

func TestRestartedServer(t *testing.T) {
	t.Parallel()
	s := light(t)
	x := open(t, config(s))
	if err := x.Upsert(t.Context(), []index.Entry{passage("a")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	gone := func(what string, err error) {
		t.Helper()
		if e := knowledge.AsError(err); err == nil || e.Code != knowledge.CodeUnavailable || !e.Retryable {
			t.Errorf("%s of a server that is gone: %v", what, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	query := index.Query{Principal: member(), Limit: 10}
	gone("ping", x.Ping(ctx))
	_, err := x.BM25(ctx, query, "common")
	gone("search for words", err)
	_, err = x.Dense(ctx, query, []float32{1, 0})
	gone("search for a vector", err)
	gone("upsert", x.Upsert(ctx, []index.Entry{passage("b")}))
	gone("removal", x.RemoveDocument(ctx, "acme", "a", 1))

	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	for x.Ping(ctx) != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Fatal("the server is not found again")
		}
	}
	// The light server has forgotten that the collection was loaded.
	if err := x.Upsert(ctx, []index.Entry{passage("b")}); err != nil {
		t.Fatal(err)
	}
	for leg, search := range map[string]func() ([]knowledge.Hit, error){
		"BM25":  func() ([]knowledge.Hit, error) { return x.BM25(ctx, query, "common") },
		"dense": func() ([]knowledge.Hit, error) { return x.Dense(ctx, query, []float32{1, 0}) },
	} {
		if hits, err := search(); err != nil || len(hits) != 2 {
			t.Errorf("%s after the restart: %d hits, %v; want 2", leg, len(hits), err)
		}
	}
}

// TestTwoProcesses writes and reads with two indexes that share collections.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	cfg := config(shared(t))
	writer, reader := open(t, cfg), open(t, cfg)
	query := index.Query{Principal: member(), Limit: 10}
	without := passage("without")
	without.Vector = nil
	for i, e := range []index.Entry{passage("with"), without} {
		if err := writer.Upsert(t.Context(), []index.Entry{e}); err != nil {
			t.Fatal(err)
		}
		if hits, err := reader.BM25(t.Context(), query, "common"); err != nil || len(hits) != i+1 {
			t.Errorf("the other process finds %d entries, %v; want %d", len(hits), err, i+1)
		}
	}
}

// TestCollectionsAreDropped searches while other collections come and go, which the light
// server does not list in one step.
func TestCollectionsAreDropped(t *testing.T) {
	t.Parallel()
	s := light(t)
	x := open(t, config(s))
	for i := range 40 {
		e := passage("a")
		e.Generation = fmt.Sprint("model", i)
		if err := x.Upsert(t.Context(), []index.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	const openers = 4
	opened := make(chan error, 1)
	go func() {
		errs := make([]error, openers)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				for range 6 { // each tries the server with a collection that it drops
					other, err := milvus.Open(t.Context(), config(s))
					if err != nil {
						errs[i] = err
						return
					}
					errs[i] = errors.Join(errs[i], other.Close())
				}
			})
		}
		all.Wait()
		opened <- errors.Join(errs...)
	}()
	for searches := 0; ; searches++ {
		select {
		case err := <-opened:
			if err != nil || searches == 0 {
				t.Errorf("%d searches, and another index: %v", searches, err)
			}
			return
		default:
		}
		hits, err := x.BM25(t.Context(), index.Query{Principal: member(), Generation: "model0", Limit: 10}, "common")
		if err != nil || len(hits) != 1 {
			t.Fatalf("search %d: %v, %v", searches, hits, err)
		}
	}
}
