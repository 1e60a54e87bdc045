package server

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/cairn-rag/cairn/api"
)

// DiskSpace measures a data folder. It returns nil if there is none.
func DiskSpace(data string) *api.DiskSpace {
	var disk unix.Statfs_t
	entries, err := os.ReadDir(data)
	if err != nil || unix.Statfs(data, &disk) != nil {
		return nil
	}
	space := &api.DiskSpace{
		FreeBytes: int64(disk.Bavail) * int64(disk.Bsize), //nolint:gosec,unconvert // the types differ between systems
		UsedBytes: map[string]int64{},
	}
	for _, e := range entries {
		if size := sizeOf(filepath.Join(data, e.Name())); size >= 1<<20 {
			space.UsedBytes[e.Name()] = size
		}
	}
	return space
}

// sizeOf returns the bytes of a file or of all files in a folder. Files that vanish
// meanwhile are not counted.
func sizeOf(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
