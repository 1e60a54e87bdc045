//go:build unix && !linux

package extract

import "syscall"

// childAttributes keep a terminal's signals from the child, so that the parent
// decides when it ends. It ends with the parent because its input does.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// memoryOf is not known here: the memory of another process cannot be read
// without cgo.
func memoryOf(int) (bytes int64, ok bool) { return 0, false }
