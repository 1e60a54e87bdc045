package e2e_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"

	_ "modernc.org/sqlite" // the database/sql driver
)

// topics is how many topics the passages of TestGenerations have. A vector has a number
// for each.
const topics = 64

// topic finds the topic of a passage.
var topic = regexp.MustCompile(`topic(\d+)x`)

// twoModels is an embedding endpoint with models whose vectors have one length: a text
// points to its topic, and each model numbers the topics in another way. So a search that
// compares vectors of two models finds passages of another topic.
type twoModels struct {
	*httptest.Server

	shift int // of all topics, so that servers give one model other vectors

	mu    sync.Mutex
	texts map[string]int // that were embedded, by model
}

func newTwoModels(t *testing.T) *twoModels {
	m := &twoModels{texts: map[string]int{}}
	m.Server = httptest.NewServer(http.HandlerFunc(m.embed))
	t.Cleanup(m.Close)
	return m
}

func (m *twoModels) embed(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || !strings.HasPrefix(asked.Model, "model-") {
		http.Error(w, `{"error": {"message": "no such model"}}`, http.StatusNotFound)
		return
	}
	m.mu.Lock()
	m.texts[asked.Model] += len(asked.Input)
	m.mu.Unlock()
	shift := int(asked.Model[len(asked.Model)-1]-'a')*7 + m.shift
	type embedding struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	answer := struct {
		Data []embedding `json:"data"`
	}{}
	for i, text := range asked.Input {
		vector := make([]float32, topics)
		if found := topic.FindStringSubmatch(text); found != nil {
			n, _ := strconv.Atoi(found[1]) // the expression allows only digits
			vector[(n+shift)%topics] = 1
		} else {
			vector[0] = 1
		}
		answer.Data = append(answer.Data, embedding{i, vector})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the server may have been killed
}

func (m *twoModels) embedded(model string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.texts[model]
}

// searchers ask for topics until they are stopped.
type searchers struct {
	stop          context.CancelFunc
	running       sync.WaitGroup
	asked, failed atomic.Int64
}

// askTopics starts clients that check each answer: it has passages, all of the topic.
func (s *server) askTopics(t *testing.T, clients int) *searchers {
	ctx, stop := context.WithCancel(t.Context())
	all := &searchers{stop: stop}
	for c := range clients {
		all.running.Go(func() {
			for n := c; ctx.Err() == nil; n++ {
				if err := s.findsTopic(ctx, n%topics); err != nil && ctx.Err() == nil {
					if all.failed.Add(1) < 5 {
						t.Error(err)
					}
				}
				all.asked.Add(1)
			}
		})
	}
	return all
}

func (s *searchers) end() int64 {
	s.stop()
	s.running.Wait()
	return s.asked.Load()
}

// findsTopic reports a search that finds nothing, or a passage of another topic.
func (s *server) findsTopic(ctx context.Context, n int) error {
	found, err := s.retrieve(ctx, fmt.Sprintf("What is said of topic%dx?", n), "")
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("nothing was found of topic %d", n)
	}
	for _, p := range found {
		if got := topic.FindString(p.Content); got != fmt.Sprintf("topic%dx", n) {
			return fmt.Errorf("a question of topic %d found %q", n, p.Content)
		}
	}
	return nil
}

