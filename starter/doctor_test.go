package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	const waiting = `{"id":"d-%","name":"%.md","status":"pending","stage":"embed","waiting":{"attempt":3,"of":60,"code":"provider_failed","message":"the endpoint cannot be reached"}}`
	var pending atomic.Value // the documents that are pending
	pending.Store("")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := ""
		switch {
		case r.URL.Path == "/metrics":
			_, _ = w.Write([]byte("cairn_build_info{go_version=\"go1\",version=\"" + versionName() + "\"} 1\ncairn_queue_tasks{queue=\"embed\"} 12\n"))
			return
		case r.URL.Path == "/readyz":
			body = `{"status":"ready","dependencies":[{"name":"database","status":"up"}],"indexIncomplete":true,"diskProblem":{"code":"read_only","freeBytes":1048576,"neededBytes":16777216,"message":"make it writable"},"disk":{"freeBytes":5368709120,"usedBytes":{"temporal":3145728,"blobs":2097152}}}`
		case strings.HasSuffix(r.URL.Path, "/reingest"):
			body = `{"matched":0,"started":0,"refused":[]}`
		case r.URL.Query().Get("status") == "pending":
			body = `{"documents":[` + pending.Load().(string) + `],"total":0}`
		default:
			body = `{"documents":[],"total":0}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	doctor := func() (code int, states map[string]finding) {
		var stdout, stderr bytes.Buffer
		code = run(context.Background(), &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}, []string{"doctor", "-o", "json", "--url", server.URL, "--key", "cairn_k"})
		var got struct{ Findings []finding }
		if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
			t.Fatalf("%v: %s %s", err, stdout.String(), stderr.String())
		}
		states = map[string]finding{}
		for _, f := range got.Findings {
			states[f.Check] = f
		}
		return code, states
	}
	code, states := doctor()
	if states["documents"].State != findingOK || states["clock"].State != findingOK || states["version"].State != findingOK || states["queue embed"].State != findingNote {
		t.Errorf("exit code %d, %+v", code, states)
	}
	if index := states["index"]; index.State != findingBad || index.Next != "cairn rebuild-index" {
		t.Errorf("of an index that lacks documents it says %+v", index)
	}
	if uploads := states["uploads"]; uploads.State != findingBad || uploads.Next != "make it writable" ||
		uploads.Detail != "the disk of the server: it is read-only, so uploads are refused: 1.0 MB free, 16.0 MB needed" {
		t.Errorf("of a disk that takes no uploads it says %+v", uploads)
	}
	if disk := states["disk"]; disk.State != findingOK || disk.Detail != "5.0 GB free; blobs 2.0 MB, temporal 3.0 MB" {
		t.Errorf("the disk is not the server's: %+v", disk)
	}
	pending.Store(strings.ReplaceAll(waiting, "%", "a") + "," + strings.ReplaceAll(waiting, "%", "b"))
	code, states = doctor()
	stuck := states["documents"]
	if code != exitFailed || stuck.State != findingBad || stuck.Detail != "a.md and 1 more wait at embed: provider_failed: the endpoint cannot be reached" ||
		stuck.Next != "after a repair: cairn documents retry --all --code provider_failed" {
		t.Errorf("exit code %d, %+v", code, stuck)
	}
}

// TestNextStepOfAnAddressThatIsRefused has no file that could be uploaded again.
func TestNextStepOfAnAddressThatIsRefused(t *testing.T) {
	t.Parallel()
	failed := client.Document{ID: "d", ExternalID: "https://wiki.example.org/a", Status: knowledge.StatusError,
		Error: &knowledge.DocumentError{Code: knowledge.CodeInvalid, Stage: knowledge.StageFetch, Message: "refused address"}}
	if got, want := nextStep(failed), "after a repair: cairn ingest https://wiki.example.org/a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNextStepOfAConflict has documents whose vectors have another length than those in the
// index: the file is sound, and a retry is refused.
func TestNextStepOfAConflict(t *testing.T) {
	t.Parallel()
	failed := client.Document{ID: "d", Status: knowledge.StatusError, Error: &knowledge.DocumentError{Code: knowledge.CodeConflict, Stage: knowledge.StagePublish}}
	if got, want := nextStep(failed), "after a repair: cairn documents reingest d"; got != want {
		t.Errorf("of one it is %q, want %q", got, want)
	}
	found := stuck([]client.Document{failed, failed})
	if want := "after a repair: cairn documents reingest --all --code conflict"; len(found) != 1 || found[0].Next != want {
		t.Errorf("of two it is %+v, want %q", found, want)
	}
}

// TestDoctorOfAnotherConfiguration has a configuration that is not the server's, and
// one that cannot be read: all other checks are made.
func TestDoctorOfAnotherConfiguration(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/metrics":
			_, _ = w.Write([]byte("cairn_queue_tasks{queue=\"embed\"} 0\ncairn_queue_tasks{queue=\"parse\"} 0\n"))
		case "/readyz":
			_, _ = w.Write([]byte(`{"status":"ready","dependencies":[],"models":[{"provider":"models.example:8000","kind":"embedding","outcome":"ok"}]}`))
		default:
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"code":"unauthorized","status":401,"detail":"this API key is not known"}`))
		}
	}))
	t.Cleanup(server.Close)
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("models:\n  embedding: {base_url: http://127.0.0.1:1/v1, model: m, key_env: CAIRN_NO_SUCH_KEY}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"another one":  {nil, []string{"the server calls models.example:8000 (embedding)", "models.example:8000 in the server; it was not asked", "no task waits in 2 queues", "name a key with --key or CAIRN_KEY"}},
		"a broken one": {[]string{"--config", broken}, []string{"problem  configuration", "CAIRN_NO_SUCH_KEY", "component LibreOffice"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			code := run(context.Background(), &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}, append([]string{"doctor", "--url", server.URL, "--key", "cairn_k"}, test.args...))
			if code != exitFailed {
				t.Errorf("exit code %d, %s", code, stderr.String())
			}
			for _, want := range test.want {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, stdout.String())
				}
			}
		})
	}
}

