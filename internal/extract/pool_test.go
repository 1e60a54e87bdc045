package extract_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/confine"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// newPool returns a pool whose children are processes of this binary, and the
// folder in which unconfined ones leave their process ids.
func newPool(t testing.TB, cfg extract.PoolConfig) (pool *extract.Pool, folder string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	cfg.Command = []string{exe, childArg, folder}
	if cfg.Confinement == extract.InNamespaces && os.Getenv("CI") == "" && confine.Available(t.Context()) != nil {
		cfg.Confinement = extract.Unconfined // the tests of the confinement itself are skipped
	}
	if cfg.TempDir == "" {
		cfg.TempDir = t.TempDir()
	}
	if cfg.CacheDir == "" {
		cfg.CacheDir = cacheDir
	}
	pool, err = extract.NewPool(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return pool, folder
}

// children returns the process ids of all children that were started.
func children(t *testing.T, folder string) []int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "child-*"))
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, p := range paths {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(p), "child-"))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func mustExtract(t *testing.T, pool *extract.Pool, path string) knowledge.Layout {
	t.Helper()
	result, err := pool.Extract(t.Context(), extract.Input{Name: "note.txt", Path: path})
	if err != nil {
		t.Fatalf("Extract: %v", err)
	}
	return result.Layout
}

func wantCode(t *testing.T, err error, code knowledge.Code) {
	t.Helper()
	if !knowledge.IsCode(err, code) {
		t.Errorf("error %v, want one with code %s", err, code)
	}
}

func TestPoolSurvivesItsChildren(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, document string
		code                knowledge.Code
		cfg                 extract.PoolConfig
	}{
		{"a child that hangs ends at the deadline", hang, knowledge.CodeParseLimit, extract.PoolConfig{Timeout: 300 * time.Millisecond}},
		{"a child that works ends at the deadline", spin, knowledge.CodeParseLimit, extract.PoolConfig{Timeout: 300 * time.Millisecond, CPU: time.Hour}},
		{"a child that takes memory is killed", hog, knowledge.CodeParseLimit, extract.PoolConfig{Memory: 256 << 20}},
		{"a child whose tool takes memory is killed with it", feed, knowledge.CodeParseLimit, extract.PoolConfig{Memory: 256 << 20}},
		{"a child that uses up its processor time is killed", spin, knowledge.CodeParseLimit,
			extract.PoolConfig{CPU: time.Millisecond, DocumentsPerChild: 5}},
		{"a child that crashes is a fault of ours", crash, knowledge.CodeInternal, extract.PoolConfig{}},
		{"a child that writes nonsense is a fault of ours", chat, knowledge.CodeInternal, extract.PoolConfig{}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if (tc.document == hog || tc.document == feed) && runtime.GOOS != "linux" {
				skipOrFail(t, "the memory of another process can be watched on Linux only; run this test there")
			}
			tc.cfg.Size = 1
			pool, _ := newPool(t, tc.cfg)
			note := write(t, "note.txt", []byte("A note."))
			mustExtract(t, pool, note)
			_, err := pool.Extract(t.Context(), extract.Input{Name: tc.document, Path: note})
			wantCode(t, err, tc.code)
			if got := mustExtract(t, pool, note); len(got.Blocks) != 1 {
				t.Errorf("the next document has %d blocks, want 1", len(got.Blocks))
			}
		})
	}
}

// TestPoolOnABusyMachine reads a document whose parser has less than its time of a processor,
// although it takes longer by the clock.
func TestPoolOnABusyMachine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		skipOrFail(t, "the processor time of another process can be read on Linux only; run this test there")
	}
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Timeout: 500 * time.Millisecond})
	result, err := pool.Extract(t.Context(), extract.Input{Name: nap, Path: write(t, "note.txt", []byte("A note."))})
	if err != nil || len(result.Layout.Blocks) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestPoolReplacesAChildAfterItsShare(t *testing.T) {
	t.Parallel()
	pool, folder := newPool(t, extract.PoolConfig{Confinement: extract.Unconfined, Size: 1, DocumentsPerChild: 3})
	note := write(t, "note.txt", []byte("A note."))
	for range 7 {
		mustExtract(t, pool, note)
	}
	if got := len(children(t, folder)); got != 3 {
		t.Errorf("%d children for 7 documents of 3 each, want 3", got)
	}
}

func TestPoolRunsChildrenSideBySide(t *testing.T) {
	t.Parallel()
	pool, folder := newPool(t, extract.PoolConfig{Confinement: extract.Unconfined, Size: 3})
	note := write(t, "note.txt", []byte("A note."))
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if _, err := pool.Extract(t.Context(), extract.Input{Name: "note.txt", Path: note}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := len(children(t, folder)); got > 3 {
		t.Errorf("%d children, want at most 3", got)
	}
}

func TestPoolStopsCanceledWork(t *testing.T) {
	t.Parallel()
	pool, folder := newPool(t, extract.PoolConfig{Confinement: extract.Unconfined, Size: 1})
	note := write(t, "note.txt", []byte("A note."))
	mustExtract(t, pool, note)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := pool.Extract(ctx, extract.Input{Name: hang, Path: note})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the cause of the context", err)
	}
	mustExtract(t, pool, note)
	if got := len(children(t, folder)); got != 2 {
		t.Errorf("%d children, want the killed one and its successor", got)
	}
}

