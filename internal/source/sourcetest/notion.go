package sourcetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Notion is a fake of Notion's REST protocol over a world of pages: searches, pages, tables of
// databases, blocks, and files behind signed addresses. As the real one, it tells times by the
// minute, finds changes with a delay and not always all pages, and answers 404 for what is not
// shared. Set its fields before it serves.
type Notion struct {
	World *World
	// Files is where the signed addresses of files are, without "/" at its end.
	Files string
	// Attached are the items that are files in blocks of the pages in which they are, Tables
	// the folders that are databases with one table, and Nested the pages that are in a block
	// of the page above. Default to none.
	Attached, Tables, Nested func(id int) bool
	// Misses are the items that a search does not find now, and Unshared those that are not
	// shared with the integration, with what is in them. Default to none.
	Misses, Unshared func(id int) bool
	// Times returns what Notion tells as the time of an edit. Defaults to the time itself.
	Times func(time.Time) time.Time
	// Lag is how long the search does not find a change.
	Lag time.Duration
	// Signed is for how long an address of a file is valid. Defaults to an hour.
	Signed time.Duration
	// Blocks are more blocks of a page, and Properties more properties. Default to none.
	Blocks     func(id int) []any
	Properties func(id int) map[string]any
	// Edits reports that a page is edited by what is put into it or taken away.
	Edits bool
	// Answer answers a request instead, unless it returns false.
	Answer func(w http.ResponseWriter, r *http.Request) bool

	mu    sync.Mutex
	asked map[string]int
	held  map[int]string    // the files of pages, as they were
	moved map[int]time.Time // when they changed
}

// NotionToken is the token of the integration.
const NotionToken = "ntn_token"

// NewNotion returns a fake of a world.
func NewNotion(w *World) *Notion {
	return &Notion{
		World: w, Files: "http://files.test", Attached: none, Tables: none, Nested: none, Misses: none, Unshared: none, Signed: time.Hour, Times: func(at time.Time) time.Time { return at },
		Blocks: func(int) []any { return nil }, Properties: func(int) map[string]any { return nil }, Answer: func(http.ResponseWriter, *http.Request) bool { return false },
		asked: map[string]int{}, held: map[int]string{}, moved: map[int]time.Time{},
	}
}

// The kinds of ids, which are their first digits.
const (
	notionPage     = 1
	notionDatabase = 2
	notionToggle   = 3
	notionText     = 4
)

// notionID returns the id of what belongs to an item.
func notionID(kind, id int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, id) }

// NotionID returns the id of a page, a table or the block of a file.
func NotionID(id int) string { return notionID(notionPage, id) }

// NotionDatabase returns the id of the database of a table.
func NotionDatabase(id int) string { return notionID(notionDatabase, id) }

// notionItem returns the item to which an id belongs.
func notionItem(text string) (kind, id int) {
	first, last, _ := strings.Cut(text, "-0000-4000-8000-")
	k, err := strconv.ParseInt(first, 16, 32)
	n, err2 := strconv.ParseInt(last, 16, 32)
	if err != nil || err2 != nil {
		return 0, 0
	}
	return int(k), int(n)
}

// Asked returns how many requests there were, by the first part of their paths and in total,
// and forgets them.
func (n *Notion) Asked() (of map[string]int, total int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	of, n.asked = n.asked, map[string]int{}
	for _, count := range of {
		total += count
	}
	return of, total
}

// ServeHTTP implements http.Handler.
func (n *Notion) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, file := strings.CutPrefix(r.URL.Path, "/signed/")
	if file {
		n.download(w, r, path)
		return
	}
	n.note()
	path = strings.TrimPrefix(r.URL.Path, "/v1/")
	first, rest, _ := strings.Cut(path, "/")
	n.mu.Lock()
	n.asked[first]++
	n.mu.Unlock()
	if n.Answer(w, r) {
		return
	}
	switch {
	case r.Header.Get("Authorization") != "Bearer "+NotionToken:
		NotionError(w, http.StatusUnauthorized, "unauthorized")
	case r.Header.Get("Notion-Version") != "2025-09-03":
		NotionError(w, http.StatusBadRequest, "missing_version")
	default:
		n.signedIn(w, r, first, rest)
	}
}

// NotionError answers an error as Notion does.
func NotionError(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	put(w, `{"object":"error","status":%d,"code":%q,"message":"…","request_id":"1"}`, status, code)
}

