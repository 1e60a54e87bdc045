package sourcetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Item returns a copy of an item; there is false if there is none that is not in the trash.
func (w *World) Item(id int) (i Item, there bool) {
	w.do(func() {
		if there = w.visible(id); there {
			i = *w.items[id]
		}
	})
	return i, there
}

// visible reports whether an item is there, and neither it nor a folder above is trashed.
func (w *World) visible(id int) bool {
	for at := id; ; at = w.items[at].Parent {
		i := w.items[at]
		if i == nil || i.Trashed {
			return false
		}
		if at == 0 {
			return true
		}
	}
}

// path returns the path of an item.
func (w *World) path(id int) string {
	var parts []string
	for at := id; at != 0; at = w.items[at].Parent {
		parts = append([]string{w.items[at].Name}, parts...)
	}
	return strings.Join(parts, "/")
}

// Find returns a copy of the item at a path, and of its children.
func (w *World) Find(path string) (i Item, children []Item, there bool) {
	w.do(func() {
		at := 0
		for part := range strings.SplitSeq(path, "/") {
			if part == "" {
				continue
			}
			list := w.children(at)
			n := slices.IndexFunc(list, func(i *Item) bool { return i.Name == part })
			if n < 0 {
				return
			}
			at = list[n].ID
		}
		i, there = *w.items[at], true
		for _, c := range w.children(at) {
			children = append(children, *c)
		}
	})
	return i, children, there
}

// Expected is what a follower has to know of a file.
type Expected struct {
	Path    string
	Content string
	Access  knowledge.Access
	Labels  []string
}

// Files returns what a follower of the whole world has to know, by the ids of the files.
func (w *World) Files() map[int]Expected {
	files := map[int]Expected{}
	w.do(func() {
		for id, i := range w.items {
			if id != 0 && (!i.Folder || w.Pages) && w.visible(id) {
				files[id] = Expected{Path: w.path(id), Content: i.Content, Access: w.access(id), Labels: i.Labels}
			}
		}
	})
	return files
}

// access returns who may see an item: its owner, and with whom it and the folders above
// are shared.
func (w *World) access(id int) knowledge.Access {
	if w.Pages {
		return knowledge.Access{Users: w.readers(id)}
	}
	var a knowledge.Access
	for at := id; ; at = w.items[at].Parent {
		i := w.items[at]
		a.Users, a.Groups = append(append(a.Users, i.Owner), i.Users...), append(a.Groups, i.Groups...)
		if at == 0 {
			break
		}
	}
	a.Users, a.Groups = source.Distinct(a.Users), source.Distinct(a.Groups)
	return a
}

// readers returns the people who may see a page: those with whom the root is shared, without
// those with whom the page, or one above it, is not shared although it is with somebody.
func (w *World) readers(id int) []string {
	root := w.items[0]
	people := w.People(append([]string{root.Owner}, root.Users...), root.Groups)
	for at := id; at != 0; at = w.items[at].Parent {
		if i := w.items[at]; len(i.Users)+len(i.Groups) > 0 {
			allowed := w.People(i.Users, i.Groups)
			people = slices.DeleteFunc(people, func(name string) bool { return !slices.Contains(allowed, name) })
		}
	}
	return people
}

// People returns the users among some names and in groups, each once and in order.
func (w *World) People(users, groups []string) []string {
	people := slices.Clone(users)
	for _, g := range groups {
		found := map[string]bool{}
		w.inside(g, found)
		for name := range found {
			if _, is := w.Members[name]; !is {
				people = append(people, name)
			}
		}
	}
	return source.Distinct(people)
}

// ids returns the ids of the items that are not in the trash, or of those that are.
func (w *World) ids(trashed bool) (list []int) {
	w.do(func() {
		for id, i := range w.items {
			if id != 0 && (trashed && i.Trashed || !trashed && w.visible(id)) {
				list = append(list, id)
			}
		}
	})
	slices.Sort(list)
	return list
}

// String returns the tree for the message of a test that fails.
func (w *World) String() string {
	var b strings.Builder
	for id, f := range w.Files() {
		fmt.Fprintf(&b, "%d %s %q\n", id, f.Path, f.Content)
	}
	return b.String()
}

// logged returns how many changes there were.
func (w *World) logged() (n int) {
	w.do(func() { n = len(w.log) })
	return n
}

// changesFrom returns the ids of what has changed, from one change on.
func (w *World) changesFrom(n int) (list []int) {
	w.do(func() { list = slices.Clone(w.log[n:]) })
	return list
}

// look returns an item that may be in the trash; there is false if it is deleted.
func (w *World) look(id int) (i Item, trashed, there bool) {
	w.do(func() {
		if w.items[id] != nil {
			i, trashed, there = *w.items[id], !w.visible(id), true
		}
	})
	return i, trashed, there
}

// accessOf returns who may see an item.
func (w *World) accessOf(id int) (a knowledge.Access) {
	w.do(func() {
		if w.items[id] != nil {
			a = w.access(id)
		}
	})
	return a
}
