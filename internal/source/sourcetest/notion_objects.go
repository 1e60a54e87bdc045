package sourcetest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// NotionText returns a rich text of two pieces.
func NotionText(text string) []any {
	runes := []rune(text)
	half := len(runes) / 2
	piece := func(part string) map[string]any {
		return map[string]any{"type": "text", "text": map[string]any{"content": part}, "plain_text": part, "href": nil, "annotations": map[string]any{}}
	}
	return []any{piece(string(runes[:half])), piece(string(runes[half:]))}
}

// NotionBlock returns a block of a type with its content.
func NotionBlock(id, kind string, nested bool, content any) map[string]any {
	return map[string]any{"object": "block", "id": id, "type": kind, "has_children": nested, "in_trash": false, "archived": false, kind: content}
}

// parentOf returns where an item is.
func (n *Notion) parentOf(id int) map[string]any {
	i, _, _ := n.World.look(id)
	switch {
	case i.Parent == 0:
		return map[string]any{"type": "workspace", "workspace": true}
	case n.isTable(i.Parent) && !n.isTable(id):
		return map[string]any{"type": "data_source_id", "data_source_id": NotionID(i.Parent), "database_id": NotionDatabase(i.Parent)}
	case n.isTable(i.Parent): // a database in a wiki
		return map[string]any{"type": "data_source_id", "data_source_id": NotionID(i.Parent)}
	case n.Nested(id):
		return map[string]any{"type": "block_id", "block_id": notionID(notionToggle, i.Parent)}
	}
	return map[string]any{"type": "page_id", "page_id": NotionID(i.Parent)}
}

// object returns what pages and tables have in common.
func (n *Notion) object(id int, kind string) map[string]any {
	i, trashed, _ := n.World.look(id)
	_, minute := n.edited(id)
	return map[string]any{
		"object": kind, "id": NotionID(id), "created_time": i.Created.UTC().Truncate(time.Minute), "last_edited_time": minute,
		"in_trash": trashed, "archived": trashed, "parent": n.parentOf(id), "url": "https://www.notion.so/" + strings.ReplaceAll(NotionID(id), "-", ""),
	}
}

func (n *Notion) page(id int) map[string]any {
	i, _, _ := n.World.look(id)
	page := n.object(id, "page")
	tags := []any{}
	for _, name := range i.Labels {
		tags = append(tags, map[string]any{"id": name, "name": name, "color": "red"})
	}
	properties := map[string]any{
		"Name": map[string]any{"id": "title", "type": "title", "title": NotionText(i.Name)},
		"Tags": map[string]any{"id": "%3Ata", "type": "multi_select", "multi_select": tags},
	}
	for name, p := range n.Properties(id) {
		properties[name] = p
	}
	page["properties"] = properties
	return page
}

func (n *Notion) table(id int) map[string]any {
	i, _, _ := n.World.look(id)
	table := n.object(id, "data_source")
	table["database_parent"] = table["parent"]
	table["parent"] = map[string]any{"type": "database_id", "database_id": NotionDatabase(id)}
	table["title"], table["description"] = NotionText(i.Name), NotionText(i.Content)
	table["properties"] = map[string]any{
		"Tags": map[string]any{"id": "%3Ata", "type": "multi_select", "multi_select": map[string]any{"options": []any{}}},
		"Name": map[string]any{"id": "title", "type": "title", "title": map[string]any{}},
	}
	return table
}

func (n *Notion) database(id int) map[string]any {
	i, _, _ := n.World.look(id)
	database := n.object(id, "database")
	database["id"], database["title"] = NotionDatabase(id), NotionText(i.Name)
	database["data_sources"] = []any{map[string]any{"id": NotionID(id), "name": i.Name}}
	return database
}

// file returns the block of a file.
func (n *Notion) file(id int) map[string]any {
	i, trashed, _ := n.World.look(id)
	b := NotionBlock(NotionID(id), "file", false, map[string]any{
		"type": "file", "name": i.Name, "caption": []any{},
		"file": map[string]any{"url": n.signed(i), "expiry_time": time.Now().Add(n.Signed).UTC()},
	})
	b["in_trash"], b["parent"] = trashed, map[string]any{"type": "page_id", "page_id": NotionID(i.Parent)}
	return b
}

func (n *Notion) toggle(page int) map[string]any {
	b := NotionBlock(notionID(notionToggle, page), "toggle", true, map[string]any{"rich_text": NotionText("More")})
	b["parent"] = map[string]any{"type": "page_id", "page_id": NotionID(page)}
	return b
}

