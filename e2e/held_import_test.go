package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// limiter is an endpoint that, while it is on, refuses embeddings and asks for a pause of an
// hour.
type limiter struct {
	url     string
	on      atomic.Bool
	refused atomic.Int64
}

func newLimiter(t *testing.T, endpoint string) *limiter {
	t.Helper()
	to, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	l := &limiter{}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !l.on.Load() || !strings.HasSuffix(r.URL.Path, "/embeddings") {
			proxy.ServeHTTP(w, r)
			return
		}
		l.refused.Add(1)
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`))
	}))
	t.Cleanup(server.Close)
	l.url = server.URL + to.Path
	return l
}

// recoversWithin is how soon an import ends after it was released, on a busy machine.
const recoversWithin = 20 * time.Second

// TestHeldImport has an endpoint that asks for a pause of an hour and recovers at some time:
// an import says why it waits, and each of several things ends the wait.
func TestHeldImport(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	l := newLimiter(t, m.URL())
	b := newBucket(t)
	s := start(t, at(l.url, "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	env := []string{"CAIRN_URL=" + s.child.Endpoints().API, "CAIRN_KEY=" + s.child.Key()}
	s.publish(t, "before", "The northern pier has a lighthouse.")
	for n, tc := range []struct {
		name    string
		pause   time.Duration // the wait for the next probe that the import has reached
		release func(t *testing.T, i client.Import)
	}{
		{"by itself", 0, func(*testing.T, client.Import) {}},
		{"by imports retry", recoversWithin, func(t *testing.T, i client.Import) { cairn(t, env, "imports", "retry", i.ID) }},
		{"by imports resume", recoversWithin, func(t *testing.T, i client.Import) { cairn(t, env, "imports", "resume", i.ID) }},
		{"by documents retry", recoversWithin, func(t *testing.T, i client.Import) {
			out := cairn(t, env, "documents", "retry", "--all", "--code", "provider_failed")
			if want := fmt.Sprintf("retrying %d of %d documents\n", i.Remaining, i.Remaining); out != want {
				t.Errorf("documents retry says %q, want %q", out, want)
			}
		}},
		{"by a document that is embedded", recoversWithin, func(t *testing.T, _ client.Import) {
			a := s.upload(t, "another", "The eastern pier has a beacon.")
			await(t, 20*time.Second, a.ID+" waits", func(ctx context.Context) error {
				_, err := s.RetryDocument(ctx, a.ID) // a conflict while its steps run
				return err
			})
		}},
		{"by a restart", recoversWithin, func(*testing.T, client.Import) {
			s.kill()
			s.restart()
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			prefix := fmt.Sprintf("notes%d/", n)
			b.fill(prefix, 60)
			l.on.Store(true)
			i := s.begin(t, client.NewImport{Source: b.source(prefix)})
			i = s.awaitHeld(t, i.ID, tc.pause)
			if n == 0 {
				s.showsHeld(t, i, env)
			}
			l.on.Store(false)
			recovered := time.Now()
			tc.release(t, i)
			ended := s.awaitImport(t, i.ID)
			if took := time.Since(recovered); took > recoversWithin || ended.Waiting != nil || ended.Published != 60 {
				t.Errorf("%d were published %v after the endpoint had recovered, waiting %+v", ended.Published, took, ended.Waiting)
			}
		})
	}
	if n := l.refused.Load(); n > 60 {
		t.Errorf("%d requests were refused", n)
	}
}

// awaitHeld returns an import when all its documents wait, and the next try is that far away.
func (s *server) awaitHeld(t *testing.T, id string, pause time.Duration) (i client.Import) {
	t.Helper()
	await(t, 3*time.Minute, "the import waits", func(ctx context.Context) (err error) {
		if i, err = s.Import(ctx, id); err != nil {
			return err
		}
		if i.Waiting == nil || i.Waiting.Documents < i.Remaining || time.Until(i.Waiting.NextAt) < pause {
			return fmt.Errorf("waiting %+v", i.Waiting)
		}
		return nil
	})
	return i
}

// showsHeld checks that an import that waits says so wherever an operator looks.
func (s *server) showsHeld(t *testing.T, i client.Import, env []string) {
	t.Helper()
	if w := i.Waiting; w.Code != knowledge.CodeProviderFailed || w.Since.IsZero() || time.Until(w.NextAt) > 5*time.Minute || i.ETASeconds != nil || i.DocumentsPerSecond != 0 {
		t.Errorf("import %+v, waiting %+v", i, w)
	}
	const cause = "is limiting requests and asked for a pause of 1h0m (status 429, rate_limit_exceeded)"
	shown := cairn(t, env, "imports", "show", i.ID)
	for _, want := range []string{cause, "60 documents", "next try", "cairn imports retry " + i.ID} {
		if !strings.Contains(shown, want) {
			t.Errorf("imports show does not say %q:\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "documents/s") {
		t.Errorf("imports show tells a rate:\n%s", shown)
	}
	if _, found, _ := command(t, env, "doctor", "-o", "json"); !strings.Contains(found, cause) || !strings.Contains(found, "cairn imports retry "+i.ID) {
		t.Errorf("doctor does not say why, or what to do:\n%s", found)
	}
	await(t, 30*time.Second, "the metrics count it", func(ctx context.Context) error {
		if !strings.Contains(s.metrics(ctx), `cairn_waiting_documents{code="provider_failed"} 60`) {
			return errors.New("they do not")
		}
		return nil
	})
}

// metrics returns the page of metrics, "" if it cannot be read.
func (s *server) metrics(ctx context.Context) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.child.Endpoints().API+"/metrics", nil)
	if err != nil {
		return ""
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	var page strings.Builder
	_ = answer.Write(&page) // what was read counts
	return page.String()
}
