package sourcetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// World is the content of a service that a fake serves: a tree of files and folders with
// ids, owners and shares. It is safe for concurrent use.
type World struct {
	mu    sync.Mutex
	items map[int]*Item
	next  int
	clock int // changes with every change
	log   []int
	// shares are the changes of log that are of rights alone.
	shares map[int]bool
}

// Item is a file or a folder. Its fields are copies: change them through World.
type Item struct {
	ID      int
	Parent  int // 0 = the root
	Name    string
	Folder  bool
	Content string
	Version int // changes with the content, and in a folder with everything below
	Changed int // clock of the last change of the item itself
	Trashed bool
	Owner   string
	Users   []string
	Groups  []string
	Labels  []string
}

// NewWorld returns a world whose root belongs to a user.
func NewWorld(owner string) *World {
	return &World{items: map[int]*Item{0: {Folder: true, Owner: owner, Version: 1}}, next: 1, shares: map[int]bool{}}
}

// do calls f with the lock held.
func (w *World) do(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// touch notes a change of an item, and of the folders above it.
func (w *World) touch(id int) {
	w.clock++
	w.items[id].Changed = w.clock
	w.log = append(w.log, id)
	for at := id; ; at = w.items[at].Parent {
		if w.items[at].Folder {
			w.items[at].Version = w.clock
		}
		if at == 0 {
			return
		}
	}
}

// Create adds a file or a folder, and returns its id.
func (w *World) Create(parent int, name string, folder bool, content string) (id int) {
	w.do(func() {
		id = w.next
		w.next++
		w.items[id] = &Item{ID: id, Parent: parent, Name: w.free(parent, name), Folder: folder, Content: content, Owner: w.items[0].Owner}
		w.items[id].Version = w.clock + 1
		w.touch(id)
	})
	return id
}

// free returns a name that no other item of a folder has.
func (w *World) free(parent int, name string) string {
	for n := 0; ; n++ {
		try := name
		if n > 0 {
			try = strconv.Itoa(n) + name
		}
		if !slices.ContainsFunc(w.children(parent), func(i *Item) bool { return i.Name == try }) {
			return try
		}
	}
}

func (w *World) children(parent int) []*Item {
	var list []*Item
	for _, i := range w.items {
		if i.ID != 0 && i.Parent == parent && !i.Trashed {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b *Item) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Edit changes the content of a file.
func (w *World) Edit(id int, content string) {
	w.do(func() {
		w.items[id].Content, w.items[id].Version = content, w.clock+1
		w.touch(id)
	})
}

// Move moves an item into a folder under a name. It does nothing if the folder is inside of
// the item.
func (w *World) Move(id, parent int, name string) {
	w.do(func() {
		for at := parent; at != 0; at = w.items[at].Parent {
			if at == id {
				return
			}
		}
		w.touch(id) // the folder that it leaves has changed too
		w.items[id].Trashed = true
		name = w.free(parent, name)
		w.items[id].Trashed, w.items[id].Parent, w.items[id].Name = false, parent, name
		w.touch(id)
	})
}

// Trash moves an item to the trash, or restores it.
func (w *World) Trash(id int, trashed bool) {
	w.do(func() {
		if !trashed {
			w.items[id].Name = w.free(w.items[id].Parent, w.items[id].Name)
		}
		w.items[id].Trashed = trashed
		w.touch(id)
	})
}

// Delete removes an item and everything below it for good.
func (w *World) Delete(id int) {
	w.do(func() { w.remove(id) })
}

func (w *World) remove(id int) {
	for _, i := range slices.Collect(maps.Values(w.items)) {
		if i.Parent == id && i.ID != 0 {
			w.remove(i.ID)
		}
	}
	w.touch(id)
	delete(w.items, id)
}

// Share sets with whom an item is shared.
func (w *World) Share(id int, users, groups []string) {
	w.do(func() {
		w.items[id].Users, w.items[id].Groups = users, groups
		w.clock++ // as in Nextcloud, no etag changes
		w.shares[len(w.log)] = true
		w.log = append(w.log, id)
	})
}

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
			if id != 0 && !i.Folder && w.visible(id) {
				files[id] = Expected{Path: w.path(id), Content: i.Content, Access: w.access(id), Labels: i.Labels}
			}
		}
	})
	return files
}

// access returns who may see an item: its owner, and with whom it and the folders above
// are shared.
func (w *World) access(id int) knowledge.Access {
	var a knowledge.Access
	for at := id; ; at = w.items[at].Parent {
		i := w.items[at]
		a.Users, a.Groups = append(append(a.Users, i.Owner), i.Users...), append(a.Groups, i.Groups...)
		if at == 0 {
			break
		}
	}
	a.Users, a.Groups = slices.Compact(slices.Sorted(slices.Values(a.Users))), slices.Compact(slices.Sorted(slices.Values(a.Groups)))
	return a
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

// isShare reports whether a change is of rights alone.
func (w *World) isShare(change int) (is bool) {
	w.do(func() { is = w.shares[change] })
	return is
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
