package sharepoint

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// pageSize is the largest number of items of a page.
const pageSize = 200

// rightsAge is how old the rights become whose changes Graph may not have told.
const rightsAge = 7 * 24 * time.Hour

// cursor is what a run leaves to the next one.
type cursor struct {
	Drives map[string]string `json:"drives"`           // where the changes of each drive begin
	Lists  []string          `json:"lists,omitempty"`  // ids
	Folder string            `json:"folder,omitempty"` // id of the folder of the scope
	Web    string            `json:"web,omitempty"`    // address of the site
	Rights string            `json:"rights,omitempty"` // hash of the rights above files
	Renew  int64             `json:"renew,omitempty"`  // Unix time from which everything is listed again
}

// token is where a page begins.
type token struct {
	Part part   `json:"part"`
	Site string `json:"site,omitempty"` // path of the site
	Link string `json:"link,omitempty"` // page of a drive
	All  bool   `json:"all,omitempty"`  // everything is listed
	Next cursor `json:"next"`           // of the next run
}

// run is one call of List.
type run struct {
	*Source
	before  cursor
	at      token
	folders map[string]item     // that were asked for
	groups  map[string][]string // the members of the groups of the site, nil = not asked for
	renew   int64               // the first end of a permission that was read
}

// errLink is the cause of the error for a page of a drive without a link.
var errLink = errors.New("a page of a drive names neither a next page nor the end")

// List implements source.Source.
func (s *Source) List(ctx context.Context, text string) (source.Page, error) {
	r := &run{Source: s, folders: map[string]item{}, renew: math.MaxInt64}
	_ = json.Unmarshal([]byte(s.follow.Cursor), &r.before) // an empty cursor knows nothing
	if text != "" && text != source.TokenAll {
		if err := json.Unmarshal([]byte(text), &r.at); err != nil {
			return source.Page{}, source.ErrExpired
		}
		return r.page(ctx)
	}
	r.at.All = text == source.TokenAll || s.follow.Cursor == ""
	if unchanged, err := r.begin(ctx); err != nil {
		return source.Page{}, err
	} else if unchanged {
		return r.lastPage(source.Page{})
	}
	return r.page(ctx)
}

// begin finds the place, decides whether everything is listed, and notes where the changes of
// the next run begin.
func (r *run) begin(ctx context.Context) (unchanged bool, err error) {
	if err := r.allowed(ctx); err != nil {
		return false, err
	}
	r.at.Next.Web = r.before.Web
	parts, err := r.place(ctx)
	if err != nil {
		return false, err
	}
	if err := r.look(ctx, parts); err != nil {
		return false, err
	}
	changed, err := r.scan(ctx, parts)
	if err != nil {
		return false, err
	}
	if r.at.All {
		r.at.Next.Drives, r.at.Next.Renew = map[string]string{}, time.Now().Add(rightsAge).Unix()
	}
	for _, d := range parts {
		if d.List || !r.at.All && !slices.Contains(changed, d.ID) {
			continue
		}
		if err := r.note(ctx, d); err != nil {
			return false, err
		}
	}
	r.at.Part = parts[0]
	r.at.Link = r.first(parts[0])
	return !r.at.All && len(changed) == 0, nil
}

func (r *run) allowed(ctx context.Context) error {
	if r.follow.Mirror {
		return r.client.mayMirror(ctx)
	}
	return r.client.mayRead(ctx)
}

// look decides whether everything is listed from what Graph does not tell as changes of items.
func (r *run) look(ctx context.Context, parts []part) (err error) {
	next := &r.at.Next
	if next.Folder, err = r.scopeFolder(ctx, parts[0]); err != nil {
		return err
	}
	if err := r.findWeb(ctx, parts); err != nil {
		return err
	}
	if r.follow.Mirror {
		if next.Rights, err = r.rightsAbove(ctx, parts); err != nil {
			return err
		}
	}
	next.Drives, next.Renew = maps.Clone(r.before.Drives), r.before.Renew
	there := map[string]bool{}
	for _, p := range parts {
		there[p.ID] = true
		if p.List {
			next.Lists = append(next.Lists, p.ID)
		}
	}
	gone := func(id string) bool { return !there[id] }
	r.at.All = r.at.All || next.Folder != r.before.Folder || next.Rights != r.before.Rights || r.follow.Mirror && time.Now().Unix() >= next.Renew ||
		slices.ContainsFunc(slices.Collect(maps.Keys(r.before.Drives)), gone) || slices.ContainsFunc(r.before.Lists, gone)
	return nil
}

