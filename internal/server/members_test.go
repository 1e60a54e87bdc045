package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	host := func() *members {
		t.Helper()
		m, err := hostMembers(data)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.close() }) // it was only read
		return m
	}
	join := func() *member {
		t.Helper()
		m, err := joinMembers(data)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	gone := func(path string) bool {
		_, err := os.Stat(path)
		return errors.Is(err, fs.ErrNotExist)
	}

	server := host()
	if server.TellStep(5); server.shared() || server.LastStep() != 0 {
		t.Error("a server alone shares its folder")
	}
	first := join()
	if !server.shared() || server.others || !first.shared() || filepath.Dir(first.temporary) != filepath.Join(data, "workers") {
		t.Errorf("after a worker joined: %+v, %+v", server, first)
	}
	if server.TellStep(7); first.LastStep() != 7 {
		t.Errorf("the worker was told of %d", first.LastStep())
	}
	killed := join()
	if err := killed.lock.Close(); err != nil { // as the kernel does
		t.Fatal(err)
	}
	if again := host(); !again.shared() || !again.others || gone(first.temporary) || !gone(killed.temporary) {
		t.Errorf("a server that starts beside a worker: %+v", again)
	}
	if err := first.leave(); err != nil {
		t.Fatal(err)
	}
	if !server.shared() {
		t.Error("a server forgets that its folder was shared")
	}
	if alone := host(); alone.shared() || !gone(first.temporary) {
		t.Errorf("a server that starts when the workers have left: %+v", alone)
	}
}
