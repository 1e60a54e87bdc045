package api_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, path := range []string{"/nope", "/workspaces/default/exports"} {
		e.do("GET", path, e.admin, nil).refused(404, knowledge.CodeNotFound)
	}
	for _, path := range []string{"//", "/workspaces//documents", "/chunks/..", "/./docs", "/" + strings.Repeat("a/", 5000)} {
		e.do("GET", path, e.admin, nil).refused(404, knowledge.CodeNotFound)
	}
	for path, want := range map[string]string{
		"/workspaces":                            "GET, HEAD, POST",
		"/workspaces/default/documents/some":     "DELETE, GET, HEAD, PATCH",
		"/workspaces/default/documents/reingest": "POST",
	} {
		got := e.do("PUT", path, e.admin, `{}`)
		got.refused(405, knowledge.CodeMethodNotAllowed)
		if allow := got.header.Get("Allow"); allow != want {
			t.Errorf("%s: Allow %q, want %q", path, allow, want)
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	e := open(t, func(c *api.Config, _ *api.Deps) { c.FileBytes, c.TextBytes = 3000, 1000 })
	t.Run("by_length", func(t *testing.T) {
		e.do("PUT", "/preferences", e.reader, strings.Repeat(" ", 1<<20+1)).refused(413, knowledge.CodeTooLarge)
	})
	t.Run("while_reading", func(t *testing.T) {
		e.do("PUT", "/preferences", e.reader, io.MultiReader(strings.NewReader(strings.Repeat(" ", 1<<20+1)))).refused(413, knowledge.CodeTooLarge)
	})
	t.Run("exactly_the_limit", func(t *testing.T) {
		body := `{"rag":{}}`
		e.do("PUT", "/preferences", e.reader, body+strings.Repeat(" ", 1<<20-len(body))).want(200)
	})
	t.Run("text", func(t *testing.T) {
		e.do("POST", hooks+"/document", e.editor, `{"content":{"text":"`+strings.Repeat("a", 1001)+`"}}`).refused(413, knowledge.CodeTooLarge)
	})
	t.Run("base64", func(t *testing.T) {
		encode := func(n int) string {
			return base64.StdEncoding.EncodeToString(append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("a"), n-9)...))
		}
		e.do("POST", hooks+"/document", e.editor, `{"content":{"base64":"`+encode(3001)+`"}}`).refused(413, knowledge.CodeTooLarge)
		e.do("POST", hooks+"/document", e.editor, `{"content":{"base64":"`+encode(3000)+`"}}`).want(202)
		text := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("a"), 1001))
		e.do("POST", hooks+"/document", e.editor, `{"content":{"base64":"`+text+`"}}`).refused(413, knowledge.CodeTooLarge)
	})
	t.Run("request", func(t *testing.T) {
		e := open(t, func(c *api.Config, _ *api.Deps) { c.RequestBytes = 1e6 })
		for _, n := range []int{1e6, 2e6} {
			got := e.do("POST", hooks+"/document", e.editor, `{"content":{"text":"`+strings.Repeat("a", n)+`"}}`)
			got.refused(413, knowledge.CodeTooLarge)
			if !strings.Contains(string(got.body), "the limit of 1 MB") {
				t.Errorf("%s", got.body)
			}
		}
		e.upload(e.editor, []part{file("a.txt", strings.Repeat("a", 600_000)), file("b.txt", strings.Repeat("b", 600_000))}).refused(413, knowledge.CodeTooLarge)
	})
	t.Run("another_media_type", func(t *testing.T) {
		e.do("PUT", "/preferences", e.reader, `<xml/>`, "Content-Type", "application/xml").refused(415, knowledge.CodeUnsupportedFormat)
		for _, kind := range []string{"text/plain", "multipart/form-data; boundary=x"} {
			e.do("POST", hooks+"/document", e.editor, `{"content":{"text":"a"}}`, "Content-Type", kind).refused(415, knowledge.CodeUnsupportedFormat)
		}
		for _, kind := range []string{"", "application/json; charset=utf-8", "application/vnd.documents+json", "application/x-www-form-urlencoded"} {
			e.do("POST", hooks+"/document", e.editor, `{"content":{"text":"a"}}`, "Content-Type", kind).want(202)
			e.do("POST", hooks+"/retrieve-context", e.editor, `{"text":"a"}`, "Content-Type", kind).want(200)
		}
	})
	t.Run("cut_off", func(t *testing.T) {
		e.do("PUT", "/preferences", e.reader, io.MultiReader(strings.NewReader(`{"rag"`), brokenReader{})).refused(400, knowledge.CodeMalformed)
	})
}

