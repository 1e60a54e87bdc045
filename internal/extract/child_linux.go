package extract

import (
	"syscall"
	"time"

	"github.com/cairn-rag/cairn/internal/process"
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
	bytes, ok = process.Memory(pid, process.Private, process.Swapped)
	for _, tool := range process.Children(pid) {
		more, _ := memoryOf(tool) // it may have ended
		bytes += more
	}
	return bytes, ok
}

// workOf returns the processor time of a process and of the processes that it started. ok is
// false if the process cannot be read.
func workOf(pid int) (used time.Duration, ok bool) {
	used, ok = process.CPU(pid)
	for _, tool := range process.Children(pid) {
		more, _ := workOf(tool) // it may have ended
		used += more
	}
	return used, ok
}
