package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
	consoleWindow    = 10 * time.Second // of an import, without or with the open consoles
	consolePairs     = 4                // of such windows
	consolePace      = 2 * time.Second  // of a page of documents that has documents in work
	consoleCalmPace  = 10 * time.Second // of one that has more than consoleFew of them
	consoleFew       = 10
	consoleAsked     = 50 // documents in work that it asks for
)

// consoles measures the pages with many documents in a real browser, and what open pages of
// documents cost the server while an import runs.
func consoles(ctx context.Context, b *bench) (figures []figure, err error) {
	s, err := b.withBucket(ctx, &modeltest.Options{}, map[string]int{"watched/": b.objects})
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
	w, err := s.importWatched(ctx)
	if err != nil {
		return nil, err
	}
	return append(figures,
		lower("% of a core, import alone", w.alone.core()),
		lower(fmt.Sprintf("%% of a core, the same import with %d open consoles", openConsoles), w.watched.core()),
		lower(fmt.Sprintf("%% of a core, by %d open consoles", openConsoles), w.own.mean()),
		lower("standard error of it", w.own.standardError()),
		higher("documents/s, import alone", w.alone.rate()), higher("documents/s, with the open consoles", w.watched.rate()),
		higher("requests/s of the open consoles", float64(w.requests)/w.watched.seconds),
		lower("request p50 ms", w.took.quantile(.5)), lower("request p99 ms", w.took.quantile(.99)),
	), nil
}

// importWindow is a part of an import.
type importWindow struct {
	cpu, seconds float64 // cpu: seconds of a processor that the server used
	documents    int
}

func (w *importWindow) add(v importWindow) {
	w.cpu += v.cpu
	w.seconds += v.seconds
	w.documents += v.documents
}

func (w importWindow) core() float64 { return 100 * w.cpu / w.seconds } // percent of a processor
func (w importWindow) rate() float64 { return float64(w.documents) / w.seconds }

// watchedImport is how the server was during an import, in turn without and with open consoles.
type watchedImport struct {
	alone, watched importWindow
	own            shares
	requests       int64
	took           samples
}

// shares are the percents of a processor that the consoles used, in each pair of windows.
type shares []float64

func (s shares) mean() float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum / float64(len(s))
}

func (s shares) standardError() float64 {
	mean, sum := s.mean(), 0.0
	for _, v := range s {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(s)-1) / float64(len(s)))
}

// importWatched imports objects and measures the server in pairs of windows, one of them with
// open consoles. A document costs both windows of a pair the same; the rest is of the consoles.
func (s *bulkServer) importWatched(ctx context.Context) (w *watchedImport, err error) {
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	c, err := s.Client()
	if err != nil {
		return nil, err
	}
	w = &watchedImport{}
	open, err := s.openConsoles(ctx, openConsoles)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, open.close()) }()
	i, err := c.StartImport(ctx, client.NewImport{Project: "default", Source: s.objects.source("watched/")})
	for err == nil && i.Published == 0 {
		if err = sleep(ctx, 100*time.Millisecond); err == nil {
			i, err = c.Import(ctx, i.ID)
		}
	}
	for pair := 0; err == nil && pair < consolePairs; pair++ {
		err = s.watchPair(ctx, c, i.ID, open, w)
	}
	if err != nil {
		return nil, err
	}
	_, err = c.CancelImport(ctx, i.ID)
	return w, err
}

// watchPair measures a window without the consoles, and one with them.
func (s *bulkServer) watchPair(ctx context.Context, c *client.Client, id string, open *consoleGroup, w *watchedImport) error {
	alone, err := s.watchWindow(ctx, c, id)
	if err != nil {
		return err
	}
	open.record(&w.took)
	open.looking.Store(true)
	watched, err := s.watchWindow(ctx, c, id)
	open.looking.Store(false)
	if err != nil {
		return err
	}
	w.requests += open.record(nil)
	w.alone.add(alone)
	w.watched.add(watched)
	w.own = append(w.own, watched.core()-alone.core()*watched.rate()/alone.rate())
	return nil
}

func (s *bulkServer) watchWindow(ctx context.Context, c *client.Client, id string) (importWindow, error) {
	i, err := c.Import(ctx, id)
	if err != nil {
		return importWindow{}, err
	}
	before, cpu, began := i.Published, s.cpu(), time.Now()
	if err := sleep(ctx, consoleWindow); err != nil {
		return importWindow{}, err
	}
	w := importWindow{cpu: s.cpu() - cpu, seconds: time.Since(began).Seconds()}
	if i, err = c.Import(ctx, id); err != nil {
		return importWindow{}, err
	}
	if i.Status != "running" {
		return importWindow{}, fmt.Errorf("the import has ended within %d pairs of windows of %v; give it more -objects", consolePairs, consoleWindow)
	}
	w.documents = int(i.Published - before)
	return w, nil
}

// consoleGroup is open pages of documents.
type consoleGroup struct {
	stop     context.CancelFunc
	group    sync.WaitGroup
	failed   atomic.Pointer[error]
	looking  atomic.Bool
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
			c := &console{api: s.Endpoints().API, cookie: cookie, group: g, pace: consoleCalmPace}
			err := sleep(ctx, consoleCalmPace*time.Duration(i)/time.Duration(count)) // people open them at different times
			for err == nil {
				if g.looking.Load() {
					err = c.look(ctx)
				}
				if err == nil {
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
