package gcs_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/gcs"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/standin"
)

func connect(t *testing.T, address, endpoint string) source.Source {
	t.Helper()
	spec := source.Spec{Type: source.TypeGCS, URI: address, Options: source.Options{Endpoint: endpoint}}
	s, err := gcs.New(t.Context(), source.Request{Spec: spec}, sourcetest.Client())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestContract runs the contract on fake-gcs-server.
func TestContract(t *testing.T) {
	t.Parallel()
	endpoint := standin.GCS(t)
	send(t, http.MethodPost, endpoint+"/storage/v1/b?project=p", `{"name": "contract"}`)
	sourcetest.Run(t, sourcetest.Bucket{
		Address: func(prefix string) string { return "gs://contract/" + prefix },
		Missing: "gs://no-such-bucket/",
		Put: func(t *testing.T, key, body string) {
			send(t, http.MethodPost, endpoint+"/upload/storage/v1/b/contract/o?uploadType=media&name="+url.QueryEscape(key), body)
		},
		Delete: func(t *testing.T, key string) {
			send(t, http.MethodDelete, endpoint+"/storage/v1/b/contract/o/"+url.PathEscape(key), "")
		},
		Open: func(t *testing.T, address string) source.Source { return connect(t, address, endpoint) },
	})
}

func send(t *testing.T, method, address, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		t.Errorf("%s %s: %s", method, address, response.Status)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	sourcetest.Faults(t, sourcetest.Service{
		Open:        func(t *testing.T, endpoint string) source.Source { return connect(t, "gs://bucket/", endpoint) },
		ListingType: "application/json",
		Listing: `{"kind": "storage#objects", "items": [
			{"name": "a.txt", "size": "1", "generation": "1", "updated": "2024-01-02T03:04:05Z"},
			{"name": "b.txt", "size": "1", "generation": "2", "updated": "2024-01-02T03:04:05Z"}]}`,
	})
}

// google stands in for Google's hosts, which redirect to another one, and records
// the credentials that each host receives.
type google struct{ received map[string]string }

// RoundTrip implements http.RoundTripper.
func (g google) RoundTrip(r *http.Request) (*http.Response, error) {
	g.received[r.URL.Host] = r.Header.Get("Authorization")
	response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}
	if r.URL.Host == "storage.googleapis.com" {
		response.StatusCode = http.StatusTemporaryRedirect
		response.Header.Set("Location", "https://elsewhere.example/")
	}
	return response, nil
}

// received returns the credentials that each host receives from a request.
func received(t *testing.T, r source.Request) map[string]string {
	t.Helper()
	g := google{received: map[string]string{}}
	r.URI = "gs://bucket/"
	s, err := gcs.New(t.Context(), r, &http.Client{Transport: g})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	return g.received
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	t.Run("anonymous", func(t *testing.T) {
		t.Parallel()
		got := received(t, source.Request{Spec: source.Spec{Options: source.Options{Anonymous: true}}})
		if diff := cmp.Diff(map[string]string{"storage.googleapis.com": "", "elsewhere.example": ""}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a_token_is_sent_to_google_alone", func(t *testing.T) {
		t.Parallel()
		got := received(t, source.Request{Credentials: serviceAccount(t)})
		if diff := cmp.Diff(map[string]string{"storage.googleapis.com": "Bearer the-token", "elsewhere.example": ""}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("another_endpoint_receives_none", func(t *testing.T) {
		t.Parallel()
		got := received(t, source.Request{Credentials: serviceAccount(t), Spec: source.Spec{Options: source.Options{Endpoint: "https://elsewhere.example"}}})
		if diff := cmp.Diff(map[string]string{"elsewhere.example": ""}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// serviceAccount returns the file of a service account whose tokens come from a
// server of the test.
func serviceAccount(t *testing.T) []byte {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token": "the-token", "token_type": "Bearer", "expires_in": 3600}`)
	}))
	t.Cleanup(server.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "reader@project.iam.gserviceaccount.com", "private_key_id": "1", "token_uri": server.URL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "{", `{"type": "hunter2"}`, `{"type": "service_account", "private_key": "hunter2"}`, `{"access_key_id": "hunter2"}`} {
		r := source.Request{Spec: source.Spec{URI: "gs://bucket/", Secret: "bucket-key"}, Credentials: []byte(secret)}
		_, err := gcs.New(t.Context(), r, sourcetest.Client())
		if text := fmt.Sprint(err); err == nil || !knowledge.IsCode(err, knowledge.CodeInvalid) && !knowledge.IsCode(err, knowledge.CodeForbidden) || strings.Contains(text, "hunter2") {
			t.Errorf("%q: got error %v", secret, err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, spec := range []source.Spec{
		{URI: "s3://bucket"}, {URI: "gs://"}, {URI: "gs://bucket", Options: source.Options{Endpoint: "host"}},
		{URI: "gs://bucket", Options: source.Options{Endpoint: "https://elsewhere.example"}, Secret: "x"},
		{URI: "gs://bucket", Options: source.Options{Endpoint: "http://storage.googleapis.com"}, Secret: "x"},
	} {
		if err := gcs.Check(spec); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%+v: got error %v", spec, err)
		}
	}
	for _, spec := range []source.Spec{
		{URI: "gs://bucket/prefix", Secret: "x"}, {URI: "gs://bucket", Options: source.Options{Endpoint: "https://x.googleapis.com"}, Secret: "x"},
		{URI: "gs://bucket", Options: source.Options{Endpoint: "http://127.0.0.1:4443"}},
	} {
		if err := gcs.Check(spec); err != nil {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}
