package sandbox_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/sandbox"
)

// open returns a sandbox, or skips the test where none can run.
func open(t *testing.T, limits sandbox.Limits) *sandbox.Sandbox {
	t.Helper()
	s := sandbox.New(sandbox.Config{Folder: folder(t), Limits: limits})
	if err := s.Available(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return s
}

// folder returns a folder that every user can pass through, and looks at the end that
// no job has left anything there.
func folder(t *testing.T) string {
	t.Helper()
	path, err := os.MkdirTemp("/tmp", "sandbox-test-")
	if err == nil {
		err = os.Chmod(path, 0o711) //nolint:gosec // the users of jobs pass through it
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, err := os.ReadDir(path)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Error(err)
		}
	})
	return path
}

func run(t *testing.T, s *sandbox.Sandbox, job sandbox.Job) sandbox.Result {
	t.Helper()
	result, err := s.Run(t.Context(), job)
	if err != nil {
		t.Fatalf("%v\n%s", err, result.Stderr)
	}
	return result
}

func python(t *testing.T, s *sandbox.Sandbox, code string) sandbox.Result {
	t.Helper()
	return run(t, s, sandbox.Job{Language: sandbox.Python, Code: code})
}

func names(r sandbox.Result) []string { return slices.Sorted(maps.Keys(r.Files)) }

func TestPython(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Limits{})
	t.Run("it_computes_with_pandas_over_a_file_and_saves_its_plots", func(t *testing.T) {
		t.Parallel()
		got := run(t, s, sandbox.Job{Language: sandbox.Python, Files: map[string][]byte{"in/sales.csv": []byte("month,sold\n1,3\n2,5\n")}, Code: `
import pandas as pd, matplotlib.pyplot as plt
sales = pd.read_csv("in/sales.csv")
sales.plot(x="month", y="sold")
plt.figure(); plt.plot([1, 2]); plt.savefig("mine.png")
sales.to_csv("out.csv")
sales.sold.sum()
`})
		if got.Stdout != "8\n" || got.ExitCode != 0 {
			t.Errorf("%d %q %q", got.ExitCode, got.Stdout, got.Stderr)
		}
		if diff := cmp.Diff([]string{"figure-1.png", "in/sales.csv", "mine.png", "out.csv"}, names(got)); diff != "" {
			t.Error(diff)
		}
		if !strings.HasPrefix(string(got.Files["figure-1.png"]), "\x89PNG") {
			t.Errorf("figure-1.png is %q", got.Files["figure-1.png"][:8])
		}
	})
	t.Run("show_saves_the_open_figures", func(t *testing.T) {
		t.Parallel()
		got := python(t, s, "import matplotlib.pyplot as plt\nfor i in (1, 2):\n    plt.plot([i]); plt.show()\n")
		if diff := cmp.Diff([]string{"figure-1.png", "figure-2.png"}, names(got)); diff != "" || got.Stderr != "" {
			t.Error(diff, got.Stderr)
		}
	})
	t.Run("an_exception_is_shown_with_its_line", func(t *testing.T) {
		t.Parallel()
		got := python(t, s, "x = 1\nprint('before')\nraise ValueError('no such month')\n")
		if got.ExitCode != 1 || got.Stdout != "before\n" || !strings.Contains(got.Stderr, `File "code.py", line 3`) ||
			!strings.Contains(got.Stderr, "ValueError: no such month") || strings.Contains(got.Stderr, "run.py") {
			t.Errorf("%d %q %q", got.ExitCode, got.Stdout, got.Stderr)
		}
		if got := python(t, s, "x = = 1"); got.ExitCode != 1 || !strings.Contains(got.Stderr, "SyntaxError") {
			t.Errorf("%d %q", got.ExitCode, got.Stderr)
		}
	})
}

func TestJavaScript(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Limits{})
	if !sandbox.Has(sandbox.JavaScript) {
		if os.Getenv("CI") != "" {
			t.Fatal("node is not installed: apt-get install nodejs")
		}
		t.Skip("node is not installed: apt-get install nodejs")
	}
	for name, code := range map[string]string{
		"common": `const fs = require("fs"); fs.writeFileSync("a.txt", "hi"); console.log(1 + 1)`,
		"module": "import fs from \"node:fs\"\nconst n = await Promise.resolve(2)\nfs.writeFileSync(\"a.txt\", \"hi\")\nconsole.log(n)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, s, sandbox.Job{Language: sandbox.JavaScript, Code: code})
			if got.ExitCode != 0 || got.Stdout != "2\n" || string(got.Files["a.txt"]) != "hi" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Limits{Wall: 20 * time.Second, Disk: 16 << 20, Entries: 200})
	for name, tc := range map[string]struct{ code, stopped, printed string }{
		"endless_output":         {"while True: print('x' * 1000)", "printed too much", ""},
		"a_memory_bomb":          {"x = []\nwhile True: x.append(b'x' * (64 << 20))", "", "MemoryError"},
		"a_memory_bomb_of_many":  {"import os\nfor i in range(3): os.fork()\nx = b'y' * (200 << 20)\nimport time; time.sleep(15)", "512 MB", ""},
		"shared_memory_bomb":     {"import mmap, os\nx = mmap.mmap(-1, 800 << 20)\nfor i in range(0, 800 << 20, 4096): x[i] = 1\nimport time; time.sleep(15)", "512 MB", ""},
		"memory_of_no_process":   {"import os\nos.memfd_create('x')", "", "Operation not permitted"},
		"a_fork_bomb":            {"import os\nn = 0\ntry:\n    while True:\n        if os.fork() == 0:\n            import time; time.sleep(15)\n        n += 1\nexcept OSError as e:\n    print(n < 64, e)", "", "True [Errno 11]"},
		"a_full_disk":            {"import time\nfor i in range(10):\n    open(f'{i}', 'wb').write(b'x' * (4 << 20))\ntime.sleep(15)", "16 MB", ""},
		"many_files":             {"import time\nfor i in range(500): open(f'/tmp/{i}', 'w')\ntime.sleep(15)", "200 files", ""},
		"deep_folders":           {"import os, time\nfor i in range(100):\n    os.mkdir('d'); os.chdir('d')\ntime.sleep(15)", "files", ""},
		"a_huge_sparse_file":     {"f = open('big', 'wb')\nf.truncate(1 << 40)", "", "File too large"},
		"files_outside_a_folder": {"open('/usr/x', 'w')", "", "Read-only file system"},
		"files_in_the_root":      {"open('/x', 'w')", "", "Read-only file system"},
		"files_in_memory":        {"open('/dev/shm/x', 'w')", "", "Errno"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			got := python(t, s, tc.code)
			if !strings.Contains(got.Stopped, tc.stopped) || (tc.stopped == "") != (got.Stopped == "") || !strings.Contains(got.Stdout+got.Stderr, tc.printed) {
				t.Errorf("stopped %q after %v, printed %q %q", got.Stopped, time.Since(began), got.Stdout, got.Stderr)
			}
			if len(got.Stdout) > sandbox.MaxOutput+100 || len(got.Stderr) > sandbox.MaxOutput+100 {
				t.Errorf("%d and %d bytes of output", len(got.Stdout), len(got.Stderr))
			}
		})
	}
	t.Run("an_infinite_loop", func(t *testing.T) {
		t.Parallel()
		s := open(t, sandbox.Limits{Wall: 8 * time.Second})
		got := python(t, s, "import os\nos.fork()\nprint('begin', flush=True)\nwhile True: pass")
		if got.Stopped != "it ran longer than 8s" || !strings.HasPrefix(got.Stdout, "begin\n") {
			t.Errorf("%+v", got)
		}
	})
}
