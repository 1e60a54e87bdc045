package embedded_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
)

// TestTidy writes many passages one by one and waits until the index has tidied
// its files: few segments of words, and an empty log.
func TestTidy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index.db")
	x := open(t, path)
	for i := range 200 {
		if err := x.Upsert(t.Context(), []index.Entry{passage(fmt.Sprint("m", i), i, 1, []float32{1, float32(i)})}); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const most = 8 // log2 of the writes
	segments, bytes := 0, int64(0)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err := db.QueryRowContext(t.Context(), `SELECT count(DISTINCT segid) FROM words_1_idx`).Scan(&segments); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRowContext(t.Context(), `SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`).Scan(&bytes); err != nil {
			t.Fatal(err)
		}
		if segments <= most && info.Size() == bytes {
			return
		}
	}
	t.Errorf("after 20 s of rest there are %d segments of words, want at most %d, and a file of %d bytes", segments, most, bytes)
}
