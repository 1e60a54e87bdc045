//go:build !linux

package libreoffice

import "syscall"

type attributes = syscall.SysProcAttr

// plainAttributes leaves LibreOffice in the process group of the parser child, which
// the server kills.
func plainAttributes() *attributes { return nil }

func processAttributes() *attributes { return nil }

func limitFiles(int) {}

// removeSockets does nothing: only Linux shows the sockets of a process.
func removeSockets(int) bool { return true }
