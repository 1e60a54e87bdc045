package server

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/config"
)

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
	for _, f := range CheckEndpoints(t.Context(), cfg, nil) {
		got[f.Check] = f.State
	}
	want := map[string]string{
		"embedding endpoint": FindingOK, "embedding failover endpoint": FindingBad, "chat endpoint": FindingOK, "chat failover endpoint": FindingOK,
		"rerank endpoint": FindingBad, "transcription endpoint": FindingOK,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestDoctorNamesTheCauseOfAnEndpoint has endpoints that refuse the key, fail, or are not
// there: the words are the same as for a document that waits, and the next step names the key.
func TestDoctorNamesTheCauseOfAnEndpoint(t *testing.T) {
	t.Parallel()
	models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/embeddings") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(models.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	at := strings.TrimPrefix(models.URL, "http://")
	var cfg config.Config
	cfg.Models.Embedding = config.Model{Endpoint: config.Endpoint{BaseURL: models.URL + "/v1", Model: "m"}}
	cfg.Models.Chat = config.Model{Endpoint: config.Endpoint{BaseURL: models.URL + "/v1", Model: "c"}}
	cfg.Models.Transcription = config.Model{Endpoint: config.Endpoint{BaseURL: gone.URL + "/v1", Model: "t"}}
	want := []Finding{
		{"embedding endpoint", FindingBad, "m at " + at + " refused our credentials (status 401)", "check the key that models.embedding.key_env names, then: cairn documents retry --all --code provider_failed"},
		{"chat endpoint", FindingBad, "c at " + at + " is overloaded or failing (status 502)", "try again later"},
		{"transcription endpoint", FindingBad, "t at " + strings.TrimPrefix(gone.URL, "http://") + " cannot be reached (connection refused)", "check models.transcription.base_url, and that the endpoint runs"},
	}
	if diff := cmp.Diff(want, CheckEndpoints(t.Context(), cfg, nil)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
