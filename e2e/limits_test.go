package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// flood sends a request by a key over some servers at once, until a time is over or until has
// happened, and returns how many were accepted and refused.
func flood(t *testing.T, servers []*server, clients int, until time.Duration, key, method, path string, body any) (accepted, refused int64) {
	t.Helper()
	var yes, no atomic.Int64
	var all sync.WaitGroup
	end := time.Now().Add(until)
	for i := range clients {
		s := servers[i%len(servers)]
		all.Go(func() {
			for time.Now().Before(end) {
				res, err := s.send(t.Context(), method, path, body, "Authorization", "Bearer "+key)
				if err != nil {
					t.Error(err)
					return
				}
				_ = res.Body.Close()
				switch {
				case res.StatusCode < 300:
					yes.Add(1)
				case res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") != "":
					no.Add(1)
				default:
					t.Errorf("status %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
					return
				}
			}
		})
	}
	all.Wait()
	return yes.Load(), no.Load()
}

// sharesLimits has two APIs count requests and tokens together. What is accepted differs from the
// limit by at most 5 %.
func sharesLimits(t *testing.T, one, two *server) {
	t.Helper()
	const limit = 200
	tight := one.newKey(t, map[string]any{"name": "tight", "scopes": []string{"read"}, "limits": map[string]any{"requestsPerMinute": limit}})
	free := one.newKey(t, map[string]any{"name": "free", "scopes": []string{"read"}})
	accepted, refused := flood(t, []*server{one, two}, 8, 8*time.Second, tight, "GET", "/workspaces/default/projects", nil)
	if accepted < limit*95/100 || accepted > limit*105/100 || refused == 0 {
		t.Errorf("%d requests of a limit of %d were accepted, %d refused", accepted, limit, refused)
	}
	if accepted, refused := flood(t, []*server{one, two}, 2, time.Second, free, "GET", "/workspaces/default/projects", nil); accepted == 0 || refused > 0 {
		t.Errorf("of another key %d requests were accepted, %d refused", accepted, refused)
	}

	const tokens = 20_000
	made := one.newKey(t, map[string]any{"name": "spends", "scopes": []string{"read"}, "limits": map[string]any{"tokensPerDay": tokens}})
	question := map[string]any{"text": "What is on the pier?", "projectId": "default"}
	if answers, refused := flood(t, []*server{one, two}, 8, 20*time.Second, made, "POST", webhooks+"/query", question); answers == 0 || refused == 0 {
		t.Errorf("%d questions were answered, %d refused", answers, refused)
	}
	if used := one.usedBy(t, "spends"); used < tokens*95/100 || used > tokens*105/100 {
		t.Errorf("%d tokens of %d were used", used, tokens)
	}
	if answers, refused := flood(t, []*server{one, two}, 1, 500*time.Millisecond, free, "POST", webhooks+"/query", question); answers == 0 || refused > 0 {
		t.Errorf("of another key %d questions were answered, %d refused", answers, refused)
	}
}

// usedBy returns the tokens that a key has used in this day.
func (s *server) usedBy(t *testing.T, name string) int64 {
	t.Helper()
	var usage struct {
		Data []struct {
			Name      string
			UsedToday struct{ Tokens int64 } `json:"used_today"`
		}
	}
	if status := s.call(t, "GET", "/workspaces/default/usage?by=key", nil, &usage); status != http.StatusOK {
		t.Fatalf("usage: status %d", status)
	}
	for _, o := range usage.Data {
		if o.Name == name {
			return o.UsedToday.Tokens
		}
	}
	t.Errorf("usage has no key %s", name)
	return 0
}

// TestLimits holds a key, a member and a workspace to their limits, by every way in. The same
// requests by a key without limits succeed.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	s.publish(t, "pier", "The pier has a lamp.")
	free := s.newKey(t, map[string]any{"name": "free", "scopes": []string{"write"}})
	t.Run("requests of every way in count", func(t *testing.T) { s.countsEveryWay(t, free) })
	t.Run("documents and bytes of a key", func(t *testing.T) { s.limitsDocuments(t, free) })
	t.Run("tokens of a day, also after a restart", func(t *testing.T) { s.limitsTokens(t, free) })
	t.Run("requests, also after a restart", func(t *testing.T) { s.limitsRequests(t, free) })
	t.Run("a member and the workspace", func(t *testing.T) { s.limitsOthers(t, free) })
}