// reindexAs sets the embedding model, reindexes, and returns the run.
func (s *server) reindexAs(t *testing.T, model string, documents int) string {
	t.Helper()
	var changed struct {
		Outdated int `json:"outdatedDocuments"`
	}
	change := map[string]any{"ai": map[string]any{"embeddings": map[string]any{"model": model}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", change, &changed); status != http.StatusOK || changed.Outdated != documents {
		t.Fatalf("status %d, %d documents are outdated, want %d", status, changed.Outdated, documents)
	}
	var started client.Reindex
	if status := s.call(t, "POST", "/workspaces/default/projects/default/reindex", nil, &started); status != http.StatusAccepted {
		t.Fatalf("reindex: status %d", status)
	}
	return started.RunID
}

// reindexed waits for the end of a reindex.
func (s *server) reindexed(t *testing.T, run string) (p knowledge.ReindexProgress) {
	t.Helper()
	last, err := s.Wait(t.Context(), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	var end client.Ended
	if err := last.Decode(&end); err != nil || end.Status != string(knowledge.RunCompleted) {
		t.Fatalf("the run ended with %s", last.Data)
	}
	if err := json.Unmarshal(end.Result, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// vectorsIn returns the number of vectors of each generation in the files of a server that
// has stopped, and how many vector blobs no manifest names.
func (s *server) vectorsIn(t *testing.T) (inIndex map[string]int, unnamed int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.folder, "index.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it was only read
	rows, err := db.QueryContext(t.Context(), "SELECT id, name FROM generations")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	inIndex, names := map[string]int{}, map[int]string{}
	for rows.Next() {
		var id int
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			t.Fatal(err)
		}
		names[id] = name
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for id, name := range names {
		var n int
		if err := db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT count(*) FROM dense_%d", id)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		inIndex[name] = n
	}
	return inIndex, s.unnamedVectors(t)
}

func (s *server) unnamedVectors(t *testing.T) int {
	t.Helper()
	blobs, err := blob.Open(t.Context(), "file://"+filepath.ToSlash(strings.ReplaceAll(s.folder, " ", "%20"))+"/blobs")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = blobs.Close() }() // it was only read
	windows, named := map[string]bool{}, map[string]bool{}
	for object, err := range blobs.List(t.Context(), "default/default/") {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(object.Key, "/vectors/") {
			continue
		}
		name := object.Key[strings.LastIndexByte(object.Key, '/')+1:]
		if !strings.HasSuffix(name, ".json") {
			windows[name] = true
			continue
		}
		var manifest struct {
			Windows []struct {
				Name string `json:"name"`
			} `json:"windows"`
		}
		if err := blobs.GetJSON(t.Context(), object.Key, &manifest); err != nil {
			t.Fatal(err)
		}
		for _, w := range manifest.Windows {
			named[w.Name] = true
		}
	}
	for name := range named {
		delete(windows, name)
	}
	return len(windows)
}

// TestGenerations embeds a project of 5,000 chunks again while it is searched and while
// documents come, again with a kill in the middle, and rebuilds a lost index.
func TestGenerations(t *testing.T) {
	t.Parallel()
	const documents, sections, clients = 50, 100, 8
	m, chat := newTwoModels(t), standIn(t, modeltest.Options{})
	s := start(t, at(chat.URL(), "CAIRN_MODELS__EMBEDDING__BASE_URL="+m.URL, "CAIRN_MODELS__EMBEDDING__MODEL=model-a")...)
	s.searchByTopic(t)
	text := func(document int) string { return topicText(document, sections) }
	var runs []string
	for d := range documents {
		runs = append(runs, s.upload(t, fmt.Sprint("document ", d), text(d)).RunID)
	}
	s.published(t, runs)

	t.Run("while 8 clients search and documents come", func(t *testing.T) {
		asking := s.askTopics(t, clients)
		run := s.reindexAs(t, "model-b", documents)
		await(t, time.Minute, "the reindex embeds", func(context.Context) error {
			if n := m.embedded("model-b"); n < 500 {
				return fmt.Errorf("%d chunks are embedded", n)
			}
			return nil
		})
		var late []string
		for d := range 3 {
			late = append(late, s.upload(t, fmt.Sprint("late ", d), text(documents+d)).RunID)
		}
		late = append(late, s.upload(t, "document 0", text(documents+3)).RunID)
		p := s.reindexed(t, run)
		s.published(t, late)
		asked := asking.end()
		t.Logf("%d searches beside the reindex, %d failed; %d documents embedded again", asked, asking.failed.Load(), p.Embedded)
		if p.Embedded < documents || asked < clients {
			t.Errorf("%d searches and %d documents prove little", asked, p.Embedded)
		}
	})
	t.Run("over a kill", func(t *testing.T) {
		before := m.embedded("model-c")
		run := s.reindexAs(t, "model-c", documents+3)
		await(t, time.Minute, "half of the project is embedded", func(context.Context) error {
			if n := m.embedded("model-c") - before; n < documents*sections/2 {
				return fmt.Errorf("%d chunks are embedded", n)
			}
			return nil
		})
		s.kill()
		s.restart()
		s.reindexed(t, run)
		if err := s.findsTopic(t.Context(), 5); err != nil {
			t.Error(err)
		}
		t.Logf("%d texts were embedded for %d chunks", m.embedded("model-c")-before, (documents+3)*sections)
	})
	s.stop()
	inIndex, unnamed := s.vectorsIn(t)
	t.Logf("vectors in the index: %v", inIndex)
	for generation, n := range inIndex {
		if left := n > 0; left != (generation == "model-c/0") || left && n < 5000 {
			t.Errorf("the index has %d vectors of %s", n, generation)
		}
	}
	if unnamed > 0 {
		t.Errorf("%d blobs of vectors are named by no manifest", unnamed)
	}

	t.Run("an index that was lost is rebuilt without the model", func(t *testing.T) { wantLostIndexRebuilt(t, s, m, documents, inIndex) })
}

func wantLostIndexRebuilt(t *testing.T, s *server, m *twoModels, documents int, inIndex map[string]int) {
	files, err := filepath.Glob(filepath.Join(s.folder, "index.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	s.restart()
	if err := s.findsTopic(t.Context(), 5); err == nil {
		t.Fatal("the index is not empty, so this proves nothing")
	}
	await(t, time.Minute, "the start tells that the index is empty", func(context.Context) error {
		if said := s.child.LastLines(30); !strings.Contains(said, "cairn rebuild-index") {
			return errors.New(said)
		}
		return nil
	})
	if state, err := s.Details(t.Context()); err != nil || !state.IndexIncomplete {
		t.Errorf("of the index that was lost /readyz says %+v, %v", state, err)
	}
	before := m.embedded("model-c")
	started, err := s.RebuildIndex(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	p := s.reindexed(t, started.RunID)
	if state, err := s.Details(t.Context()); err != nil || state.IndexIncomplete {
		t.Errorf("of the index that was rebuilt /readyz says %+v, %v", state, err)
	}
	if asked := m.embedded("model-c") - before; asked != 0 || p.Embedded != documents+3 {
		t.Errorf("%d texts were embedded for %d documents", asked, p.Embedded)
	}
	for n := range topics {
		if err := s.findsTopic(t.Context(), n); err != nil {
			t.Error(err)
		}
	}
	s.stop()
	if again, _ := s.vectorsIn(t); again["model-c/0"] != inIndex["model-c/0"] {
		t.Errorf("the index has %v, and had %v", again, inIndex)
	}
}

// searchByTopic has the project cut a chunk for each section of topicText, and find by
// vector alone.
func (s *server) searchByTopic(t *testing.T) {
	t.Helper()
	settings := map[string]any{"ai": map[string]any{
		"retrieval":    map[string]any{"strategy": "dense", "minScore": 0.5},
		"textSplitter": map[string]any{"strategy": "fixed", "chunkSize": 100, "chunkOverlap": 0, "separators": []string{"\n\n"}},
	}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", settings, nil); status != http.StatusOK {
		t.Fatalf("settings: status %d", status)
	}
}

// topicText returns the text of a document with a topic for each section.
func topicText(document, sections int) string {
	var b strings.Builder
	for n := range sections {
		fmt.Fprintf(&b, "topic%dx is told in passage %d of document %d, with words that fill it up to a whole chunk %d.\n\n", (document+n)%topics, n, document, n*document)
	}
	return b.String()
}

// published waits until the versions of runs are published.
func (s *server) published(t *testing.T, runs []string) {
	t.Helper()
	for _, run := range runs {
		last, err := s.Wait(t.Context(), run, nil)
		if err != nil {
			t.Fatal(err)
		}
		var end client.Ended
		if err := last.Decode(&end); err != nil || end.Status != string(knowledge.RunCompleted) {
			t.Fatalf("run %s ended with %s", run, last.Data)
		}
	}
}
