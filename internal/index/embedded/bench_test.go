package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const benchDimension = 384

// filled returns an index of documents of five passages, with the word
// frequencies of a language: few words are frequent, most are rare.
func filled(b *testing.B, entries int) (*embedded.Index, *rand.Rand) {
	return filledWith(b, entries, randomText)
}

func filledWith(b *testing.B, entries int, text func(*rand.Rand, int) string) (*embedded.Index, *rand.Rand) {
	x, err := embedded.Open(b.Context(), embedded.Config{Path: filepath.Join(b.TempDir(), "index.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = x.Close() })
	r := rand.New(rand.NewPCG(1, 1))
	for at := 0; at < entries; at += 100 {
		var batch []index.Entry
		for i := at; i < min(at+100, entries); i++ {
			e := randomPassage(r, i/5, i%5)
			e.Text = text(r, 120)
			batch = append(batch, e)
		}
		if err := x.Upsert(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	return x, r
}

// randomNumbers returns numbers that a test can repeat, and logs their seed.
func randomNumbers(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 2))
}

func randomPassage(r *rand.Rand, document, ordinal int) index.Entry {
	return index.Entry{ChunkID: fmt.Sprintf("%d-%d", document, ordinal), Workspace: "acme", Project: "p", DocumentID: fmt.Sprint(document),
		Version: 1, Ordinal: ordinal, Text: randomText(r, 120), Vector: randomVector(r, benchDimension), ACL: []string{"w:acme"},
		Tags: []string{fmt.Sprint("tag-", document%100)}}
}

func randomText(r *rand.Rand, words int) string {
	zipf := rand.NewZipf(r, 1.1, 5, 30000)
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%d ", zipf.Uint64())
	}
	return b.String()
}

// frequentText is a text in which every word is frequent.
func frequentText(r *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%d ", r.IntN(80))
	}
	return b.String()
}

func BenchmarkFrequentWords(b *testing.B) {
	x, r := filledWith(b, 2800, frequentText)
	q := index.Query{Principal: member, Limit: 50}
	for b.Loop() {
		if _, err := x.BM25(b.Context(), q, frequentText(r, 8)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, entries := range []int{1400, 20000} {
		x, r := filled(b, entries)
		everything := index.Query{Principal: member, Limit: 50}
		tagged := index.Query{Principal: member, Limit: 50, Filter: knowledge.Filter{{Field: "tags", Type: "eq", Value: "tag-7"}}}
		most := index.Query{Principal: member, Limit: 50, Filter: knowledge.Filter{{Field: "tags", Type: "ne", Value: "tag-7"}}}
		for name, q := range map[string]index.Query{"all": everything, "1 percent": tagged, "99 percent": most} {
			b.Run(fmt.Sprintf("%d/dense/%s", entries, name), func(b *testing.B) {
				for b.Loop() {
					if _, err := x.Dense(b.Context(), q, randomVector(r, benchDimension)); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%d/words/%s", entries, name), func(b *testing.B) {
				for b.Loop() {
					if _, err := x.BM25(b.Context(), q, randomText(r, 8)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkUpsert(b *testing.B) {
	x, r := filled(b, 1000)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		batch := []index.Entry{randomPassage(r, 10000+i, 0), randomPassage(r, 10000+i, 1), randomPassage(r, 10000+i, 2)}
		b.StartTimer()
		if err := x.Upsert(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRemove(b *testing.B) {
	x, r := filled(b, 1000)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		if err := x.Upsert(b.Context(), []index.Entry{randomPassage(r, 10000+i, 0), randomPassage(r, 10000+i, 1)}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := x.RemoveDocument(b.Context(), "acme", fmt.Sprint(10000+i), 1); err != nil {
			b.Fatal(err)
		}
	}
}
