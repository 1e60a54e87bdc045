package connect_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/blob/connect"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/standin"
)

const secret = `{"access_key_id": "AKID", "secret_access_key": "AKID"}`

func open(t *testing.T, address string) (*blob.Store, error) {
	t.Helper()
	s, err := connect.Open(t.Context(), connect.Config{
		URL: address, Credentials: []byte(secret), Shared: func() bool { return false }, Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

// server is an S3 server with the bucket "shelf", whose requests pass through a handler.
func server(t *testing.T, through func(w http.ResponseWriter, r *http.Request, next http.Handler)) string {
	t.Helper()
	inner := gofakes3.New(s3mem.New()).Server()
	made := httptest.NewRequest(http.MethodPut, "/shelf", http.NoBody)
	inner.ServeHTTP(httptest.NewRecorder(), made)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { through(w, r, inner) }))
	t.Cleanup(s.Close)
	return s.URL
}

func unchanged(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }

func TestOpen(t *testing.T) {
	t.Parallel()
	endpoint := server(t, unchanged)
	for _, address := range []string{"mem://", "file://" + t.TempDir(), "s3://shelf?endpoint=" + endpoint, "s3://shelf/a/b/?endpoint=" + endpoint} {
		s, err := open(t, address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), "w/k", []byte(address)); err != nil {
			t.Error(err)
		}
		if got, err := s.Get(t.Context(), "w/k"); err != nil || string(got) != address {
			t.Errorf("%s: got %q, %v", address, got, err)
		}
		var keys []string
		for object, err := range s.List(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, object.Key)
		}
		if !strings.HasPrefix(strings.Join(keys, " "), "w/k") && !strings.HasSuffix(strings.Join(keys, " "), "w/k") {
			t.Errorf("%s has the keys %v", address, keys)
		}
	}
}

// TestOpenServices opens the buckets of the stand-ins of Google and Azure.
func TestOpenServices(t *testing.T) {
	t.Parallel()
	t.Run("gs", func(t *testing.T) {
		t.Parallel()
		endpoint := standin.GCS(t)
		post(t, endpoint+"/storage/v1/b?project=p", `{"name": "shelf"}`)
		s, err := connect.Open(t.Context(), connect.Config{URL: "gs://shelf/a?endpoint=" + endpoint, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := open(t, "gs://other?endpoint="+endpoint); err == nil || !strings.Contains(err.Error(), "gs://other at "+endpoint) {
			t.Errorf("a missing bucket: got %v", err)
		}
	})
	t.Run("azblob", func(t *testing.T) {
		t.Parallel()
		endpoint := standin.Azure(t, "tester", "YSBrZXkgZm9yIHRlc3Rz")
		cfg := connect.Config{
			URL: "azblob://tester/shelf/a?endpoint=" + endpoint, Credentials: []byte("AccountKey=YSBrZXkgZm9yIHRlc3Rz"), Logger: slog.New(slog.DiscardHandler),
		}
		if _, err := connect.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "does not exist") || !strings.Contains(err.Error(), "azblob://tester/shelf/a") {
			t.Errorf("a missing container: got %v", err)
		}
		cfg.Credentials = []byte("AccountKey=YW5vdGhlciBrZXk=")
		if _, err := connect.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "credentials") {
			t.Errorf("another key: got %v", err)
		}
	})
}

func post(t *testing.T, address, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d", address, response.StatusCode)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for address, says := range map[string]string{
		"":                              "supported are",
		"ftp://host/blobs":              "supported are",
		"s3://":                         "s3://bucket/prefix",
		"s3://key:hunter2@shelf":        "blob.credentials_env",
		"s3://shelf#x":                  "s3://bucket/prefix",
		"s3://shelf?prefix=a":           "in the path",
		"s3://shelf?endpoint=host:9000": "https://host:9000",
		"s3://shelf?endpoint=https://u:hunter2@host": "https://host:9000",
		"s3://shelf?path_style=perhaps":              "true or false",
		"gs://shelf?region=eu":                       "no parameter",
		"azblob://account":                           "azblob://account/container/prefix",
	} {
		_, err := open(t, address)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v", address, err)
		}
	}
}

func TestOverlaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		store, other string
		want         bool
	}{
		{"s3://shelf", "s3://shelf", true},
		{"s3://shelf?region=x", "s3://Shelf/any", true},
		{"s3://shelf/cairn", "s3://shelf", true},
		{"s3://shelf/cairn", "s3://shelf/", true},
		{"s3://shelf/cairn", "s3://shelf/cai", true},
		{"s3://shelf/cairn", "s3://shelf/cairn/default/", true},
		{"s3://shelf/cairn", "s3://shelf/cairns/", false},
		{"s3://shelf/cairn", "s3://shelf/books/", false},
		{"s3://shelf", "s3://shelf-2/", false},
		{"s3://shelf-2", "s3://shelf", false},
		{"s3://shelf", "gs://shelf/", false},
		{"azblob://account/shelf/cairn", "azblob://account/shelf/", true},
		{"azblob://account/shelf/cairn", "azblob://account/books/", false},
		{"azblob://account/shelf", "azblob://other/shelf/", false},
		{"file:///data", "s3://data/", false},
		{"s3://shelf", "https://shelf/", false},
	} {
		if got := connect.Overlaps(c.store, c.other); got != c.want {
			t.Errorf("%s and %s: %t, want %t", c.store, c.other, got, c.want)
		}
	}
}

// TestProbe checks that a permission that is missing is an error at the start, which names
// the bucket and what failed.
func TestProbe(t *testing.T) {
	t.Parallel()
	for method, says := range map[string]string{
		http.MethodHead: "reach it", http.MethodPut: "write an object", http.MethodGet: "read an object", http.MethodDelete: "delete an object",
	} {
		endpoint := server(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == method {
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, `<Error><Code>AccessDenied</Code></Error>`)
				return
			}
			next.ServeHTTP(w, r)
		})
		_, err := open(t, "s3://shelf/folder?endpoint="+endpoint)
		if err == nil || !knowledge.IsCode(err, knowledge.CodeUnavailable) {
			t.Errorf("%s: got %v", method, err)
			continue
		}
		for _, part := range []string{says, "s3://shelf/folder", endpoint, "credentials"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not name %q", method, err, part)
			}
		}
	}
	if _, err := open(t, "s3://other?endpoint="+server(t, unchanged)); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a missing bucket: got %v", err)
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	if _, err := open(t, "s3://shelf?endpoint="+closed.URL); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("nobody listens: got %v", err)
	}
}
