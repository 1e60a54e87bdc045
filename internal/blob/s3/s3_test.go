package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
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
	"github.com/cairn-rag/cairn/internal/knowledge"
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
	b, err := s3.New(t.Context(), s3.Config{
		Bucket: bucketName, Prefix: prefix, Endpoint: endpoint, PathStyle: true, Credentials: []byte(secret), Client: http.DefaultClient,
	})
	if err != nil {
		t.Fatal(err)
	}
	return blob.New(b)
}

// contract runs the contract on a server. Each store has a prefix of its own, so that
// one that left its prefix would fail the test of another.
func contract(t *testing.T, endpoint string) {
	var stores atomic.Int64
	blobtest.Run(t, func(t *testing.T) *blob.Store { return open(t, endpoint, fmt.Sprintf("store%d/", stores.Add(1))) })
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

// operations are the requests of a store. Each is to report a fault.
var operations = map[string]func(context.Context, *blob.Store) error{
	"put": func(ctx context.Context, s *blob.Store) error { _, err := s.Put(ctx, "w/k", []byte("x")); return err },
	"put_large": func(ctx context.Context, s *blob.Store) error {
		_, err := s.PutReader(ctx, "w/k", bytes.NewReader(make([]byte, 9<<20)))
		return err
	},
	"get":           func(ctx context.Context, s *blob.Store) error { _, err := s.Get(ctx, "w/k"); return err },
	"exists":        func(ctx context.Context, s *blob.Store) error { _, err := s.Exists(ctx, "w/k"); return err },
	"delete":        func(ctx context.Context, s *blob.Store) error { return s.Delete(ctx, "w/k") },
	"delete_prefix": func(ctx context.Context, s *blob.Store) error { _, err := s.DeletePrefix(ctx, "w/", nil); return err },
	"ping":          func(ctx context.Context, s *blob.Store) error { return s.Ping(ctx) },
}

// answer is an error of S3.
func answer(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		if r.Method != http.MethodHead && code != "" {
			fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>secret words</Message></Error>`, code)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	var requests sync.WaitGroup
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		says    string
	}{
		"refused":           {answer(http.StatusForbidden, "AccessDenied"), "credentials"},
		"wrong_key":         {answer(http.StatusForbidden, "InvalidAccessKeyId"), "credentials"},
		"expired":           {answer(http.StatusBadRequest, "ExpiredToken"), "credentials"},
		"no_bucket":         {answer(http.StatusNotFound, "NoSuchBucket"), "does not exist"},
		"another_region":    {answer(http.StatusMovedPermanently, "PermanentRedirect"), "does not exist"},
		"throttled":         {answer(http.StatusServiceUnavailable, "SlowDown"), "tried again"},
		"too_many":          {answer(http.StatusTooManyRequests, ""), "tried again"},
		"broken":            {answer(http.StatusInternalServerError, "InternalError"), "tried again"},
		"a_proxy_is_broken": {answer(http.StatusBadGateway, ""), "tried again"},
		"hangs_up":          {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "tried again"},
	} {
		server := httptest.NewServer(c.handler)
		t.Cleanup(server.Close)
		s := open(t, server.URL, "")
		for operation, do := range operations {
			if operation == "ping" && name == "expired" {
				continue // the answer to HEAD has no code
			}
			requests.Go(func() { // each is repeated for seconds
				if err := do(t.Context(), s); !isFault(err, c.says) {
					t.Errorf("%s, %s: got %v", name, operation, err)
				}
			})
		}
	}
	requests.Wait()
	t.Run("nobody_listens", func(t *testing.T) {
		t.Parallel()
		closed := httptest.NewServer(http.NotFoundHandler())
		closed.Close()
		wantFault(t, operations["put"](t.Context(), open(t, closed.URL, "")), "tried again")
	})
	t.Run("half_an_object", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half")) // then the handler ends, and the server closes the connection
		}))
		t.Cleanup(server.Close)
		wantFault(t, operations["get"](t.Context(), open(t, server.URL, "")), "tried again")
	})
	t.Run("a_full_disk", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(answer(http.StatusInsufficientStorage, "XMinioStorageFull"))
		t.Cleanup(server.Close)
		if err := operations["put"](t.Context(), open(t, server.URL, "")); !errors.Is(err, blob.ErrNoSpace) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("one_failure_is_repeated_at_once", func(t *testing.T) {
		t.Parallel()
		var requests atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) == 1 {
				answer(http.StatusServiceUnavailable, "SlowDown")(w, r)
			}
		}))
		t.Cleanup(server.Close)
		if err := operations["put"](t.Context(), open(t, server.URL, "")); err != nil {
			t.Error(err)
		}
	})
}

func wantFault(t *testing.T, err error, says string) {
	t.Helper()
	if !isFault(err, says) {
		t.Errorf("got %v, want an unavailable store that says %q", err, says)
	}
}

// isFault reports whether err is one of a service, which can be retried and shows users
// nothing of the service's words.
func isFault(err error, says string) bool {
	e, ok := errors.AsType[*knowledge.Error](err)
	return ok && e.Code == knowledge.CodeUnavailable && e.Retryable && strings.Contains(e.Message, says) &&
		!strings.Contains(e.Message, "secret words") && !errors.Is(err, blob.ErrNotFound)
}

// TestDeletesInBatches counts the requests of a removal, some of which fail in part.
func TestDeletesInBatches(t *testing.T) {
	t.Parallel()
	const objects = 2500
	inner := gofakes3.New(s3mem.New()).Server()
	var deletes, refusals atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("delete") {
			deletes.Add(1)
			if refusals.Add(-1) >= 0 {
				fmt.Fprint(w, `<DeleteResult><Error><Key>w/0001</Key><Code>SlowDown</Code><Message>secret words</Message></Error></DeleteResult>`)
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
	wantFault(t, err, "tried again")
	refusals.Store(0)
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
	address, err := s.Link(t.Context(), "w/k", blob.Download{MediaType: "text/plain", Disposition: `attachment; filename="a b.txt"`, Valid: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	whole, body := fetch(t, address, "")
	if body != "0123456789" || whole.StatusCode != http.StatusOK {
		t.Errorf("got status %d, %q", whole.StatusCode, body)
	}
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	// Moto ignores them.
	for name, want := range map[string]string{"response-content-type": "text/plain", "response-content-disposition": `attachment; filename="a b.txt"`} {
		if got := parsed.Query().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if part, body := fetch(t, address, "bytes=2-4"); body != "234" || part.StatusCode != http.StatusPartialContent {
		t.Errorf("of a range: status %d, %q", part.StatusCode, body)
	}
}

func fetch(t *testing.T, address, byteRange string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if byteRange != "" {
		request.Header.Set("Range", byteRange)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
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
