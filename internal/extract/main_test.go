package extract_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/extract"
)

// The test binary is also its own parser child, and a parent that a test can
// kill.
const (
	childArg  = "be-a-parser-child"
	toolArg   = "be-a-tool-that-takes-memory"
	parentArg = "be-a-parent"

	confinedParentArg = "be-a-parent-of-a-confined-child"
)

// A child misbehaves if the name of its document is one of these.
const (
	hang  = "make-the-child-hang"
	spin  = "make-the-child-spin"
	nap   = "make-the-child-sleep-a-second"
	hog   = "make-the-child-take-memory"
	grow  = "make-the-child-grow"
	feed  = "make-a-tool-of-the-child-take-memory"
	crash = "make-the-child-crash"
	chat  = "make-the-child-write-nonsense"
	peek  = "make-the-child-read:" // the path of a file follows, and a semicolon; it crashes if it can
)

var peeked = regexp.MustCompile(peek + "([^;]*);")

func TestMain(m *testing.M) {
	if len(os.Args) >= 3 {
		switch os.Args[1] {
		case childArg:
			os.Exit(beChild(os.Args[2]))
		case toolArg:
			takeMemory()
		case parentArg:
			os.Exit(beParent(os.Args[2], extract.Unconfined))
		case confinedParentArg:
			os.Exit(beParent(os.Args[2], extract.InNamespaces))
		}
	}
	os.Exit(runTests(m))
}

// cacheDir keeps the compiled pdfium for all children of this test run.
var cacheDir string

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cairn-extract-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cacheDir = dir
	return m.Run()
}

// beChild serves like a real child. It leaves a file with its process id in
// folder, if it sees that.
func beChild(folder string) int {
	pid := filepath.Join(folder, fmt.Sprintf("child-%d", os.Getpid()))
	if err := os.WriteFile(pid, nil, 0o600); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.EROFS) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	extract.PanicOnNames()
	if err := extract.Serve(context.Background(), &mischief{in: os.Stdin}, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// mischief reads the requests of a child and misbehaves if one says so.
type mischief struct {
	in   io.Reader
	held [][]byte
}

func (m *mischief) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	names := func(word string) bool { return bytes.Contains(p[:n], []byte(word)) }
	switch {
	case names(hang):
		return m.in.Read(p) // the request is lost; only the end of the input comes
	case names(nap): // as a child does that gets no processor
		time.Sleep(time.Second)
	case names(spin):
		for i := uint64(1); i != 0; i += 2 {
		}
	case names(hog):
		takeMemory()
	case names(grow): // as a long document does, and then it is read
		m.held = takeSlowly(m.held)
	case names(feed):
		_ = exec.CommandContext(context.Background(), os.Args[0], toolArg, "").Run() // both are killed
	case names(peek):
		if _, err := os.ReadFile(string(peeked.FindSubmatch(p[:n])[1])); err == nil {
			os.Exit(3)
		}
	case names(crash):
		os.Exit(3)
	case names(chat):
		fmt.Print("this is no frame")
		os.Exit(0)
	}
	return n, err
}

// takeSlowly takes 160 MB in a second or so, unless it has them.
func takeSlowly(held [][]byte) [][]byte {
	for len(held) < 40 {
		held = append(held, bytes.Repeat([]byte{1}, 4<<20))
		time.Sleep(20 * time.Millisecond)
	}
	return held
}

// takeMemory takes memory until the process is killed.
func takeMemory() {
	var held [][]byte
	for len(held) < 1000 {
		block := make([]byte, 16<<20)
		for i := range block {
			block[i] = 1
		}
		held = append(held, block)
	}
}

// beParent starts a child that hangs until both are killed.
func beParent(folder string, confinement extract.Confinement) int {
	pool, err := extract.NewPool(extract.PoolConfig{Command: []string{os.Args[0], childArg, folder}, Size: 1, Timeout: time.Hour, TempDir: folder, Confinement: confinement})
	if err != nil {
		return 1
	}
	_, err = pool.Extract(context.Background(), extract.Input{Name: hang, Path: os.Args[0]})
	fmt.Fprintln(os.Stderr, err)
	return 1
}
