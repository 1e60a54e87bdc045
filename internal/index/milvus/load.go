package milvus

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/milvus-io/milvus/client/v2/milvusclient"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// loads are the collections that the server is loading into its memory, which takes minutes
// for millions of entries. A load does not end with the call that began it: the next call
// waits for the same load, or learns how it ended.
type loads struct {
	mu    sync.Mutex
	under map[string]*loading

	running context.Context // ends with Close
	stop    context.CancelFunc
}

// loading is a load under way.
type loading struct {
	begun time.Time
	done  chan struct{}
	err   error // once done is closed
}

func newLoads() loads {
	running, stop := context.WithCancel(context.Background()) // it outlives Open
	return loads{under: map[string]*loading{}, running: running, stop: stop}
}

// errLoading is the cause of the error of a call that did not wait for the end of a load.
var errLoading = errors.New("the server is loading the collection")

// load loads a collection. If that takes too long, the error is retryable, and the load goes on.
func (x *Index) load(ctx context.Context, name string) error {
	l := x.beginLoad(name)
	patience := time.NewTimer(x.cfg.loadPatience - time.Since(l.begun))
	defer patience.Stop()
	select {
	case <-l.done:
		x.endLoad(name, l)
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
	}
	e := knowledge.Errorf(knowledge.CodeUnavailable, "Milvus is loading the collection %s, which takes minutes for millions of passages; try again later", name).WithCause(errLoading)
	e.Retryable = true
	return e
}

func (x *Index) beginLoad(name string) *loading {
	x.loads.mu.Lock()
	defer x.loads.mu.Unlock()
	if l, ok := x.loads.under[name]; ok {
		return l
	}
	l := &loading{begun: time.Now(), done: make(chan struct{})}
	x.loads.under[name] = l
	go func() {
		l.err = x.loadNow(x.loads.running, name)
		close(l.done)
	}()
	return l
}

// endLoad forgets a load whose end a call has seen.
func (x *Index) endLoad(name string, l *loading) {
	x.loads.mu.Lock()
	defer x.loads.mu.Unlock()
	if x.loads.under[name] == l {
		delete(x.loads.under, name)
	}
}

func (x *Index) loadNow(ctx context.Context, name string) error {
	task, err := x.client.LoadCollection(ctx, milvusclient.NewLoadCollectionOption(name))
	if err != nil {
		return err
	}
	return task.Await(ctx)
}
