package ingestion_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/confluence"
	"github.com/cairn-rag/cairn/internal/source/drive"
	"github.com/cairn-rag/cairn/internal/source/sharepoint"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/source/webdav"
	"github.com/cairn-rag/cairn/internal/store"
)

// followFixture follows a fake of Nextcloud with the activities of imports.
type followFixture struct {
	*importFixture
	world *sourcetest.World
	fake  *sourcetest.WebDAV
	drive *sourcetest.Drive      // is followed if it is set
	graph *sourcetest.MSGraph    // is followed if it is set
	wiki  *sourcetest.Confluence // is followed if it is set
	sync  store.Sync
	page  int // objects of a page
}

// places opens the fake for the runs of a sync.
type places struct{ f *followFixture }

// Allow implements ingestion.Places.
func (p places) Allow(ctx context.Context, i store.Import) error {
	y, err := p.f.Store.SyncForSystem(ctx, i.Workspace, i.Request.Sync)
	if err == nil && y.Removed {
		err = knowledge.NotFound("sync", y.ID)
	}
	return err
}

// Open implements ingestion.Places.
func (p places) Open(ctx context.Context, i store.Import, _, _ source.State) (source.Source, error) {
	y, err := p.f.Store.SyncForSystem(ctx, i.Workspace, i.Request.Sync)
	if err != nil {
		return nil, err
	}
	if d := p.f.drive; d != nil {
		return drive.New(source.Follow{
			Options: source.Settings{URL: "http://drive.test", Subject: "ann@example.org"}, Credentials: d.Account(),
			Mirror: i.Request.Mirror, Cursor: y.Cursor, PageSize: p.f.page,
		}, sourcetest.Local(d))
	}
	if g := p.f.graph; g != nil {
		return sharepoint.New(source.Follow{
			Options: source.Settings{URL: "http://graph.test", Tenant: sourcetest.MSTenant, ClientID: sourcetest.MSClient}, Credentials: g.Secret,
			Scope: source.Scope{Drive: sourcetest.MSDrive}, Mirror: i.Request.Mirror, Cursor: y.Cursor, PageSize: p.f.page,
		}, sourcetest.Local(g))
	}
	if w := p.f.wiki; w != nil {
		f := source.Follow{
			Options: source.Settings{URL: "http://wiki.test" + w.Base}, Credentials: sourcetest.ConfluenceSecret, Connection: y.Connection,
			Mirror: i.Request.Mirror, Cursor: y.Cursor, PageSize: p.f.page,
		}
		if w.Cloud {
			f.Options.Username = sourcetest.ConfluenceUser
		}
		return confluence.New(f, sourcetest.Local(w))
	}
	return webdav.New(source.Follow{
		Options: source.Settings{URL: "http://cloud.test" + p.f.fake.Base, Username: p.f.fake.Username}, Credentials: p.f.fake.Password,
		Mirror: i.Request.Mirror, Cursor: y.Cursor, PageSize: p.f.page,
	}, sourcetest.Local(p.f.fake))
}

func newFollowFixture(t *testing.T, mirror bool) *followFixture {
	t.Helper()
	world := sourcetest.NewWorld("ann")
	f := &followFixture{importFixture: newImportFixture(t), world: world, fake: sourcetest.NewWebDAV(world), page: 1000}
	f.importing = f.process(f.writes)
	f.importing.Sources.Places = places{f}
	_, err := f.Store.AddConnection(f.Ctx, activitytest.Manager(), store.Connection{ID: "c", Type: source.TypeWebDAV})
	f.Must(err)
	f.sync, err = f.Store.AddSync(f.Ctx, activitytest.Manager(), store.Sync{
		ID: "y", Project: "p", Connection: "c", Every: time.Hour, Request: store.SyncRequest{Mirror: mirror, RemoveVanished: true},
	})
	f.Must(err)
	return f
}

// begin starts a run of the sync.
func (f *followFixture) begin() store.Import {
	f.Helper()
	id := knowledge.NewID()
	i, err := f.Store.StartSyncRun(f.Ctx, store.NewImport{
		ImportRef: knowledge.ImportRef{Workspace: "w", Project: "p", Import: id}, RunID: id, SourceName: "sync y",
		Request: store.ImportRequest{
			Source: source.Spec{Type: source.TypeWebDAV, URI: "http://cloud.test"}, Sync: "y", Mirror: f.sync.Request.Mirror, RemoveVanished: true,
		},
	})
	f.Must(err)
	return i
}

