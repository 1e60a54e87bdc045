package sourcetest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// follower is the reference of an import that follows a place: what it knows is what
// documents would be.
type follower struct {
	*script
	known   map[string]held
	failed  map[string]source.Object // that could not be read
	members map[string][]string      // of groups, as they were read last
	cursor  string
	quiet   bool // the world stands still during the run
}

// held is what the follower knows of an object.
type held struct {
	etag string
	Expected
}

// run lists everything or what has changed, and reads what is new. With busy the world
// changes meanwhile. An error ends it: the next run begins at the same cursor.
func (f *follower) run(busy bool) {
	f.quiet = !busy
	src, token := f.open(f.cursor), ""
	read := map[string]bool{} // groups
	listed, gone := map[string]bool{}, map[string]bool{}
	for {
		page, err := src.List(f.context(), token)
		if errors.Is(err, source.ErrExpired) {
			f.cursor = ""
			if token == "" {
				token = source.TokenAll
				continue
			}
			return
		}
		if err != nil {
			f.check(err)
			return
		}
		if err := f.readMembers(src, page.Objects, read); err != nil {
			f.check(err)
			return
		}
		for _, o := range page.Objects {
			listed[o.Key], gone[o.Key] = true, false
			f.object(src, o)
		}
		for _, key := range page.Removed {
			listed[key], gone[key] = false, true
		}
		if len(page.Next) > source.MaxToken {
			f.t.Errorf("script %d: a token has %d bytes", f.seed, len(page.Next))
		}
		if page.Next == "" {
			f.end(src, page, listed, gone)
			return
		}
		if token = page.Next; f.random.IntN(4) == 0 { // the process was killed
			src = f.open(f.cursor)
		}
		if busy {
			f.change()
		}
	}
}

// readMembers reads who is in the groups that objects name, and that objects of runs before have
// named, once in a run.
func (f *follower) readMembers(src source.Source, objects []source.Object, read map[string]bool) error {
	if !f.Nested || !f.Mirrors {
		return nil
	}
	for _, o := range objects {
		for _, name := range o.Access.Groups {
			f.members[name] = append([]string{}, f.members[name]...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.members)) {
		if read[name] {
			continue
		}
		members, _, err := src.(source.Directory).Members(f.context(), name)
		if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
			return err
		}
		f.members[name], read[name] = members, true
	}
	return nil
}

// check fails the script for an error that a source must not return.
func (f *follower) check(err error) {
	var known *knowledge.Error
	if !errors.As(err, &known) || known.Code == knowledge.CodeInternal {
		f.t.Errorf("script %d: the error is %v", f.seed, err)
	}
}

// object reads an object whose bytes are not known.
func (f *follower) object(src source.Source, o source.Object) {
	before, there := f.known[o.Key]
	now := held{etag: o.ETag, Expected: Expected{Path: o.Path(), Content: before.Content, Labels: o.Tags}}
	if o.Access != nil {
		now.Access = *o.Access
	}
	delete(f.failed, o.Key)
	if there && before.etag == o.ETag && o.ETag != "" {
		f.known[o.Key] = now
		return
	}
	content, opened, err := f.read(src, o)
	switch {
	case err != nil:
		f.check(err)
		f.failed[o.Key] = o
		if there { // its document keeps its text, and not its rights
			now.etag, now.Content = before.etag, before.Content
			f.known[o.Key] = now
		}
		return
	case f.Mirrors && opened.ETag != o.ETag: // its rights may have changed with it
		f.failed[o.Key] = o
		return
	}
	now.etag, now.Content = opened.ETag, content
	f.known[o.Key] = now
}

func (f *follower) read(src source.Source, o source.Object) (string, source.Object, error) {
	r, now, err := src.Open(f.context(), o, "")
	if err != nil {
		return "", now, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if f.Body != nil && err == nil {
		return f.Body(string(data)), now, nil
	}
	return string(data), now, err
}

// end forgets what is gone, reads again what failed, and moves the cursor.
func (f *follower) end(src source.Source, last source.Page, listed, gone map[string]bool) {
	visible := map[string]bool{}
	if f.Key != nil {
		for id := range f.World.Files() {
			visible[f.Key(id)] = true
		}
	}
	for key := range f.known {
		if !gone[key] && (!last.Full || listed[key]) {
			continue
		}
		if f.quiet && visible[key] {
			f.t.Errorf("script %d: %s is taken for gone, and is there", f.seed, key)
		}
		delete(f.known, key)
	}
	for key, o := range maps.Clone(f.failed) {
		switch {
		case gone[key] || last.Full && !listed[key]:
			delete(f.failed, key)
		case !listed[key]:
			f.object(src, o)
		}
	}
	f.cursor = last.Cursor
}

// compare returns how what is known differs from the world, "" = it does not.
func (f *follower) compare() string {
	want, got := map[string]Expected{}, map[string]Expected{}
	for id, e := range f.World.Files() {
		if f.Key == nil {
			want[e.Path] = f.relevant(e, f.World.People)
		} else {
			want[f.Key(id)] = f.relevant(e, f.World.People)
		}
	}
	twice, people := "", f.World.People
	if f.Nested {
		people = f.people
	}
	for key, k := range f.known {
		if f.Key == nil {
			key = k.Path
		}
		if _, there := got[key]; there {
			twice += "known twice: " + key + "\n"
		}
		got[key] = f.relevant(k.Expected, people)
	}
	diff := twice + cmp.Diff(want, got)
	if len(f.failed) > 0 {
		diff += fmt.Sprintf("not read: %s", strings.Join(slices.Sorted(maps.Keys(f.failed)), ", "))
	}
	return diff
}

// people returns the users among some names, and those who were read to be in groups. They have
// two names in a directory, of which the world has one.
func (f *follower) people(users, groups []string) []string {
	users = slices.Clone(users)
	for _, g := range groups {
		users = append(users, f.members[g]...)
	}
	users = slices.DeleteFunc(users, func(name string) bool { return strings.HasPrefix(name, "upn.") })
	return source.Distinct(users)
}

// relevant leaves out what the place does not carry over. people are the users whom names mean.
func (f *follower) relevant(e Expected, people func(users, groups []string) []string) Expected {
	if !f.Mirrors {
		e.Access = knowledge.Access{}
	}
	if !f.Labels || len(e.Labels) == 0 {
		e.Labels = nil
	}
	if (f.World.Pages || f.Nested) && f.Mirrors { // groups stand for their members
		e.Access.Users, e.Access.Groups = people(e.Access.Users, e.Access.Groups), nil
	}
	if len(e.Access.Groups) == 0 {
		e.Access.Groups = nil
	}
	return e
}
