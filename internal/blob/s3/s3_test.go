package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/blob/blobtest"
	"github.com/cairn-rag/cairn/internal/blob/s3"
	"github.com/cairn-rag/cairn/internal/standin"
)

const (
	bucketName = "contract"
	secret     = `{"access_key_id": "AKID", "secret_access_key": "AKID"}`
)

// client is a client of the tests beside the store.
func client(endpoint string) *sdk.Client {
	return sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider("AKID", "AKID", ""),
	})
}

// create makes the bucket behind an endpoint.
func create(t *testing.T, endpoint string) string {
	t.Helper()
	name := bucketName
	if _, err := client(endpoint).CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	return endpoint
}

func inProcess(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(server.Close)
	return create(t, server.URL)
}

func open(t *testing.T, endpoint, prefix string) *blob.Store {
	t.Helper()
	return blob.New(bucket(t, endpoint, prefix))
}

func bucket(t *testing.T, endpoint, prefix string) blob.Bucket {
	t.Helper()
	b, err := s3.New(t.Context(), s3.Config{
		Bucket: bucketName, Prefix: prefix, Endpoint: endpoint, PathStyle: true, Credentials: []byte(secret), Client: http.DefaultClient,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// contract runs the contract on a server. Each store has a prefix of its own, so that
// one that left its prefix would fail the test of another.
func contract(t *testing.T, endpoint string) {
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

func TestContractInProcess(t *testing.T) {
	t.Parallel()
	contract(t, inProcess(t))
}

// TestContractSecondServer runs the contract on moto.
func TestContractSecondServer(t *testing.T) {
	t.Parallel()
	contract(t, create(t, standin.S3(t)))
}

func TestLargeObjects(t *testing.T) {
	t.Parallel()
	endpoint := create(t, standin.S3(t))
	s := open(t, endpoint, "cairn/")
	for _, size := range []int{8<<20 - 1, 8 << 20, 8<<20 + 1, 20 << 20} {
		data := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		ref, err := s.PutReader(t.Context(), "w/p/d/upload-1/original", bytes.NewReader(data))
		if err != nil || ref.Bytes != int64(size) {
			t.Fatalf("%d bytes: stored %+v, %v", size, ref, err)
		}
		if got, err := s.Get(t.Context(), "w/p/d/upload-1/original"); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes: read %d, %v", size, len(got), err)
		}
	}
	t.Run("leave_nothing_when_they_break", func(t *testing.T) {
		gone := errors.New("the client went away")
		r := io.MultiReader(bytes.NewReader(make([]byte, 17<<20)), readerFunc(func([]byte) (int, error) { return 0, gone }))
		if _, err := s.PutReader(t.Context(), "w/p/d/upload-2/original", r); !errors.Is(err, gone) {
			t.Errorf("got error %v, want the reader's", err)
		}
		wantUploads(t, endpoint, 0)
	})
	t.Run("a_removal_takes_the_parts_that_a_kill_left", func(t *testing.T) {
		name := bucketName
		for _, key := range []string{"cairn/w/p/d/upload-3/original", "cairn/w/p/d/upload-kept/original", "cairn/w/p/other/upload-4/original"} {
			if _, err := client(endpoint).CreateMultipartUpload(t.Context(), &sdk.CreateMultipartUploadInput{Bucket: &name, Key: &key}); err != nil {
				t.Fatal(err)
			}
		}
		keep := func(key string, begun time.Time) bool {
			return key == "w/p/d/upload-kept/original" && !begun.IsZero()
		}
		if n, err := s.DeletePrefix(t.Context(), "w/p/d/", keep); n != 1 || err != nil {
			t.Errorf("removed %d, %v, want 1", n, err)
		}
		wantUploads(t, endpoint, 2)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// wantUploads checks the number of uploads that are not complete.
func wantUploads(t *testing.T, endpoint string, want int) {
	t.Helper()
	name := bucketName
	out, err := client(endpoint).ListMultipartUploads(t.Context(), &sdk.ListMultipartUploadsInput{Bucket: &name})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Uploads) != want {
		t.Errorf("%d uploads are not complete, want %d", len(out.Uploads), want)
	}
}

// answer is an error of S3.
func answer(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		if r.Method != http.MethodHead && code != "" {
			fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message></Error>`, code, blobtest.Secret)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	connect := func(t *testing.T, endpoint string) *blob.Store { return open(t, endpoint, "") }
	blobtest.Faults(t, connect, map[string]blobtest.Fault{
		"refused":        {Answer: answer(http.StatusForbidden, "AccessDenied"), Says: "credentials"},
		"wrong_key":      {Answer: answer(http.StatusForbidden, "InvalidAccessKeyId"), Says: "credentials"},
		"no_bucket":      {Answer: answer(http.StatusNotFound, "NoSuchBucket"), Says: "does not exist"},
		"another_region": {Answer: answer(http.StatusMovedPermanently, "PermanentRedirect"), Says: "does not exist"},
		"throttled":      {Answer: answer(http.StatusServiceUnavailable, "SlowDown"), Says: "tried again"},
		"broken":         {Answer: answer(http.StatusInternalServerError, "InternalError"), Says: "tried again"},
	})
	t.Run("credentials_that_expired", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(answer(http.StatusBadRequest, "ExpiredToken"))
		t.Cleanup(server.Close)
		_, err := open(t, server.URL, "").Get(t.Context(), "w/k")
		blobtest.WantFault(t, err, "credentials")
	})
	t.Run("a_full_disk", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(answer(http.StatusInsufficientStorage, "XMinioStorageFull"))
		t.Cleanup(server.Close)
		if _, err := open(t, server.URL, "").Put(t.Context(), "w/k", nil); !errors.Is(err, blob.ErrNoSpace) {
			t.Errorf("got %v", err)
		}
	})
}

// TestDeletesInBatches counts the requests of a removal, some of which fail in part.
func TestDeletesInBatches(t *testing.T) {
	t.Parallel()
	const objects = 2500
	inner := gofakes3.New(s3mem.New()).Server()
	var deletes, refusals, missing atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("delete") {
			deletes.Add(1)
			if refusals.Add(-1) >= 0 {
				fmt.Fprint(w, `<DeleteResult><Error><Key>w/0001</Key><Code>SlowDown</Code><Message>secret words</Message></Error></DeleteResult>`)
				return
			}
			if missing.Add(-1) >= 0 {
				fmt.Fprint(w, `<DeleteResult><Error><Key>w/0001</Key><Code>NoSuchKey</Code><Message>secret words</Message></Error></DeleteResult>`)
				return
			}
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s := open(t, create(t, server.URL), "")
	fill := func(n int) {
		for i := range n {
			if _, err := s.Put(t.Context(), fmt.Sprintf("w/%04d", i), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(objects)
	if n, err := s.DeletePrefix(t.Context(), "w/", nil); n != objects || err != nil || deletes.Load() != 3 {
		t.Errorf("removed %d in %d requests, %v", n, deletes.Load(), err)
	}
	fill(3)
	refusals.Store(1)
	deletes.Store(0)
	if _, err := s.DeletePrefix(t.Context(), "w/", nil); err != nil || deletes.Load() != 2 {
		t.Errorf("after a refusal in part: %d requests, %v", deletes.Load(), err)
	}
	fill(3)
	refusals.Store(100)
	_, err := s.DeletePrefix(t.Context(), "w/", nil)
	blobtest.WantFault(t, err, "tried again")
	refusals.Store(0)
	missing.Store(1)
	deletes.Store(0)
	if _, err := s.DeletePrefix(t.Context(), "w/", nil); err != nil || deletes.Load() != 1 {
		t.Errorf("objects that another one removed: %d requests, %v", deletes.Load(), err)
	}
	if n, err := s.DeletePrefix(t.Context(), "w/", nil); n != 3 || err != nil {
		t.Errorf("the repetition removed %d, %v", n, err)
	}
}

func TestLink(t *testing.T) {
	t.Parallel()
	s := open(t, create(t, standin.S3(t)), "cairn/")
	if _, err := s.Put(t.Context(), "w/k", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	address, _ := blobtest.WantLink(t, s, "w/k", "0123456789")
	for name, want := range map[string]string{"response-content-type": "text/plain", "response-content-disposition": `attachment; filename="a b.txt"`} {
		if got := address.Query().Get(name); got != want { // moto ignores them
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "{", "{}", `{"access_key_id":"hunter2"}`, "hunter2"} {
		_, err := s3.New(t.Context(), s3.Config{Bucket: bucketName, Credentials: []byte(secret), Client: http.DefaultClient})
		if err == nil || !strings.Contains(err.Error(), "blob.credentials_env") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got error %v", secret, err)
		}
	}
}
