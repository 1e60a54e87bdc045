package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// cloud is a fake of Nextcloud on this machine.
type cloud struct {
	*httptest.Server
	world *sourcetest.World
	fake  *sourcetest.WebDAV

	mu      sync.Mutex
	pause   time.Duration // before each answer
	refuse  int           // requests that are answered with 429
	refused time.Time     // when the last one was
	after   time.Time     // the first request after it
	asked   int
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{world: sourcetest.NewWorld("ann")}
	c.fake = sourcetest.NewWebDAV(c.world)
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

// retryAfter is how many seconds the cloud asks to wait.
const retryAfter = 3

func (c *cloud) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	pause, refused := c.pause, c.refuse > 0
	c.asked++
	switch {
	case refused:
		c.refuse--
		c.refused, c.after = time.Now(), time.Time{}
	case c.after.IsZero():
		c.after = time.Now()
	}
	c.mu.Unlock()
	if refused {
		w.Header().Set("Retry-After", fmt.Sprint(retryAfter))
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	select {
	case <-time.After(pause):
	case <-r.Context().Done():
		return
	}
	c.fake.ServeHTTP(w, r)
}

func (c *cloud) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// connect makes a connection to the cloud, which accepts it, and a sync.
func (c *cloud) connect(t *testing.T, s *server, n client.NewSync) client.Sync {
	t.Helper()
	return s.followPlace(t, client.NewConnection{
		Type: "webdav", Options: map[string]string{"url": c.URL + c.fake.Base, "username": c.fake.Username}, Secret: c.fake.Password,
	}, n)
}

// followPlace makes a connection, which its service accepts, and a sync.
func (s *server) followPlace(t *testing.T, c client.NewConnection, n client.NewSync) client.Sync {
	t.Helper()
	made, err := s.AddConnection(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if check, err := s.CheckConnection(t.Context(), made.ID); err != nil || !check.OK {
		t.Fatalf("the service says %+v, %v", check.Error, err)
	}
	n.ConnectionID, n.ProjectID = made.ID, "default"
	y, err := s.AddSync(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// syncNow runs a sync to its end.
func (s *server) syncNow(t *testing.T, id string) client.Sync {
	t.Helper()
	y, err := s.ActOnSync(t.Context(), id, "run")
	if err != nil {
		t.Fatal(err)
	}
	return s.syncEnds(t, y)
}

// syncEnds waits until the last run of a sync has ended.
func (s *server) syncEnds(t *testing.T, y client.Sync) client.Sync {
	t.Helper()
	s.awaitImport(t, y.LastRun.ID)
	y, err := s.Sync(t.Context(), y.ID)
	if err != nil {
		t.Fatal(err)
	}
	if y.LastRun.Status != "completed" {
		t.Fatalf("the run is %s: %+v", y.LastRun.Status, y.LastRun.Error)
	}
	return y
}

// pagePriority returns the priority of the first page of an import: a smaller one goes first.
func (s *server) pagePriority(t *testing.T, id string) int32 {
	t.Helper()
	h := s.history(t, "import/default/"+id+"/page-000000")
	return h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetPriority().GetPriorityKey()
}

// wantSync checks the counters of the last run.
func wantSync(t *testing.T, y client.Sync, discovered, published, skipped, failed, deleted int64) {
	t.Helper()
	got, want := []int64{y.Discovered, y.Published, y.Skipped, y.Failed, y.Deleted}, []int64{discovered, published, skipped, failed, deleted}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("discovered, published, skipped, failed, deleted are %v, want %v; failures %+v", got, want, y.Failures)
	}
}

// syncedFiles is how many files the sync has during which the server is killed.
const syncedFiles = 300

// TestSync follows a cloud: over kills, moves, deletions and throttling.
func TestSync(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	folder := c.world.Create(0, "handbook", true, "")
	var files []int
	for n := range syncedFiles {
		files = append(files, c.world.Create(folder, fmt.Sprintf("note %d.txt", n), false, fmt.Sprintf("The password of lighthouse %d is seagull%d.", n, n)))
	}
	c.set(func() { c.pause = 10 * time.Millisecond })
	y := c.connect(t, s, client.NewSync{Every: "24h", Scope: map[string]string{"folder": "handbook"}, Tags: []string{"followed"}})
	for _, published := range []int64{50, 150} {
		s.awaitPublishedObjects(t, y.LastRun.ID, published)
		s.kill()
		s.restart()
	}
	c.set(func() { c.pause = 0 })
	y = s.syncEnds(t, y)
	wantSync(t, y, syncedFiles, syncedFiles, 0, 0, 0)
	if y.Status != "idle" || y.NextRun == nil || y.CursorAge == nil || *y.CursorAge < 0 {
		t.Errorf("the sync is %+v", y)
	}
	document := func(n int) client.Document {
		t.Helper()
		return s.imported(t)[fmt.Sprintf("%s/f/%d", c.URL, files[n])]
	}
	before := document(5)
	if before.Name != "note 5.txt" || before.PublishedVersion != 1 || len(s.imported(t)) != syncedFiles {
		t.Fatalf("a document is %+v; there are %d", before, len(s.imported(t)))
	}

	t.Run("a rename changes the name and embeds nothing", func(t *testing.T) {
		texts := m.Totals().Texts
		c.world.Move(files[5], folder, "renamed.txt")
		fresh := s.syncNow(t, y.ID)
		wantSync(t, fresh, syncedFiles, 1, syncedFiles-1, 0, 0)
		if first, later := s.pagePriority(t, y.LastRun.ID), s.pagePriority(t, fresh.LastRun.ID); first <= later {
			t.Errorf("pages of the first run have the priority %d, and of a fresh one %d", first, later)
		}
		if d := document(5); d.ID != before.ID || d.Name != "renamed.txt" || d.PublishedVersion != 1 {
			t.Errorf("the document is %+v", d)
		}
		if got := m.Totals().Texts; got != texts {
			t.Errorf("%d texts were embedded", got-texts)
		}
	})
	t.Run("a deletion removes the document", func(t *testing.T) {
		gone := document(7)
		c.world.Delete(files[7])
		wantSync(t, s.syncNow(t, y.ID), syncedFiles-1, 0, syncedFiles-1, 0, 1)
		s.awaitGone(t, gone.ID)
	})
	t.Run("the service asks for fewer requests, and gets them", func(t *testing.T) {
		c.world.Edit(files[9], "The password of lighthouse 9 is puffin9.")
		c.set(func() { c.refuse = 2 })
		wantSync(t, s.syncNow(t, y.ID), syncedFiles-1, 1, syncedFiles-2, 0, 0)
		c.set(func() {
			if waited := c.after.Sub(c.refused); waited < retryAfter*time.Second-100*time.Millisecond {
				t.Errorf("the next request came after %v", waited)
			}
		})
	})
	t.Run("a run without a change asks for one folder", func(t *testing.T) {
		c.set(func() { c.asked = 0 })
		wantSync(t, s.syncNow(t, y.ID), 0, 0, 0, 0, 0)
		c.set(func() {
			if c.asked > 2 {
				t.Errorf("it sent %d requests", c.asked)
			}
		})
	})
}

// TestSyncedRights mirrors the rights of a cloud: only those who see a file there find its
// words, and a change of rights holds from the next run on.
func TestSyncedRights(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	s := startForImports(t)
	a := c.world.Create(0, "a.txt", false, "The password of the lamp is seagull.")
	c.world.Create(0, "b.txt", false, "The password of the horn is puffin.")
	c.world.Share(a, []string{"bob"}, nil)
	y := s.syncEnds(t, c.connect(t, s, client.NewSync{Every: "24h", Permissions: "mirror"}))
	finds := func(user, word string) bool {
		t.Helper()
		var found json.RawMessage
		status := s.call(t, "POST", webhooks+"/retrieve-context", map[string]any{"text": "What is the password?", "userId": user, "projectId": "default"}, &found)
		if status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		return strings.Contains(string(found), word)
	}
	if !finds("ann", "seagull") || !finds("ann", "puffin") || !finds("bob", "seagull") || finds("bob", "puffin") || finds("eve", "seagull") {
		t.Error("somebody finds what another one may see")
	}
	c.world.Share(a, []string{"eve"}, nil)
	s.syncNow(t, y.ID)
	if !finds("ann", "seagull") || finds("bob", "seagull") || !finds("eve", "seagull") || finds("eve", "puffin") {
		t.Error("after the change somebody finds what another one may see")
	}
}

// TestSyncHistories has the schedule of a sync start a run.
func TestSyncHistories(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	s := startForImports(t)
	c.world.Create(0, "lights.txt", false, "The lighthouse is lit.")
	y := s.syncEnds(t, c.connect(t, s, client.NewSync{Every: "24h"}))
	c.world.Create(0, "more lights.txt", false, "Another lighthouse is lit.")
	schedule := s.operator(t).ScheduleClient().GetHandle(t.Context(), "sync/default/"+y.ID)
	if err := schedule.Trigger(t.Context(), sdk.ScheduleTriggerOptions{}); err != nil {
		t.Fatal(err)
	}
	workflow := ""
	await(t, time.Minute, "the schedule has started a run", func(ctx context.Context) error {
		now, err := s.Sync(ctx, y.ID)
		if err != nil || now.LastRun.ID == y.LastRun.ID {
			return errors.Join(err, errors.New("it has not"))
		}
		described, err := schedule.Describe(ctx)
		if err != nil || len(described.Info.RecentActions) == 0 {
			return errors.Join(err, errors.New("it does not say so"))
		}
		workflow = described.Info.RecentActions[0].StartWorkflowResult.WorkflowID
		return nil
	})
	now, err := s.Sync(t.Context(), y.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantSync(t, s.syncEnds(t, now), 2, 1, 1, 0, 0)
	s.wantHistory(t, "follow_place", workflow, "password", "remote.php")
	if err := s.RemoveSync(t.Context(), y.ID); err != nil {
		t.Fatal(err)
	}
	await(t, time.Minute, "the schedule is gone", func(ctx context.Context) error {
		if _, err := schedule.Describe(ctx); err == nil {
			return errors.New("it is still there")
		}
		return nil
	})
}
