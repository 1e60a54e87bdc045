package ingestion_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// shelf is a source in memory, which is listed in the order of its keys.
type shelf struct {
	mu      sync.Mutex
	objects map[string]shelved
	size    int // of a page
	opened  []string
	asked   []source.Request // of Connect
	failing error            // of List
}

// shelved is an object of a shelf.
type shelved struct {
	data   string
	etag   string // "" = only Open tells it
	err    error  // of Open
	hidden bool   // the listing does not tell the etag
}

func (s *shelf) put(key, data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = shelved{data: data, etag: fmt.Sprintf("%q", data)[:min(len(data)+2, 30)] + strconv.Itoa(len(data))}
}

func (s *shelf) change(key string, change func(*shelved)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[key]
	change(&o)
	s.objects[key] = o
}

func (s *shelf) object(key string) source.Object {
	o := s.objects[key]
	return source.Object{Key: key, Address: "shelf://" + key, ETag: o.etag, Bytes: int64(len(o.data))}
}

func (s *shelf) List(_ context.Context, token string) (source.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing != nil {
		return source.Page{}, s.failing
	}
	keys := slices.Sorted(maps.Keys(s.objects))
	first, _ := strconv.Atoi(token)
	last := min(first+s.size, len(keys))
	var page source.Page
	for _, key := range keys[first:last] {
		o := s.object(key)
		if s.objects[key].hidden {
			o.ETag, o.Bytes = "", -1
		}
		page.Objects = append(page.Objects, o)
	}
	if last < len(keys) {
		page.Next = strconv.Itoa(last)
	}
	return page, nil
}

func (s *shelf) Open(_ context.Context, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, o.Key)
	there, ok := s.objects[o.Key]
	switch {
	case !ok:
		return nil, o, source.NotFound("object", o.Key)
	case there.err != nil:
		return nil, o, there.err
	case known != "" && known == there.etag:
		return nil, o, source.ErrUnchanged
	}
	return io.NopCloser(bytes.NewReader([]byte(there.data))), s.object(o.Key), nil
}

// Check and Connect implement source.Connector.
func (s *shelf) Check(source.Spec) error { return nil }

func (s *shelf) Connect(_ context.Context, r source.Request) (source.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	return s, nil
}

// importFixture runs the activities of imports on the embedded stores.
type importFixture struct {
	*fixture
	shelf     *shelf
	importing *ingestion.Importing
	workflows *importWorkflows
	writes    *watched
}

// importWorkflows records the workflows that are started.
type importWorkflows struct {
	mu       sync.Mutex
	ingests  []store.Version
	removals []store.Removal
}

func (w *importWorkflows) Ingest(_ context.Context, v store.Version) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ingests = append(w.ingests, v)
	return nil
}

func (w *importWorkflows) Remove(_ context.Context, r store.Removal) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removals = append(w.removals, r)
	return nil
}

func (w *importWorkflows) Running(context.Context, string) (running, known bool, err error) {
	return false, false, nil
}

// watched calls a hook around each write of an import: "claim", "index" and "publish".
type watched struct {
	mu    sync.Mutex
	hook  hook
	calls map[string]int
}

// hook is called before and after the effect of the call with a number, from 1 on. Its
// error is the error of the call.
type hook func(step string, call int, after bool) error

// set sets the hook, nil for none, and counts calls from 1 again.
func (w *watched) set(h hook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook, w.calls = h, map[string]int{}
}

func (w *watched) do(step string, effect func() error) error {
	w.mu.Lock()
	h := w.hook
	if h == nil {
		w.mu.Unlock()
		return effect()
	}
	w.calls[step]++
	call := w.calls[step]
	w.mu.Unlock()
	if err := h(step, call, false); err != nil {
		return err
	}
	if err := effect(); err != nil {
		return err
	}
	return h(step, call, true)
}

// dies returns a hook with which the process dies at a call, before or after its effect.
// A dead process writes nothing more.
func dies(step string, call int, after bool) hook {
	var dead atomic.Bool
	return func(s string, c int, a bool) error {
		if s == step && c == call && a == after {
			dead.Store(true)
		}
		if dead.Load() {
			return activitytest.ErrKilled
		}
		return nil
	}
}

type watchedImports struct {
	*store.Store
	*watched
}

func (w watchedImports) ClaimVersions(ctx context.Context, list []store.NewVersion, limits knowledge.LimitsConfig) (claims []store.ImportClaim, err error) {
	err = w.do("claim", func() (err error) {
		claims, err = w.Store.ClaimVersions(ctx, list, limits)
		return err
	})
	return claims, err
}

func (w watchedImports) RecordImported(ctx context.Context, i store.Import, r store.ImportRecord) (recorded store.Recorded, err error) {
	err = w.do("publish", func() (err error) {
		recorded, err = w.Store.RecordImported(ctx, i, r)
		return err
	})
	return recorded, err
}

type watchedIndex struct {
	ingestion.Index
	*watched
}

func (w watchedIndex) Upsert(ctx context.Context, entries []index.Entry) error {
	return w.do("index", func() error { return w.Index.Upsert(ctx, entries) })
}

func newImportFixture(t *testing.T) *importFixture {
	t.Helper()
	f := &importFixture{fixture: newFixture(t), shelf: &shelf{objects: map[string]shelved{}, size: 1000}, workflows: &importWorkflows{}, writes: &watched{}}
	f.importing = f.process(f.writes)
	return f
}