func TestWebSearchNeedsASearchEngine(t *testing.T) {
	t.Parallel()
	e := open(t)
	got := e.do("POST", "/tools/web_search", e.reader, `{"query":"a"}`)
	got.refused(501, knowledge.CodeNeedsComponent)
	if !strings.Contains(string(got.body), "web_search.provider") {
		t.Errorf("it is not said what to configure: %s", got.body)
	}
	e.do("POST", "/tools/web_search", "", `{"query":"a"}`).refused(401, knowledge.CodeUnauthorized)
}

func TestQuestionsAreChecked(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, route := range []struct{ path, field string }{{hooks + "/query", "text"}, {"/tools/rag_search", "query"}} {
		e.do("POST", route.path, "", `{`).refused(401, knowledge.CodeUnauthorized)
		e.do("POST", route.path, e.reader, `{`).refused(400, knowledge.CodeMalformed)
		e.do("POST", route.path, e.reader, `{"`+route.field+`":"`+strings.Repeat("a", 1<<20)+`"}`).refused(413, knowledge.CodeTooLarge)
		for body, location := range map[string]string{
			`{}`: "body", `{"F":7}`: "body.F", `{"F":"  "}`: "body.F", `{"F":"a","colour":1}`: "body.colour",
			`{"F":"a","filters":[{"field":"a","type":"eq","value":"b"}]}`: "body.filters[0].field",
			`{"F":"` + strings.Repeat("ö", 32_001) + `"}`:                 "body.F",
		} {
			body, location = strings.ReplaceAll(body, "F", route.field), strings.ReplaceAll(location, "F", route.field)
			if locations := e.do("POST", route.path, e.reader, body).refused(422, knowledge.CodeInvalid); len(locations) == 0 || locations[0] != location {
				t.Errorf("%s %.60s: locations %v, want %s", route.path, body, locations, location)
			}
		}
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestLargeBodiesShareMemory(t *testing.T) {
	t.Parallel()
	e := open(t, func(c *api.Config, _ *api.Deps) { c.BodyMemory = 3 << 20 })
	body := `{"content":{"text":"` + strings.Repeat("many words ", 200_000) + `"}}`
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if got := e.do("POST", hooks+"/document", e.editor, body); got.status != 202 {
				t.Errorf("status %d: %s", got.status, got.body)
			}
		})
	}
	wg.Wait()
}

