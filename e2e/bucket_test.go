package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/cairn-rag/cairn/internal/client"
)

// bucket is the bucket "shelf" of an S3 server in this process, which counts its
// requests.
type bucket struct {
	t     *testing.T
	url   string // of the server
	inner http.Handler

	mu     sync.Mutex
	reads  map[string]int // requests for each object
	delay  time.Duration  // before an object is answered
	faulty http.HandlerFunc
	held   chan struct{} // open: objects wait for it, but for the next passes of them
	passes int
}

func newBucket(t *testing.T) *bucket {
	t.Helper()
	b := &bucket{t: t, inner: gofakes3.New(s3mem.New()).Server(), reads: map[string]int{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.url = server.URL
	b.do(http.MethodPut, "", "")
	return b
}

// ServeHTTP implements http.Handler for the reader of the bucket.
func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, isObject := strings.CutPrefix(r.URL.Path, "/shelf/")
	isObject = isObject && key != "" && r.Method == http.MethodGet
	b.mu.Lock()
	delay, faulty := b.delay, b.faulty
	var held chan struct{}
	if isObject {
		b.reads[key]++
		if b.passes--; b.passes < 0 {
			held = b.held
		}
	}
	b.mu.Unlock()
	if faulty != nil {
		faulty(w, r)
		return
	}
	if isObject && delay > 0 {
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
			return
		}
	}
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	b.inner.ServeHTTP(w, r)
}

// do changes the bucket, beside the requests that are counted.
func (b *bucket) do(method, key, body string) {
	b.t.Helper()
	r := httptest.NewRequest(method, "/shelf/"+(&url.URL{Path: key}).EscapedPath(), strings.NewReader(body))
	r.Header.Set("Content-Length", fmt.Sprint(len(body)))
	w := httptest.NewRecorder()
	b.inner.ServeHTTP(w, r)
	if w.Code >= 300 {
		b.t.Fatalf("%s %s: status %d, %s", method, key, w.Code, w.Body)
	}
}

func (b *bucket) put(key, body string) { b.do(http.MethodPut, key, body) }
func (b *bucket) remove(key string)    { b.do(http.MethodDelete, key, "") }

// slow sets how long an object takes to be answered.
func (b *bucket) slow(delay time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.delay = delay
}

// hold answers n more objects, and others not before release.
func (b *bucket) hold(n int) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := make(chan struct{})
	b.held, b.passes = held, n
	release = sync.OnceFunc(func() { close(held) })
	b.t.Cleanup(release)
	return release
}

// fail makes every request fail, nil = none.
func (b *bucket) fail(handler http.HandlerFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faulty = handler
}

// takeReads returns the keys of the objects that were read since the last call.
func (b *bucket) takeReads() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	keys := slices.Sorted(maps.Keys(b.reads))
	b.reads = map[string]int{}
	return keys
}

// readAgain returns how many objects were read more than once since takeReads.
func (b *bucket) readAgain() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, reads := range b.reads {
		if reads > 1 {
			n++
		}
	}
	return n
}

// source returns the objects of the bucket below a prefix.
func (b *bucket) source(prefix string) client.ImportSource {
	return client.ImportSource{
		Type: "s3", URI: "s3://shelf/" + prefix, Options: map[string]any{"endpoint": b.url, "path_style": true, "anonymous": true},
	}
}

// fill puts n small texts below a prefix, each with a word of its own.
func (b *bucket) fill(prefix string, n int) {
	b.t.Helper()
	for i := range n {
		b.put(b.key(prefix, i), objectText(prefix, i, "first"))
	}
}

func (b *bucket) key(prefix string, i int) string {
	return fmt.Sprintf("%s%03d/%04d.txt", prefix, i/100, i)
}

// objectText returns the text of an object in an edition.
func objectText(prefix string, i int, edition string) string {
	return fmt.Sprintf("The %s edition of note %d in %s has the password %s.", edition, i, prefix, password(i))
}

// password returns a word that no other number has.
func password(i int) string {
	word := []byte("zq")
	for n := i + 1; n > 0; n /= 20 {
		word = append(word, "bcdfghjklmnpqrstvwxz"[n%20], 'a')
	}
	return string(word)
}
