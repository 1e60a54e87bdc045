package milvus

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/milvus-io/milvus/client/v2/milvusclient"
	"github.com/milvus-io/milvus/pkg/v2/util/merr"
	"golang.org/x/sync/semaphore"

	port "github.com/cairn-rag/cairn/internal/index"
)

// collections are the collections of this index that are known to be loaded. Callers that
// wait for another one's call to the server wait no longer than their contexts allow.
type collections struct {
	creating *semaphore.Weighted // of 1, held while one is created
	listing  *semaphore.Weighted // of 1, held while the server is asked for them

	mu     sync.Mutex // never held during a call to the server
	ready  map[collection]bool
	listed time.Time // when the server was asked for its collections
}

func newCollections() collections {
	return collections{creating: semaphore.NewWeighted(1), listing: semaphore.NewWeighted(1), ready: map[collection]bool{}}
}

// current returns the collections. ok is false if they were listed longer than age ago.
func (c *collections) current(age time.Duration) (all []collection, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return inOrder(c.ready), time.Since(c.listed) < age
}

// replace replaces the collections of an earlier moment by those that the server had then.
// One that was created since then stays.
func (c *collections) replace(earlier, listed []collection, asked time.Time) []collection {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range earlier {
		delete(c.ready, one)
	}
	for _, one := range listed {
		c.ready[one] = true
	}
	c.listed = asked
	return inOrder(c.ready)
}

// known returns all collections, in the order of their names.
func (x *Index) known(ctx context.Context) ([]collection, error) {
	c := &x.collections
	if all, ok := c.current(x.cfg.ListEvery); ok {
		return all, nil
	}
	if err := c.listing.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer c.listing.Release(1)
	earlier, ok := c.current(x.cfg.ListEvery)
	if ok {
		return earlier, nil
	}
	asked := time.Now()
	all, err := x.list(ctx)
	if err != nil {
		return nil, err
	}
	var loaded []collection
	for _, one := range all {
		if slices.Contains(earlier, one) {
			loaded = append(loaded, one)
			continue
		}
		// One whose indexes are not there yet is still being created.
		switch err := x.load(ctx, one.name); {
		case hasCode(err, merr.ErrIndexNotFound), hasCode(err, merr.ErrCollectionNotFound):
		case err != nil:
			return nil, typed(err, "load collection %s", one.name)
		default:
			loaded = append(loaded, one)
		}
	}
	return c.replace(earlier, loaded, asked), nil
}

func inOrder(ready map[collection]bool) []collection {
	return slices.SortedFunc(maps.Keys(ready), func(a, b collection) int { return cmp.Compare(a.name, b.name) })
}

// listings bounds how often one listing of the collections is tried. If a collection is
// dropped meanwhile, the light server fails with the code that Milvus has for "not ready".
const listings = 5

// names returns the names of all collections of the database.
func (x *Index) names(ctx context.Context) ([]string, error) {
	for attempt := 1; ; attempt++ {
		names, err := x.client.ListCollections(ctx, milvusclient.NewListCollectionOption())
		if attempt == listings || !hasCode(err, merr.ErrServiceNotReady) {
			return names, typed(err, "list the collections of Milvus at %s", x.cfg.Address)
		}
	}
}

// list returns the index's collections.
func (x *Index) list(ctx context.Context) ([]collection, error) {
	names, err := x.names(ctx)
	if err != nil {
		return nil, err
	}
	var found []collection
	for _, name := range names {
		if c, ok := x.cfg.collectionNamed(name); ok {
			found = append(found, c)
		}
	}
	return found, nil
}

// find returns the collection of a generation. ok is false if there is none.
func (x *Index) find(ctx context.Context, generation string) (c collection, ok bool, err error) {
	known, err := x.known(ctx)
	if err != nil {
		return c, false, err
	}
	id := generationID(generation)
	for _, c := range known {
		if c.generation == id {
			return c, true, nil
		}
	}
	return c, false, nil
}

// ensure returns the collection for vectors of a dimension of a generation, or for
// entries without a vector. It creates it if there is none, and then waits
// until every process knows it.
func (x *Index) ensure(ctx context.Context, generation string, dimension int) (collection, error) {
	wanted := x.cfg.collectionOf(generation, dimension)
	if there, err := x.isThere(ctx, wanted, generation); there || err != nil {
		return wanted, err
	}
	if err := x.collections.creating.Acquire(ctx, 1); err != nil {
		return wanted, err
	}
	defer x.collections.creating.Release(1)
	if x.isReady(wanted) {
		return wanted, nil
	}
	if err := x.create(ctx, x.cfg, wanted); err != nil {
		return wanted, typed(err, "create collection %s", wanted.name)
	}
	x.collections.mu.Lock()
	x.collections.ready[wanted] = true
	x.collections.mu.Unlock()
	select {
	case <-time.After(x.cfg.ListEvery):
		return wanted, nil
	case <-ctx.Done():
		return wanted, ctx.Err()
	}
}

// isThere reports whether there is a collection, and returns OtherLength if its
// generation has another length.
func (x *Index) isThere(ctx context.Context, wanted collection, generation string) (bool, error) {
	known, err := x.known(ctx)
	if err != nil || slices.Contains(known, wanted) || wanted.dimension == 0 {
		return slices.Contains(known, wanted), err
	}
	for _, c := range known {
		if c.generation == wanted.generation {
			return false, port.OtherLength(generation, c.dimension, wanted.dimension)
		}
	}
	return false, nil
}

func (x *Index) isReady(c collection) bool {
	x.collections.mu.Lock()
	defer x.collections.mu.Unlock()
	return x.collections.ready[c]
}

// create creates a collection with its indexes and loads it. A collection that
// another process has begun is completed.
func (x *Index) create(ctx context.Context, cfg Config, c collection) error {
	name := c.name
	err := x.client.CreateCollection(ctx, milvusclient.NewCreateCollectionOption(name, cfg.schema(c.dimension)))
	if err != nil {
		// Another process may have been faster.
		if has, hasErr := x.client.HasCollection(ctx, milvusclient.NewHasCollectionOption(name)); hasErr != nil || !has {
			return fmt.Errorf("create: %w", err)
		}
	}
	for field, index := range cfg.indexes(c.dimension) {
		option := milvusclient.NewCreateIndexOption(name, field, index).WithIndexName(field)
		if _, err := x.client.CreateIndex(ctx, option); err != nil && !hasCode(err, merr.ErrIndexDuplicate) {
			if _, describeErr := x.client.DescribeIndex(ctx, milvusclient.NewDescribeIndexOption(name, field)); describeErr != nil {
				return fmt.Errorf("index %s: %w", field, err)
			}
		}
	}
	return x.load(ctx, name)
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
