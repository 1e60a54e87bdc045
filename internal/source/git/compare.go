package git

import (
	"path"
	"slices"
)

// maxKeys bounds the files whose keys are not their paths.
const maxKeys = 20_000

// plan is what a listing has.
type plan struct {
	changed []keyed
	gone    []string // keys
	// keys are the keys of the files that have another one than their path: they were
	// renamed, or had a path whose file was.
	keys map[string]string
}

// keyed is a file with its key.
type keyed struct {
	file
	key string
}

// comparison finds the keys of the files of a commit.
type comparison struct {
	before map[string]string // keys of paths at the commit before, where they are not the paths
	old    map[string]hash   // content of paths at the commit before
	now    map[string]string // keys of paths
	taken  map[string]bool   // keys of now
	moved  map[hash][]string // paths whose content may stand at another path now
	others int               // files of now whose keys are not their paths
}

// compare returns what has changed between the files of two commits, in the order of their
// paths. before are the keys at the first one. A file that stands at another path with the
// same content was renamed, and keeps its key. Without a first commit (base is nil) every
// file has changed.
func compare(base, head []file, before map[string]string, commit string) plan {
	c := &comparison{before: before, old: map[string]hash{}, now: map[string]string{}, taken: map[string]bool{}, moved: map[hash][]string{}}
	for _, f := range base {
		c.old[f.path] = f.hash
	}
	for _, f := range c.rename(c.keep(base, head)) {
		key := c.keyBefore(f.path)
		if c.taken[key] { // by the file that was here before
			key = f.path + "@" + commit[:12]
		}
		c.set(f, key)
	}
	p := plan{keys: map[string]string{}}
	for _, f := range head {
		key := c.now[f.path]
		if key != f.path {
			p.keys[f.path] = key
		}
		if content, kept := c.old[f.path]; !kept || content != f.hash {
			p.changed = append(p.changed, keyed{f, key})
		}
	}
	for _, f := range base {
		if key := c.keyBefore(f.path); !c.taken[key] {
			p.gone = append(p.gone, key)
		}
	}
	return p
}

func (c *comparison) set(f file, key string) {
	c.now[f.path], c.taken[key] = key, true
	if key != f.path {
		c.others++
	}
}

// keyBefore returns the key that the file at a path had.
func (c *comparison) keyBefore(at string) string {
	if key, ok := c.before[at]; ok {
		return key
	}
	return at
}

// keep lets files keep the keys of their paths, and returns those that are new there: at a
// new path, or in place of another file.
func (c *comparison) keep(base, head []file) (arrived []file) {
	content, now := map[hash]bool{}, map[string]hash{}
	for _, f := range base {
		content[f.hash] = true
	}
	for _, f := range head {
		now[f.path] = f.hash
		before, kept := c.old[f.path]
		_, named := c.before[f.path]
		if kept && (before == f.hash || !content[f.hash]) || named && len(base) == 0 {
			c.set(f, c.keyBefore(f.path))
		} else {
			arrived = append(arrived, f)
		}
	}
	for _, f := range base {
		if h, there := now[f.path]; !there || h != f.hash && content[h] {
			c.moved[f.hash] = append(c.moved[f.hash], f.path)
		}
	}
	return arrived
}

// rename sets the keys of files to those of paths that had their content. It returns the files
// without such a path. A path with the same name in another folder is preferred.
func (c *comparison) rename(arrived []file) (created []file) {
	var left []file
	for _, f := range arrived {
		if !c.take(f, func(from string) bool { return path.Base(from) == path.Base(f.path) }) {
			left = append(left, f)
		}
	}
	for _, f := range left {
		if !c.take(f, func(string) bool { return true }) {
			created = append(created, f)
		}
	}
	return created
}

// take sets the key of a file to that of a path that had its content, and reports whether there
// is one.
func (c *comparison) take(f file, same func(from string) bool) bool {
	list := c.moved[f.hash]
	at := slices.IndexFunc(list, same)
	if at < 0 || c.others >= maxKeys {
		return false
	}
	c.set(f, c.keyBefore(list[at]))
	c.moved[f.hash] = slices.Delete(list, at, at+1)
	return true
}