func TestAPanicIsAnAnswer(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.panics = true
	got := e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"the secret question"}`)
	got.refused(500, knowledge.CodeInternal)
	if strings.Contains(string(got.body), "defect") || strings.Contains(string(got.body), ".go") {
		t.Errorf("a client is told %s", got.body)
	}
	if !strings.Contains(e.log.String(), "handler panicked") {
		t.Errorf("log: %s", e.log)
	}
}

func TestWhatCameFromElsewhereStaysInside(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.close()
	got := e.do("GET", own+"/projects", e.admin, nil)
	if got.status < 500 || strings.Contains(string(got.body), "sql") || strings.Contains(string(got.body), "database is closed") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if !strings.Contains(e.log.String(), "closed") {
		t.Errorf("the log does not say why: %s", e.log)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	down := errors.New("no connection to 10.0.0.1")
	var failure error
	e := open(t, func(_ *api.Config, d *api.Deps) {
		d.Ready = []api.Dependency{
			{Name: "store", Ping: func(context.Context) error { return nil }}, {Name: "temporal", Ping: func(context.Context) error { return failure }},
		}
		d.Details = api.HealthDetails{
			Stale: func(context.Context) ([]store.StaleProject, error) {
				return []store.StaleProject{{Project: "a", Serving: "old/3", Wanted: "new/3", Documents: 2}, {Project: "b", Serving: "old/3", Wanted: "new/3", Documents: 1}}, nil
			},
			Models: func() []api.ModelCall {
				return []api.ModelCall{{Provider: "models.test", Kind: "embedding", Outcome: "unavailable"}}
			},
			IndexIncomplete: func(context.Context) (bool, error) { return true, nil },
			DiskProblem: func(context.Context) *api.DiskProblem {
				return &api.DiskProblem{Code: "full", FreeBytes: 1, NeededBytes: 2, Message: "free some space"}
			},
			Disk: func() *api.DiskSpace {
				return &api.DiskSpace{FreeBytes: 5 << 30, UsedBytes: map[string]int64{"blobs": 2 << 20}}
			},
		}
		d.MetricsPage = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "cairn_up 1") })
	})
	if got := e.do("GET", "/healthz", "", nil).want(200); got["status"] != "ok" {
		t.Errorf("health: %v", got)
	}
	want := func(status, second string) map[string]any {
		return map[string]any{"status": status, "dependencies": []any{
			map[string]any{"name": "store", "status": "up"}, map[string]any{"name": "temporal", "status": second},
		}, "staleEmbeddings": []any{map[string]any{"embeddedWith": "old/3", "configured": "new/3", "documents": 3.0}},
			"diskProblem": map[string]any{"code": "full", "freeBytes": 1.0, "neededBytes": 2.0, "message": "free some space"}}
	}
	verbose := want("ready", "up")
	verbose["models"] = []any{map[string]any{"provider": "models.test", "kind": "embedding", "outcome": "unavailable", "seconds": 0.0, "at": "0001-01-01T00:00:00Z"}}
	verbose["indexIncomplete"] = true
	verbose["disk"] = map[string]any{"freeBytes": float64(5 << 30), "usedBytes": map[string]any{"blobs": float64(2 << 20)}}
	if diff := cmp.Diff(verbose, e.do("GET", "/readyz?verbose", "", nil).want(200)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want("ready", "up"), e.do("GET", "/readyz", "", nil).want(200)); diff != "" {
		t.Error(diff)
	}
	failure = down
	away := want("unavailable", "down")
	away["dependencies"].([]any)[1].(map[string]any)["next"] = "check that the service of temporal.address runs; the server's log has the cause"
	if diff := cmp.Diff(away, e.do("GET", "/readyz", "", nil).want(503)); diff != "" {
		t.Error(diff)
	}
	failure = nil
	e.server.Stop()
	if diff := cmp.Diff(want("unavailable", "up"), e.do("GET", "/readyz", "", nil).want(503)); diff != "" {
		t.Error(diff)
	}
	if got := e.do("GET", "/metrics", "", nil); string(got.body) != "cairn_up 1" {
		t.Errorf("metrics: %s", got.body)
	}
}

// counted are metrics that are looked at.
type counted struct {
	mu       sync.Mutex
	requests []string
}

func (c *counted) Request(method, route string, status int, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, fmt.Sprint(method, " ", route, " ", status))
}
func (*counted) OpenStreams(int) {}

func TestRequestsAreCountedByRoute(t *testing.T) {
	t.Parallel()
	c := &counted{}
	e := open(t, func(_ *api.Config, d *api.Deps) { d.Metrics = c })
	e.do("GET", own+"/documents/secret-id", e.admin, nil).want(404)
	e.do("GET", "/nope", "", nil).want(404)
	want := []string{"GET /workspaces/{workspaceId}/documents/{id} 404", "GET none 404"}
	if diff := cmp.Diff(want, c.requests); diff != "" {
		t.Error(diff)
	}
}

func TestAClientThatLeftIsNoFailure(t *testing.T) {
	t.Parallel()
	c := &counted{}
	e := open(t, func(_ *api.Config, d *api.Deps) { d.Metrics = c })
	ctx, leave := context.WithCancel(t.Context())
	e.work.leave, e.work.fail = leave, context.Canceled
	r := httptest.NewRequestWithContext(ctx, "POST", hooks+"/retrieve-context", strings.NewReader(`{"text":"a"}`))
	r.Header.Set("Authorization", "Bearer "+e.reader)
	e.handler.ServeHTTP(httptest.NewRecorder(), r)
	if diff := cmp.Diff([]string{"POST /workspaces/{workspaceId}/webhooks/retrieve-context 499"}, c.requests); diff != "" {
		t.Error(diff)
	}
}

// connection is a response that notes the deadlines which are set on it.
type connection struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (c *connection) SetReadDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

func TestABodysDeadlineEndsWithIt(t *testing.T) {
	t.Parallel()
	e := open(t)
	files, contentType := form(t, file("a.txt", "one"))
	for _, c := range []struct {
		path, contentType string
		body              []byte
	}{
		{hooks + "/document", "application/json", []byte(`{"content":{"text":"a"}}`)},
		{hooks + "/retrieve-context", "application/json", []byte(`{"text":"a"}`)},
		{filesPath, contentType, files},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", c.path, bytes.NewReader(c.body))
		r.Header.Set("Authorization", "Bearer "+e.editor)
		r.Header.Set("Content-Type", c.contentType)
		w := &connection{ResponseRecorder: httptest.NewRecorder()}
		e.handler.ServeHTTP(w, r)
		if w.Code >= 300 {
			t.Errorf("%s: %d %s", c.path, w.Code, w.Body)
		}
		// A deadline that stays would cancel the request in the middle of an answer.
		if n := len(w.deadlines); n < 2 || w.deadlines[0].IsZero() || !w.deadlines[n-1].IsZero() {
			t.Errorf("%s: deadlines %v", c.path, w.deadlines)
		}
	}
}
