package blobtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/internal/blob"
)

// Batches checks how a bucket deletes blobs with requests that are batches in a multipart
// body, of up to size blobs each. open returns the bucket behind an endpoint, and answer
// an HTTP response of the service with a status to a part of a batch.
func Batches(t *testing.T, size int, open func(t *testing.T, endpoint string) blob.Bucket, answer func(status int) string) {
	t.Helper()
	for name, c := range map[string]struct {
		kinds    []string // of the blobs, one after another
		blobs    int
		requests int64
		says     string // "" = no error
	}{
		"takes_few_requests":                   {[]string{"there"}, blob.MaxDelete, int64((blob.MaxDelete + size - 1) / size), ""},
		"missing_blobs_are_no_error":           {[]string{"there", "missing"}, size, 1, ""},
		"only_those_that_failed_are_repeated":  {[]string{"there", "busy", "missing"}, size, 2, ""},
		"a_refusal_of_one_is_a_typed_error":    {[]string{"there", "there", "refused"}, 3, 3, "credentials"},
		"a_batch_without_success_is_an_outage": {[]string{"down"}, size, 3, "tried again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := &batchService{answer: answer}
			keys := make([]string, c.blobs)
			for i := range keys {
				keys[i] = fmt.Sprintf("w/%s/%d", c.kinds[i%len(c.kinds)], i)
			}
			err := open(t, serve(t, service.serve)).Delete(t.Context(), keys)
			if c.says == "" && err != nil || c.says != "" && !isFault(err, c.says) {
				t.Errorf("got %v", err)
			}
			if got := service.requests.Load(); got != c.requests {
				t.Errorf("%d requests, want %d", got, c.requests)
			}
			for _, key := range keys {
				if tries := service.tries(key); tries != 1 && strings.Contains(key, "/there/") {
					t.Errorf("%s was deleted %d times", key, tries)
				}
			}
		})
	}
}

// WithoutBatches checks that a bucket of a service without batches deletes several blobs
// one by one. deleted is the status with which the service deletes one.
func WithoutBatches(t *testing.T, open func(t *testing.T, endpoint string) blob.Bucket, deleted int) {
	t.Helper()
	for _, status := range []int{http.StatusMethodNotAllowed, http.StatusNotImplemented} {
		t.Run(fmt.Sprintf("without_batches_%d", status), func(t *testing.T) {
			t.Parallel()
			var seen sync.Map
			endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.Method {
				case http.MethodDelete:
					_, key, _ := strings.Cut(r.URL.Path, "/w/")
					seen.Store("w/"+key, true)
					w.WriteHeader(deleted)
				case http.MethodPost:
					w.WriteHeader(status)
				default:
					_, _ = io.WriteString(w, "{}") // a listing
				}
			})
			keys := []string{"w/a", "w/b", "w/c"}
			if err := open(t, endpoint).Delete(t.Context(), keys); err != nil {
				t.Fatal(err)
			}
			for _, key := range keys {
				if _, ok := seen.Load(key); !ok {
					t.Errorf("%s was not deleted", key)
				}
			}
		})
	}
}

// DeletesSeveral checks that a bucket deletes several blobs at once, of which some are
// missing, and no other.
func DeletesSeveral(t *testing.T, b blob.Bucket) {
	t.Helper()
	for _, key := range []string{"w/a", "w/b c+ü", "w/a-2"} {
		if err := b.Put(t.Context(), key, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Delete(t.Context(), []string{"w/none", "w/a", "w/b c+ü", "none"}); err != nil {
		t.Error(err)
	}
	for key, want := range map[string]bool{"w/a": false, "w/b c+ü": false, "w/a-2": true} {
		if found, err := b.Exists(t.Context(), key); found != want || err != nil {
			t.Errorf("%s exists: %v, %v", key, found, err)
		}
	}
}

// batchService answers batches. The kind of a blob in its name decides the answer to it.
type batchService struct {
	answer   func(status int) string
	requests atomic.Int64
	seen     sync.Map // of the paths of blobs to their tries
}

func (s *batchService) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	_, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body, cut := io.ReadAll(r.Body) // the answer begins behind it
	if err = errors.Join(err, cut); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := multipart.NewWriter(w)
	w.Header().Set("Content-Type", "multipart/mixed; boundary="+out.Boundary())
	w.WriteHeader(http.StatusAccepted)
	for in := multipart.NewReader(bytes.NewReader(body), parameters["boundary"]); ; {
		part, err := in.NextPart()
		if errors.Is(err, io.EOF) {
			_ = out.Close() // the client reads on
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		request, err := http.ReadRequest(bufio.NewReader(part))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		response, _ := out.CreatePart(textproto.MIMEHeader{"Content-Type": {"application/http"}, "Content-Id": part.Header["Content-Id"]})
		_, _ = io.WriteString(response, s.answer(s.status(request))) // the client notices a part that it did not get
	}
}

// status returns the status of the answer to a request for the removal of a blob.
func (s *batchService) status(r *http.Request) int {
	_, key, _ := strings.Cut(r.URL.Path, "/w/") // behind the bucket
	key = "w/" + key
	tries := s.tries(key)
	s.seen.Store(key, tries+1)
	switch kind := strings.Split(key, "/")[1]; {
	case r.Method != http.MethodDelete:
		return http.StatusBadRequest
	case kind == "missing":
		return http.StatusNotFound
	case kind == "refused":
		return http.StatusForbidden
	case kind == "down", kind == "busy" && tries == 0:
		return http.StatusServiceUnavailable
	}
	return http.StatusNoContent
}

func (s *batchService) tries(key string) int {
	value, _ := s.seen.Load(key)
	tries, _ := value.(int) // 0 for a blob that was not seen
	return tries
}