func (n *Notion) signedIn(w http.ResponseWriter, r *http.Request, first, rest string) {
	id, below, _ := strings.Cut(rest, "/")
	kind, number := notionItem(id)
	switch {
	case r.Method == http.MethodGet && first+"/"+rest == "users/me":
		answer(w, map[string]any{"object": "user", "type": "bot", "name": "cairn", "bot": map[string]any{}})
	case r.Method == http.MethodPost && first == "search":
		n.search(w, r)
	case r.Method == http.MethodPost && first == "data_sources" && below == "query" && n.isTable(number):
		n.query(w, r, number)
	case r.Method == http.MethodGet && first == "blocks" && below == "children":
		n.children(w, r, kind, number)
	case r.Method == http.MethodGet && first == "blocks" && kind == notionToggle && n.isPage(number):
		answer(w, n.toggle(number))
	case r.Method == http.MethodGet && first == "blocks" && kind == notionPage && n.isFile(number):
		n.show(w, number, n.file(number))
	case r.Method == http.MethodGet && first == "pages" && kind == notionPage && n.isPage(number):
		n.show(w, number, n.page(number))
	case r.Method == http.MethodGet && first == "data_sources" && kind == notionPage && n.isTable(number):
		n.show(w, number, n.table(number))
	case r.Method == http.MethodGet && first == "databases" && kind == notionDatabase && n.isTable(number):
		n.show(w, number, n.database(number))
	default:
		NotionError(w, http.StatusNotFound, "object_not_found")
	}
}

// show answers an object, unless its item is deleted or not shared.
func (n *Notion) show(w http.ResponseWriter, id int, object map[string]any) {
	if _, _, there := n.World.look(id); !there || !n.shared(id) {
		NotionError(w, http.StatusNotFound, "object_not_found")
		return
	}
	answer(w, object)
}

// shared reports whether neither an item nor one above it is unshared.
func (n *Notion) shared(id int) bool {
	for id != 0 {
		if n.Unshared(id) {
			return false
		}
		i, _, _ := n.World.look(id)
		id = i.Parent
	}
	return true
}

func (n *Notion) isTable(id int) bool {
	i, _, _ := n.World.look(id)
	return i.Folder && n.Tables(id)
}

func (n *Notion) isFile(id int) bool {
	i, _, _ := n.World.look(id)
	return n.Attached(id) && !i.Folder && i.Parent != 0 && !n.isTable(i.Parent)
}

func (n *Notion) isPage(id int) bool { return id != 0 && !n.isTable(id) && !n.isFile(id) }

// Key returns the key of the object of an item.
func (n *Notion) Key(id int) string {
	kind := "page:"
	switch {
	case n.isTable(id):
		kind = "table:"
	case n.isFile(id):
		kind = "block:"
	}
	return kind + NotionID(id)
}

// note notes which pages have other files or pages than at the request before: that edits them.
func (n *Notion) note() {
	held := map[int]string{}
	for _, id := range n.World.ids(false) {
		if i, there := n.World.Item(id); there && (n.isFile(id) || n.Edits) {
			held[i.Parent] += fmt.Sprint(id, ";")
			if n.isFile(id) {
				held[i.Parent] += fmt.Sprint(i.Version, i.Name)
			}
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.held {
		if held[id] == "" {
			held[id] = "none"
		}
	}
	for id, files := range held {
		if n.held[id] != files {
			n.held[id], n.moved[id] = files, time.Now()
		}
	}
}

// edited returns when an item was edited last, and in which minute.
func (n *Notion) edited(id int) (at time.Time, minute string) {
	i, _, _ := n.World.look(id)
	n.mu.Lock()
	defer n.mu.Unlock()
	at = i.Edited
	if moved := n.moved[id]; moved.After(at) {
		at = moved
	}
	at = n.Times(at)
	return at, at.UTC().Truncate(time.Minute).Format("2006-01-02T15:04:05.000Z")
}

func (n *Notion) download(w http.ResponseWriter, r *http.Request, path string) {
	if r.Header.Get("Authorization") != "" {
		w.WriteHeader(http.StatusBadRequest) // a signature and a token are too much
		return
	}
	id, _ := strconv.Atoi(strings.Split(path, "/")[0])
	until, err := strconv.ParseInt(r.URL.Query().Get("until"), 10, 64)
	i, there := n.World.Item(id)
	if err != nil || time.Now().UnixNano() > until || !there {
		w.WriteHeader(http.StatusForbidden)
		put(w, `<?xml version="1.0"?><Error><Code>%s</Code></Error>`, "AccessDenied")
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	put(w, "%s", i.Content)
}

// signed returns the address of a file, which is another one at each request.
func (n *Notion) signed(i Item) string {
	return fmt.Sprintf("%s/signed/%d/%d/%s?until=%d", n.Files, i.ID, i.Version, url.PathEscape(i.Name), time.Now().Add(n.Signed).UnixNano())
}

// decode reads the body of a request.
func decode(r *http.Request, into any) bool { return json.NewDecoder(r.Body).Decode(into) == nil }
