package browser_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/browser"
	"github.com/cairn-rag/cairn/internal/process"
)

// beWorker opens a page, says so, and keeps its browser until it is killed.
func beWorker(address string) {
	b := browser.New(config(inside()))
	_, err := b.Render(context.Background(), address, anywhere)
	fmt.Println("opened", err)
	time.Sleep(time.Hour)
}

// descendants returns the processes that a process started, and those that its children did.
func descendants(pid int) (found []int) {
	for _, child := range process.Children(pid) {
		found = append(append(found, child), descendants(child)...)
	}
	return found
}

// awaitEnd waits until processes have ended.
func awaitEnd(t *testing.T, pids []int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		left := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err != nil || strings.Contains(string(stat), ") Z ") // nobody has asked how it ended
		})
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the processes %v of the browser are left", left)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestBrowserEndsWithItsWorker kills a worker that has a page open.
func TestBrowserEndsWithItsWorker(t *testing.T) {
	t.Parallel()
	open(t, config(inside())) // is it installed?
	s := site(t, map[string]string{"/": "a page"})
	worker := exec.Command(os.Args[0], workerArg, s.URL)
	worker.Stderr = os.Stderr
	out, err := worker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	processes := descendants(worker.Process.Pid)
	_ = worker.Process.Kill()
	_ = worker.Wait() // it was killed
	if err != nil || said != "opened <nil>\n" || len(processes) < 3 {
		t.Fatalf("%v: the worker said %q and had the processes %v", err, said, processes)
	}
	awaitEnd(t, processes)
}

// TestBrowserEnds closes a browser, leaves one without work, and lets one use too much
// memory. A page after that gets a new browser.
func TestBrowserEnds(t *testing.T) {
	t.Parallel()
	s := site(t, map[string]string{"/": "a page", "/hog": `<script>const held = []; while (held.length < 64) held.push(new Uint8Array(32 << 20).fill(1))</script>`})
	t.Run("without_work", func(t *testing.T) {
		t.Parallel()
		cfg := config(inside())
		cfg.Idle = 50 * time.Millisecond
		b := open(t, cfg)
		for range 2 {
			if _, err := render(t, b, s.URL, anywhere); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); b.Running(); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("it still runs")
				}
			}
		}
	})
	t.Run("above_its_memory", func(t *testing.T) {
		t.Parallel()
		cfg := config(inside())
		cfg.Memory = 900 << 20
		b := open(t, cfg)
		if got, err := render(t, b, s.URL+"/hog", anywhere); err == nil {
			t.Errorf("it read %+v", got)
		}
		if _, err := render(t, b, s.URL, anywhere); err != nil {
			t.Error(err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		b := open(t, config(inside()))
		if _, err := render(t, b, s.URL, anywhere); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil || b.Running() {
			t.Errorf("it still runs: %v", err)
		}
		if _, err := render(t, b, s.URL, anywhere); err == nil {
			t.Error("a closed browser opens pages")
		}
	})
}
