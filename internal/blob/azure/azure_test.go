package azure_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/blob/azure"
	"github.com/cairn-rag/cairn/internal/blob/blobtest"
	"github.com/cairn-rag/cairn/internal/standin"
)

// The account of the stand-in.
const (
	account = "tester"
	key     = "YSBrZXkgZm9yIHRlc3Rz"
	secret  = "DefaultEndpointsProtocol=http;AccountName=" + account + ";AccountKey=" + key
)

func open(t *testing.T, endpoint, prefix string) *blob.Store {
	t.Helper()
	return blob.New(bucket(t, endpoint, prefix))
}

func bucket(t *testing.T, endpoint, prefix string) blob.Bucket {
	t.Helper()
	b, err := azure.New(azure.Config{
		Account: account, Container: "contract", Prefix: prefix, Endpoint: endpoint, Credentials: []byte(secret), Client: http.DefaultClient,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// service returns the endpoint of azurite with the container.
func service(t *testing.T) string {
	t.Helper()
	endpoint := standin.Azure(t, account, key)
	credential, err := azblob.NewSharedKeyCredential(account, key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azblob.NewClientWithSharedKeyCredential(endpoint, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateContainer(t.Context(), "contract", nil); err != nil {
		t.Fatal(err)
	}
	return endpoint
}

// TestContract runs the contract on azurite. Each store has a prefix of its own, so that
// one that left its prefix would fail the test of another.
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
	t.Run("signs_addresses", func(t *testing.T) {
		t.Parallel()
		s := open(t, endpoint, "signed/")
		if _, err := s.Put(t.Context(), "w/k", []byte("0123456789")); err != nil {
			t.Fatal(err)
		}
		_, header := blobtest.WantLink(t, s, "w/k", "0123456789")
		for name, want := range map[string]string{"Content-Type": "text/plain", "Content-Disposition": `attachment; filename="a b.txt"`} {
			if got := header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	})
}

// answer is an error of Azure.
func answer(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("x-ms-error-code", code)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, `<?xml version="1.0" encoding="utf-8"?><Error><Code>%s</Code><Message>%s</Message></Error>`, code, blobtest.Secret)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	connect := func(t *testing.T, endpoint string) *blob.Store { return open(t, endpoint, "") }
	blobtest.Faults(t, connect, map[string]blobtest.Fault{
		"refused":      {Answer: answer(http.StatusForbidden, "AuthorizationFailure"), Says: "credentials"},
		"unknown":      {Answer: answer(http.StatusUnauthorized, "NoAuthenticationInformation"), Says: "credentials"},
		"no_container": {Answer: answer(http.StatusNotFound, "ContainerNotFound"), Says: "does not exist"},
		"throttled":    {Answer: answer(http.StatusServiceUnavailable, "ServerBusy"), Says: "tried again"},
		"broken":       {Answer: answer(http.StatusInternalServerError, "InternalError"), Says: "tried again"},
	})
}

func TestDeletesInBatches(t *testing.T) {
	t.Parallel()
	codes := map[int]string{http.StatusNotFound: "BlobNotFound", http.StatusForbidden: "AuthorizationPermissionMismatch", http.StatusServiceUnavailable: "ServerBusy"}
	connect := func(t *testing.T, endpoint string) blob.Bucket { return bucket(t, endpoint, "p/") }
	blobtest.Batches(t, 256, connect, func(status int) string {
		return fmt.Sprintf("HTTP/1.1 %d %s\r\nx-ms-error-code: %s\r\n\r\n", status, blobtest.Secret, codes[status])
	})
	blobtest.WithoutBatches(t, connect, http.StatusAccepted)
}

// bodies counts the bodies of answers that are open.
type bodies struct{ open atomic.Int64 }

// RoundTrip implements http.RoundTripper.
func (b *bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		b.open.Add(1)
		response.Body = &countedBody{response.Body, sync.OnceFunc(func() { b.open.Add(-1) })}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	closed func()
}

// Close implements io.Closer.
func (b *countedBody) Close() error {
	b.closed()
	return b.ReadCloser.Close()
}

// TestBatchesCloseTheirAnswers checks that a batch frees its connection.
func TestBatchesCloseTheirAnswers(t *testing.T) {
	t.Parallel()
	var transport bodies
	b, err := azure.New(azure.Config{
		Account: account, Container: "contract", Endpoint: service(t), Credentials: []byte(secret), Client: &http.Client{Transport: &transport},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), []string{"w/a", "w/b"}); err != nil {
		t.Fatal(err)
	}
	if n := transport.open.Load(); n != 0 {
		t.Errorf("%d answers are open", n)
	}
}

func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "hunter2", "AccountName=hunter2", "AccountKey=not base64 hunter2"} {
		_, err := azure.New(azure.Config{Account: account, Container: "contract", Credentials: []byte(secret), Client: http.DefaultClient})
		if err == nil || !strings.Contains(err.Error(), "blob.credentials_env") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got error %v", secret, err)
		}
	}
}

func TestLinkOfASignature(t *testing.T) {
	t.Parallel()
	b, err := azure.New(azure.Config{Account: account, Container: "contract", Credentials: []byte("SharedAccessSignature=sv=1&sig=x"), Client: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	if address, err := b.Link(t.Context(), "w/k", blob.Download{Valid: time.Minute}); address != "" || err != nil {
		t.Errorf("got %q, %v: the signature would reach every reader", address, err)
	}
}