// countsEveryWay sends a request of each way in by a key that may send that many, and then each
// once more.
func (s *server) countsEveryWay(t *testing.T, free string) {
	ways := []struct {
		method, path string
		body         any
	}{
		{"POST", webhooks + "/query", map[string]any{"text": "What has the pier?", "projectId": "default"}},
		{"POST", webhooks + "/retrieve-context", map[string]any{"text": "pier", "projectId": "default"}},
		{"POST", "/tools/rag_search", map[string]any{"query": "pier"}},
		{"POST", "/v1/embeddings", map[string]any{"model": modeltest.ModelName, "input": "pier"}},
		{"POST", "/v1/chat/completions", map[string]any{"model": "project:default", "messages": []map[string]string{{"role": "user", "content": "What has the pier?"}}}},
		{"GET", "/workspaces/default/documents", nil},
	}
	tight := s.newKey(t, map[string]any{"name": "tight", "scopes": []string{"read"}, "limits": map[string]any{"requestsPerMinute": len(ways)}})
	for _, pass := range []struct {
		key, policy string
		refused     bool
	}{
		{tight, fmt.Sprintf(`"key";q=%d;w=60`, len(ways)), false}, {tight, fmt.Sprintf(`"key";q=%d;w=60`, len(ways)), true}, {free, "", false},
	} {
		for _, way := range ways {
			res, err := s.send(t.Context(), way.method, way.path, way.body, "Authorization", "Bearer "+pass.key)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if policy := res.Header.Get("RateLimit-Policy"); policy != pass.policy {
				t.Errorf("%s: RateLimit-Policy %q", way.path, policy)
			}
			if isRefused := res.StatusCode == http.StatusTooManyRequests; isRefused != pass.refused || !isRefused && res.StatusCode != http.StatusOK {
				t.Errorf("%s: status %d, want a refusal: %t", way.path, res.StatusCode, pass.refused)
			}
		}
	}
}

// refusalBy sends a request by a key, and returns its status and the code of its error.
func (s *server) refusalBy(t *testing.T, key, method, path string, body any) (status int, code string) {
	t.Helper()
	var p problem
	res, err := s.send(t.Context(), method, path, body, "Authorization", "Bearer "+key)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		if err := json.NewDecoder(res.Body).Decode(&p); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	return res.StatusCode, string(p.Code)
}

func (s *server) limitsDocuments(t *testing.T, free string) {
	tight := s.newKey(t, map[string]any{"name": "librarian", "scopes": []string{"write"}, "limits": map[string]any{"documents": 2, "bytes": 60}})
	add := func(key, name, text string) (int, string) {
		return s.refusalBy(t, key, "POST", webhooks+"/document?projectId=default", map[string]any{"name": name, "externalId": name, "content": map[string]string{"text": text}})
	}
	for i, step := range []struct {
		key, name, text string
		status          int
	}{
		{tight, "a", "The mole is long.", http.StatusAccepted},
		{tight, "b", strings.Repeat("The mole is long. ", 10), http.StatusConflict}, // its bytes
		{tight, "b", "The mole is wide.", http.StatusAccepted},
		{tight, "c", "The mole is low.", http.StatusConflict}, // the third document
		{tight, "a", "The mole is very long.", http.StatusAccepted},
		{free, "c", "The mole is low.", http.StatusAccepted},
	} {
		if status, code := add(step.key, step.name, step.text); status != step.status || status == http.StatusConflict && code != string(knowledge.CodeLimitReached) {
			t.Errorf("upload %d: status %d %s, want %d", i, status, code, step.status)
		}
	}
}

