package notion

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The bounds of a page.
const (
	maxBlocks   = 10_000
	maxRequests = 1_000
)

// block is a part of a page.
type block struct {
	ID       string
	Type     string
	Nested   bool // it has children
	InTrash  bool
	Lost     bool // Notion does not give them
	content  content
	children []*block
}

// content is what a block has. Each type has some of it.
type content struct {
	Text       []richText      `json:"rich_text"`
	Title      json.RawMessage `json:"title"`
	Caption    []richText      `json:"caption"`
	URL        string          `json:"url"`
	Name       string          `json:"name"`
	Expression string          `json:"expression"`
	Cells      [][]richText    `json:"cells"`
	Checked    bool            `json:"checked"`
	Header     bool            `json:"has_column_header"`
	Page       string          `json:"page_id"`
	Database   string          `json:"database_id"`
	fileObject
}

// UnmarshalJSON implements json.Unmarshaler. The content has the name of its type; one that
// cannot be read is none.
func (b *block) UnmarshalJSON(data []byte) error {
	var base struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Nested   bool   `json:"has_children"`
		InTrash  bool   `json:"in_trash"`
		Archived bool   `json:"archived"`
	}
	if err := json.Unmarshal(data, &base); err != nil {
		return err
	}
	b.ID, b.Type, b.Nested, b.InTrash = base.ID, base.Type, base.Nested, base.InTrash || base.Archived
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) == nil && json.Unmarshal(fields[b.Type], &b.content) != nil {
		b.content = content{}
	}
	return nil
}

// attachment returns the file of a block.
func (b *block) attachment() attachment {
	name := b.content.Name
	if name == "" {
		name = b.content.name()
	}
	return attachment{Key: keyBlock + b.ID, Name: name, Tag: b.content.tag(), At: strings.ReplaceAll(b.ID, "-", "")}
}

// isFile reports whether a block is a file that Notion keeps.
func (b *block) isFile() bool {
	switch b.Type {
	case "file", "pdf", "image", "video", "audio":
		return b.content.isHosted()
	}
	return false
}

// tree are the blocks of a page.
type tree struct {
	blocks    []*block
	files     []*block
	pages     []string // ids of the pages in it
	databases []string // and of the databases
	cut       bool     // it has more blocks

	count, requests int
}

// blocksOf reads the blocks of a page, as far as the bounds allow.
func (c *client) blocksOf(ctx context.Context, page string) (*tree, error) {
	t := &tree{}
	var err error
	t.blocks, err = c.readBlocks(ctx, t, page, 0)
	return t, err
}

// readBlocks reads the blocks in a page or a block, with those in them.
func (c *client) readBlocks(ctx context.Context, t *tree, in string, depth int) (all []*block, err error) {
	q := url.Values{"page_size": {strconv.Itoa(perRequest)}}
	for {
		if t.requests++; t.requests > maxRequests || t.count > maxBlocks || depth > maxDepth {
			t.cut = true
			return all, nil
		}
		var found list[*block]
		if err := c.get(ctx, "blocks/"+url.PathEscape(in)+"/children", q, &found); err != nil {
			return nil, err
		}
		for _, b := range found.Results {
			if b != nil && !b.InTrash {
				all = append(all, b)
			}
		}
		t.count += len(found.Results)
		next, err := found.after(q.Get("start_cursor"))
		if err != nil {
			return nil, err
		}
		if next == "" {
			break
		}
		q.Set("start_cursor", next)
	}
	for _, b := range all {
		if err := c.readBlock(ctx, t, b, depth); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readBlock notes what a block is, and reads the blocks in it.
func (c *client) readBlock(ctx context.Context, t *tree, b *block, depth int) (err error) {
	switch {
	case b.Type == "child_page":
		t.pages = append(t.pages, b.ID)
		return nil
	case b.Type == "child_database":
		t.databases = append(t.databases, b.ID)
		return nil
	case b.isFile():
		t.files = append(t.files, b)
	}
	if b.Nested {
		b.children, err = c.readBlocks(ctx, t, b.ID, depth+1)
	}
	if knowledge.IsCode(err, knowledge.CodeNotFound) || knowledge.IsCode(err, knowledge.CodeInvalid) { // such as a copy of blocks of a page that is not shared
		b.Lost, err = true, nil
	}
	return err
}
