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

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/config"
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
			body = `{"status":"ready","dependencies":[{"name":"database","status":"up"}],"disk":{"freeBytes":5368709120,"usedBytes":{"temporal":3145728,"blobs":2097152}}}`
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
	if disk := states["disk"]; disk.State != findingOK || disk.Detail != "5120.0 MB free; blobs 2.0 MB, temporal 3.0 MB" {
		t.Errorf("the disk is not that of the server: %+v", disk)
	}
	pending.Store(strings.ReplaceAll(waiting, "%", "a") + "," + strings.ReplaceAll(waiting, "%", "b"))
	code, states = doctor()
	stuck := states["documents"]
	if code != exitFailed || stuck.State != findingBad || stuck.Detail != "a.md and 1 more waits at embed: provider_failed: the endpoint cannot be reached" ||
		stuck.Next != "after a repair: cairn documents retry --all --code provider_failed" {
		t.Errorf("exit code %d, %+v", code, stuck)
	}
}

// TestDoctorAsksEveryEndpoint has an endpoint whose failover makes vectors of another
// length, and a reranker that is down.
func TestDoctorAsksEveryEndpoint(t *testing.T) {
	t.Parallel()
	models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/models"):
			_, _ = w.Write([]byte(`{"data":[]}`))
		case strings.HasSuffix(r.URL.Path, "/rerank"):
			w.WriteHeader(http.StatusServiceUnavailable)
		case strings.HasPrefix(r.URL.Path, "/short/"):
			_, _ = w.Write([]byte(`{"data":[{"index":0,"embedding":[1,0]}]}`))
		default:
			_, _ = w.Write([]byte(`{"data":[{"index":0,"embedding":[1,0,0]}]}`))
		}
	}))
	t.Cleanup(models.Close)
	file := filepath.Join(t.TempDir(), "cairn.yaml")
	endpoint := "base_url: " + models.URL + "/v1, model: "
	err := os.WriteFile(file, []byte("models:\n  embedding: {"+endpoint+"long, failover: [{base_url: "+models.URL+"/short/v1, model: long}]}\n  chat: {"+endpoint+"chat, failover: [{"+endpoint+"other}]}\n  rerank: {"+endpoint+"ranks}\n  transcription: {"+endpoint+"hears}\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range checkEndpoints(t.Context(), cfg) {
		got[f.Check] = f.State
	}
	want := map[string]string{
		"embedding endpoint": findingOK, "embedding failover endpoint": findingBad, "chat endpoint": findingOK, "chat failover endpoint": findingOK,
		"rerank endpoint": findingBad, "transcription endpoint": findingOK,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
