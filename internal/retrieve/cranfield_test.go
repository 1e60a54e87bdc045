package retrieve_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestCranfield measures retrieval with the offline embeddings and the embedded
// index on the Cranfield collection: 1,400 abstracts, 225 questions. The result
// is in testdata/cranfield.golden, so that a change of ranking shows as a
// difference there.
func TestCranfield(t *testing.T) {
	t.Parallel()
	c := readCranfield(t)
	r := retrieve.New(newLegs(c.index(t)), c, embedder{localmodel.New(localmodel.Config{})})
	var table strings.Builder
	fmt.Fprintf(&table, "%-22s %8s %10s\n", "strategy", "nDCG@10", "recall@10")
	measure := func(name string, config knowledge.RetrievalConfig) quality {
		q := c.measure(t, r, config)
		fmt.Fprintf(&table, "%-22s %8.4f %10.4f\n", name, q.ndcg10, q.recall10)
		return q
	}
	defaults := measure("default", knowledge.RetrievalConfig{})
	dense := measure("dense", knowledge.RetrievalConfig{Strategy: knowledge.StrategyDense})
	words := measure("bm25", knowledge.RetrievalConfig{Strategy: knowledge.StrategyBM25})
	others := map[string]quality{"rrf": measure("rrf", knowledge.RetrievalConfig{Fusion: knowledge.FusionRRF})}
	for tenths := 1; tenths <= 7; tenths++ {
		w := knowledge.Weights{Dense: float64(tenths) / 10, BM25: float64(10-tenths) / 10}
		name := fmt.Sprintf("weighted %.1f dense", w.Dense)
		others[name] = measure(name, knowledge.RetrievalConfig{Fusion: knowledge.FusionWeighted, Weights: &w})
	}
	t.Logf("\n%s", table.String())

	if defaults.ndcg10 < 0.36 {
		t.Errorf("nDCG@10 of the default is %.4f, below its floor of 0.36", defaults.ndcg10)
	}
	if best := math.Max(dense.ndcg10, words.ndcg10); defaults.ndcg10 < best {
		t.Errorf("nDCG@10 of the default is %.4f, and of its best single leg %.4f", defaults.ndcg10, best)
	}
	for name, other := range others {
		if other.ndcg10 > defaults.ndcg10+0.002 { // a smaller difference is chance with 225 questions
			t.Errorf("nDCG@10 of the default is %.4f, of %s %.4f: it should be the default", defaults.ndcg10, name, other.ndcg10)
		}
	}
	golden(t, filepath.Join("testdata", "cranfield.golden"), table.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	goldenShownAs(t, path, got, func(report string) string { return report })
}

// goldenShownAs shows a difference from the golden file in another form than the file has.
func goldenShownAs(t *testing.T, path, got string, show func(report string) string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("the ranking changed (-golden +now); if it is meant to, run go test ./internal/retrieve -run %s -update\n%s", t.Name(), cmp.Diff(show(string(want)), show(got)))
	}
}

// quality is the mean over the questions with judgements.
type quality struct{ ndcg10, recall10 float64 }

// collection is a set of documents with judged questions. Documents and questions are numbered from 1.
type collection struct {
	titles    []string
	documents []string
	questions []string
	relevant  map[int]map[string]bool // question -> ids of the documents that answer it
	held      map[int]string          // question -> a document that is not ranked
	chunks
}

var asker = knowledge.NewPrincipal(knowledge.Claims{Workspace: "cranfield"})

func (c *collection) measure(t *testing.T, r *retrieve.Retriever, config knowledge.RetrievalConfig) quality {
	t.Helper()
	config.NumberOfChunks = 10
	if c.held != nil {
		config.NumberOfChunks++ // the one that is not ranked
	}
	var sum quality
	for i, question := range c.questions {
		found, err := r.Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: question, Config: config})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Causes) > 0 {
			t.Fatalf("question %d: a stage failed: %v", i+1, found.Causes)
		}
		ndcg, recall := c.judged(i+1, found.Contexts)
		sum.ndcg10, sum.recall10 = sum.ndcg10+ndcg, sum.recall10+recall
	}
	n := float64(len(c.questions))
	return quality{sum.ndcg10 / n, sum.recall10 / n}
}

// judged returns nDCG@10 and recall@10 of what was found for a question.
func (c *collection) judged(question int, found []retrieve.Context) (ndcg, recall float64) {
	var ranked []string
	for _, context := range found {
		if context.DocumentID != c.held[question] {
			ranked = append(ranked, context.DocumentID)
		}
	}
	r := evaluate.Ranking(ranked, c.relevant[question])
	return r.NDCG10, r.Recall10
}

// index writes the collection with the offline model's vectors into an embedded index.
func (c *collection) index(t testing.TB) *embedded.Index {
	t.Helper()
	x := openEmbedded(t)
	if err := x.Upsert(t.Context(), c.entries(localmodel.New(localmodel.Config{}).Embed(c.documents))); err != nil {
		t.Fatal(err)
	}
	return x
}

