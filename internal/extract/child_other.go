//go:build unix && !linux

package extract

import (
	"syscall"
	"time"
)

// childAttributes puts the child into a process group of its own, so that
// signals of the terminal reach only the parent. The child ends with the parent
// because its input ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// memoryOf returns ok false: without cgo the memory of another process cannot be
// read on this system.
func memoryOf(int) (bytes int64, ok bool) { return 0, false }

// workOf returns ok false, for the same reason.
func workOf(int) (used time.Duration, ok bool) { return 0, false }
