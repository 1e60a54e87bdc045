package notion

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// list adds the objects of an entry to the page: all of them, or those that differ from the
// run before and the keys of those that are gone.
func (v *visits) list(e *entry) {
	now := e.objects()
	for _, o := range now {
		v.listed[o.Key] = e.ID
	}
	if v.at.All {
		v.page.Objects = append(v.page.Objects, now...)
		return
	}
	known := map[string]source.Object{}
	if before := v.previous[e.ID]; before != nil {
		for _, o := range before.objects() {
			known[o.Key] = o
		}
	}
	for _, o := range now {
		if before, there := known[o.Key]; !there || before.Name != o.Name || before.ETag != o.ETag || !slices.Equal(before.Tags, o.Tags) {
			v.page.Objects = append(v.page.Objects, o)
			v.page.Removed = slices.DeleteFunc(v.page.Removed, func(key string) bool { return key == o.Key })
		}
		delete(known, o.Key)
	}
	for key := range known {
		if !v.isElsewhere(key, e) && !slices.Contains(v.page.Removed, key) {
			v.page.Removed = append(v.page.Removed, key)
			v.page.Objects = slices.DeleteFunc(v.page.Objects, func(o source.Object) bool { return o.Key == key })
		}
	}
}

// isElsewhere reports whether a visit has found the file of an entry in another page.
func (v *visits) isElsewhere(key string, e *entry) bool {
	in := v.listed[key]
	return in != "" && in != e.ID
}

// objects returns the objects of an entry: none unless it is listed.
func (e *entry) objects() []source.Object {
	if e.Name == "" {
		return nil
	}
	objects := []source.Object{{
		Key: e.key(), Address: e.Address, ETag: e.Tag, Bytes: -1, MediaType: "text/html", Modified: e.Edited, Name: e.Name, Tags: append([]string{}, e.Tags...),
	}}
	if e.Table {
		objects[0].Address += "#" + strings.ReplaceAll(e.ID, "-", "") // a database may have several
	}
	for _, f := range e.files() {
		objects = append(objects, source.Object{Key: f.Key, Address: e.Address + "#" + f.At, ETag: f.Tag, Bytes: -1, Name: e.Name + "/" + partOf(f.Name)})
	}
	return objects
}

// maxFiles bounds the files of a page that are listed.
const maxFiles = 500

// read reads what an entry of the scope has: the files and pages in the blocks of a page, or
// the rows of a table.
func (v *visits) read(ctx context.Context, e *entry) error {
	if e.Table {
		return v.readRows(ctx, e)
	}
	e.Tag = tagOf(e.Edited, v.now)
	if e.Read == e.Tag && isSettled(e.Tag) {
		return nil
	}
	t, err := v.client.blocksOf(ctx, e.ID)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound): // it is gone, and the search does not know yet
		e.State = stateHidden
		return nil
	case knowledge.IsCode(err, knowledge.CodeInvalid): // Open tells why
		e.Read = e.Tag
		return nil
	case err != nil:
		return err
	}
	e.Files, e.Read = nil, e.Tag
	for _, b := range t.files {
		if len(e.Files) < maxFiles {
			e.Files = append(e.Files, b.attachment())
		}
	}
	for _, id := range t.pages {
		if v.entries[id] != nil {
			continue
		}
		if _, err := v.fetch(ctx, id, false, false); err != nil && !knowledge.IsCode(err, knowledge.CodeInvalid) {
			return err
		}
	}
	if err := v.addDatabases(ctx, t.databases); err != nil {
		return err
	}
	return v.missed(ctx, e, t)
}

// missed asks for the pages and tables that were in a page, and are not in its blocks now.
func (v *visits) missed(ctx context.Context, e *entry, t *tree) error {
	if v.at.All || t.cut { // everything is asked for, or nobody knows
		return nil
	}
	for _, id := range v.in(e.key()) {
		c := v.entries[id]
		if c.fresh || c.Table && slices.Contains(t.databases, c.Database) || slices.Contains(t.pages, id) {
			continue
		}
		if _, err := v.fetch(ctx, id, c.Table, true); err != nil && !knowledge.IsCode(err, knowledge.CodeInvalid) {
			return err
		}
	}
	return nil
}

// seek asks where the files are that were in the blocks of a page, and are not now: the search
// may not have found the page to which they were moved.
func (v *visits) seek(ctx context.Context, e *entry) error {
	before := v.previous[e.ID]
	if before == nil || before.Name == "" {
		return nil
	}
	for _, f := range before.Files {
		if v.isElsewhere(f.Key, e) || e.Name != "" && slices.ContainsFunc(e.Files, func(now attachment) bool { return now.Key == f.Key }) {
			continue
		}
		in, err := v.outOfBlocks(ctx, parent{Type: "block_id", Block: strings.TrimPrefix(f.Key, keyBlock)})
		if err != nil {
			return err
		}
		if known := v.entries[in.Page]; in.Page == "" || known != nil && known.fresh {
			continue
		}
		if _, err := v.fetch(ctx, in.Page, false, true); err != nil && !knowledge.IsCode(err, knowledge.CodeInvalid) {
			return err
		}
	}
	return nil
}

// addDatabases adds the tables of databases that no search has found.
func (v *visits) addDatabases(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if v.databases[id] {
			continue
		}
		v.databases[id] = true
		var database struct {
			Tables []struct {
				ID string `json:"id"`
			} `json:"data_sources"`
		}
		err := v.client.get(ctx, "databases/"+id, nil, &database)
		if knowledge.IsCode(err, knowledge.CodeNotFound) || knowledge.IsCode(err, knowledge.CodeInvalid) { // a view of one elsewhere
			continue
		}
		if err != nil {
			return err
		}
		for _, t := range database.Tables {
			if v.entries[t.ID] != nil {
				continue
			}
			if _, err := v.fetch(ctx, t.ID, true, false); err != nil && !knowledge.IsCode(err, knowledge.CodeInvalid) {
				return err
			}
		}
	}
	return nil
}

// readRows sets the tag of a table by its rows, which Notion is asked for if everything is
// listed or the table is new.
func (v *visits) readRows(ctx context.Context, e *entry) error {
	var stamps []stamp
	if !v.at.All && e.Tag != "" {
		for _, id := range v.in(e.key()) {
			if row := v.entries[id]; !row.Table {
				stamps = append(stamps, stamp{id, row.Edited})
			}
		}
		e.Tag = tableTag(e.Edited, stamps, v.now)
		return nil
	}
	rows, _, err := v.client.rowsOf(ctx, e.ID)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		e.State = stateHidden
		return nil
	case err != nil && !knowledge.IsCode(err, knowledge.CodeInvalid): // else Open tells why
		return err
	}
	for _, row := range rows {
		stamps = append(stamps, stamp{row.ID, row.Edited})
		if known := v.entries[row.ID]; known == nil || !known.fresh {
			v.discover(row.entry())
		}
	}
	e.Tag = tableTag(e.Edited, stamps, v.now)
	return nil
}
