package sandbox

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"syscall"
)

//go:embed program
var programs embed.FS

// folder holds the folders of a job: program, which is read-only, work and tmp.
type folder struct{ path string }

func (f folder) sub(name string) string { return filepath.Join(f.path, name) }

// newFolder makes the folders of a job, with the files of the job in work. The user
// owns them.
func newFolder(parent string, user user, job Job, fonts map[string][]byte) (f folder, err error) {
	if f.path, err = os.MkdirTemp(parent, "cairn-code-"); err != nil {
		return f, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.remove())
		}
	}()
	if err := os.Chmod(f.path, 0o711); err != nil { //nolint:gosec // the user of the job must reach its folders
		return f, err
	}
	program, err := programOf(job)
	if err != nil {
		return f, err
	}
	for name, files := range map[string]map[string][]byte{"program": program, "work": job.Files, "tmp": below("mpl", fonts)} {
		if err := fill(f.sub(name), files); err != nil {
			return f, err
		}
		if err := user.own(f.sub(name)); err != nil {
			return f, err
		}
	}
	return f, nil
}

// below returns files in a folder.
func below(folder string, files map[string][]byte) map[string][]byte {
	moved := map[string][]byte{folder + "/.keep": nil}
	for name, content := range files {
		moved[folder+"/"+name] = content
	}
	return moved
}

// fill makes a folder with files. Their paths must not leave it.
func fill(folder string, files map[string][]byte) error {
	if err := os.Mkdir(folder, 0o755); err != nil { //nolint:gosec // another user reads it
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is written by it
	for name, content := range files {
		if dir := path.Dir(name); dir != "." {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		if err := root.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// module matches JavaScript that only a module may contain.
var module = regexp.MustCompile(`(?m)^(import\s|import\{|export\s|await\s|(const|let|var)\s.*=\s*await\s)`)

// programOf returns the files of a job's program.
func programOf(job Job) (map[string][]byte, error) {
	if job.Language == JavaScript {
		if module.MatchString(job.Code) {
			return map[string][]byte{"code.mjs": []byte(job.Code)}, nil
		}
		return map[string][]byte{"code.cjs": []byte(job.Code)}, nil
	}
	files := map[string][]byte{"code.py": []byte(job.Code)}
	for _, name := range []string{"run.py", "cairn_figures.py"} {
		content, err := programs.ReadFile("program/" + name)
		if err != nil {
			return nil, err
		}
		files[name] = content
	}
	return files, nil
}

// errTooMuch is the reason why a walk over the files of a job ends.
var errTooMuch = errors.New("too much")

// isFull reports whether the job has more on disk than the limits allow. It looks at no
// more entries than these.
func (f folder) isFull(limits Limits) bool {
	entries, bytes := 0, int64(0)
	for _, name := range []string{"work", "tmp"} {
		root, err := os.OpenRoot(f.sub(name))
		if err != nil {
			continue
		}
		err = walk(root, ".", maxDepth, func(_ string, info fs.FileInfo) error {
			entries++
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				bytes += stat.Blocks * 512
			}
			if entries > limits.Entries || bytes > limits.Disk {
				return errTooMuch
			}
			return nil
		})
		_ = root.Close()
		if errors.Is(err, errTooMuch) {
			return true
		}
	}
	return false
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
func (f folder) collect(result *Result) error {
	root, err := os.OpenRoot(f.sub("work"))
	if err != nil {
		return fmt.Errorf("read the files of a sandbox: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written by it
	result.Files = map[string][]byte{}
	total := int64(0)
	leftOut := func(name, why string) {
		if len(result.LeftOut) < 10 {
			result.LeftOut = append(result.LeftOut, fmt.Sprintf("%q: %s", name, why))
		}
	}
	err = walk(root, ".", maxDepth, func(name string, info fs.FileInfo) error {
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

// remove removes the folders of a job, also those that the code made unreadable.
func (f folder) remove() error {
	if os.RemoveAll(f.path) == nil {
		return nil
	}
	err := filepath.WalkDir(f.path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // a folder that is removed next
		}
		return nil //nolint:nilerr // RemoveAll reports it
	})
	return errors.Join(err, os.RemoveAll(f.path))
}
