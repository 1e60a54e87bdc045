package quota_test

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/store"
)

// counting counts the leases of requests.
type counting struct {
	*store.Store
	leases *atomic.Int32
}

// TakeRequests implements quota.Store.
func (c counting) TakeRequests(ctx context.Context, r store.TokenRequest) (store.Tokens, error) {
	c.leases.Add(1)
	return c.Store.TakeRequests(ctx, r)
}

// fixture is two processes over one database, with one clock.
type fixture struct {
	*testing.T
	store  *store.Store
	now    time.Time
	leases atomic.Int32
	meters [2]*quota.Meter
}

func open(t *testing.T, cfg quota.Config) *fixture {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cairn.db")
	s, err := store.Open(t.Context(), store.Config{URL: (&url.URL{Scheme: "sqlite", Path: path}).String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	f := &fixture{T: t, store: s, now: time.Now().Truncate(time.Second)}
	for i := range f.meters {
		f.meters[i] = quota.New(cfg, counting{s, &f.leases}, func() time.Time { return f.now })
	}
	for _, w := range []string{"acme", "other"} {
		if err := s.CreateWorkspace(t.Context(), store.Workspace{ID: w, Name: w}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// count sends a request to one of the processes.
func (f *fixture) count(process int, p knowledge.Principal) (http.Header, error) {
	ctx, r := f.meters[process].Begin(f.Context())
	err := quota.Count(ctx, p, "")
	if again := quota.Count(ctx, p, ""); err == nil && again != nil {
		f.Errorf("the second count of a request: %v", again)
	}
	h := http.Header{}
	r.WriteHeaders(h)
	return h, err
}

func caller(key string, limit int) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: "acme", KeyID: key, KeyLimits: knowledge.UseLimits{RequestsPerMinute: limit}})
}

// until counts requests at both processes in turn until both have refused two.
func (f *fixture) until(p knowledge.Principal) (accepted int) {
	f.Helper()
	refusals := 0
	for i := 0; refusals < 4; i++ {
		switch _, err := f.count(i%2, p); {
		case err == nil:
			accepted++
		case knowledge.IsCode(err, knowledge.CodeRateLimited) && knowledge.AsError(err).RetryAfter > 0:
			refusals++
		default:
			f.Fatal(err)
		}
	}
	return accepted
}

// TestRequestsOverTwoProcesses sends requests to two processes. Together they accept the limit, in
// any sixty seconds, and write to SQL once for some requests.
func TestRequestsOverTwoProcesses(t *testing.T) {
	t.Parallel()
	f := open(t, quota.Config{})
	const limit = 200
	start := f.now
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, limit}, {30 * time.Second, 0}, {59 * time.Second, 0}, {61 * time.Second, limit}} {
		f.now = start.Add(step.after)
		if got := f.until(caller("k", limit)); got != step.want {
			t.Errorf("after %v %d requests are accepted, want %d", step.after, got, step.want)
		}
	}
	if n := f.leases.Load(); n > 2*limit/3 {
		t.Errorf("%d leases for %d requests", n, 2*limit)
	}
	if got := f.until(caller("another", 10)); got != 10 {
		t.Errorf("another key has %d requests", got)
	}
	if _, err := f.count(0, caller("free", 0)); err != nil {
		t.Errorf("a key without a limit: %v", err)
	}
}

// TestAccounts counts a request to each account that has a limit, once.
func TestAccounts(t *testing.T) {
	t.Parallel()
	f := open(t, quota.Config{User: knowledge.UseLimits{RequestsPerMinute: 3}, Workspace: knowledge.UseLimits{RequestsPerMinute: 6}})
	as := func(key, user string) knowledge.Principal {
		return knowledgetest.Principal(knowledge.Claims{
			Workspace: "acme", KeyID: key, User: user, KeyMakers: []knowledge.KeyLimit{{ID: "maker", Limits: knowledge.UseLimits{RequestsPerMinute: 5}}},
		})
	}
	for i, step := range []struct {
		p        knowledge.Principal
		accepted bool
	}{
		{as("a", "ann"), true}, {as("b", "ann"), true}, {as("a", "ann"), true},
		{as("a", "ann"), false}, // of the user, although the key and its maker have some
		{as("a", "bob"), true},
		{as("b", "bob"), false}, // of the maker
	} {
		if _, err := f.count(0, step.p); (err == nil) != step.accepted {
			t.Errorf("request %d: %v", i, err)
		}
	}
	h, err := f.count(0, knowledgetest.Principal(knowledge.Claims{Workspace: "other", User: "eve"}))
	if err != nil || h.Get("RateLimit-Policy") != `"user";q=3;w=60, "workspace";q=6;w=60` || h.Get("RateLimit") != `"user";r=2;t=60, "workspace";r=5;t=60` {
		t.Errorf("%v: %v", h, err)
	}
}

// TestAChangedLimitShows sets the limits of a workspace, which show within two seconds.
func TestAChangedLimitShows(t *testing.T) {
	t.Parallel()
	f := open(t, quota.Config{})
	if _, err := f.count(0, caller("k", 0)); err != nil {
		t.Fatal(err)
	}
	admin := knowledgetest.Principal(knowledge.Claims{Workspace: "acme", KeyID: "admin"})
	if err := f.store.SetWorkspaceLimits(t.Context(), admin, knowledge.UseLimits{RequestsPerMinute: 1}); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(2 * time.Second)
	if _, err := f.count(0, caller("k", 0)); err != nil {
		t.Errorf("the first request: %v", err)
	}
	if _, err := f.count(1, caller("k2", 0)); !knowledge.IsCode(err, knowledge.CodeRateLimited) {
		t.Errorf("the second one, of another key at another process: %v", err)
	}
}
