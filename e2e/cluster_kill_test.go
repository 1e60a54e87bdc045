package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/service"
)

// outageDocuments are uploaded in each part of TestClusterKills.
const outageDocuments = 15

// TestClusterKills runs two APIs and two workers on Temporal and the metadata in
// PostgreSQL, the index in Milvus and the blobs in a bucket. It kills an API and a worker in the middle of an
// answer, a worker in the middle of ingestion, and each of the services during both.
func TestClusterKills(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 250, TokenDelay: 15 * time.Millisecond, EmbeddingDelay: 50 * time.Millisecond})
	c, s := startWholeCluster(t, at(m.URL())...)
	k := &killing{model: m, cluster: c}
	k.workerRole, _ = c.worker()
	k.apiRole, k.api = c.api()
	_, k.other = c.api()
	k.api.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	k.published = 1

	t.Run("a limit of documents counts the documents of both APIs", func(t *testing.T) { sharesRoom(t, k.api, k.other) })
	t.Run("a worker and an API during an answer", k.duringAnswer)
	t.Run("a worker during ingestion", k.duringIngestion)
	for _, outage := range []struct {
		name       string
		service    stoppable
		dependency string // as /readyz names it
	}{
		{"Milvus", stopped{s.milvus}, "index"}, {"PostgreSQL", s.postgres, "database"}, {"Temporal", s.temporal, "temporal"}, {"the bucket", s.bucket, "blobs"},
	} {
		if t.Failed() {
			return
		}
		t.Run(outage.name+" during ingestion and answers", func(t *testing.T) { k.outage(t, outage.service, outage.dependency) })
	}
}

// stopped is Milvus's light server, which is ended in order: killed, it loses writes
// that it has acknowledged, because a record of its log that was cut off ends the replay of
// all that follow. Clients see broken connections either way.
type stopped struct{ *service.Process }

// Kill implements stoppable.
func (s stopped) Kill() error { return s.Stop() }

// stoppable is a service that a test kills and starts again on its data.
type stoppable interface {
	Start(ctx context.Context) error
	Kill() error
}

// killing is a cluster whose parts are killed.
type killing struct {
	model      *modeltest.Server
	cluster    *cluster
	workerRole *role
	apiRole    *role
	api, other *server // the first ends in duringAnswer
	published  int     // documents so far
	uploaded   int     // of them, the documents of uploadThrough
}

func (k *killing) duringAnswer(t *testing.T) {
	a := k.api.query(t, "What is on the northern pier?")
	r := &reader{run: a.run, body: a}
	r.until(t, words(t, 30, answerText))
	asked := k.model.Totals().Chats.Asked
	k.cluster.worker()
	r.until(t, words(t, 100, answerText))
	if again := k.model.Totals().Chats.Asked - asked; again != 0 {
		t.Errorf("the start of a worker repeated the model call of another one %d times", again)
	}
	k.workerRole.kill()
	r.until(t, words(t, 130, answerText))
	k.apiRole.kill()
	silence := r.reconnect(t, k.other, never)
	t.Logf("%v of silence at the other API", silence.Round(time.Millisecond))
	if !r.ended() || silence > silenceLimit {
		t.Fatalf("the stream broke off after event %d, or was silent for %v", r.last, silence)
	}
	wantWhole(t, r.list)
}

// wantWhole checks that readers of an answer have all its words.
func wantWhole(t *testing.T, list []event) {
	t.Helper()
	final := read(t, list).answer.Text
	wantSame(t, "what the reader put together", answerText(t, list), final)
	if n := strings.Count(final, "word"); n != 250 {
		t.Errorf("the answer has %d words of 250", n)
	}
}

func (k *killing) duringIngestion(t *testing.T) {
	victim, _ := k.cluster.worker()
	documents := k.ingest(t, victim.kill)
	k.wantIngested(t, documents)
}

// ingest uploads documents and calls kill when several of them are being embedded.
func (k *killing) ingest(t *testing.T, kill func()) (documents func() []accepted) {
	t.Helper()
	begun := k.model.Totals().Embeddings.Asked
	list := make([]accepted, outageDocuments)
	var uploads sync.WaitGroup
	for c := range 3 {
		uploads.Go(func() {
			for i := c; i < outageDocuments; i += 3 {
				list[i] = k.other.uploadThrough(t, k.uploaded+i)
			}
		})
	}
	if err := k.model.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked >= begun+6 }); err != nil {
		t.Fatal(err)
	}
	kill()
	return func() []accepted { uploads.Wait(); return list }
}