// run runs the sync to its end, and returns its counts. Removals are done at once.
func (f *followFixture) run() knowledge.ImportCounts {
	f.Helper()
	i := f.begin()
	for page, todo := range f.list(i) {
		if todo > 0 {
			f.Must(f.batch(i, page))
		}
	}
	f.Must(act(f.fixture, f.importing.SettleVanished, i.ImportRef))
	f.end(i)
	now, err := f.Store.ImportForSystem(f.Ctx, i.ImportRef)
	f.Must(err)
	return now.Counts
}

// idOf returns the id of the document of a file.
func (f *followFixture) idOf(file int) string {
	address := fmt.Sprintf("http://cloud.test/f/%d", file)
	if f.wiki != nil {
		address = fmt.Sprintf("http://wiki.test%s/pages/viewpage.action?pageId=%d", f.wiki.Base, file)
	}
	if f.graph != nil {
		address = fmt.Sprintf("http://contoso.sharepoint.test/sites/legal/_layouts/15/download.aspx?UniqueId=%08d-0000-0000-0000-000000000000", file)
	}
	return knowledge.DocumentID("w", "p", address)
}

func (f *followFixture) document(file int) knowledge.Document {
	f.Helper()
	d, err := f.Store.Document(f.Ctx, activitytest.Manager(), f.idOf(file))
	f.Must(err)
	return d
}

func TestFollow(t *testing.T) {
	t.Parallel()
	f := newFollowFixture(t, false)
	docs := f.world.Create(0, "docs", true, "")
	a := f.world.Create(docs, "a.txt", false, "The lamp is lit at dusk.")
	b := f.world.Create(docs, "b.txt", false, "The keeper sleeps by day.")
	if got, want := f.run(), (knowledge.ImportCounts{Discovered: 2, Published: 2, Bytes: 49}); got != want {
		t.Fatalf("the first run: %+v", got)
	}
	before := f.document(a)
	if before.Name != "docs/a.txt" {
		t.Errorf("its name is %q", before.Name)
	}

	// A moved folder changes the names of documents, and neither their versions nor their vectors.
	embedded := f.Server.Totals().Texts
	f.world.Move(docs, 0, "archive")
	if got := f.run(); got.Published != 2 || got.Discovered != 2 || got.Vanished != 0 {
		t.Errorf("after the move: %+v", got)
	}
	if d := f.document(a); d.Name != "archive/a.txt" || d.PublishedVersion != before.PublishedVersion {
		t.Errorf("after the move it is %q in version %d", d.Name, d.PublishedVersion)
	}
	if got := f.Server.Totals().Texts; got != embedded {
		t.Errorf("%d texts were embedded for a move", got-embedded)
	}

	// Nothing has changed: nothing is listed.
	if got := f.run(); got != (knowledge.ImportCounts{}) {
		t.Errorf("without a change: %+v", got)
	}

	// An edited file is a new version, and a deleted one goes.
	f.world.Edit(a, "The lamp is lit at noon.")
	f.world.Delete(b)
	if got := f.run(); got.Published != 1 || got.Deleted != 1 || got.Discovered != 1 {
		t.Errorf("after an edit and a deletion: %+v", got)
	}
	if d := f.document(a); d.PublishedVersion != before.PublishedVersion+1 {
		t.Errorf("the edited file has version %d", d.PublishedVersion)
	}
	if len(f.workflows.removals) != 1 || f.workflows.removals[0].Document != f.idOf(b) {
		t.Errorf("the removals are %+v", f.workflows.removals)
	}
}

// TestFollowHalfAListing has a listing fail on its second page: nothing is removed, and the
// cursor stays.
func TestFollowHalfAListing(t *testing.T) {
	t.Parallel()
	f := newFollowFixture(t, false)
	f.page = 2
	var files []int
	for n := range 5 {
		files = append(files, f.world.Create(0, fmt.Sprintf("%d.txt", n), false, fmt.Sprintf("Light number %d.", n)))
	}
	f.run()
	cursor := f.cursor()
	f.world.Edit(files[0], "Light number zero.")
	i := f.begin()
	listed, err := do(f.fixture, f.importing.ListImportPage, ingestion.ListInput{ImportRef: i.ImportRef})
	f.Must(err)
	f.Must(f.batch(i, 0))
	f.fake.Fail = func(*http.Request) bool { return true }
	if _, err := do(f.fixture, f.importing.ListImportPage, ingestion.ListInput{ImportRef: i.ImportRef, Page: 1}); err == nil || listed.Last {
		t.Fatalf("the second page is listed: last %t, %v", listed.Last, err)
	}
	f.Must(act(f.fixture, f.importing.FinishImport, ingestion.FinishImportInput{
		ImportRef: i.ImportRef, Run: i.RunID, Error: &knowledge.DocumentError{Code: knowledge.CodeUnavailable, Message: "no answer"},
	}))
	if now := f.cursor(); now != cursor || len(f.workflows.removals) != 0 {
		t.Errorf("the cursor is %s, was %s; %d removals", now, cursor, len(f.workflows.removals))
	}
	f.fake.Fail = nil
	if got := f.run(); got.Discovered != 5 || got.Skipped != 5 || got.Deleted != 0 || f.cursor() == cursor {
		t.Errorf("the next run: %+v, cursor %s", got, f.cursor())
	}
}

