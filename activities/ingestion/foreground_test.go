package ingestion_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/activities/ingestion"
)

// board is what two processes share.
type board struct{ at int64 }

func (b *board) TellStep(at int64) { b.at = at }

func (b *board) LastStep() int64 { return b.at }

func TestForeground(t *testing.T) {
	t.Parallel()
	// giveWay returns how long GiveWay blocked, and the patience that is left.
	giveWay := func(ctx context.Context, f *ingestion.Foreground, patience time.Duration) (took, left time.Duration) {
		began := time.Now()
		left = f.GiveWay(ctx, patience)
		return time.Since(began), left
	}
	check := func(t *testing.T, took, left, wantTook, wantLeft time.Duration) {
		t.Helper()
		if took != wantTook || left != wantLeft {
			t.Errorf("it took %v with %v left, want %v with %v", took, left, wantTook, wantLeft)
		}
	}

	t.Run("nobody waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			took, left := giveWay(t.Context(), &ingestion.Foreground{}, time.Second)
			check(t, took, left, 0, time.Second)
		})
	})
	t.Run("it blocks until no step follows", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var f ingestion.Foreground
			go func() {
				for range 5 { // steps for 40 ms
					f.Note()
					time.Sleep(10 * time.Millisecond)
				}
			}()
			synctest.Wait()
			took, left := giveWay(t.Context(), &f, time.Second)
			check(t, took, left, 70*time.Millisecond, 930*time.Millisecond)
		})
	})
	t.Run("it ends with the patience", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var f ingestion.Foreground
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go func() {
				for ctx.Err() == nil {
					f.Note()
					time.Sleep(10 * time.Millisecond)
				}
			}()
			synctest.Wait()
			took, left := giveWay(t.Context(), &f, time.Second)
			check(t, took, left, time.Second, 0)
			took, left = giveWay(t.Context(), &f, left)
			check(t, took, left, 0, 0)
			stop()
			time.Sleep(10 * time.Millisecond) // the goroutine ends
		})
	})
	t.Run("a step of another process counts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var told board
			server, worker := ingestion.Foreground{Others: &told}, ingestion.Foreground{Others: &told}
			server.Note()
			took, left := giveWay(t.Context(), &worker, time.Second)
			check(t, took, left, 30*time.Millisecond, 970*time.Millisecond)
		})
	})
	t.Run("it ends with the context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var f ingestion.Foreground
			f.Note()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			took, _ := giveWay(ctx, &f, time.Second)
			check(t, took, 0, 0, 0)
		})
	})
}
