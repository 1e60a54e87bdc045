package e2e_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

const crashDocuments = 25

func TestKillDuringIngestion(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	m := standIn(t, modeltest.Options{EmbeddingDelay: 80 * time.Millisecond})
	w := watch(t, m)
	s := start(t, at(w.url)...)
	w.folder = filepath.Join(s.folder, "blobs")

	var uploads sync.WaitGroup
	documents := make([]accepted, crashDocuments)
	for c := range 4 {
		uploads.Go(func() {
			for i := c; i < crashDocuments; i += 4 {
				documents[i] = s.uploadThrough(t, i)
			}
		})
	}
	for _, after := range []int{4 + random.IntN(12), 20 + random.IntN(12)} { // of about 44 batches
		if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked >= after }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(80)) * time.Millisecond) // a random moment
		s.kill()
		w.nextLife()
		s.restart()
	}
	uploads.Wait()
	if t.Failed() {
		return
	}
	s.awaitPublished(t, crashDocuments)
	for i, a := range documents {
		s.wantOnce(t, a, i)
	}
	w.verdict(t)
}

// uploadThrough sends the same upload again until the server accepts it, over any
// number of kills.
func (s *server) uploadThrough(t *testing.T, i int) accepted {
	name := fmt.Sprintf("document %d", i)
	body := map[string]any{"name": name, "externalId": name, "content": map[string]string{"text": crashText(i)}}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var a accepted
		res, err := s.send(t.Context(), "POST", webhooks+"/document?projectId=default", body, "Idempotency-Key", fmt.Sprintf("upload-%d", i))
		if err == nil {
			err = json.NewDecoder(res.Body).Decode(&a)
			res.Body.Close()
			if err == nil && res.StatusCode == http.StatusAccepted {
				return a
			}
			if err == nil && res.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("upload of %s: status %d", name, res.StatusCode)
				return a
			}
		}
		if time.Now().After(deadline) {
			t.Errorf("upload of %s: %v", name, err)
			return a
		}
	}
}

// crashText returns the text of a document: one passage, or several batches of
// passages for every fifth document. The first passage has a word of its own.
func crashText(i int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "The watchword of station %d is %s.\n", i, watchword(i))
	if i%5 == 0 {
		for line := range 300 {
			fmt.Fprintf(&text, "\nStation %d, entry %d: %s", i, line, strings.Repeat(fmt.Sprintf("the gauge shows %d at noon. ", i*1000+line), 20))
		}
	}
	return text.String()
}

// watchword returns a word that no other document has.
func watchword(i int) string {
	return "qu" + strings.Repeat(string(rune('a'+i%26)), 5) + strings.Repeat("x", 1+i/26)
}

func (s *server) awaitPublished(t *testing.T, n int) {
	t.Helper()
	s.awaitPublishedWithin(t, 2*time.Minute, n)
}

func (s *server) awaitPublishedWithin(t *testing.T, limit time.Duration, n int) {
	t.Helper()
	await(t, limit, "every document is published", func(ctx context.Context) error {
		list, err := s.Documents(ctx, client.DocumentQuery{Project: "default"})
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(list.Documents, func(d client.Document) bool { return d.Status == "published" })
		if len(left) > 0 {
			return fmt.Errorf("%d are not; %s is %s", len(left), left[0].Name, left[0].Status)
		}
		if list.Total != n {
			return fmt.Errorf("there are %d of %d", list.Total, n)
		}
		return nil
	})
}

// ingestOverKill uploads documents, kills the server in the middle, and checks that each
// is published once and that a question is answered.
func (s *server) ingestOverKill(t *testing.T, m *modeltest.Server, documents int) []accepted {
	t.Helper()
	var uploads sync.WaitGroup
	list := make([]accepted, documents)
	for i := range list {
		uploads.Go(func() { list[i] = s.uploadThrough(t, i) })
	}
	if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked >= 4 }); err != nil {
		t.Fatal(err)
	}
	s.kill()
	s.restart()
	uploads.Wait()
	if t.Failed() {
		t.FailNow()
	}
	s.awaitPublished(t, documents)
	for i, a := range list {
		s.wantOnce(t, a, i)
	}
	if answer := read(t, s.follow(t, s.query(t, "What is the watchword of station 1?").run, 0)); answer.last.Name != client.EventCompleted || answer.text == "" {
		t.Errorf("the answer is %+v", answer)
	}
	return list
}

