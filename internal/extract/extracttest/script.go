package extracttest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Script writes a shell script in place of a program and returns its path. Its commands
// follow the line that names the shell.
//
// While the file is open for writing, no test may start a process: the process would
// inherit the open file for a moment, and the system refuses to run a file that is
// open for writing ("text file busy").
func Script(t *testing.T, program, commands string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), program)
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+commands), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
