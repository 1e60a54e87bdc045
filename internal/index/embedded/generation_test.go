package embedded_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
)

// testAdoption opens a file as versions without generations made it: with a table for
// each length.
func testAdoption(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	x := open(t, path)
	few := []index.Entry{passage("few", 0, 1, []float32{1, 0})}
	many := []index.Entry{passage("many", 0, 1, []float32{1, 0, 0}), passage("many", 1, 1, []float32{1, 0, 0})}
	for i := range many {
		many[i].Generation = "other"
	}
	if err := errors.Join(x.Upsert(t.Context(), few), x.Upsert(t.Context(), many), x.Close()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `
		CREATE VIRTUAL TABLE vectors_2 USING vec0(workspace integer partition key, project text partition key, vector float[2] distance_metric=L2, chunk_size=64);
		INSERT INTO vectors_2 (rowid, workspace, project, vector) SELECT entry, workspace, project, vector FROM dense_1 JOIN sketches_1 USING (entry);
		CREATE VIRTUAL TABLE vectors_3 USING vec0(workspace integer partition key, project text partition key, vector float[3] distance_metric=L2, chunk_size=64);
		INSERT INTO vectors_3 (rowid, workspace, project, vector) SELECT entry, workspace, project, vector FROM dense_2 JOIN sketches_2 USING (entry);
		DROP TABLE dense_1; DROP TABLE dense_2; DROP TABLE sketches_1; DROP TABLE sketches_2; DROP TABLE generations`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to do
		y, err := embedded.Open(t.Context(), embedded.Config{Path: path, Generation: "model/3"})
		if err != nil {
			t.Fatal(err)
		}
		q := index.Query{Principal: member, Limit: 10, Generation: "model/3"}
		if hits, err := y.Dense(t.Context(), q, []float32{1, 0, 0}); err != nil || len(hits) != 2 {
			t.Errorf("found %v, %v; want the two of most vectors", hits, err)
		}
		if err := y.RemoveDocument(t.Context(), "acme", "few-document-0", 1); err != nil {
			t.Error(err)
		}
		if err := y.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
