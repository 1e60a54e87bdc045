package notion

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
)

// parent is where a page, a table or a block is.
type parent struct {
	Type     string `json:"type"`
	Page     string `json:"page_id,omitempty"`
	Table    string `json:"data_source_id,omitempty"`
	Database string `json:"database_id,omitempty"`
	Block    string `json:"block_id,omitempty"`
}

// key returns the key of the page or the table that a parent is, "" if it is none, such as a
// block or the workspace.
func (p parent) key() string {
	switch {
	case p.Type == "page_id" && p.Page != "":
		return keyPage + p.Page
	case p.Type == "data_source_id" && p.Table != "":
		return keyTable + p.Table
	}
	return ""
}

// item is a page, or a table of a database (a data source), as Notion shows it.
type item struct {
	Object     string              `json:"object"`
	ID         string              `json:"id"`
	Edited     time.Time           `json:"last_edited_time"`
	Parent     parent              `json:"parent"`
	Above      *parent             `json:"database_parent"` // of a table
	InTrash    bool                `json:"in_trash"`
	Archived   bool                `json:"archived"`
	URL        string              `json:"url"`
	Title      []richText          `json:"title"` // of a table
	About      []richText          `json:"description"`
	Properties map[string]property `json:"properties"` // of a table: without values
}

// The objects of Notion that become documents.
const (
	objectPage  = "page"
	objectTable = "data_source"
)

// title returns the title of a page or a table.
func (i item) title() string {
	if i.Object == objectTable {
		return plain(i.Title)
	}
	for _, p := range i.Properties {
		if p.Type == "title" {
			return p.text()
		}
	}
	return ""
}

// tagsProperty is the name of the property whose values become tags.
const tagsProperty = "Tags"

// tags returns the values of the property for tags.
func (i item) tags() []string {
	tags := []string{} // there are none, which is not the same as not to know them
	if p := i.Properties[tagsProperty]; p.Type == "multi_select" {
		for _, o := range p.options() {
			tags = append(tags, o.Name)
		}
	}
	return source.Distinct(tags)
}

// entry returns what the index keeps of an item.
func (i item) entry() *entry {
	e := &entry{ID: i.ID, Table: i.Object == objectTable, In: i.Parent, Title: i.title(), Edited: i.Edited, Tags: i.tags(), fresh: true}
	if e.Table {
		e.Database = i.Parent.Database
		if i.Above != nil {
			e.In = *i.Above
		}
	}
	e.Address = addressOf(i.URL, cmp.Or(e.Database, i.ID))
	if i.InTrash || i.Archived {
		e.State = stateTrash
	}
	names := make([]string, 0, len(i.Properties))
	for name := range i.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		e.Attached = append(e.Attached, i.Properties[name].attached(i.ID)...)
	}
	return e
}

// addressOf returns the address of a page or a database by its id, because the one that Notion
// tells has the title too, which changes.
func addressOf(told, id string) string {
	host := "www.notion.so"
	if u, err := url.Parse(told); err == nil && u.Scheme == "https" && u.Host != "" {
		host = u.Host
	}
	return "https://" + host + "/" + strings.ReplaceAll(id, "-", "")
}

// settledAfter is how long after the minute of an edit no other one can have the same time,
// also if the clock here differs from Notion's.
const settledAfter = 5 * time.Minute

// unsettled ends the tag of what may still be edited within the minute of its last edit.
const unsettled = "~"

// tagOf returns what changes with the content of something that was edited in a minute, as
// it is read at a time.
func tagOf(edited, now time.Time) string {
	tag := edited.UTC().Format(time.RFC3339)
	if now.Sub(edited) < settledAfter {
		tag += unsettled
	}
	return tag
}

// isSettled reports whether a tag is of something that no edit can change without changing it.
func isSettled(tag string) bool { return !strings.HasSuffix(tag, unsettled) }

// hexID matches the end of the id in an address: 32 digits.
var hexID = regexp.MustCompile(`[0-9a-f]{32}$`)

// idIn returns the id that an address of Notion or an id with or without dashes names, "" if
// it names none.
func idIn(text string) string {
	text, _, _ = strings.Cut(text, "#")
	text, _, _ = strings.Cut(text, "?")
	text = strings.TrimRight(strings.TrimSpace(text), "/")
	if n := strings.LastIndexByte(text, '/'); n >= 0 {
		text = text[n+1:]
	}
	hex := hexID.FindString(strings.ToLower(strings.ReplaceAll(text, "-", "")))
	if hex == "" {
		return ""
	}
	return strings.Join([]string{hex[:8], hex[8:12], hex[12:16], hex[16:20], hex[20:]}, "-")
}

// richText is a piece of text.
type richText struct {
	Plain string `json:"plain_text"`
	Link  string `json:"href"`
}

// plain returns a text without its links and styles.
func plain(list []richText) string {
	var b strings.Builder
	for _, t := range list {
		b.WriteString(t.Plain)
	}
	return b.String()
}

// texts reads a text that is a string in some objects and a list of pieces in others.
func texts(raw json.RawMessage) []richText {
	var list []richText
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []richText{{Plain: one}}
	}
	return nil
}
