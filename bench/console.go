package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

const (
	consoleDocuments = 100_000
	openConsoles     = 100
	consoleTime      = 30 * time.Second // in which the open consoles are measured
	consolePace      = 2 * time.Second  // of a page of documents that has documents in work
	consoleCalmPace  = 10 * time.Second // of one that has more than consoleFew of them
	consoleFew       = 10
	consoleAsked     = 100 // documents in work that it asks for
)

// consoles measures the pages with many documents in a real browser, and what open pages of
// documents cost the server while an import runs.
func consoles(ctx context.Context, b *bench) (figures []figure, err error) {
	s, err := b.withBucket(ctx, &modeltest.Options{}, map[string]int{"alone/": b.objects, "watched/": b.objects})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if _, err := s.upload(ctx, s.list[:1]); err != nil {
		return nil, err
	}
	if err := s.fillDocuments(ctx, consoleDocuments); err != nil {
		return nil, err
	}
	if figures, err = s.browse(ctx); err != nil {
		return nil, err
	}
	alone, err := s.importWatched(ctx, "alone/", 0)
	if err != nil {
		return nil, err
	}
	watched, err := s.importWatched(ctx, "watched/", openConsoles)
	if err != nil {
		return nil, err
	}
	// A document costs the import the same in both; the rest is of the consoles.
	own := watched.core - alone.core*watched.rate/alone.rate
	return append(figures,
		lower("% of a core, import alone", alone.core),
		lower(fmt.Sprintf("%% of a core, the same import with %d open consoles", openConsoles), watched.core),
		lower(fmt.Sprintf("%% of a core, by %d open consoles", openConsoles), own),
		higher("documents/s, import alone", alone.rate), higher("documents/s, with the open consoles", watched.rate),
		lower("CPU ms of a request of a console", 10*consoleTime.Seconds()*own/float64(max(1, watched.requests))),
		higher("requests/s of the open consoles", float64(watched.requests)/consoleTime.Seconds()),
		lower("request p50 ms", watched.took.quantile(.5)), lower("request p99 ms", watched.took.quantile(.99)),
	), nil
}

// watchedImport is how the server was during consoleTime of an import.
type watchedImport struct {
	core     float64 // percent of a processor
	rate     float64 // documents/s
	requests int64
	took     samples
}

// importWatched imports the objects of a prefix while so many consoles are open, and measures
// the server for consoleTime of it.
func (s *bulkServer) importWatched(ctx context.Context, prefix string, count int) (w *watchedImport, err error) {
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	c, err := s.Client()
	if err != nil {
		return nil, err
	}
	w = &watchedImport{}
	open, err := s.openConsoles(ctx, count)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, open.close()) }()
	i, err := c.StartImport(ctx, client.NewImport{Project: "default", Source: s.objects.source(prefix)})
	for err == nil && i.Published == 0 {
		if err = sleep(ctx, 100*time.Millisecond); err == nil {
			i, err = c.Import(ctx, i.ID)
		}
	}
	if err != nil {
		return nil, err
	}
	before, cpu, began := i.Published, s.cpu(), time.Now()
	open.record(&w.took)
	if err := sleep(ctx, consoleTime); err != nil {
		return nil, err
	}
	w.requests = open.record(nil)
	w.core = 100 * (s.cpu() - cpu) / time.Since(began).Seconds()
	if i, err = c.Import(ctx, i.ID); err != nil {
		return nil, err
	}
	if i.Status != "running" {
		return nil, fmt.Errorf("the import has ended within %v; give it more -objects", consoleTime)
	}
	w.rate = float64(i.Published-before) / time.Since(began).Seconds()
	_, err = c.CancelImport(ctx, i.ID)
	return w, err
}

// consoleGroup is open pages of documents.
type consoleGroup struct {
	stop     context.CancelFunc
	group    sync.WaitGroup
	failed   atomic.Pointer[error]
	requests atomic.Int64
	took     atomic.Pointer[samples] // nil = nothing is recorded
}

// openConsoles signs so many browsers in and lets each of them send what the page of
// documents sends while documents are in work: every two seconds, or every ten while there
// are many, the newest documents and, with one request, those in work.
func (s *server) openConsoles(ctx context.Context, count int) (*consoleGroup, error) {
	ctx, stop := context.WithCancel(ctx)
	g := &consoleGroup{stop: stop}
	for i := range count {
		cookie, err := s.signIn(ctx)
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		g.group.Go(func() {
			c := &console{api: s.Endpoints().API, cookie: cookie, group: g}
			err := sleep(ctx, consolePace*time.Duration(i)/time.Duration(count)) // people open them at different times
			for err == nil {
				if err = c.look(ctx); err == nil {
					err = sleep(ctx, c.pace)
				}
			}
			if ctx.Err() == nil {
				g.failed.Store(&err)
			}
		})
	}
	return g, nil
}

// record begins to record how long requests take, or with nil ends it, and returns how many
// there were since it began.
func (g *consoleGroup) record(took *samples) int64 {
	g.took.Store(took)
	return g.requests.Swap(0)
}

// close ends the consoles, and returns why one of them could not go on.
func (g *consoleGroup) close() error {
	g.stop()
	g.group.Wait()
	if err := g.failed.Load(); err != nil {
		return fmt.Errorf("an open console: %w", *err)
	}
	return nil
}

// console is one open page of documents.
type console struct {
	api     string
	cookie  *http.Cookie
	group   *consoleGroup
	working []string      // documents of its list that were in work when it looked last, newest first
	pace    time.Duration // until it looks again
}

// listed is a list of documents, as far as the page reads it.
type listed struct {
	Data []struct{ ID, Status string }
}

// inWork returns the documents of a list that are in work.
func (l listed) inWork() (ids []string) {
	for _, d := range l.Data {
		if d.Status == "pending" {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

func (c *console) look(ctx context.Context) error {
	var newest, now listed
	const path = "/workspaces/default/documents"
	asked := c.working[:min(len(c.working), consoleAsked)]
	var failed error
	var both sync.WaitGroup
	both.Go(func() { failed = c.get(ctx, path+"?limit=50", &newest) })
	var err error
	if len(asked) > 0 {
		err = c.get(ctx, path+"?"+url.Values{"id": asked}.Encode(), &now)
	}
	both.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	c.pace = consolePace
	if len(c.working) > consoleFew {
		c.pace = consoleCalmPace
	}
	c.working = slices.Concat(newest.inWork(), now.inWork(), c.working[len(asked):])
	slices.Sort(c.working) // ids have the time of their upload in front
	c.working = slices.Compact(c.working)
	slices.Reverse(c.working)
	return nil
}

// consoleConnections keeps two connections of each open console.
var consoleConnections = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * openConsoles}}

func (c *console) get(ctx context.Context, path string, out any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.api+path, nil)
	if err != nil {
		return err
	}
	request.AddCookie(c.cookie)
	began := time.Now()
	response, err := consoleConnections.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", path, response.Status)
	}
	if took := c.group.took.Load(); took != nil {
		took.add(time.Since(began))
	}
	c.group.requests.Add(1)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(data, out)
}

// signIn returns the cookie of a new session.
func (s *server) signIn(ctx context.Context) (*http.Cookie, error) {
	response, err := s.remote().open(ctx, http.MethodPost, "/auth/session", map[string]string{"key": s.Key()})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	for _, cookie := range response.Cookies() {
		if strings.HasPrefix(cookie.Name, "cairn") {
			return cookie, nil
		}
	}
	return nil, errors.New("the server set no cookie")
}
