//go:build unix && !linux

package extract

import "syscall"

// childAttributes puts the child into a process group of its own, so that
// signals of the terminal reach only the parent. The child ends with the parent
// because its input ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