func openEmbedded(t testing.TB) *embedded.Index {
	t.Helper()
	x, err := embedded.Open(t.Context(), embedded.Config{Path: filepath.Join(t.TempDir(), "index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// entries returns an entry for each document, with the vectors in their order.
func (c *collection) entries(vectors [][]float32) []index.Entry {
	entries := make([]index.Entry, len(c.documents))
	for i, text := range c.documents {
		id := documentID(i + 1)
		entries[i] = index.Entry{ChunkID: id, DocumentID: id, Workspace: "cranfield", Project: "p", Version: 1,
			Text: text, Vector: vectors[i], ACL: []string{"w:cranfield"}, CreatedAt: time.Unix(1, 0)}
	}
	return entries
}

func documentID(number int) string { return fmt.Sprintf("%04d", number) }

var (
	documentPattern = regexp.MustCompile(`(?s)<docno>(\d+)</docno>.*?<title>(.*?)</title>.*?<text>(.*?)</text>`)
	questionPattern = regexp.MustCompile(`(?s)<title>(.*?)</title>`)
)

// readCranfield parses the collection with regular expressions, because it is
// not XML (bare &, no root element). The judgements identify a question by its
// position in the file, not by its <num>.
func readCranfield(t testing.TB) *collection {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data", "cranfield")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the Cranfield collection must be in %s", dir)
		}
		t.Skipf("the Cranfield collection is not in %s", dir)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	c := &collection{relevant: map[int]map[string]bool{}, chunks: chunks{}}
	for _, m := range documentPattern.FindAllStringSubmatch(read("cran.all.1400.xml"), -1) {
		c.titles, c.documents = append(c.titles, m[2]), append(c.documents, m[2]+"\n"+m[3])
		if number, _ := strconv.Atoi(m[1]); number != len(c.documents) {
			t.Fatalf("document %s is at position %d", m[1], len(c.documents))
		}
		c.put(documentID(len(c.documents)), m[3])
	}
	for _, m := range questionPattern.FindAllStringSubmatch(read("cran.qry.xml"), -1) {
		c.questions = append(c.questions, m[1])
	}
	for line := range strings.Lines(read("cranqrel.trec.txt")) {
		var question, document, grade, unused int
		if _, err := fmt.Sscan(line, &question, &unused, &document, &grade); err != nil {
			t.Fatalf("judgement %q: %v", line, err)
		}
		if c.relevant[question] == nil {
			c.relevant[question] = map[string]bool{}
		}
		if grade > 0 {
			c.relevant[question][documentID(document)] = true
		}
	}
	if len(c.documents) != 1400 || len(c.questions) != 225 || len(c.relevant) != 225 {
		t.Fatalf("read %d documents, %d questions, judgements of %d", len(c.documents), len(c.questions), len(c.relevant))
	}
	return c
}

// BenchmarkRetrieve asks one question after another with the default
// configuration, without the time of SQL for the recheck.
func BenchmarkRetrieve(b *testing.B) {
	c := readCranfield(b)
	r := retrieve.New(c.index(b), c, embedder{localmodel.New(localmodel.Config{})})
	for i := 0; b.Loop(); i++ {
		question := c.questions[i%len(c.questions)]
		if _, err := r.Retrieve(b.Context(), retrieve.Request{Principal: asker, Query: question}); err != nil {
			b.Fatal(err)
		}
	}
}

// embedder is the offline model.
type embedder struct{ model *localmodel.Model }

func (e embedder) Lexical() float64 { return localmodel.Lexical }

func (e embedder) CompareWords(question string, texts []string, enough float64) ([]float64, float64) {
	return localmodel.CompareWords(question, texts, enough)
}

func (e embedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return e.model.Embed(texts), nil
}

// legs caches the hits of the legs for each query. They do not depend on the fusion, so
// each leg is searched once instead of a dozen times.
type legs struct {
	retrieve.Index
	dense, words map[string][]knowledge.Hit
}

func newLegs(x retrieve.Index) *legs {
	return &legs{x, map[string][]knowledge.Hit{}, map[string][]knowledge.Hit{}}
}

func (l *legs) Dense(ctx context.Context, q index.Query, vector []float32) (hits []knowledge.Hit, err error) {
	key := fmt.Sprint(q.Limit, q.Documents, q.Filter, vector)
	if hits, ok := l.dense[key]; ok {
		return hits, nil
	}
	hits, err = l.Index.Dense(ctx, q, vector)
	l.dense[key] = hits
	return hits, err
}

func (l *legs) BM25(ctx context.Context, q index.Query, text string) (hits []knowledge.Hit, err error) {
	key := fmt.Sprint(q.Limit, q.Documents, q.Filter, text)
	if hits, ok := l.words[key]; ok {
		return hits, nil
	}
	hits, err = l.Index.BM25(ctx, q, text)
	l.words[key] = hits
	return hits, err
}