func TestPoolLimitsApplyToTheDocumentOnly(t *testing.T) {
	t.Parallel()
	page := write(t, "a.pdf", onePage([]byte("BT /F 12 Tf 20 100 Td (A page.) Tj ET"), ""))

	t.Run("pdfium may take more time and memory to start than a document may", func(t *testing.T) {
		t.Parallel()
		pool, folder := newPool(t, extract.PoolConfig{Confinement: extract.Unconfined, Size: 1, CacheDir: t.TempDir(), Timeout: 2 * time.Second, Memory: 200 << 20})
		for range 5 {
			if got := mustExtract(t, pool, page); len(got.Pages) != 1 {
				t.Errorf("%d pages, want 1", len(got.Pages))
			}
		}
		if got := len(children(t, folder)); got != 2 {
			t.Errorf("%d children, want one that fills the cache, and one that stays small enough to be used again", got)
		}
	})

	t.Run("starting pdfium is not interrupted, for the next document", func(t *testing.T) {
		t.Parallel()
		cache := t.TempDir()
		pool, _ := newPool(t, extract.PoolConfig{Size: 1, CacheDir: cache})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := pool.Extract(ctx, extract.Input{Name: "a.pdf", Path: page}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the cause of the context", err)
		}
		if compiled, err := filepath.Glob(filepath.Join(cache, "*", "*")); err != nil || len(compiled) == 0 {
			t.Errorf("nothing of pdfium is kept: %v", err)
		}
		mustExtract(t, pool, page)
	})

	t.Run("waiting for a free child does not count", func(t *testing.T) {
		t.Parallel()
		pool, _ := newPool(t, extract.PoolConfig{Size: 1, Timeout: 500 * time.Millisecond})
		note := write(t, "note.txt", []byte("A note."))
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, err := pool.Extract(t.Context(), extract.Input{Name: hang, Path: note})
				wantCode(t, err, knowledge.CodeParseLimit)
			})
			wg.Go(func() {
				if _, err := pool.Extract(t.Context(), extract.Input{Name: "note.txt", Path: note}); err != nil {
					t.Errorf("a document that waited: %v", err)
				}
			})
		}
		wg.Wait()
	})
}

func TestPoolClosed(t *testing.T) {
	t.Parallel()
	pool, folder := newPool(t, extract.PoolConfig{Confinement: extract.Unconfined, Size: 2})
	note := write(t, "note.txt", []byte("A note."))
	mustExtract(t, pool, note)
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range children(t, folder) {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("child %d after Close: %v, want none", pid, err)
		}
	}
	if _, err := pool.Extract(t.Context(), extract.Input{Name: "note.txt", Path: note}); err == nil {
		t.Error("a closed pool extracts")
	}
}

