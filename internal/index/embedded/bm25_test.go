package embedded_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/words"
)

// TestBM25IsExact compares the hits with the hits of FTS5's own bm25 function, while
// two processes write, replace and remove passages.
func TestBM25IsExact(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index.db")
	server, worker := open(t, path), open(t, path)
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := randomNumbers(t, 7)
	write := func(x index.Index, from, n int) {
		t.Helper()
		var entries []index.Entry
		for i := from; i < from+n; i++ {
			e := randomPassage(r, i, 0)
			if i%10 == 0 {
				e.Text += " 知識" + strings.Repeat(" 知恵", i%3)
			}
			entries = append(entries, e)
		}
		if err := x.Upsert(t.Context(), entries); err != nil {
			t.Fatal(err)
		}
	}
	compare := func(when string) {
		t.Helper()
		for range 10 {
			question := randomText(r, 12)
			if r.IntN(2) == 0 {
				question += " 知" // all words that begin with it
			}
			hits, err := server.BM25(t.Context(), index.Query{Principal: member, Limit: 10}, question)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fts5(t, db, question, 10), hits, cmpopts.IgnoreFields(knowledge.Hit{}, "DocumentID", "Version"),
				cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("%s: %q (-FTS5 +found):\n%s", when, question, diff)
			}
		}
	}
	write(server, 0, 700)
	compare("after the first write")
	write(worker, 700, 50)
	compare("after another process wrote")
	write(worker, 750, 600)
	compare("after another process wrote many")
	write(worker, 0, 30)
	write(server, 20, 20)
	compare("after passages were replaced")
	for document := range 400 {
		if err := worker.RemoveVersion(t.Context(), "acme", fmt.Sprint(100+document), 1); err != nil {
			t.Fatal(err)
		}
	}
	write(server, 2000, 3)
	compare("after another process removed")
	if err := server.RemoveDocument(t.Context(), "acme", "2001", 1); err != nil {
		t.Fatal(err)
	}
	write(server, 2001, 1)
	compare("after a document was removed and written again")
	for document := range 500 {
		if err := server.RemoveVersion(t.Context(), "acme", fmt.Sprint(500+document), 1); err != nil {
			t.Fatal(err)
		}
	}
	compare("after most were removed")
}

// fts5 returns the best passages according to FTS5.
func fts5(t *testing.T, db *sql.DB, question string, limit int) (hits []knowledge.Hit) {
	t.Helper()
	var expressions []string
	for _, term := range words.Question(question) {
		e := `"` + term.Word + `"`
		if term.Prefix {
			e += "*"
		}
		expressions = append(expressions, e)
	}
	rows, err := db.QueryContext(t.Context(), `SELECT e.chunk_id, -bm25(words_1) AS score FROM words_1 JOIN entries e ON e.id = words_1.rowid
		WHERE words_1 MATCH ? ORDER BY score DESC, e.chunk_id LIMIT ?`, strings.Join(expressions, " OR "), limit)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var h knowledge.Hit
		if err := rows.Scan(&h.ChunkID, &h.Score); err != nil {
			t.Fatal(err)
		}
		hits = append(hits, h)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return hits
}

// TestFrequentWords searches for words that occur in many passages, most of
// which the principal may not see: the allowed ones are still found.
func TestFrequentWords(t *testing.T) {
	t.Parallel()
	x := open(t, filepath.Join(t.TempDir(), "index.db"))
	var entries []index.Entry
	r := randomNumbers(t, 1)
	for i := range 300 {
		e := randomPassage(r, i, 0)
		e.Text, e.ACL = "brick brick brick", []string{"u:other"}
		if i%100 == 0 {
			e.Text, e.ACL = "brick and mortar under a roof of slate and some more of it", []string{"w:acme"}
		}
		entries = append(entries, e)
	}
	if err := x.Upsert(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	hits, err := x.BM25(t.Context(), index.Query{Principal: member, Limit: 3}, "brick")
	if err != nil || len(hits) != 3 {
		t.Errorf("found %d passages, %v; want the 3 allowed ones", len(hits), err)
	}
}
