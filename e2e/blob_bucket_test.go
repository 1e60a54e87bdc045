package e2e_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// blobBucket is the bucket "shelf" of an S3 server on a port of its own. The server can be
// stopped and started again, and keeps the objects meanwhile.
type blobBucket struct {
	t       *testing.T
	address string
	objects http.Handler

	mu     sync.Mutex
	server *http.Server
	counts map[string]int // requests by method
}

func newBlobBucket(t *testing.T) *blobBucket {
	t.Helper()
	b := &blobBucket{t: t, address: "127.0.0.1:0", objects: gofakes3.New(s3mem.New()).Server(), counts: map[string]int{}}
	b.objects.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/shelf", http.NoBody))
	b.start()
	t.Cleanup(b.stop)
	return b
}

// ServeHTTP implements http.Handler.
func (b *blobBucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.counts[r.Method]++
	b.mu.Unlock()
	b.objects.ServeHTTP(w, r)
}

// start listens, on the same port as before.
func (b *blobBucket) start() {
	b.t.Helper()
	listener, err := net.Listen("tcp", b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	server := &http.Server{Handler: b, ReadHeaderTimeout: time.Minute}
	b.mu.Lock()
	b.address, b.server = listener.Addr().String(), server
	b.mu.Unlock()
	go func() { _ = server.Serve(listener) }() // it ends with stop
}

// stop ends the server with its connections.
func (b *blobBucket) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.server.Close() // the connections end however they do
}

// env points a server at the bucket.
func (b *blobBucket) env() []string {
	return []string{
		"CAIRN_BLOB__URL=s3://shelf/cairn?endpoint=http://" + b.address,
		"CAIRN_BLOB__CREDENTIALS_ENV=SHELF", `SHELF={"access_key_id": "AKID", "secret_access_key": "AKID"}`,
	}
}

// keys returns the keys of the objects that contain a part.
func (b *blobBucket) keys(part string) []string {
	b.t.Helper()
	var keys []string
	for after := ""; ; {
		w := httptest.NewRecorder()
		b.objects.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/shelf?list-type=2&start-after="+after, http.NoBody))
		var page struct {
			Contents    []struct{ Key string }
			IsTruncated bool
		}
		if err := xml.Unmarshal(w.Body.Bytes(), &page); err != nil {
			b.t.Fatal(err)
		}
		for _, o := range page.Contents {
			if after = o.Key; strings.Contains(o.Key, part) {
				keys = append(keys, o.Key)
			}
		}
		if !page.IsTruncated {
			return keys
		}
	}
}

// TestBlobsInABucket keeps the blobs in a bucket: documents are ingested over a kill in the
// middle, found, asked about and removed. Nothing of a removed document is left.
func TestBlobsInABucket(t *testing.T) {
	t.Parallel()
	const documents = 6
	b := newBlobBucket(t)
	m := standIn(t, modeltest.Options{EmbeddingDelay: 80 * time.Millisecond})
	s := start(t, at(m.URL(), append(b.env(), "CAIRN_BLOB__PRESIGN=true", "CAIRN_EGRESS__ALLOW=127.0.0.0/8", "CAIRN_IMPORT__AMBIENT_IDENTITY=default")...)...)
	list := s.ingestOverKill(t, m, documents)
	if _, err := os.Stat(filepath.Join(s.folder, "blobs")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a folder of blobs too: %v", err)
	}
	source := map[string]any{"source": map[string]any{"type": "s3", "uri": "s3://shelf/cairn/other-workspace/"}, "project_id": "default"}
	if status, text := s.answered(t, "POST", "/workspaces/default/imports", source); status != http.StatusUnprocessableEntity || !strings.Contains(text, "keeps its own data") {
		t.Errorf("an import of the server's own blobs: status %d, %s", status, text)
	}
	s.importsBesideBlobs(t, b, documents)
	s.wantDownload(t, list[1].ID, b.address, crashText(1))
	if keys := b.keys(list[0].ID); len(keys) == 0 {
		t.Error("the bucket has nothing of the first document")
	}
	if status := s.call(t, http.MethodDelete, "/workspaces/default/documents/"+list[0].ID, nil, nil); status >= 300 {
		t.Errorf("the removal of a document: status %d", status)
	}
	await(t, time.Minute, "the bytes of the removed document are gone", func(context.Context) error {
		if keys := b.keys(list[0].ID); len(keys) > 0 {
			return fmt.Errorf("%d are left, such as %s", len(keys), keys[0])
		}
		return nil
	})
	if keys := b.keys("shelf/"); len(keys) > 0 {
		t.Errorf("objects outside of the prefix: %v", keys)
	}
	s.stop()
}

