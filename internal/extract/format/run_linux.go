package format

import "syscall"

// toolAttributes ends a program when the parser child dies. The program stays in the
// child's process group, which the server kills.
func toolAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
