package server

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestProgramPagesAreReleased counts pages that other tests use too, so it runs alone.
func TestProgramPagesAreReleased(t *testing.T) { //nolint:paralleltest // the pages are of the process
	pages := findProgramPages()
	if len(pages) == 0 {
		t.Fatal("the program has no pages")
	}
	before := residentFileKB(t)
	pages.release()
	if after := residentFileKB(t); after > before/2 {
		t.Errorf("%d KB of files are resident, of %d KB before", after, before)
	}
}

// residentFileKB returns how much of files is in the memory of this process.
func residentFileKB(t *testing.T) (kb int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	if _, err := fmt.Sscanf(rest, "%d kB", &kb); err != nil {
		t.Fatal(err)
	}
	return kb
}
