package e2e_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

var (
	binary          string // the program under test
	updateHistories = flag.Bool("update-histories", false, "record the histories that workflows/replay_test.go replays")
)

// slots limits the tests to two servers at a time. A test that has one runs its subtests in
// order: parallel ones would wait for tests that wait for its slot.
var slots = make(chan struct{}, 2)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	if testing.Short() {
		fmt.Println("e2e: left out by -short")
		return 0
	}
	if binary = os.Getenv("CAIRN_TEST_BINARY"); binary != "" {
		path, err := filepath.Abs(binary)
		if err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
			return 1
		}
		binary = path
		return postgrestest.Main(m)
	}
	folder, err := os.MkdirTemp("", "cairn-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "cairn")
	build := exec.Command("go", "build", "-o", binary, "github.com/cairn-rag/cairn/starter")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: build the binary:", err)
		return 1
	}
	return postgrestest.Main(m)
}
