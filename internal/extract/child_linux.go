package extract

import "syscall"

// childAttributes puts the child into a process group of its own, so that
// signals of the terminal reach only the parent, and kills the child when the
// parent dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
