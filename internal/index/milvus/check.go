package milvus

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/milvus-io/milvus/client/v2/entity"
	"github.com/milvus-io/milvus/client/v2/index"
	"github.com/milvus-io/milvus/client/v2/milvusclient"
	"google.golang.org/grpc/codes"

	port "github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// checkCollection compares a collection with the configuration.
func (x *Index) checkCollection(ctx context.Context, one collection) error {
	name := one.name
	c, err := x.client.DescribeCollection(ctx, milvusclient.NewDescribeCollectionOption(name))
	if err != nil {
		return typed(err, "describe collection %s", name)
	}
	for _, wanted := range x.cfg.schema(one.dimension).Fields {
		at := slices.IndexFunc(c.Schema.Fields, func(f *entity.Field) bool { return f.Name == wanted.Name })
		if at < 0 || c.Schema.Fields[at].DataType != wanted.DataType {
			return invalid("the collection %s in Milvus has no field %s of type %s: another program made it, or another version of cairn; choose another prefix in vector.url and rebuild the index",
				name, wanted.Name, wanted.DataType.Name())
		}
	}
	partitioned := slices.ContainsFunc(c.Schema.Fields, func(f *entity.Field) bool { return f.Name == fieldWorkspace && f.IsPartitionKey })
	if partitioned == x.cfg.WithoutPartitionKey {
		return differs(name, "partition_key", fmt.Sprint(partitioned), fmt.Sprint(!x.cfg.WithoutPartitionKey))
	}
	if tokenizer := tokenizerOf(c.Schema); tokenizer != "" && tokenizer != x.cfg.Analyzer {
		return differs(name, "analyzer", tokenizer, x.cfg.Analyzer)
	}
	if one.dimension == 0 {
		return nil
	}
	found, err := x.client.DescribeIndex(ctx, milvusclient.NewDescribeIndexOption(name, fieldVector))
	if err != nil || found.Index == nil {
		return nil // a collection that is still being created
	}
	if kind := found.Params()[index.IndexTypeKey]; kind != "" && kind != x.cfg.IndexType {
		return differs(name, "index", kind, x.cfg.IndexType)
	}
	return nil
}

func differs(collection, parameter, has, wants string) error {
	return invalid("the collection %s in Milvus has %s=%s, but vector.url asks for %s=%s; set it to %[3]s, or choose another prefix and rebuild the index",
		collection, parameter, has, parameter, wants)
}

// checkServer returns an error that names what the server cannot do. It tries a
// small collection, because versions and their features differ, and servers
// accept what they then ignore.
func (x *Index) checkServer(ctx context.Context) error {
	failed := x.try(ctx, x.cfg)
	if failed == nil {
		return nil
	}
	var lacks, settings []string
	note := func(lack, setting string) { lacks, settings = append(lacks, lack), append(settings, setting) }
	server, err := x.server(ctx)
	if err != nil {
		return err
	}
	// Each feature is replaced by what every server has, and stays replaced: the
	// last replacement after which the server works was needed.
	easier := x.cfg
	for _, change := range []struct {
		apply         func(*Config) bool
		lack, setting string
	}{
		{func(c *Config) bool { had := c.Analyzer; c.Analyzer = "standard"; return had != c.Analyzer },
			"the tokenizer " + x.cfg.Analyzer, "analyzer=standard"},
		{func(c *Config) bool { had := c.WithoutPartitionKey; c.WithoutPartitionKey = true; return !had },
			"a partition key", "partition_key=false"},
		{func(c *Config) bool { had := c.IndexType; c.IndexType = string(index.Flat); return had != c.IndexType },
			"an index of type " + x.cfg.IndexType, "index=FLAT"},
	} {
		if !change.apply(&easier) {
			continue
		}
		note(change.lack, change.setting)
		if x.try(ctx, easier) == nil {
			return incapable(server, strings.Join(lacks, " or "), strings.Join(settings, "&")).WithCause(failed)
		}
	}
	return knowledge.Errorf(knowledge.CodeInvalid, "%s cannot hold the index: version 2.5 or newer, with full text search, is needed", server).WithCause(failed)
}

func incapable(server, lack, settings string) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeInvalid, "%s cannot do %s; add %s to vector.url", server, lack, settings)
}

// server returns the name of the server and its version, if it has one to return.
func (x *Index) server(ctx context.Context) (string, error) {
	version, err := x.client.GetServerVersion(ctx, milvusclient.NewGetServerVersionOption())
	if grpcCode(err) == codes.Unimplemented {
		return "Milvus", nil
	}
	return "Milvus " + version, typed(err, "check the server")
}

// try creates a collection as cfg says, writes two entries and searches one of
// them in both ways.
func (x *Index) try(ctx context.Context, cfg Config) (err error) {
	name := cfg.Prefix + "_probe_" + strings.ToLower(rand.Text()[:10])
	defer func() {
		drop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		// A probe that was not created cannot be dropped, and one that is left
		// behind does no harm.
		_ = x.client.DropCollection(drop, milvusclient.NewDropCollectionOption(name))
	}()
	if err := x.create(ctx, cfg, collection{name: name, dimension: 2}); err != nil {
		return err
	}
	var entries []port.Entry
	for _, workspace := range []string{"a", "b"} {
		entries = append(entries, port.Entry{ChunkID: workspace, Workspace: workspace, Project: "p", DocumentID: "d", Version: 1,
			Text: "probe", Vector: []float32{1, 0}, ACL: []string{"w:" + workspace}})
	}
	rows, err := rowsOf(entries)
	if err != nil {
		return err
	}
	if _, err := x.client.Upsert(ctx, columns(name, 2, rows)); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	filter := fieldWorkspace + ` == "a" && array_contains_any(` + fieldACL + `, ["w:a"])`
	searches := []search{
		{collection: name, filter: filter, limit: 10, field: fieldVector, metric: entity.COSINE, query: entity.FloatVector{1, 0}, param: cfg.searchParam(10)},
		{collection: name, filter: filter, limit: 10, field: fieldSparse, metric: entity.BM25, query: entity.Text("probe")},
	}
	if cfg.withoutWords {
		searches = searches[:1]
	}
	for _, s := range searches {
		hits, err := x.search(ctx, s)
		if err != nil {
			return fmt.Errorf("search %s: %w", s.field, err)
		}
		if len(hits) != 1 || hits[0].ChunkID != "a" {
			return fmt.Errorf("search %s found %d entries instead of the one written", s.field, len(hits))
		}
	}
	return nil
}
