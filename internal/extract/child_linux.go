package extract

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// childAttributes keep a terminal's signals from the child, so that the parent
// decides when it ends, and end it with the parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// memoryOf gives the memory that a process has taken for itself, resident or
// swapped out; ok is false if it cannot be known. The pages of the program's own
// file, some 120 MB, do not count: all processes share them, and the system
// takes them back when it needs them.
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
