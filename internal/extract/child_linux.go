package extract

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// childAttributes puts the child into a process group of its own, so that
// signals of the terminal reach only the parent, and kills the child when the
// parent dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// memoryOf returns the private memory of a process and of the processes that it started, in
// bytes, resident or swapped out; ok is false if the memory of the process itself cannot be
// read. It does not count the pages of the program files, some 120 MB: all processes
// share them, and the kernel reclaims them when it needs memory.
func memoryOf(pid int) (bytes int64, ok bool) {
	bytes, ok = ownMemory(pid)
	for _, tool := range startedBy(pid) {
		more, _ := memoryOf(tool) // it may have ended
		bytes += more
	}
	return bytes, ok
}

// startedBy returns the processes that a process started and that have not ended.
func startedBy(pid int) []int {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	var found []int
	for _, file := range files {
		list, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(list)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

func ownMemory(pid int) (bytes int64, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "RssAnon" && name != "VmSwap" {
			continue
		}
		kB, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, false
		}
		bytes += kB << 10
		ok = true
	}
	return bytes, ok
}
