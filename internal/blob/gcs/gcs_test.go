package gcs_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/blob/blobtest"
	"github.com/cairn-rag/cairn/internal/blob/gcs"
	"github.com/cairn-rag/cairn/internal/standin"
)

func open(t *testing.T, endpoint, prefix string) *blob.Store {
	t.Helper()
	return blob.New(bucket(t, endpoint, prefix))
}

func bucket(t *testing.T, endpoint, prefix string) blob.Bucket {
	t.Helper()
	b, err := gcs.New(t.Context(), gcs.Config{Bucket: "contract", Prefix: prefix, Endpoint: endpoint, Client: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	return b
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
	t.Run("deletes_several", func(t *testing.T) {
		t.Parallel()
		blobtest.DeletesSeveral(t, bucket(t, endpoint, "several/"))
	})
	t.Run("replaces", func(t *testing.T) {
		t.Parallel()
		blobtest.Replaces(t, bucket(t, endpoint, "replaced/"))
	})
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

func TestDeletesInBatches(t *testing.T) {
	t.Parallel()
	connect := func(t *testing.T, endpoint string) blob.Bucket { return bucket(t, endpoint, "p/") }
	blobtest.Batches(t, 100, connect, func(status int) string {
		body := fmt.Sprintf(`{"error": {"code": %d, "message": "%s"}}`, status, blobtest.Secret)
		if status < http.StatusMultipleChoices {
			body = ""
		}
		return fmt.Sprintf("HTTP/1.1 %d Answer\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
	})
	blobtest.WithoutBatches(t, connect, http.StatusNoContent)
	t.Run("a_server_without_batches_is_no_missing_object", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(server.Close)
		blobtest.WantFault(t, bucket(t, server.URL, "").Delete(t.Context(), []string{"w/a", "w/b"}), "tried again")
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

// serviceAccount returns the file of a service account with a new key.
func serviceAccount(t *testing.T) ([]byte, *rsa.PublicKey) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "cairn@example.iam.gserviceaccount.com",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return file, &key.PublicKey
}

// wantDownload reads the bytes at an address. fake-gcs-server knows such addresses only
// under Google's name.
func wantDownload(t *testing.T, address *url.URL, want string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "storage.googleapis.com"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got, err := io.ReadAll(response.Body); err != nil || string(got) != want {
		t.Errorf("status %d, %q, %v", response.StatusCode, got, err)
	}
}

// TestLink downloads by a signed address, and checks its signature as Google does:
// fake-gcs-server does not.
func TestLink(t *testing.T) {
	t.Parallel()
	endpoint := service(t)
	file, public := serviceAccount(t)
	b, err := gcs.New(t.Context(), gcs.Config{Bucket: "contract", Prefix: "p/", Endpoint: endpoint, Credentials: file, Client: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	s := blob.New(b)
	if _, err := s.Put(t.Context(), "w/a b+ü~.txt", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	link, err := s.Link(t.Context(), "w/a b+ü~.txt", blob.Download{MediaType: "text/plain", Disposition: `attachment; filename="a b.txt"`, Valid: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	wantDownload(t, address, "0123456789")
	signed, signature, ok := strings.Cut(address.RawQuery, "&X-Goog-Signature=")
	if !ok || address.EscapedPath() != "/contract/p/w/a%20b%2B%C3%BC~.txt" {
		t.Fatalf("the address is %s", address)
	}
	query := address.Query()
	if query.Get("response-content-type") != "text/plain" || query.Get("X-Goog-Expires") != "60" || strings.Contains(signed, "+") {
		t.Errorf("the query is %s", signed)
	}
	account, scope, _ := strings.Cut(query.Get("X-Goog-Credential"), "/")
	if account != "cairn@example.iam.gserviceaccount.com" {
		t.Errorf("signed by %s", account)
	}
	request := sha256.Sum256([]byte("GET\n" + address.EscapedPath() + "\n" + signed + "\nhost:" + address.Host + "\n\nhost\nUNSIGNED-PAYLOAD"))
	text := sha256.Sum256([]byte("GOOG4-RSA-SHA256\n" + query.Get("X-Goog-Date") + "\n" + scope + "\n" + hex.EncodeToString(request[:])))
	raw, err := hex.DecodeString(signature)
	if err != nil {
		t.Fatal(err)
	}
	if err := rsa.VerifyPKCS1v15(public, crypto.SHA256, text[:], raw); err != nil {
		t.Errorf("the signature is wrong: %v", err)
	}
}

func TestLinkWithoutAKey(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"none": "", "of_a_person": `{"type":"authorized_user","client_id":"x"}`, "broken": `{"client_email":"a@b","private_key":"x"}`} {
		b, err := gcs.New(t.Context(), gcs.Config{Bucket: "contract", Endpoint: "http://127.0.0.1:1", Credentials: []byte(file), Client: http.DefaultClient})
		if err != nil {
			t.Fatal(err)
		}
		if address, err := b.Link(t.Context(), "w/k", blob.Download{Valid: time.Minute}); address != "" || err != nil {
			t.Errorf("%s: got %q, %v", name, address, err)
		}
	}
}