// importsBesideBlobs imports another bucket of the service that keeps the blobs, and tries to
// import the blobs by other names.
func (s *server) importsBesideBlobs(t *testing.T, b *blobBucket, documents int) {
	t.Helper()
	put := func(key, body string) {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPut, key, strings.NewReader(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		if b.objects.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Fatalf("put %s: status %d", key, w.Code)
		}
	}
	put("/books", "")
	put("/books/in/one.txt", "The keeper of the northern light is called Ingrid.")
	at := "http://" + b.address
	run := func(uri, endpoint string) client.Import {
		t.Helper()
		return s.runImport(t, client.NewImport{Source: client.ImportSource{
			Type: "s3", URI: uri, Options: map[string]any{"endpoint": endpoint, "path_style": true, "anonymous": true},
		}})
	}
	wantCounts(t, run("s3://books/in/", at), counts{discovered: 1, published: 1})
	s.awaitPublished(t, documents+1)
	for uri, endpoint := range map[string]string{
		"s3://cairn/":         at + "/shelf",
		"s3://..":             at + "/books",
		"s3://./shelf/cairn/": at,
	} {
		if i := run(uri, endpoint); i.Status != "failed" {
			t.Errorf("the import of %s at %s ended as %+v", uri, endpoint, i)
		}
	}
	s.awaitPublished(t, documents+1)
}

// wantDownload reads an original as a browser does, which follows the redirect to the
// bucket and sends it no key.
func (s *server) wantDownload(t *testing.T, document, bucket, want string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.ends.API+"/workspaces/default/documents/"+document+"/content", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || string(body) != want {
		t.Errorf("status %d, %.80q, %v", response.StatusCode, body, err)
	}
	if response.Request.URL.Host != bucket {
		t.Errorf("the bytes came from %s, not from the bucket", response.Request.URL.Host)
	}
}

// TestBucketThatIsDown stops the service of the bucket during uploads, an ingest and an
// answer. Each says so and continues when the service is back.
func TestBucketThatIsDown(t *testing.T) {
	t.Parallel()
	b := newBlobBucket(t)
	m := standIn(t, modeltest.Options{TokenDelay: 100 * time.Millisecond})
	s := start(t, at(m.URL(), b.env()...)...)
	s.publish(t, "before", "The northern pier has a lighthouse.")
	s.wantReady(t, "up")

	question := s.begun(t, "What is on the northern pier?", 3)
	asked := func(n int) {
		if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked >= n }); err != nil {
			t.Fatal(err)
		}
	}
	asked(2) // the first document and the question
	m.ScriptEmbeddings(modeltest.Reply{Delay: 5 * time.Second})
	during := s.upload(t, "during", "The southern pier has a foghorn.")
	asked(3)
	b.stop()
	s.wantReady(t, "down")
	await(t, time.Minute, "the document waits for the bucket", func(context.Context) error {
		d := s.document(t, during.ID)
		if d.Status != knowledge.StatusPending {
			t.Fatalf("it is %s, %+v", d.Status, d.Error)
		}
		if d.Waiting == nil || d.Waiting.Code != knowledge.CodeUnavailable || !strings.Contains(d.Waiting.Message, "blob store") {
			return fmt.Errorf("it waits as %+v", d.Waiting)
		}
		return nil
	})
	body := map[string]any{"name": "refused", "content": map[string]string{"text": "The eastern pier has a beacon."}}
	s.refuses(t, "POST", webhooks+"/document?projectId=default", body, http.StatusServiceUnavailable, knowledge.CodeUnavailable)

	b.start()
	s.wantReady(t, "up")
	if _, err := s.Wait(t.Context(), during.RunID, nil); err != nil {
		t.Fatal(err)
	}
	s.awaitPublished(t, 2)
	answer := read(t, s.follow(t, question.run, 0))
	if answer.answer.Text == "" || answer.text != answer.answer.Text {
		t.Errorf("the answer is %+v", answer)
	}
	s.stop()
}

// wantReady waits until /readyz reports the blob store as up or down, and itself with it.
func (s *server) wantReady(t *testing.T, status string) {
	t.Helper()
	code := map[string]int{"up": http.StatusOK, "down": http.StatusServiceUnavailable}[status]
	await(t, 30*time.Second, "/readyz reports the blob store as "+status, func(ctx context.Context) error {
		res, err := s.send(ctx, http.MethodGet, "/readyz", nil)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != code || !strings.Contains(string(text), `{"name":"blobs","status":"`+status+`"`) {
			return fmt.Errorf("status %d, %s, %w", res.StatusCode, text, err)
		}
		return nil
	})
}