// wantOnce checks that a document was published as one version, and that each of
// its passages is stored once and found once.
func (s *server) wantOnce(t *testing.T, a accepted, i int) {
	t.Helper()
	d := s.document(t, a.ID)
	if d.Version != 1 || d.PublishedVersion != 1 {
		t.Errorf("document %d has version %d, published %d; want 1 and 1", i, d.Version, d.PublishedVersion)
	}
	seen := map[string]bool{}
	for cursor := ""; ; {
		var page struct {
			Data []struct {
				ID   string `json:"id"`
				Text string `json:"text"`
			} `json:"data"`
			NextCursor string `json:"next_cursor"`
		}
		if status := s.call(t, "GET", "/workspaces/default/documents/"+a.ID+"/chunks?limit=500&cursor="+url.QueryEscape(cursor), nil, &page); status != http.StatusOK {
			t.Fatalf("chunks of document %d: status %d", i, status)
		}
		for _, c := range page.Data {
			if seen[c.Text] {
				t.Errorf("document %d has a passage twice", i)
			}
			seen[c.Text] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if d.ChunkCount != len(seen) || d.ChunkCount == 0 || i%5 == 0 && d.ChunkCount < 2*64 {
		t.Errorf("document %d says %d passages and has %d", i, d.ChunkCount, len(seen))
	}
	found, err := s.retrieve(t.Context(), "Which station has the watchword "+watchword(i)+"?", watchword(i))
	if err != nil || len(found) != 1 || found[0].DocumentID != a.ID {
		t.Errorf("document %d is found as %v, %v; want once", i, found, err)
	}
}

// embeddingWatch is a proxy in front of the stand-in model. It checks that the
// server requests no batch whose result is stored, and none twice between two
// kills.
type embeddingWatch struct {
	url    string
	folder string // the folder of the blobs

	mu       sync.Mutex
	life     int
	asked    map[string][]int // for each batch, the number of kills before each request for it
	breaches []string
}

func watch(t *testing.T, m *modeltest.Server) *embeddingWatch {
	t.Helper()
	target, err := url.Parse(strings.TrimSuffix(m.URL(), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	w := &embeddingWatch{asked: map[string][]int{}}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }, // the server was killed
	}
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/embeddings") {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			w.note(body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(front.Close)
	w.url = front.URL + "/v1"
	return w
}

func (w *embeddingWatch) note(body []byte) {
	var request struct {
		Input []string `json:"input"`
	}
	err := json.Unmarshal(body, &request)
	name := storedName(request.Input)
	stored, listErr := w.stored()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || listErr != nil {
		w.breaches = append(w.breaches, fmt.Sprintf("unreadable request: %v, %v", err, listErr))
	}
	if stored[name] {
		w.breaches = append(w.breaches, "a batch was asked for again although it is stored")
	}
	if slices.Contains(w.asked[name], w.life) {
		w.breaches = append(w.breaches, "a batch was asked for twice without a kill in between")
	}
	w.asked[name] = append(w.asked[name], w.life)
}

// storedName returns the name under which the server stores the result of a batch.
func storedName(texts []string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:16])
	}
	var hashes []string
	for _, t := range texts {
		hashes = append(hashes, hash(fmt.Sprintf("%s %d %s", modeltest.ModelName, 0, t)))
	}
	return hash(strings.Join(hashes, " "))
}

// stored returns the names of the batches whose result is stored.
func (w *embeddingWatch) stored() (map[string]bool, error) {
	objects, err := blob.ListFolder(context.Background(), w.folder)
	names := map[string]bool{}
	for _, o := range objects {
		if path.Base(path.Dir(o.Key)) == "vectors" && path.Ext(o.Key) == "" {
			names[path.Base(o.Key)] = true
		}
	}
	return names, err
}

// nextLife records that the server was killed.
func (w *embeddingWatch) nextLife() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.life++
}

// verdict reports the violations once everything is published. Questions request
// batches too, so a test must not ask any while documents are ingested.
func (w *embeddingWatch) verdict(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.breaches {
		t.Error(b)
	}
	stored, err := w.stored()
	if err != nil {
		t.Fatal(err)
	}
	known, again := 0, 0
	for name, lives := range w.asked {
		if stored[name] {
			known++
			again += len(lives) - 1
		}
	}
	// The checks above prove nothing if storedName differs from the server's names.
	if known != len(stored) || known < crashDocuments {
		t.Errorf("%d batches are stored, and %d of them were seen", len(stored), known)
	}
	t.Logf("%d batches, %d of them asked for again after a kill", known, again)
}