func (f *followFixture) cursor() string {
	f.Helper()
	y, err := f.Store.SyncForSystem(f.Ctx, "w", "y")
	f.Must(err)
	return y.Cursor
}

// TestFollowedRights changes files and shares at random, and asks after each run for each
// person which passages are found: exactly those of the files that the person sees in the
// service.
func TestFollowedRights(t *testing.T) {
	t.Parallel()
	f := newFollowFixture(t, true)
	random := rand.New(rand.NewPCG(7, 7))
	var files []int
	folder := f.world.Create(0, "folder", true, "")
	for n := range 6 {
		files = append(files, f.world.Create([]int{0, folder}[n%2], fmt.Sprintf("%d.txt", n), false, fmt.Sprintf("The secret of file %d is kept.", n)))
	}
	people := map[string]knowledge.Principal{}
	for _, name := range []string{"ann", "bob", "eve"} {
		people[name] = readerOf(name)
	}
	people["staff"] = readerOf("carl", "staff")
	hidden := 0
	for round := range 25 {
		for range 1 + random.IntN(3) {
			f.changeRights(random, append(files, folder), round)
		}
		f.run()
		for name, p := range people {
			want := f.mayRead(name)
			got := f.reads(p, files)
			hidden += len(files) - len(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("round %d, %s (-sees in the service +finds):\n%s", round, name, diff)
			}
		}
	}
	if hidden == 0 {
		t.Error("everybody saw everything: the test shows nothing")
	}
}

// changeRights makes one random change.
func (f *followFixture) changeRights(random *rand.Rand, items []int, round int) {
	item := items[random.IntN(len(items))]
	folder := items[len(items)-1]
	switch random.IntN(4) {
	case 0:
		if item != folder {
			f.world.Move(item, []int{0, folder}[random.IntN(2)], fmt.Sprintf("%d-%d.txt", item, round))
		}
	case 1:
		if item != folder {
			f.world.Edit(item, fmt.Sprintf("The secret of file %d was changed in round %d.", item, round))
		}
	default:
		var users, groups []string
		for _, name := range []string{"bob", "eve"} {
			if random.IntN(2) == 0 {
				users = append(users, name)
			}
		}
		if random.IntN(2) == 0 {
			groups = []string{"staff"}
		}
		f.world.Share(item, users, groups)
	}
}

// mayRead returns the files that a person sees in the service.
func (f *followFixture) mayRead(name string) []string {
	list := []string{}
	for id, file := range f.world.Files() {
		if slices.Contains(file.Access.Users, name) || slices.Contains(file.Access.Groups, name) {
			list = append(list, f.idOf(id)+" "+file.Content)
		}
	}
	slices.Sort(list)
	return list
}

// reads returns the files whose passages a person reads.
func (f *followFixture) reads(p knowledge.Principal, files []int) []string {
	f.Helper()
	list := []string{}
	for _, id := range files {
		chunks, _, err := f.Store.DocumentChunks(f.Ctx, p, f.idOf(id), store.Page{})
		if knowledge.IsCode(err, knowledge.CodeNotFound) {
			continue
		}
		f.Must(err)
		var texts []string
		for _, c := range chunks {
			text := strings.TrimSpace(c.Text)
			if _, body, page := strings.Cut(text, "<main>"); page {
				text, _, _ = strings.Cut(body, "</main>")
			}
			texts = append(texts, text)
		}
		list = append(list, f.idOf(id)+" "+strings.Join(texts, " "))
	}
	slices.Sort(list)
	return list
}

func readerOf(user string, groups ...string) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: "w", Scopes: []knowledge.Scope{knowledge.ScopeRead}, KeyID: "reader", User: user, Groups: groups})
}
