package git

import (
	"bytes"
	"slices"
	"strings"
)

// The bounds of a tree.
const (
	maxFiles = 500_000
	maxDepth = 200
)

// file is a file of a commit.
type file struct {
	path string
	hash hash
}

// The modes of the entries of trees.
const (
	modeFolder     = "40000"
	modeFile       = "100644"
	modeExecutable = "100755"
	modeGroup      = "100664" // of old versions of Git
)

// walk collects the files of a tree.
type walk struct {
	objects map[hash]*object
	files   []file
	visited int // trees
}

// filesOf returns the files of a commit below a folder, "" = all, in the order of their
// paths. Links and repositories inside of the repository are left out. found reports whether
// the folder is there.
func filesOf(objects map[hash]*object, commit hash, folder string) (files []file, found bool, err error) {
	o := objects[commit]
	if o == nil || o.kind != kindCommit {
		return nil, false, errPack
	}
	first, _, _ := bytes.Cut(o.data, []byte("\n"))
	root, err := parseHash(strings.TrimPrefix(string(first), "tree "))
	if err != nil {
		return nil, false, err
	}
	w := &walk{objects: objects}
	for part := range strings.SplitSeq(folder, "/") {
		if part == "" {
			continue
		}
		next := hash{}
		err := w.entries(root, func(mode, name string, h hash) error {
			if mode == modeFolder && name == part {
				next = h
			}
			return nil
		})
		if err != nil || next == (hash{}) {
			return nil, false, err
		}
		root = next
	}
	prefix := folder
	if prefix != "" {
		prefix += "/"
	}
	err = w.walk(root, prefix, 0)
	slices.SortFunc(w.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	w.files = slices.CompactFunc(w.files, func(a, b file) bool { return a.path == b.path })
	return w.files, true, err
}

// walk adds the files of a tree, whose paths begin with prefix.
func (w *walk) walk(tree hash, prefix string, depth int) error {
	if w.visited++; w.visited > maxFiles || depth > maxDepth { // a tree may be in another one many times
		return errTooLarge
	}
	return w.entries(tree, func(mode, name string, h hash) error {
		switch mode {
		case modeFolder:
			return w.walk(h, prefix+name+"/", depth+1)
		case modeFile, modeExecutable, modeGroup:
			if len(w.files) == maxFiles {
				return errTooLarge
			}
			w.files = append(w.files, file{prefix + name, h})
		}
		return nil
	})
}

// entries calls each with the entries of a tree.
func (w *walk) entries(tree hash, each func(mode, name string, h hash) error) error {
	o := w.objects[tree]
	if o == nil || o.kind != kindTree {
		return errPack
	}
	for data := o.data; len(data) > 0; {
		head, rest, found := bytes.Cut(data, []byte{0})
		mode, name, spaced := strings.Cut(string(head), " ")
		if !found || !spaced || name == "" || strings.Contains(name, "/") || len(rest) < len(hash{}) {
			return errPack
		}
		if err := each(mode, name, hash(rest[:len(hash{})])); err != nil {
			return err
		}
		data = rest[len(hash{}):]
	}
	return nil
}