// process returns the activities of a process on the stores of the fixture.
func (f *importFixture) process(writes *watched) *ingestion.Importing {
	f.Helper()
	uses := f.IngestionUses
	uses.Index = watchedIndex{f.Index, writes}
	return ingestion.NewImporting(ingestion.ImportDependencies{
		Imports: watchedImports{f.Store, writes}, Workflows: f.workflows, Log: activitytest.Discard(),
		Sources: &ingestion.ImportSources{Connector: f.shelf, Blobs: f.Blobs, Previous: f.Store.PreviousImport, TempDir: f.TempDir()},
	}, ingestion.New(uses))
}

// start starts an import of the shelf, after the one before has ended.
func (f *importFixture) start(change ...func(*store.ImportRequest)) store.Import {
	f.Helper()
	r := store.ImportRequest{Source: source.Spec{Type: source.TypeS3, URI: "shelf", Options: source.Options{Anonymous: true}}}
	for _, c := range change {
		c(&r)
	}
	id := knowledge.NewID()
	i, err := f.Store.StartImport(f.Ctx, activitytest.Manager(), store.NewImport{
		ImportRef: knowledge.ImportRef{Workspace: "w", Project: "p", Import: id}, RunID: id, SourceName: "shelf", Request: r,
	})
	f.Must(err)
	return i
}

func (f *importFixture) end(i store.Import) {
	f.Helper()
	f.Must(act(f.fixture, f.importing.FinishImport, ingestion.FinishImportInput{ImportRef: i.ImportRef, Run: i.RunID}))
}

// list lists all pages, and returns the number of objects to import of each.
func (f *importFixture) list(i store.Import) []int {
	f.Helper()
	var todo []int
	for page := 0; ; page++ {
		listed, err := do(f.fixture, f.importing.ListImportPage, ingestion.ListInput{ImportRef: i.ImportRef, Page: page})
		f.Must(err)
		todo = append(todo, listed.Objects)
		if listed.Last {
			return todo
		}
	}
}

// batch imports the objects of a page in one batch, and then those that take long.
func (f *importFixture) batch(i store.Import, page int) error {
	f.Helper()
	return f.batchBy(f.importing, i, page)
}

// batchBy is batch in a process.
func (f *importFixture) batchBy(process *ingestion.Importing, i store.Import, page int) error {
	f.Helper()
	result, err := do(f.fixture, process.ImportBatch, ingestion.BatchInput{ImportRef: i.ImportRef, Run: i.RunID, Page: page, Last: 1000})
	if err != nil || len(result.Large) == 0 {
		return err
	}
	return act(f.fixture, process.ImportLarge, ingestion.LargeInput{ImportRef: i.ImportRef, Run: i.RunID, Page: page, Objects: result.Large})
}

// run imports all of the shelf.
func (f *importFixture) run(change ...func(*store.ImportRequest)) store.Import {
	f.Helper()
	i := f.start(change...)
	for page, todo := range f.list(i) {
		if todo > 0 {
			f.Must(f.batch(i, page))
		}
	}
	f.Must(act(f.fixture, f.importing.SettleVanished, i.ImportRef))
	f.end(i)
	return i
}

func (f *importFixture) wantCounts(i store.Import, want knowledge.ImportCounts) {
	f.Helper()
	now, err := f.Store.ImportForSystem(f.Ctx, i.ImportRef)
	f.Must(err)
	if diff := cmp.Diff(want, now.Counts); diff != "" {
		f.Errorf("counts (-want +got):\n%s", diff)
	}
}

// documentOf returns the document of an object.
func (f *importFixture) documentOf(key string) knowledge.Document {
	f.Helper()
	d, err := f.Store.Document(f.Ctx, activitytest.Manager(), knowledge.DocumentID("w", "p", "shelf://"+key))
	f.Must(err)
	return d
}

// wantOnce checks that each passage of a document is in SQL once and in the index once.
func (f *importFixture) wantOnce(key string, version int) {
	f.Helper()
	d := f.documentOf(key)
	if d.Status != knowledge.StatusPublished || d.PublishedVersion != version || d.ChunkCount == 0 {
		f.Errorf("%s is %s in version %d with %d passages", key, d.Status, d.PublishedVersion, d.ChunkCount)
	}
	chunks, _, err := f.Store.DocumentChunks(f.Ctx, activitytest.Manager(), d.ID, store.Page{Limit: 500})
	f.Must(err)
	entries, err := f.Index.Count(f.Ctx, "w", d.ID)
	f.Must(err)
	if diff := cmp.Diff(map[int]int{version: len(chunks)}, entries); diff != "" || len(chunks) != d.ChunkCount {
		f.Errorf("%s has %d passages, and in the index (-want +got):\n%s", key, len(chunks), diff)
	}
}

func (f *importFixture) failures(i store.Import) map[string]knowledge.Code {
	f.Helper()
	list, _, err := f.Store.ImportFailures(f.Ctx, activitytest.Manager(), i.Import, store.Page{})
	f.Must(err)
	codes := map[string]knowledge.Code{}
	for _, failure := range list {
		codes[failure.Key] = failure.Error.Code
	}
	return codes
}
