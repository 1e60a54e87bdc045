package sourcetest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// World is the content of a service that a fake serves: a tree of files and folders with
// ids, owners and shares. It is safe for concurrent use.
type World struct {
	// Pages makes folders documents too, which have pages below them: a change of what is
	// below does not change them, a new name does, and those to whom a folder and what is
	// below it are both shared see it. Set it before anything is created.
	Pages bool
	// Members are the users and the groups in each group. Change them by Join.
	Members map[string][]string

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
	Created time.Time
	Edited  time.Time // when Version was changed last
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
		if w.items[at].Folder && !w.Pages {
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
		w.items[id].Created = time.Now()
		w.edit(id)
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
		w.items[id].Content = content
		w.edit(id)
	})
}

// edit notes another version of an item.
func (w *World) edit(id int) {
	w.items[id].Version, w.items[id].Edited = w.clock+1, time.Now()
	w.touch(id)
}

// Label sets the labels of an item.
func (w *World) Label(id int, labels ...string) {
	w.do(func() {
		w.items[id].Labels = labels
		w.clock++
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
		renamed := w.items[id].Name != name
		w.items[id].Trashed, w.items[id].Parent, w.items[id].Name = false, parent, name
		if renamed && w.Pages {
			w.edit(id)
			return
		}
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

// Join sets who is in a group: users and groups. No item changes with it.
func (w *World) Join(group string, members ...string) {
	w.do(func() {
		if w.Members == nil {
			w.Members = map[string][]string{}
		}
		w.Members[group] = members
	})
}

// Disband removes a group.
func (w *World) Disband(group string) {
	w.do(func() { delete(w.Members, group) })
}

// Inside returns the users and the groups in a group, those in groups in it too, each once and
// in order. there is false if there is no such group.
func (w *World) Inside(group string) (users, groups []string, there bool) {
	w.do(func() {
		if _, there = w.Members[group]; !there {
			return
		}
		inside := map[string]bool{}
		w.inside(group, inside)
		for name := range inside {
			if _, is := w.Members[name]; is {
				groups = append(groups, name)
			} else {
				users = append(users, name)
			}
		}
	})
	slices.Sort(users)
	slices.Sort(groups)
	return users, groups, there
}

func (w *World) inside(group string, found map[string]bool) {
	for _, name := range w.Members[group] {
		if !found[name] {
			found[name] = true
			w.inside(name, found)
		}
	}
}

// isShare reports whether a change is of rights alone.
func (w *World) isShare(change int) (is bool) {
	w.do(func() { is = w.shares[change] })
	return is
}