// blocksOf returns the blocks of a page, or those in its toggle.
func (n *Notion) blocksOf(page int, toggle bool) []any {
	i, _, _ := n.World.look(page)
	blocks := []any{}
	if !toggle {
		text := notionID(notionText, page)
		blocks = append(blocks, NotionBlock(text, "paragraph", false, map[string]any{"rich_text": NotionText(i.Content)}))
	}
	var nested []any
	for _, id := range n.World.ids(false) {
		switch child, _ := n.World.Item(id); {
		case child.Parent != page:
		case n.isFile(id):
			if !toggle {
				blocks = append(blocks, n.file(id))
			}
		case n.Nested(id) != toggle:
			nested = append(nested, id)
		case n.isTable(id):
			blocks = append(blocks, NotionBlock(NotionDatabase(id), "child_database", false, map[string]any{"title": child.Name}))
		default:
			blocks = append(blocks, NotionBlock(NotionID(id), "child_page", true, map[string]any{"title": child.Name}))
		}
	}
	if toggle {
		return blocks
	}
	if len(nested) > 0 {
		blocks = append(blocks, n.toggle(page))
	}
	return append(blocks, n.Blocks(page)...)
}

func (n *Notion) children(w http.ResponseWriter, r *http.Request, kind, id int) {
	_, trashed, there := n.World.look(id)
	if !there || trashed || !n.shared(id) || !n.isPage(id) || kind != notionPage && kind != notionToggle {
		NotionError(w, http.StatusNotFound, "object_not_found")
		return
	}
	q := r.URL.Query()
	size, _ := strconv.Atoi(q.Get("page_size"))
	n.list(w, n.blocksOf(id, kind == notionToggle), question{size, q.Get("start_cursor")})
}

// question is what a list is asked for by.
type question struct {
	Size   int    `json:"page_size"`
	Cursor string `json:"start_cursor"`
}

// list answers a page of a list: fewer than are asked for, as Notion may.
func (n *Notion) list(w http.ResponseWriter, all []any, q question) {
	start, err := strconv.Atoi(strings.TrimPrefix(q.Cursor, "place "))
	if q.Cursor != "" && err != nil || q.Size < 1 || q.Size > 100 {
		NotionError(w, http.StatusBadRequest, "validation_error")
		return
	}
	start = min(start, len(all))
	end := min(start+min(q.Size, 50), len(all))
	found := map[string]any{"object": "list", "results": all[start:end], "has_more": end < len(all), "next_cursor": nil}
	if end < len(all) {
		found["next_cursor"] = fmt.Sprint("place ", end)
	}
	answer(w, found)
}

// NotionList answers a whole list.
func NotionList(w http.ResponseWriter, all []any) {
	answer(w, map[string]any{"object": "list", "results": all, "has_more": false, "next_cursor": nil})
}

// search answers pages and tables, those that were edited last first, as far as it knows.
func (n *Notion) search(w http.ResponseWriter, r *http.Request) {
	var q question
	if !decode(r, &q) {
		NotionError(w, http.StatusBadRequest, "invalid_json")
		return
	}
	indexed := time.Now().Add(-n.Lag)
	type hit struct {
		id int
		at time.Time
	}
	var hits []hit
	for _, id := range n.World.ids(false) {
		i, _ := n.World.Item(id)
		if i.Created.After(indexed) || n.Misses(id) || n.isFile(id) || !n.shared(id) {
			continue
		}
		at, _ := n.edited(id)
		if at.After(indexed) {
			at = i.Created // the index has an older state of it
		}
		hits = append(hits, hit{id, at})
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.at.Compare(a.at) })
	all := []any{}
	for _, h := range hits {
		if n.isTable(h.id) {
			all = append(all, n.table(h.id))
		} else {
			all = append(all, n.page(h.id))
		}
	}
	n.list(w, all, q)
}

// query answers the rows of a table.
func (n *Notion) query(w http.ResponseWriter, r *http.Request, table int) {
	var q question
	if _, trashed, there := n.World.look(table); !there || trashed || !n.shared(table) {
		NotionError(w, http.StatusNotFound, "object_not_found")
		return
	}
	if !decode(r, &q) {
		NotionError(w, http.StatusBadRequest, "invalid_json")
		return
	}
	all := []any{}
	for _, id := range n.World.ids(false) {
		if i, _ := n.World.Item(id); i.Parent == table && n.isPage(id) && n.shared(id) {
			all = append(all, n.page(id))
		}
	}
	n.list(w, all, q)
}
