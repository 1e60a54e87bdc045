package notion

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// visits visit the entries of an index, and make a page of a listing from them.
type visits struct {
	*Source
	*index
	at    *token
	now   time.Time
	page  source.Page
	found []*entry // that came from Notion since the last part was stored
	part  []*entry // of the index of this run
}

// visitAll visits entries until the page is full, and reports whether there are more.
func (s *Source) visitAll(ctx context.Context, at *token) (source.Page, bool, error) {
	if s.index == nil {
		var err error
		if s.index, err = s.loadIndex(ctx, *at); err != nil {
			return source.Page{}, false, err
		}
	}
	v := &visits{Source: s, index: s.index, at: at, now: time.Now()}
	for at.Visited < len(v.order) && len(v.page.Objects)+len(v.page.Removed) < s.size && len(v.found) < perGather {
		if len(v.order) > maxEntries {
			return v.page, false, tooMany()
		}
		e := v.entries[v.order[at.Visited]]
		if err := v.visit(ctx, e); err != nil {
			return v.page, false, err
		}
		at.Visited++
		if len(v.part) == perPart {
			if err := v.keepPart(ctx); err != nil {
				return v.page, false, err
			}
		}
	}
	at.Count += len(v.page.Objects)
	if err := v.keepPart(ctx); err != nil {
		return v.page, false, err
	}
	return v.page, at.Visited < len(v.order), s.keepFound(ctx, at, v.found)
}

// keepPart stores a part of the index of this run.
func (v *visits) keepPart(ctx context.Context) error {
	if len(v.part) == 0 {
		return nil
	}
	if err := save(ctx, v.state, partIndex, v.at.Parts, v.part); err != nil {
		return err
	}
	v.at.Parts, v.part = v.at.Parts+1, nil
	return nil
}

// visit lists an entry with its files, if it has changed or everything is listed.
func (v *visits) visit(ctx context.Context, e *entry) error {
	e, err := v.current(ctx, e)
	if err != nil {
		return err
	}
	chain, inside, err := v.chain(ctx, e)
	if err == nil && inside {
		err = v.read(ctx, e)
	}
	if err != nil {
		return err
	}
	e.Name = ""
	if inside && e.State == "" {
		e.Name = pathOf(chain)
	}
	if err := v.seek(ctx, e); err != nil {
		return err
	}
	v.list(e)
	if e.State != stateTrash {
		v.part = append(v.part, e)
	}
	return nil
}

// current returns an entry as Notion has it in this run: what a listing of everything did not
// find is asked for.
func (v *visits) current(ctx context.Context, e *entry) (*entry, error) {
	if e.fresh || !v.at.All {
		return e, nil
	}
	return v.fetch(ctx, e.ID, e.Table, false)
}

// fetch asks for a page or a table, and adds it to the index. One that is not there, or not
// shared, is hidden. With again it is visited once more.
func (v *visits) fetch(ctx context.Context, id string, table, again bool) (*entry, error) {
	path := "pages/"
	if table {
		path = "data_sources/"
	}
	i := item{}
	err := v.client.get(ctx, path+id, nil, &i)
	e := &entry{Table: table, State: stateHidden}
	if err == nil {
		e = i.entry()
	} else if !knowledge.IsCode(err, knowledge.CodeNotFound) {
		return nil, err
	}
	e.ID, e.Again = id, again
	v.discover(e)
	return e, nil
}

// discover adds an entry that came from Notion during the visits.
func (v *visits) discover(e *entry) {
	v.add(e)
	v.found = append(v.found, e)
	v.visitLater(e.ID, e.Again)
}

// maxDepth bounds how deep pages are nested, and blocks in a page.
const maxDepth = 50

// chain returns what leads to an entry, the highest first and the entry last, and reports
// whether it is a document of the scope: it is shown, nothing above it is in the trash, and
// the root of the scope is in it.
func (v *visits) chain(ctx context.Context, e *entry) (chain []*entry, inside bool, err error) {
	inside = v.root == ""
	for depth := 0; ; depth++ {
		chain = append(chain, e)
		if e.State == stateTrash || e.State == stateHidden && depth == 0 {
			return nil, false, nil
		}
		if v.root != "" && (e.ID == v.root || e.Database == v.root) {
			inside = true
			break
		}
		above, err := v.above(ctx, e)
		if err != nil {
			return nil, false, err
		}
		if above == nil || above.State == stateHidden || depth == maxDepth || slices.Contains(chain, above) {
			break
		}
		e = above
	}
	slices.Reverse(chain)
	return chain, inside, nil
}

// above returns the page or the table in which an entry is, nil if none is known.
func (v *visits) above(ctx context.Context, e *entry) (*entry, error) {
	if !e.Placed {
		in, err := v.outOfBlocks(ctx, e.In)
		if err != nil {
			return nil, err
		}
		e.Above, e.Placed = in.key(), true
	}
	id, table := strings.CutPrefix(e.Above, keyTable)
	id = strings.TrimPrefix(id, keyPage)
	if id == "" {
		return nil, nil
	}
	if known := v.entries[id]; known != nil && (known.fresh || !v.at.All) {
		return known, nil
	}
	above, err := v.fetch(ctx, id, table, false)
	if knowledge.IsCode(err, knowledge.CodeInvalid) { // it is none that this version of the protocol shows
		above, err = &entry{ID: id, Table: table, State: stateHidden}, nil
		v.discover(above)
	}
	return above, err
}

// outOfBlocks returns the parent that is no block: that of the block, or of the one above it.
func (v *visits) outOfBlocks(ctx context.Context, in parent) (parent, error) {
	for depth := 0; in.Type == "block_id"; depth++ {
		var b struct {
			Parent parent `json:"parent"`
		}
		err := v.client.get(ctx, "blocks/"+in.Block, nil, &b)
		if knowledge.IsCode(err, knowledge.CodeNotFound) || knowledge.IsCode(err, knowledge.CodeInvalid) || depth == maxDepth {
			return parent{}, nil
		}
		if err != nil {
			return parent{}, err
		}
		in = b.Parent
	}
	return in, nil
}

// maxTitle bounds a title in a path in characters.
const maxTitle = 200

// pathOf returns the path of the last of a chain.
func pathOf(chain []*entry) string {
	parts := make([]string, 0, len(chain))
	for _, e := range chain {
		parts = append(parts, partOf(e.Title))
	}
	return strings.Join(parts, "/")
}

// partOf returns a title as a part of a path.
func partOf(title string) string {
	title = strings.Join(strings.FieldsFunc(title, func(r rune) bool { return r < ' ' || r == 0x7f || r == ' ' }), " ")
	if runes := []rune(title); len(runes) > maxTitle {
		title = strings.TrimSpace(string(runes[:maxTitle])) + "…"
	}
	if title == "" {
		return "Untitled"
	}
	return strings.ReplaceAll(title, "/", "_")
}
