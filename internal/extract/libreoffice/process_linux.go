package libreoffice

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

type attributes = syscall.SysProcAttr

// plainAttributes ends LibreOffice when the parser child dies. It stays in the
// child's process group, which the server kills.
func plainAttributes() *attributes { return &attributes{Pdeathsig: syscall.SIGKILL} }

// processAttributes returns the attributes of a process that also runs in a network
// namespace without interfaces, so LibreOffice reaches no address.
func processAttributes() *attributes {
	a := plainAttributes()
	a.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	return a
}

// maxFile is the largest file in bytes that LibreOffice may write.
const maxFile = 1 << 30

// limitFiles keeps LibreOffice from filling the disk. It fails only if LibreOffice
// ended at once.
func limitFiles(pid int) {
	_ = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: maxFile, Max: maxFile}, nil)
}
