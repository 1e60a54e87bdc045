package embedded_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/cairn-rag/cairn/internal/embedded"
)

const queue = "embedded-test"

// testLog fails no test, but shows what the server said.
func testLog(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func start(t *testing.T, config embedded.Config) *embedded.Server {
	t.Helper()
	if config.Listen == "" {
		config.Listen = "127.0.0.1:0"
	}
	config.UIListen = "127.0.0.1:0"
	config.Logger = testLog(t)
	began := time.Now()
	s, err := embedded.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	t.Logf("started in %s", time.Since(began).Round(time.Millisecond))
	return s
}

func dial(t *testing.T, s *embedded.Server) client.Client {
	t.Helper()
	c, err := s.Dial(t.Context(), testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pair is a workflow of two steps with a signal between them.
func pair(ctx workflow.Context, stage temporal.SearchAttributeKeyKeyword) (string, error) {
	if err := workflow.UpsertTypedSearchAttributes(ctx, stage.ValueSet("first")); err != nil {
		return "", err
	}
	var word string
	workflow.GetSignalChannel(ctx, "word").Receive(ctx, &word)
	return "heard " + word, nil
}

func runWorker(t *testing.T, c client.Client) worker.Worker {
	t.Helper()
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) (string, error) {
		return pair(ctx, temporal.NewSearchAttributeKeyKeyword("CairnStage"))
	}, workflow.RegisterOptions{Name: "Pair"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestServer(t *testing.T) {
	t.Parallel()
	config := embedded.Config{
		Dir:              filepath.Join(t.TempDir(), "a b%20c?d#e", "temporal"),
		SearchAttributes: map[string]enumspb.IndexedValueType{"CairnStage": enumspb.INDEXED_VALUE_TYPE_KEYWORD},
	}
	s := start(t, config)
	if prepares, err := embedded.ServerPrepares(config.Dir); !prepares {
		t.Error("the server's statements are prepared at every use", err)
	}
	c := dial(t, s)
	w := runWorker(t, c)
	options := client.StartWorkflowOptions{ID: "ingest/default/a b%2F", TaskQueue: queue, WorkflowTaskTimeout: 3 * time.Second}
	run, err := c.ExecuteWorkflow(t.Context(), options, "Pair")
	if err != nil {
		t.Fatal(err)
	}
	checkRetention(t, c)
	checkUI(t, s, run)
	checkListeners(t, s)
	shorten := &workflowservice.UpdateNamespaceRequest{
		Namespace: "cairn", Config: &namespace.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(24 * time.Hour)},
	}
	if _, err := c.WorkflowService().UpdateNamespace(t.Context(), shorten); err != nil {
		t.Fatal(err)
	}
	w.Stop()
	c.Close()
	s.Stop()
	for _, name := range []string{"temporal.db-wal", "visibility.db-wal"} {
		if info, err := os.Stat(filepath.Join(config.Dir, name)); err == nil && info.Size() > 0 {
			t.Errorf("after a stop %s has %d bytes", name, info.Size())
		}
	}

	// The same folder again, with a search attribute more and, as an older program
	// may have left it, another retention.
	config.SearchAttributes["CairnDocument"] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	s = start(t, config)
	c = dial(t, s)
	defer c.Close()
	w = runWorker(t, c)
	defer w.Stop()
	checkRetention(t, c)
	if err := c.SignalWorkflow(t.Context(), options.ID, "", "word", "hello"); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := c.GetWorkflow(t.Context(), options.ID, "").Get(t.Context(), &got); err != nil || got != "heard hello" {
		t.Fatalf("got %q, %v", got, err)
	}
	events := 0
	for history := c.GetWorkflowHistory(t.Context(), options.ID, run.GetRunID(), false, 0); history.HasNext(); events++ {
		if _, err := history.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if events < 6 {
		t.Errorf("the history has %d events, want the events of both starts", events)
	}
}

func checkRetention(t *testing.T, c client.Client) {
	t.Helper()
	got, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "cairn"})
	if err != nil {
		t.Fatal(err)
	}
	if ttl := got.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); ttl != 30*24*time.Hour {
		t.Errorf("retention is %s, want 30 days", ttl)
	}
}

func checkUI(t *testing.T, s *embedded.Server, run client.WorkflowRun) {
	t.Helper()
	page := s.RunURL(run.GetID(), run.GetRunID())
	if want := "/namespaces/cairn/workflows/ingest%2Fdefault%2Fa%20b%252F/" + run.GetRunID() + "/history"; !strings.HasSuffix(page, want) {
		t.Errorf("got %s, want an end of %s", page, want)
	}
	api := s.UIURL() + "/api/v1/namespaces/cairn/workflows/" + url.PathEscape(url.PathEscape(run.GetID())) + "?execution.runId=" + run.GetRunID()
	for _, address := range []string{page, api, s.UIURL() + "/"} {
		r, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: got status %d", address, r.StatusCode)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.UIURL()+"/api/v1/namespaces", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "rebound.example:8233"
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign host got status %d, want 403", response.StatusCode)
	}
}

func checkListeners(t *testing.T, s *embedded.Server) {
	t.Helper()
	seen := map[string]bool{}
	for _, l := range s.Listeners() {
		if !l.Addr().IsLoopback() {
			t.Errorf("%s is beyond loopback", l)
		}
		c, err := net.Dial("tcp", l.String())
		if err != nil {
			t.Errorf("nothing listens on %s: %v", l, err)
			continue
		}
		c.Close()
		seen[l.String()] = true
	}
	if len(seen) != 5 || !seen[s.Address()] || !seen[strings.TrimPrefix(s.UIURL(), "http://")] {
		t.Errorf("got %v, want the API, three parts and the UI", seen)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	cases := map[string]struct {
		change func(*embedded.Config)
		want   []string
	}{
		"a_port_that_is_taken": {
			func(c *embedded.Config) { c.Listen = taken.Addr().String() },
			[]string{port, "temporal.listen", "another address"},
		},
		"a_ui_port_that_is_taken": {
			func(c *embedded.Config) { c.UIListen = taken.Addr().String() },
			[]string{port, "temporal.ui_listen", "another address"},
		},
		"an_address_beyond_loopback": {
			func(c *embedded.Config) { c.Listen = "0.0.0.0:0" },
			[]string{"temporal.listen", "loopback"},
		},
		"an_address_without_a_port": {
			func(c *embedded.Config) { c.UIListen = "localhost" },
			[]string{"temporal.ui_listen", "port"},
		},
		"an_unknown_sync": {
			func(c *embedded.Config) { c.Sync = "often" },
			[]string{"often", "full", "normal"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", UIListen: "127.0.0.1:0", Logger: testLog(t)}
			test.change(&config)
			s, err := embedded.Start(t.Context(), config)
			if err == nil {
				s.Stop()
				t.Fatal("started")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestDialGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Config{Dir: t.TempDir()})
	s.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if c, err := s.Dial(ctx, testLog(t)); err == nil {
		c.Close()
		t.Error("a server that stopped was reached")
	}
}

func TestMistakesOfTheUIAreNoWarnings(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	twice := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.WriteHeader(http.StatusTeapot)
	})
	for level, logged := range map[slog.Level]bool{slog.LevelInfo: false, slog.LevelDebug: true} {
		log.Reset()
		s := httptest.NewUnstartedServer(nil)
		s.Config = embedded.UIServer(twice, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level})))
		s.Start()
		r, err := http.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		s.Close()
		if got := strings.Contains(log.String(), "superfluous"); got != logged {
			t.Errorf("level %s: logged %q", level, log.String())
		}
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	cases := []struct {
		host, origin string
		want         int
	}{
		{"localhost:8233", "", 200},
		{"127.0.0.1:8233", "", 200},
		{"127.0.0.1", "", 200},
		{"[::1]:9000", "", 200},
		{"localhost:8233", "http://localhost:8233", 200},
		{"localhost:8233", "http://localhost:3000", 403},
		{"localhost:8233", "http://evil.example", 403},
		{"localhost:8233", "null", 403},
		{"evil.example:8233", "", 403},
		{"evil.example", "http://evil.example", 403},
		{"localhost.evil.example", "", 403},
		{"192.168.0.1:8233", "", 403},
		{"0.0.0.0:8233", "", 403},
		{"", "", 403},
	}
	for _, test := range cases {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = test.host
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		w := httptest.NewRecorder()
		embedded.Guard(next).ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("host %q, origin %q: got %d, want %d", test.host, test.origin, w.Code, test.want)
		}
	}
}