func TestPoolFailsIfAChildCannotStart(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{filepath.Join(t.TempDir(), "missing")}, {"true"}} {
		pool, err := extract.NewPool(extract.PoolConfig{Command: command, Size: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = pool.Extract(t.Context(), extract.Input{Name: "note.txt", Path: write(t, "note.txt", []byte("x"))})
		if err == nil || knowledge.AsError(err).Code != knowledge.CodeInternal {
			t.Errorf("%v: error %v, want an internal error", command, err)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPoolRefusesAWrongLicenseOfUnioffice(t *testing.T) {
	t.Parallel()
	_, err := extract.NewPool(extract.PoolConfig{Command: []string{"true"}, UniofficeLicense: "wrong"})
	if err == nil || !strings.Contains(err.Error(), "extract.unioffice_license_env") {
		t.Errorf("error %v", err)
	}
}

func TestChildEndsWithItsInput(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, childArg, t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("child: %v", err)
	}
}

func TestChildEndsWithItsParent(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	parent := exec.CommandContext(t.Context(), exe, parentArg, folder)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a child starts", func() bool { return len(children(t, folder)) == 1 })
	child := children(t, folder)[0]
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed, as asked
	eventually(t, "the child ends", func() bool { return hasEnded(child) })
}

func TestConfinedChildEndsWithItsParent(t *testing.T) {
	t.Parallel()
	needConfinement(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	parent := exec.CommandContext(t.Context(), exe, confinedParentArg, folder)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a child starts", func() bool { return len(running(t, confine.Program, folder)) == 1 })
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed, as asked
	eventually(t, "the child ends", func() bool { return len(running(t, childArg, folder)) == 0 })
}

// running returns the ids of the processes whose command has all of the words.
func running(t *testing.T, words ...string) (pids []int) {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		line, err := os.ReadFile(command)
		arguments := strings.Split(string(line), "\x00")
		if err != nil || !strings.HasPrefix(arguments[0], "/") || slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(arguments, w) }) {
			continue // it has ended, is bubblewrap, or is another one
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(command)))
		if err != nil {
			t.Fatal(err)
		}
		if !hasEnded(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// needConfinement skips a test where children cannot be confined. In CI they must be.
func needConfinement(t *testing.T) {
	t.Helper()
	err := confine.Available(t.Context())
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skipf("children cannot be confined: %v; apt-get install bubblewrap", err)
	}
}

// hasEnded reports whether a process has ended. A zombie counts as ended: its new
// parent may be slow to collect it.
func hasEnded(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func eventually(t *testing.T, condition string, done func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("not within 10 s: %s", condition)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// BenchmarkText extracts a text of 2 KB through a warm child.
func BenchmarkText(b *testing.B) {
	pool, _ := newPool(b, extract.PoolConfig{Size: 1, DocumentsPerChild: 1 << 30})
	path := write(b, "note.txt", []byte(strings.Repeat("Sixty-four bytes of text that stand for a line of a note......\n\n", 32)))
	in := extract.Input{Name: "note.txt", Path: path}
	for b.Loop() {
		if _, err := pool.Extract(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPDFPages reads pages of dense text with the box of every line, in as
// many children as there are processors.
func BenchmarkPDFPages(b *testing.B) {
	path := filepath.Join(sharedFiles, "pdf", "pdflatex-4-pages.pdf")
	if _, err := os.Stat(path); err != nil {
		skipOrFail(b, noFiles)
	}
	pool, _ := newPool(b, extract.PoolConfig{DocumentsPerChild: 1 << 30})
	in := extract.Input{Name: "a.pdf", Path: path}
	for range 2 * runtime.NumCPU() { // compile, and warm every child
		if _, err := pool.Extract(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
	var pages atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			result, err := pool.Extract(b.Context(), in)
			if err != nil {
				b.Error(err)
				return
			}
			pages.Add(int64(len(result.Layout.Pages)))
		}
	})
	b.ReportMetric(float64(pages.Load())/b.Elapsed().Seconds(), "pages/s")
}

// slowTesseract returns the path of a script in place of tesseract: it writes its
// process id to a file, waits, and finds one word.
func slowTesseract(t *testing.T, seconds string) (path, pidFile string) {
	t.Helper()
	pidFile = filepath.Join(t.TempDir(), "pid")
	script := "if [ \"$1\" = --list-langs ]; then echo eng; exit; fi\necho $$ > " + pidFile + "\nsleep " + seconds +
		"\nprintf '5\\t1\\t1\\t1\\t1\\t1\\t10\\t10\\t90\\t20\\t95\\tword\\n'\n"
	return extracttest.Script(t, "tesseract", script), pidFile
}

// scans returns a PDF of n pages that show no letters, but enough lines to be a scan.
func scans(n int) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", ""}
	kids := ""
	content := strings.Repeat("10 10 m 90 90 l S\n", 60)
	objects = append(objects, fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content))
	for range n {
		objects = append(objects, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 3 0 R >>")
		kids += fmt.Sprintf("%d 0 R ", len(objects))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", n, kids)
	return makePDF(objects...)
}

func TestPoolRunsTools(t *testing.T) {
	t.Parallel()
	t.Run("each page that must be recognised has the time of a document", func(t *testing.T) {
		t.Parallel()
		tesseract, _ := slowTesseract(t, "1")
		pool, _ := newPool(t, extract.PoolConfig{Size: 1, Timeout: 4 * time.Second, Tools: format.Tools{Tesseract: tesseract}})
		result, err := pool.Extract(t.Context(), extract.Input{Name: "a.pdf", Path: write(t, "a.pdf", scans(6)), Folder: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Layout.Metadata["ocr_pages"]; got != "6" {
			t.Errorf("%s pages, want 6", got)
		}
	})
	t.Run("a tool ends with the child that runs it", func(t *testing.T) {
		t.Parallel()
		tesseract, pidFile := slowTesseract(t, "600")
		pool, _ := newPool(t, extract.PoolConfig{Size: 1, Timeout: 2 * time.Second, Tools: format.Tools{Tesseract: tesseract}, Confinement: extract.Unconfined})
		_, err := pool.Extract(t.Context(), extract.Input{Name: "a.pdf", Path: write(t, "a.pdf", scans(1)), Folder: t.TempDir()})
		wantCode(t, err, knowledge.CodeParseLimit)
		data, err := os.ReadFile(pidFile)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the tool still runs")
			}
		}
	})
	t.Run("a confined tool ends with the child that runs it", func(t *testing.T) {
		t.Parallel()
		needConfinement(t)
		tesseract, _ := slowTesseract(t, "600")
		pool, _ := newPool(t, extract.PoolConfig{Size: 1, Timeout: 2 * time.Second, Tools: format.Tools{Tesseract: tesseract}})
		in := extract.Input{Name: "a.pdf", Path: write(t, "a.pdf", scans(1)), Folder: t.TempDir()}
		ended := make(chan error, 1)
		go func() {
			_, err := pool.Extract(t.Context(), in)
			ended <- err
		}()
		eventually(t, "the tool runs", func() bool { return len(running(t, tesseract, "tsv")) == 1 })
		wantCode(t, <-ended, knowledge.CodeParseLimit)
		eventually(t, "the tool ends", func() bool { return len(running(t, tesseract)) == 0 })
	})
}
