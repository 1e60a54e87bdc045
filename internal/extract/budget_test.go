package extract_test

import (
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/process"
)

// TestBudgetOfAllChildren reads eight documents of 160 MB each with four children, which have
// 400 MB together.
func TestBudgetOfAllChildren(t *testing.T) { //nolint:paralleltest // it counts the children of this process
	if runtime.GOOS != "linux" {
		skipOrFail(t, "the memory of another process can be watched on Linux only; run this test there")
	}
	const limit = 400 << 20
	pool, folder := newPool(t, extract.PoolConfig{Confinement: extract.Unconfined, Size: 4, Budget: extract.NewBudget(limit)})
	note := write(t, "note.txt", []byte("A note."))
	var documents sync.WaitGroup
	for range 8 {
		documents.Go(func() {
			result, err := pool.Extract(t.Context(), extract.Input{Name: grow, Path: note})
			if err != nil || len(result.Layout.Blocks) != 1 {
				t.Errorf("%+v, %v", result.Layout, err)
			}
		})
	}
	most, read := int64(0), make(chan struct{})
	go func() { documents.Wait(); close(read) }()
	for reading := true; reading; {
		select {
		case <-read:
			reading = false
		default:
			most = max(most, memoryOfChildren())
		}
	}
	// Four children take 4 MB each 20 ms, and each is looked at every 50 ms.
	if most > limit+100<<20 || most < 300<<20 {
		t.Errorf("the children had %d MB at most, want nearly %d", most>>20, limit>>20)
	}
	if got := len(children(t, folder)); got <= 4 {
		t.Errorf("%d children were started: none gave way", got)
	}
	if idle := memoryOfChildren(); idle > limit/2 {
		t.Errorf("idle children keep %d MB", idle>>20)
	}
}

func memoryOfChildren() (bytes int64) {
	all, _ := process.Sum(os.Getpid(), func(pid int) (int64, bool) { return process.Memory(pid, process.Private, process.Swapped) })
	own, _ := process.Memory(os.Getpid(), process.Private, process.Swapped)
	return all - own
}

// TestBudgetForgetsChildren notes the memory of a child that has ended between its count and
// the note.
func TestBudgetForgetsChildren(t *testing.T) {
	t.Parallel()
	if used := extract.NewBudget(1 << 30).UsedAfterTheEnd(1 << 20); used != 0 {
		t.Errorf("the budget counts %d bytes of a child that has ended", used)
	}
}
