package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData returns when the bytes of a file survive a loss of power. Its times need not.
func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}
