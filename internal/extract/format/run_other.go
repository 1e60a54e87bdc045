//go:build !linux

package format

import "syscall"

// toolAttributes leaves a program in the process group of the parser child, which the
// server kills.
func toolAttributes() *syscall.SysProcAttr { return nil }