func (s *server) limitsTokens(t *testing.T, free string) {
	key := s.newKey(t, map[string]any{"name": "saver", "scopes": []string{"read"}, "limits": map[string]any{"tokensPerDay": 50}})
	question := map[string]any{"text": "What has the pier?", "projectId": "default"}
	ask := func(key string) (int, string) { return s.refusalBy(t, key, "POST", webhooks+"/query", question) }
	first, _ := ask(key) // it has fewer tokens left than the prompt has
	if first != http.StatusConflict {
		t.Errorf("a question that reaches the limit: status %d", first)
	}
	rich := s.newKey(t, map[string]any{"name": "rich", "scopes": []string{"read"}, "limits": map[string]any{"tokensPerDay": 2000}})
	answered := 0
	for range 40 {
		if status, _ := ask(rich); status != http.StatusOK {
			break
		}
		answered++
	}
	s.kill()
	s.restart()
	status, code := ask(rich)
	if answered == 0 || answered == 40 || status != http.StatusTooManyRequests || code != string(knowledge.CodeRateLimited) {
		t.Errorf("%d questions were answered; after a restart: status %d, %s", answered, status, code)
	}
	if status, _ := ask(free); status != http.StatusOK {
		t.Errorf("another key: status %d", status)
	}
}

// limitsRequests kills the server when most of the requests of a minute have been sent.
func (s *server) limitsRequests(t *testing.T, free string) {
	const limit = 40
	key := s.newKey(t, map[string]any{"name": "hasty", "scopes": []string{"read"}, "limits": map[string]any{"requestsPerMinute": limit}})
	accepted, began := 0, time.Now()
	list := func(key string) (int, string) {
		return s.refusalBy(t, key, "GET", "/workspaces/default/projects", nil)
	}
	for range limit - 10 {
		if status, code := list(key); status != http.StatusOK {
			t.Fatalf("request %d: status %d %s", accepted, status, code)
		}
		accepted++
	}
	s.kill()
	s.restart()
	for range limit {
		status, _ := list(key)
		if status == http.StatusTooManyRequests {
			break
		}
		accepted++
	}
	if took := time.Since(began); took > 50*time.Second {
		t.Fatalf("the restart took %v, after which the first requests no longer count", took)
	}
	if accepted < limit*95/100 || accepted > limit*105/100 {
		t.Errorf("%d requests of a limit of %d were accepted", accepted, limit)
	}
	if status, _ := list(free); status != http.StatusOK {
		t.Errorf("another key: status %d", status)
	}
}

func (s *server) limitsOthers(t *testing.T, free string) {
	if status := s.call(t, "PUT", "/workspaces/default/members/ann", map[string]any{"roles": []string{"reader"}, "limits": map[string]any{"requestsPerMinute": 3}}, nil); status != http.StatusOK {
		t.Fatalf("the member: status %d", status)
	}
	list := func(query string) int {
		status, _ := s.refusalBy(t, free, "GET", "/workspaces/default/documents"+query, nil)
		return status
	}
	var statuses []int
	for range 4 {
		statuses = append(statuses, list("?userId=ann"))
	}
	if statuses[2] != http.StatusOK || statuses[3] != http.StatusTooManyRequests || list("?userId=bob") != http.StatusOK {
		t.Errorf("ann gets %v, bob %d", statuses, list("?userId=bob"))
	}
	if status, code := s.refusalBy(t, free, "PUT", "/workspaces/default/limits", map[string]any{}); status != http.StatusForbidden {
		t.Errorf("an editor sets limits: status %d %s", status, code)
	}
	if status := s.call(t, "PUT", "/workspaces/default/limits", map[string]any{"requestsPerMinute": 1}, nil); status != http.StatusOK {
		t.Errorf("the limits of the workspace: status %d", status)
	}
	await(t, 10*time.Second, "the limit of the workspace holds", func(context.Context) error {
		if status := list(""); status != http.StatusTooManyRequests {
			return fmt.Errorf("status %d", status)
		}
		return nil
	})
}
