package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// failing is an embedding model that fails, or hangs until its caller leaves.
type failing struct {
	offlineEmbedder

	err   error
	hangs bool
	calls *int
}

// Embed implements ingestion.Embedder.
func (f failing) Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error) {
	*f.calls++
	if f.hangs {
		<-ctx.Done()
		return nil, model.Usage{}, context.Cause(ctx)
	}
	return make([][]float32, len(texts)), model.Usage{}, f.err
}

// TestQuestionsDuringAnOutage: a question waits for a failing model only once in a while, and not for
// long.
func TestQuestionsDuringAnOutage(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]failing{
		"it fails": {err: &model.Error{Code: model.CodeConnection, Retryable: true}},
		"it hangs": {hangs: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				broken.calls = &calls
				down := &outage{}
				ask := func(f failing) error {
					_, err := queryEmbedder{f, down}.Embed(t.Context(), []string{"q"})
					return err
				}
				began := time.Now()
				for range 5 {
					if err := ask(broken); !errors.Is(err, retrieve.ErrCannotBeAsked) {
						t.Fatal(err)
					}
				}
				if took := time.Since(began); calls != 1 || took > questionPatience {
					t.Errorf("asked %d times in %s", calls, took)
				}
				time.Sleep(firstPause)
				if err := ask(failing{calls: &calls}); err != nil || calls != 2 {
					t.Errorf("after the pause: %v, asked %d times", err, calls)
				}
				if err := ask(failing{calls: &calls}); err != nil || calls != 3 {
					t.Errorf("behind an answer: %v, asked %d times", err, calls)
				}
			})
		})
	}
	t.Run("whoever leaves says nothing of the model", func(t *testing.T) {
		t.Parallel()
		calls := 0
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		down := &outage{}
		if _, err := (queryEmbedder{failing{hangs: true, calls: &calls}, down}).Embed(ctx, []string{"q"}); errors.Is(err, retrieve.ErrCannotBeAsked) || down.now() != nil {
			t.Errorf("%v", err)
		}
	})
}
