package extract

import (
	"fmt"
	"os"
	"syscall"
)

// childAttributes keep a terminal's signals from the child, so that the parent
// decides when it ends, and end it with the parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// residentBytes gives the resident memory of a process; ok is false if it
// cannot be known.
func residentBytes(pid int) (bytes int64, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, false
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
		return 0, false
	}
	return resident * int64(os.Getpagesize()), true
}
