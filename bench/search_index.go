package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/index/milvus"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/process"
	"github.com/cairn-rag/cairn/internal/service"
)

// searchedIndex is an index whose searches are measured.
type searchedIndex struct {
	name string // in the report
	size collectionSize
	open func() (index.Index, error)
	// server is the process that searches beside this one, nil = there is none, or one of
	// which nothing is known.
	server *service.Process
}

// searchEmbedded measures a new embedded index.
func (b *bench) searchEmbedded(ctx context.Context, size collectionSize) (figures []figure, err error) {
	dir, err := os.MkdirTemp(b.dir, "cairn-search-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	debug.FreeOSMemory() // what the size before has left
	s := searchedIndex{name: "embedded, " + size.String(), size: size, open: func() (index.Index, error) {
		return embedded.Open(ctx, embedded.Config{Path: filepath.Join(dir, "index.db")})
	}}
	return b.measureIndex(ctx, s, func() []figure {
		return []figure{lower(s.name+": MB in files", megabytes(dir)), lower(s.name+": RSS MB of this process", processStatus(os.Getpid(), "VmRSS:"))}
	})
}

// The values of -milvus beside a URL.
const (
	noMilvus    = "none"
	milvusCore  = "core"
	milvusLight = "light"
)

// searchMilvus measures a Milvus server in new collections: one that it starts for them, or
// the server of a URL, where they stay.
func (b *bench) searchMilvus(ctx context.Context, size collectionSize) (figures []figure, err error) {
	url, server, err := b.startMilvus(ctx)
	if err != nil {
		return nil, err
	}
	if server != nil {
		defer func() { err = errors.Join(err, server.Close()) }()
	}
	config, err := milvus.ParseURL(url)
	if err != nil {
		return nil, err
	}
	config.Prefix = fmt.Sprintf("bench%d", time.Now().UnixNano())
	config.ListEvery = time.Millisecond // no other process waits to learn of the collections
	s := searchedIndex{name: "Milvus, " + size.String(), size: size, server: server, open: func() (index.Index, error) {
		return milvus.Open(ctx, config)
	}}
	return b.measureIndex(ctx, s, func() []figure {
		if server == nil {
			return nil
		}
		return []figure{lower(s.name+": RSS MB of the server", processStatus(server.PID(), "VmRSS:"))}
	})
}

// startMilvus returns the URL of the server of -milvus, and the server if it started one.
func (b *bench) startMilvus(ctx context.Context) (url string, server *service.Process, err error) {
	switch b.milvus {
	case milvusCore:
		if server, err = service.MilvusCore(tools); err != nil {
			return "", nil, err
		}
		url = server.MilvusCoreURL()
	case milvusLight:
		if server, err = service.Milvus(tools); err != nil {
			return "", nil, err
		}
		url = server.MilvusURL()
	default:
		return b.milvus, nil, nil
	}
	if err := server.Start(ctx); err != nil {
		return "", nil, errors.Join(err, server.Close())
	}
	return url, server, nil
}

// measureIndex fills a new index, starts it again, and measures its searches. memory
// returns what it then takes.
func (b *bench) measureIndex(ctx context.Context, s searchedIndex, memory func() []figure) (figures []figure, err error) {
	x, err := s.open()
	if err != nil {
		return nil, err
	}
	rate, err := fill(ctx, x, s.size)
	if err = errors.Join(err, x.Close()); err != nil {
		return nil, err
	}
	figures = append(figures, higher(s.name+": written chunks/s", rate))
	if s.server != nil {
		if err := s.server.Stop(); err != nil {
			return figures, err
		}
	}
	begin := time.Now()
	if s.server != nil {
		if err := s.server.Start(ctx); err != nil {
			return figures, err
		}
	}
	if x, err = s.open(); err != nil {
		return figures, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	opened := time.Since(begin)
	questions := newCollection(s.size, 2)
	if err := firstResult(ctx, x, questions); err != nil {
		return figures, err
	}
	figures = append(figures, lower(s.name+": start ms", opened.Seconds()*1000), lower(s.name+": start to the first result ms", time.Since(begin).Seconds()*1000))
	searched, err := b.measureSearches(ctx, x, s, questions)
	return append(append(figures, searched...), memory()...), err
}

// firstResult searches until the server has loaded the collection.
func firstResult(ctx context.Context, x index.Index, c *collection) error {
	for deadline := time.Now().Add(30 * time.Minute); ; {
		err := hybrid(ctx, x, c.question(0))
		if e := knowledge.AsError(err); err == nil || !e.Retryable || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// fill writes the chunks and returns how many it wrote in a second.
func fill(ctx context.Context, x index.Index, size collectionSize) (float64, error) {
	begin := time.Now()
	c := newCollection(size, 1)
	for at := 0; at < size.chunks; at += writeBatch {
		if err := x.Upsert(ctx, c.chunks(at, min(at+writeBatch, size.chunks))); err != nil {
			return 0, err
		}
	}
	return float64(size.chunks) / time.Since(begin).Seconds(), nil
}

// measureSearches measures searches by 1, 8 and 32 clients, after each question was
// asked once.
func (b *bench) measureSearches(ctx context.Context, x index.Index, s searchedIndex, c *collection) (figures []figure, err error) {
	ask := func(ctx context.Context, i int) error { return hybrid(ctx, x, c.question(i%min(100, b.searches))) }
	if _, err := load(ctx, 2, min(100, b.searches), ask); err != nil {
		return nil, err
	}
	for _, clients := range []int{1, 8, 32} {
		var times samples
		own, served := ownTime(), s.served()
		_, err := load(ctx, clients, b.searches, func(ctx context.Context, i int) error {
			begin := time.Now()
			defer func() { times.add(time.Since(begin)) }()
			return ask(ctx, i)
		})
		if err != nil {
			return nil, err
		}
		each := func(spent time.Duration) float64 { return spent.Seconds() * 1000 / float64(b.searches) }
		p50 := lower(s.name+": p50 ms, "+clientCount(clients), times.quantile(.5))
		cpu := lower(s.name+": processor ms a search, "+clientCount(clients), each(ownTime()-own))
		if target, ok := s.size.target(); ok && clients == 1 && strings.HasPrefix(s.name, "embedded") {
			p50 = p50.aim(target)
			if s.size.chunks == 1400 {
				cpu = cpu.aim(4)
			}
		}
		figures = append(figures, p50, lower(s.name+": p95 ms, "+clientCount(clients), times.quantile(.95)), cpu)
		if s.server != nil {
			figures = append(figures, lower(s.name+": processor ms of the server a search, "+clientCount(clients), each(s.served()-served)))
		}
	}
	return figures, nil
}

// served returns the processor time that the index's server has used so far.
func (s searchedIndex) served() time.Duration {
	if s.server == nil {
		return 0
	}
	own, _, _ := process.CPU(s.server.PID()) // 0 if it has ended
	return own
}
