package milvus_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/index/milvus"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

// TestOverlap compares the first ten hits of both indexes for questions of the
// Cranfield collection, which is one workspace: 1,400 abstracts with the offline
// model's vectors. The core takes the adapter's whole schema but for partition keys.
func TestOverlap(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]func() milvus.Config{
		"light_server": func() milvus.Config { return config(shared(t)) },
		"core": func() milvus.Config {
			return milvus.Config{Address: core(t).Address, IndexType: "FLAT", WithoutPartitionKey: true, ListEvery: time.Millisecond}
		},
	} {
		t.Run(name, func(t *testing.T) { testOverlap(t, open(t, cfg())) })
	}
}

func testOverlap(t *testing.T, server index.Index) {
	const least, questionsUsed = .9, 30
	documents, questions := cranfield(t)
	model := localmodel.New(localmodel.Config{})
	vectors := model.Embed(documents)
	entries := make([]index.Entry, len(documents))
	for i, text := range documents {
		entries[i] = passage(fmt.Sprintf("%04d", i+1))
		entries[i].Text, entries[i].Vector = text, vectors[i]
	}
	file, err := embedded.Open(t.Context(), embedded.Config{Path: filepath.Join(t.TempDir(), "index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	for _, x := range []index.Index{file, server} {
		if err := x.Upsert(t.Context(), entries); err != nil {
			t.Fatal(err)
		}
	}
	var dense, words float64
	for i := range questionsUsed {
		question := questions[i*len(questions)/questionsUsed]
		vector := model.Embed([]string{question})[0]
		dense += overlap(t, file, server, func(x index.Index, q index.Query) ([]knowledge.Hit, error) { return x.Dense(t.Context(), q, vector) })
		words += overlap(t, file, server, func(x index.Index, q index.Query) ([]knowledge.Hit, error) { return x.BM25(t.Context(), q, question) })
	}
	dense, words = dense/questionsUsed, words/questionsUsed
	t.Logf("overlap@10 of %d questions: dense %.3f, BM25 %.3f", questionsUsed, dense, words)
	if dense < least || words < least {
		t.Errorf("overlap@10 is %.3f dense and %.3f BM25, want at least %.1f", dense, words, least)
	}
}

// overlap returns the part of the first ten hits that both indexes find, of as many
// candidates as a search takes by default.
func overlap(t *testing.T, a, b index.Index, search func(index.Index, index.Query) ([]knowledge.Hit, error)) float64 {
	t.Helper()
	const first = 10
	q := index.Query{Principal: member(), Limit: 50}
	inA := map[string]bool{}
	hits, err := search(a, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits[:min(first, len(hits))] {
		inA[h.ChunkID] = true
	}
	if hits, err = search(b, q); err != nil {
		t.Fatal(err)
	}
	both := 0
	for _, h := range hits[:min(first, len(hits))] {
		if inA[h.ChunkID] {
			both++
		}
	}
	return float64(both) / first
}

var (
	abstract = regexp.MustCompile(`(?s)<docno>\d+</docno>.*?<title>(.*?)</title>.*?<text>(.*?)</text>`)
	title    = regexp.MustCompile(`(?s)<title>(.*?)</title>`)
)

// cranfield reads the collection with regular expressions, because it is not XML.
func cranfield(t *testing.T) (documents, questions []string) {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "..", "shared", "data", "cranfield")
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil && os.Getenv("CI") == "" {
			t.Skipf("the Cranfield collection is not in %s", folder)
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, m := range abstract.FindAllStringSubmatch(read("cran.all.1400.xml"), -1) {
		documents = append(documents, m[1]+"\n"+m[2])
	}
	for _, m := range title.FindAllStringSubmatch(read("cran.qry.xml"), -1) {
		questions = append(questions, m[1])
	}
	return documents, questions
}
