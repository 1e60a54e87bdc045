//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"github.com/cairn-rag/cairn/internal/process"
)

// files are the open files between the worker and the first program of a job.
type files struct {
	theirs  []*os.File // the filter of system calls, and the other ends of ready and proceed
	ready   *os.File   // prepare writes a line when the disk is filled
	proceed *os.File   // the job begins when the worker has written a line
}

func newFiles() (f files, err error) {
	// Files that this process inherited would otherwise be open in the job. Go opens
	// its own so that they are not.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return f, err
	}
	filter, err := filterFile()
	if err != nil {
		return f, err
	}
	f.theirs = []*os.File{filter} // number 3
	ready, done, err := os.Pipe()
	if err != nil {
		return f, errors.Join(err, filter.Close())
	}
	wait, proceed, err := os.Pipe()
	if err != nil {
		return f, errors.Join(err, filter.Close(), ready.Close(), done.Close())
	}
	return files{[]*os.File{filter, done, wait}, ready, proceed}, nil
}

// admit waits until the disk of a job is filled, opens it, and lets the job begin. The
// caller closes the disk, which it returns with an error too.
func (f files) admit(pid int) (disk, error) {
	if n, err := f.ready.Read(make([]byte, 1)); n == 0 {
		return disk{}, fmt.Errorf("the files of the job do not fit on its disk, or it ended: %w", err)
	}
	d, err := openDisk(lastStartedBy(pid))
	if err != nil {
		return d, err
	}
	_, err = f.proceed.WriteString("\n")
	return d, err
}

// lastStartedBy returns the process that a process has started, or that one has started,
// and so on.
func lastStartedBy(pid int) int {
	for {
		children := process.Children(pid)
		if len(children) == 0 {
			return pid
		}
		pid = children[0]
	}
}

func (f *files) closeTheirs() {
	for _, file := range f.theirs {
		_ = file.Close() // the job has copies
	}
	f.theirs = nil
}

func (f *files) close() {
	f.closeTheirs()
	_, _ = f.ready.Close(), f.proceed.Close() // the job has ended
}
