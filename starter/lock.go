package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lockFolder takes a data folder for this process alone. Where another process
// has it, the error says which. The lock goes with the process.
func lockFolder(dir string) (release func(), err error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock the data folder: %w", err)
		}
		return nil, fmt.Errorf("the data folder %s is in use by %s; stop that one first, or give another --data", dir, holder(dir, path))
	}
	if err := errors.Join(f.Truncate(0), writeAt(f, lockText(os.Getpid()))); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	return func() { f.Close() }, nil
}

// holder says who has the folder: its process, and its address if it got so far.
// Before that, endpoints.json is of the process before.
func holder(dir, path string) string {
	b, err := os.ReadFile(path)
	who := strings.TrimSpace(string(b))
	if err != nil || who == "" {
		return "another process"
	}
	if e, err := readEndpoints(dir); err == nil && who == lockText(e.PID) {
		who += " at " + e.API
	}
	return who
}

// lockText is what a process writes into the lock that it has.
func lockText(pid int) string { return fmt.Sprintf("process %d", pid) }

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// endpoints are what a running cairn up tells about itself in its data folder.
type endpoints struct {
	API      string `json:"api"`
	UI       string `json:"ui"`
	Temporal string `json:"temporal"`
	KeyFile  string `json:"key_file"`
	PID      int    `json:"pid"`
}

// readEndpoints reads DIR/endpoints.json, which may be that of a process before.
func readEndpoints(dir string) (e endpoints, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "endpoints.json"))
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(b, &e)
}

// write replaces DIR/endpoints.json in one step.
func (e endpoints) write(dir string) error {
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return fmt.Errorf("encode endpoints: %w", err)
	}
	tmp := filepath.Join(dir, "endpoints.json.new")
	if err := os.WriteFile(tmp, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write endpoints: %w", err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, "endpoints.json")); err != nil {
		return fmt.Errorf("write endpoints: %w", err)
	}
	return nil
}