// scan asks each drive what has changed since the cursor, and returns the ids of those that
// have; a list may always have. If a folder has changed, everything is listed: a listing of
// changes that goes over to one of everything could not tell what is gone.
func (r *run) scan(ctx context.Context, parts []part) (changed []string, err error) {
	for _, d := range parts {
		link := r.before.Drives[d.ID]
		if link == "" { // a new library, or a list
			changed = append(changed, d.ID)
		}
		for link != "" && !r.at.All {
			page, next, err := r.delta(ctx, link)
			if err != nil {
				return nil, err
			}
			r.at.All = slices.ContainsFunc(page.Value, item.ofFolder)
			if slices.ContainsFunc(page.Value, func(i item) bool { return i.Root == nil }) {
				changed = append(changed, d.ID)
			}
			if link = next; next == "" {
				if r.at.Next.Drives[d.ID], err = r.client.relative(page.Delta); err != nil {
					return nil, err
				}
			}
		}
	}
	return changed, nil
}

// note stores where the changes of a drive begin for the next run: before anything is listed,
// because Graph does not tell the removal of an item that an earlier page of the same listing
// has had.
func (r *run) note(ctx context.Context, d part) (err error) {
	page, _, err := r.delta(ctx, d.path()+"root/delta?token=latest")
	if err == nil {
		r.at.Next.Drives[d.ID], err = r.client.relative(page.Delta)
	}
	return err
}

// delta returns a page of a drive, and the link of the next one.
func (r *run) delta(ctx context.Context, link string) (page listing[item], next string, err error) {
	header := http.Header{"Deltaexcludeparent": {"true"}}
	if r.follow.Mirror { // also items whose rights alone have changed
		header.Set("Prefer", "deltashowremovedasdeleted, deltatraversepermissiongaps, deltashowsharingchanges, hierarchicalsharing")
	}
	if err := r.client.get(ctx, link, header, &page); err != nil {
		return page, "", err
	}
	if page.Next == "" && page.Delta == "" {
		return page, "", source.Unavailable(errLink)
	}
	next, err = r.client.relative(page.Next)
	return page, next, err
}

// first returns the link of the first page of a drive, "" for a list.
func (r *run) first(d part) string {
	if d.List {
		return ""
	}
	if link := r.before.Drives[d.ID]; link != "" && !r.at.All {
		return link
	}
	return d.path() + "root/delta?$top=" + strconv.Itoa(r.size)
}

// page lists a page of a part.
func (r *run) page(ctx context.Context) (page source.Page, err error) {
	link := ""
	if r.at.Part.List {
		page.Objects, err = r.table(ctx, r.at.Part)
	} else {
		page, link, err = r.items(ctx, r.at.Part)
	}
	if err != nil {
		return source.Page{}, err
	}
	if link == "" {
		parts, err := r.place(ctx)
		if err != nil {
			return source.Page{}, err
		}
		n := slices.IndexFunc(parts, func(p part) bool { return compareParts(p, r.at.Part) > 0 })
		if n < 0 {
			return r.lastPage(page)
		}
		r.at.Part, link = parts[n], r.first(parts[n])
	}
	r.at.Link, r.at.Next.Renew = link, min(r.at.Next.Renew, r.renew)
	text, err := json.Marshal(r.at)
	if err == nil && len(text) > source.MaxToken {
		err = knowledge.Errorf(knowledge.CodeInvalid, "the site has too many libraries and lists for one sync: name a library in scope.drive")
	}
	page.Next = string(text)
	return page, err
}

// lastPage returns the last page of a listing.
func (r *run) lastPage(page source.Page) (source.Page, error) {
	r.at.Next.Renew = min(r.at.Next.Renew, r.renew)
	text, err := json.Marshal(r.at.Next)
	page.Full, page.Cursor = r.at.All, string(text)
	return page, err
}

// items lists a page of a drive.
func (r *run) items(ctx context.Context, d part) (page source.Page, link string, err error) {
	answer, link, err := r.delta(ctx, r.at.Link)
	if err != nil {
		return page, "", err
	}
	last := map[string]int{} // what comes last counts
	for n, i := range answer.Value {
		last[i.ID] = n
		if i.Deleted == nil && i.File == nil {
			r.folders[i.ID] = i
		}
		if before := r.before.Drives[d.ID]; !r.at.All && before != "" && i.ofFolder() {
			r.at.Next.Drives[d.ID] = before // it has changed since the run began, and is left to the next one
		}
	}
	var listed []string
	for n, i := range answer.Value {
		if last[i.ID] != n || i.Root != nil {
			continue
		}
		o, inside, err := r.object(ctx, d, i)
		switch {
		case err != nil:
			return page, "", err
		case inside:
			page.Objects, listed = append(page.Objects, o), append(listed, i.ID)
		case !r.at.All || i.Deleted != nil:
			page.Removed = append(page.Removed, keyOf(d, i))
		}
	}
	if r.follow.Mirror {
		err = r.setAccess(ctx, d, page.Objects, listed)
	}
	return page, link, err
}
