package milvus

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/milvus-io/milvus/client/v2/milvusclient"
	"github.com/milvus-io/milvus/pkg/v2/util/merr"
)

// collections are the collections of this index that are known to be loaded.
type collections struct {
	creating sync.Mutex // held while one is created

	mu     sync.Mutex
	ready  map[int]bool // by dimension
	listed time.Time    // when the server was asked for its collections
}

// dimensions returns the dimensions of all collections, in order.
func (x *Index) dimensions(ctx context.Context) ([]int, error) {
	c := &x.collections
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.listed) < x.cfg.ListEvery {
		return slices.Sorted(maps.Keys(c.ready)), nil
	}
	asked := time.Now()
	names, err := x.list(ctx)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(c.ready, func(dimension int, _ bool) bool { return names[dimension] == "" })
	for dimension, name := range names {
		if c.ready[dimension] {
			continue
		}
		// One whose indexes are not there yet is still being created.
		switch err := x.load(ctx, name); {
		case hasCode(err, merr.ErrIndexNotFound), hasCode(err, merr.ErrCollectionNotFound):
		case err != nil:
			return nil, typed(err, "load collection %s", name)
		default:
			c.ready[dimension] = true
		}
	}
	c.listed = asked
	return slices.Sorted(maps.Keys(c.ready)), nil
}

// list returns the names of the index's collections by dimension.
func (x *Index) list(ctx context.Context) (map[int]string, error) {
	all, err := x.client.ListCollections(ctx, milvusclient.NewListCollectionOption())
	if err != nil {
		return nil, typed(err, "list the collections of Milvus at %s", x.cfg.Address)
	}
	found := map[int]string{}
	for _, name := range all {
		if dimension, ok := x.cfg.dimensionOf(name); ok {
			found[dimension] = name
		}
	}
	return found, nil
}

// ensure creates the collection of a dimension if there is none, and then waits
// until every process knows it.
func (x *Index) ensure(ctx context.Context, dimension int) error {
	known, err := x.dimensions(ctx)
	if err != nil || slices.Contains(known, dimension) {
		return err
	}
	x.collections.creating.Lock()
	defer x.collections.creating.Unlock()
	if x.isReady(dimension) {
		return nil
	}
	name := x.cfg.collectionName(dimension)
	if err := x.create(ctx, x.cfg, name, dimension); err != nil {
		return typed(err, "create collection %s", name)
	}
	x.collections.mu.Lock()
	x.collections.ready[dimension] = true
	x.collections.mu.Unlock()
	select {
	case <-time.After(x.cfg.ListEvery):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *Index) isReady(dimension int) bool {
	x.collections.mu.Lock()
	defer x.collections.mu.Unlock()
	return x.collections.ready[dimension]
}

// create creates a collection with its indexes and loads it. A collection that
// another process has begun is completed.
func (x *Index) create(ctx context.Context, cfg Config, name string, dimension int) error {
	err := x.client.CreateCollection(ctx, milvusclient.NewCreateCollectionOption(name, cfg.schema(dimension)))
	if err != nil {
		// Another process may have been faster.
		if has, hasErr := x.client.HasCollection(ctx, milvusclient.NewHasCollectionOption(name)); hasErr != nil || !has {
			return fmt.Errorf("create: %w", err)
		}
	}
	for field, index := range cfg.indexes(dimension) {
		option := milvusclient.NewCreateIndexOption(name, field, index).WithIndexName(field)
		if _, err := x.client.CreateIndex(ctx, option); err != nil && !hasCode(err, merr.ErrIndexDuplicate) {
			if _, describeErr := x.client.DescribeIndex(ctx, milvusclient.NewDescribeIndexOption(name, field)); describeErr != nil {
				return fmt.Errorf("index %s: %w", field, err)
			}
		}
	}
	return x.load(ctx, name)
}

func (x *Index) load(ctx context.Context, name string) error {
	task, err := x.client.LoadCollection(ctx, milvusclient.NewLoadCollectionOption(name))
	if err != nil {
		return err
	}
	return task.Await(ctx)
}

// loaded runs call, and again after loading the collection if the server has
// lost it from memory.
func (x *Index) loaded(ctx context.Context, name string, call func() error) error {
	err := call()
	if !hasCode(err, merr.ErrCollectionNotLoaded) {
		return err
	}
	if err := x.load(ctx, name); err != nil {
		return err
	}
	return call()
}
