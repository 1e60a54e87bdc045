package sandbox

import (
	"embed"
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
)

//go:embed program
var programs embed.FS

// folder holds what a job gets and can only read: its program, and in program/given what
// is copied to its working folder (work) and to its /tmp (tmp).
type folder struct{ path string }

func (f folder) sub(name string) string { return filepath.Join(f.path, name) }

// newFolder makes the folders of a job.
func newFolder(parent string, job Job, fonts map[string][]byte) (f folder, err error) {
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
	for folder, files := range map[string]map[string][]byte{"program": program, "program/given/work": job.Files, "program/given/tmp": below("mpl", fonts)} {
		if err := fill(f.sub(folder), files); err != nil {
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
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // another user reads it
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

// remove removes the folders of a job.
func (f folder) remove() error { return os.RemoveAll(f.path) }
