package extract_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestExtractAll(t *testing.T) {
	t.Parallel()
	text := func(name, data string) extract.Input {
		return extract.Input{Name: name, MediaType: extract.TypeText, Data: []byte(data)}
	}

	t.Run("one child reads all files, in their order", func(t *testing.T) {
		t.Parallel()
		pool, folder := newPool(t, extract.PoolConfig{Confinement: extract.Unconfined, Size: 2})
		var got []string
		err := pool.ExtractAll(t.Context(), []extract.Input{text("a.txt", "One."), text("b.txt", "Two."), text("c.txt", "Three.")},
			func(_ int, result format.Result, err error) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, result.Layout.Blocks[0].Text)
			})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"One.", "Two.", "Three."}, got); diff != "" {
			t.Errorf("texts (-want +got):\n%s", diff)
		}
		if n := len(children(t, folder)); n != 1 {
			t.Errorf("%d children, want 1", n)
		}
	})

	t.Run("a file that ends the child fails alone", func(t *testing.T) {
		t.Parallel()
		pool, _ := newPool(t, extract.PoolConfig{Size: 1})
		var failed []error
		err := pool.ExtractAll(t.Context(), []extract.Input{text("a.txt", "One."), text(crash, "Two."), text("empty.txt", ""), text("d.txt", "Four.")},
			func(_ int, _ format.Result, err error) { failed = append(failed, err) })
		if err != nil || len(failed) != 4 {
			t.Fatalf("%d results, error %v", len(failed), err)
		}
		wantCode(t, failed[1], knowledge.CodeInternal)
		wantCode(t, failed[2], knowledge.CodeEmpty)
		if failed[0] != nil || failed[3] != nil {
			t.Errorf("the others failed too: %v", failed)
		}
	})

	t.Run("a cancel ends it at the file that is read", func(t *testing.T) {
		t.Parallel()
		pool, _ := newPool(t, extract.PoolConfig{Size: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		results := 0
		err := pool.ExtractAll(ctx, []extract.Input{text(hang, "One."), text("b.txt", "Two.")}, func(int, format.Result, error) { results++ })
		if !errors.Is(err, context.DeadlineExceeded) || results != 0 {
			t.Errorf("%d results and error %v, want none and the cause of the context", results, err)
		}
	})
}
