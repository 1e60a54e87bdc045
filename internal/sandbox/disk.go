package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
)

// disk is what a job can write to: the working folder and /tmp of its namespace. Both are
// file systems in memory, of a size that the kernel holds, whatever the job does with its
// files. They last until the job has ended and the disk is closed.
type disk struct {
	roots   []*os.Root // the working folder and /tmp
	folders []*os.File // the same
}

// close frees the memory of a disk.
func (d disk) close() {
	for _, root := range d.roots {
		_ = root.Close() // nothing is written by it
	}
	for _, folder := range d.folders {
		_ = folder.Close()
	}
}

// errTooMuch is the reason why a walk over the files of a job ends.
var errTooMuch = errors.New("too much")

// isDeep reports whether folders of a job are nested deeper than files are collected.
func (d disk) isDeep() bool {
	return slices.ContainsFunc(d.roots, func(root *os.Root) bool {
		return errors.Is(walk(root, ".", maxDepth, func(string, fs.FileInfo) error { return nil }), errTooMuch)
	})
}

// walk calls visit for the entries of a folder and those below it. It follows no link.
// Folders that cannot be read, or that vanish, are passed over; below depth it returns
// errTooMuch.
func walk(root *os.Root, name string, depth int, visit func(name string, info fs.FileInfo) error) error {
	if depth == 0 {
		return errTooMuch
	}
	dir, err := root.Open(name)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	defer dir.Close()
	for {
		infos, err := dir.Readdir(64)
		for _, info := range infos {
			below := path.Join(name, info.Name())
			if err := visit(below, info); err != nil {
				return err
			}
			if info.IsDir() {
				if err := walk(root, below, depth-1, visit); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the end, or see above
		}
	}
}

// collect reads the files of the working folder, after every process has ended.
func (d disk) collect(result *Result) error {
	root := d.roots[0]
	result.Files = map[string][]byte{}
	total := int64(0)
	leftOut := func(name, why string) {
		if len(result.LeftOut) < 10 {
			result.LeftOut = append(result.LeftOut, fmt.Sprintf("%q: %s", name, why))
		}
	}
	err := walk(root, ".", maxDepth, func(name string, info fs.FileInfo) error {
		switch {
		case info.IsDir():
			return nil
		case !info.Mode().IsRegular():
			leftOut(name, "it is not a regular file")
		case info.Size() > maxFile:
			leftOut(name, fmt.Sprintf("it has %d bytes, and at most %d are kept", info.Size(), maxFile))
		case len(result.Files) >= maxFiles || total+info.Size() > maxTotal:
			leftOut(name, fmt.Sprintf("at most %d files of %d bytes together are kept", maxFiles, maxTotal))
			return errTooMuch
		default:
			content, err := readFile(root, name)
			if err != nil {
				leftOut(name, "it cannot be read")
				return nil //nolint:nilerr // the code may have made it unreadable
			}
			total += int64(len(content))
			result.Files[name] = content
		}
		return nil
	})
	if err != nil && !errors.Is(err, errTooMuch) {
		return err
	}
	return nil
}

func readFile(root *os.Root, name string) ([]byte, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile))
}
