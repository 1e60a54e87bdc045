//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openDisk opens the disk of a job, by one of its processes.
func openDisk(pid int) (d disk, err error) {
	for _, name := range []string{"work", "tmp"} {
		path := fmt.Sprintf("/proc/%d/root/%s", pid, name)
		root, err := os.OpenRoot(path)
		if err != nil {
			return d, err
		}
		d.roots = append(d.roots, root)
		folder, err := os.Open(path)
		if err != nil {
			return d, err
		}
		d.folders = append(d.folders, folder)
	}
	return d, nil
}

// isFull reports whether a job has more on its disk than the limits allow. Files that were
// deleted and are still open count too.
func (d disk) isFull(limits Limits) bool {
	var bytes, entries int64
	for _, folder := range d.folders {
		var s unix.Statfs_t
		if unix.Fstatfs(int(folder.Fd()), &s) != nil {
			return true
		}
		bytes += int64(s.Blocks-s.Bfree) * int64(s.Bsize) //nolint:gosec,unconvert // of a small file system
		entries += int64(s.Files - s.Ffree)               //nolint:gosec // of a small file system
	}
	return bytes >= limits.Disk || entries > int64(limits.Entries) || d.isDeep()
}
