package gcs_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/blob/blobtest"
	"github.com/cairn-rag/cairn/internal/blob/gcs"
	"github.com/cairn-rag/cairn/internal/standin"
)

func open(t *testing.T, endpoint, prefix string) *blob.Store {
	t.Helper()
	b, err := gcs.New(t.Context(), gcs.Config{Bucket: "contract", Prefix: prefix, Endpoint: endpoint, Client: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	return blob.New(b)
}

// service returns the endpoint of fake-gcs-server with the bucket.
func service(t *testing.T) string {
	t.Helper()
	endpoint := standin.GCS(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint+"/storage/v1/b?project=p", strings.NewReader(`{"name": "contract"}`))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("create the bucket: %v, %v", response, err)
	}
	defer response.Body.Close()
	return endpoint
}

// TestContract runs the contract on fake-gcs-server. Each store has a prefix of its own,
// so that one that left its prefix would fail the test of another.
func TestContract(t *testing.T) {
	t.Parallel()
	endpoint := service(t)
	var stores atomic.Int64
	blobtest.Run(t, func(t *testing.T) *blob.Store { return open(t, endpoint, fmt.Sprintf("store%d/", stores.Add(1))) })
}

// answer is an error of Google.
func answer(status int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error": {"code": %d, "message": "%s %s"}}`, status, message, blobtest.Secret)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	connect := func(t *testing.T, endpoint string) *blob.Store { return open(t, endpoint, "") }
	blobtest.Faults(t, connect, map[string]blobtest.Fault{
		"refused":   {Answer: answer(http.StatusForbidden, "Access denied."), Says: "credentials"},
		"unknown":   {Answer: answer(http.StatusUnauthorized, "Invalid credentials."), Says: "credentials"},
		"no_bucket": {Answer: answer(http.StatusNotFound, "The specified bucket does not exist."), Says: "does not exist"},
		"throttled": {Answer: answer(http.StatusTooManyRequests, "Slow down."), Says: "tried again"},
	})
}

func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "{", "{}", `{"type":"service_account","private_key":"hunter2"}`, "hunter2"} {
		_, err := gcs.New(t.Context(), gcs.Config{Bucket: "contract", Credentials: []byte(secret), Client: http.DefaultClient})
		if err == nil || !strings.Contains(err.Error(), "blob.credentials_env") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got error %v", secret, err)
		}
	}
}
