//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// refused are system calls that code has no use for. Memory that the first of them
// allocate belongs to no process, so the watch would not see it. The others are ways
// into the kernel.
var refused = []uint32{
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN,
	unix.SYS_IO_URING_SETUP, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY,
	unix.SYS_REQUEST_KEY, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN,
	unix.SYS_FSMOUNT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_SWAPON,
	unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_PERSONALITY,
}

// instruction is one of classic BPF.
type instruction struct {
	Code   uint16
	Jt, Jf uint8
	K      uint32
}

const (
	load      = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal     = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	above     = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	answer    = unix.BPF_RET | unix.BPF_K
	allow     = unix.SECCOMP_RET_ALLOW
	refuse    = unix.SECCOMP_RET_ERRNO
	kill      = unix.SECCOMP_RET_KILL_PROCESS
	atNumber  = 0  // of struct seccomp_data
	atArch    = 4  // of struct seccomp_data
	atArg     = 16 // the lower half of the first argument, on a little-endian machine
	otherABI  = 0x40000000
	noSupport = refuse | uint32(unix.EAFNOSUPPORT)
)

// filter returns the program that decides about the system calls of a job. Sockets of
// other families than these three, such as vsock, would not be kept in the network
// namespace.
func filter() []instruction {
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	program := []instruction{
		{load, 0, 0, atArch}, {equal, 1, 0, arch}, {answer, 0, 0, kill},
		{load, 0, 0, atNumber}, {above, 0, 1, otherABI}, {answer, 0, 0, kill},
	}
	for _, number := range refused {
		program = append(program, instruction{equal, 0, 1, number}, instruction{answer, 0, 0, refuse | uint32(unix.EPERM)})
	}
	return append(program,
		instruction{equal, 0, 5, unix.SYS_SOCKET}, instruction{load, 0, 0, atArg},
		instruction{equal, 3, 0, unix.AF_UNIX}, instruction{equal, 2, 0, unix.AF_INET}, instruction{equal, 1, 0, unix.AF_INET6},
		instruction{answer, 0, 0, noSupport}, instruction{answer, 0, 0, allow})
}

// filterFile returns a file with the filter, as bubblewrap reads it.
func filterFile() (*os.File, error) {
	var program bytes.Buffer
	if err := binary.Write(&program, binary.LittleEndian, filter()); err != nil {
		return nil, fmt.Errorf("encode the filter of system calls: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if _, err := write.Write(program.Bytes()); err != nil { // it fits into the pipe
		return nil, errors.Join(err, read.Close(), write.Close())
	}
	return read, write.Close()
}
