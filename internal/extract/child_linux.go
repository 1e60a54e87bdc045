package extract

import (
	"fmt"
	"os"
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

// memoryOf returns the private memory of a process in bytes, resident or swapped
// out; ok is false if it cannot be read. It does not count the pages of the
// program file, some 120 MB: all processes share them, and the kernel reclaims
// them when it needs memory.
func memoryOf(pid int) (bytes int64, ok bool) {
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