// TestDoctorNamesWhatIsDown has a server whose services are down.
func TestDoctorNamesWhatIsDown(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		if r.URL.Path == "/readyz" {
			_, _ = w.Write([]byte(`{"status":"unavailable","dependencies":[{"name":"temporal","status":"up"},{"name":"database","status":"down"},{"name":"index","status":"down"},{"name":"blobs","status":"down"}]}`))
		}
	}))
	t.Cleanup(server.Close)
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}, []string{"doctor", "--url", server.URL, "--key", "cairn_k"})
	if code != exitFailed {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
	for _, want := range []string{
		"database is down", "the service of database.url", "index is down", "the service of vector.url", "blobs is down", "the service of blob.url",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, stdout.String())
		}
	}
	if strings.Contains(stdout.String(), "temporal is down") {
		t.Errorf("it names what is up:\n%s", stdout.String())
	}
}

// TestStuckDocuments has documents that failed, wait, and were not heard of for long.
func TestStuckDocuments(t *testing.T) {
	t.Parallel()
	pending := func(name string, since time.Duration) client.Document {
		return client.Document{ID: name, Name: name, Status: knowledge.StatusPending, Stage: knowledge.StageEmbed, UpdatedAt: time.Now().Add(-since), OperatorURL: "http://pages/" + name}
	}
	want := []finding{{"documents", findingBad, "old and 1 more are pending at embed: unchanged for more than an hour", "see that a worker runs, and what its workflow waits for: http://pages/old"}}
	if diff := cmp.Diff(want, stuck([]client.Document{pending("new", 0), pending("old", 2*time.Hour), pending("older", 3*time.Hour)})); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