// wantIngested waits until the documents are published, and checks each.
func (k *killing) wantIngested(t *testing.T, documents func() []accepted) {
	t.Helper()
	list := documents()
	if t.Failed() {
		return
	}
	k.published += len(list)
	// The sweep starts the workflows of uploads that were accepted while Temporal was down.
	k.other.awaitPublishedWithin(t, 4*time.Minute, k.published)
	for i, d := range list {
		k.other.wantOnce(t, d, k.uploaded+i)
	}
	k.uploaded += len(list)
}

// outage kills a service while documents are ingested and an answer streams, and starts
// it again.
func (k *killing) outage(t *testing.T, p stoppable, dependency string) {
	s := k.other
	before := k.model.Embeddings()
	a := s.query(t, "What is on the southern pier?")
	r := &reader{run: a.run, body: a}
	r.until(t, words(t, 20, answerText))
	documents := k.ingest(t, func() {
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
	})
	s.awaitState(t, dependency, "down")
	s.wantUnavailable(t, dependency)
	down := time.Now()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	started := time.Since(down)
	s.awaitState(t, dependency, "up")
	t.Logf("the start took %v, and /readyz recovered %v later", started.Round(time.Millisecond), (time.Since(down) - started).Round(time.Millisecond))
	for r.until(t, never); !r.ended(); {
		r.reconnect(t, s, never)
	}
	wantWhole(t, r.list)
	k.wantIngested(t, documents)
	k.wantEmbeddedOnce(t, before, dependency)
}

// awaitState waits until /readyz reports that state of a dependency, and of no other.
func (s *server) awaitState(t *testing.T, dependency, want string) {
	t.Helper()
	await(t, time.Minute, "/readyz reports "+dependency+" as "+want, func(ctx context.Context) error {
		res, err := s.send(ctx, "GET", "/readyz", nil)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		var state struct {
			Dependencies []struct{ Name, Status string }
		}
		if err := json.NewDecoder(res.Body).Decode(&state); err != nil {
			return err
		}
		for _, d := range state.Dependencies {
			if d.Name == dependency && d.Status != want || want == "up" && d.Status != "up" {
				return fmt.Errorf("status %d, %+v", res.StatusCode, state.Dependencies)
			}
		}
		if (res.StatusCode == http.StatusOK) != (want == "up") {
			return fmt.Errorf("status %d", res.StatusCode)
		}
		return nil
	})
}

// wantUnavailable checks that requests that need a dependency fail with the code for
// it while the dependency is down.
func (s *server) wantUnavailable(t *testing.T, dependency string) {
	t.Helper()
	question := map[string]any{"text": "What is on the southern pier?", "projectId": "default"}
	requests := map[string][]string{
		"index": {"/retrieve-context"}, "database": {"/retrieve-context", "/query"}, "temporal": {"/query"}, "blobs": {"/query"},
	}
	for _, path := range requests[dependency] {
		status, code := s.refusal(t, webhooks+path, question)
		if status != http.StatusServiceUnavailable || code != string(knowledge.CodeUnavailable) {
			t.Errorf("%s: status %d with the code %q, want 503 and unavailable", path, status, code)
		}
	}
}

// refusal returns the status and the code of an error.
func (s *server) refusal(t *testing.T, path string, body any) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	res, err := s.send(ctx, "POST", path, body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var p problem
	if err := json.NewDecoder(res.Body).Decode(&p); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return res.StatusCode, string(p.Code)
}

// wantEmbeddedOnce checks that the model was not asked again for a batch that it had
// answered, but for those that were under way when a service died. While the bucket is
// down no answer can be stored, so any batch may be asked for again.
func (k *killing) wantEmbeddedOnce(t *testing.T, before map[string]modeltest.Count, dependency string) {
	t.Helper()
	var again []int
	for batch, n := range k.model.Embeddings() {
		if n.Answered > 1 && before[batch] == (modeltest.Count{}) {
			again = append(again, n.Answered)
		}
	}
	if len(again) > 4 && dependency != "blobs" {
		t.Errorf("batches of embeddings were answered %v times", again)
	}
	t.Logf("%d batches of embeddings were asked for again", len(again))
}
