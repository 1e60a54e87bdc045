package notion

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
)

// entry is what the index knows of a page or a table.
type entry struct {
	ID       string       `json:"id"`
	Table    bool         `json:"table,omitempty"`
	Database string       `json:"database,omitempty"` // of a table
	In       parent       `json:"in"`
	Above    string       `json:"above,omitempty"` // key of the page or table in which it is, "" = it is in none
	Placed   bool         `json:"placed,omitempty"`
	Title    string       `json:"title,omitempty"`
	Address  string       `json:"address,omitempty"`
	Edited   time.Time    `json:"edited"`
	Tags     []string     `json:"tags,omitempty"`
	Attached []attachment `json:"attached,omitempty"` // in its properties
	Files    []attachment `json:"files,omitempty"`    // in its blocks
	Read     string       `json:"read,omitempty"`     // its tag when its blocks were read for Files
	State    string       `json:"state,omitempty"`
	// Name and Tag are those of its object, "" = it is not listed.
	Name string `json:"name,omitempty"`
	Tag  string `json:"tag,omitempty"`

	// Again reports that it is visited once more, because another page has changed.
	Again bool `json:"again,omitempty"`

	fresh bool // this run has it from Notion
}

// The states of what is no document.
const (
	stateTrash  = "trash"  // nor is what is below it
	stateHidden = "hidden" // it is not there, or not shared with the integration
)

// files returns all files of an entry.
func (e *entry) files() []attachment { return append(slices.Clone(e.Attached), e.Files...) }

// The beginnings of keys.
const (
	keyPage  = "page:"
	keyTable = "table:"
	keyBlock = "block:" // a file in a block
	keyFile  = "file:"  // a file in a property
)

func (e *entry) key() string {
	if e.Table {
		return keyTable + e.ID
	}
	return keyPage + e.ID
}

// The names of parts of the state.
const (
	partIndex = "index/"
	partFound = source.Temporary + "found/" // what a run has from Notion, in the order in which it came
)

const (
	// perPart is how many entries a part of the index has.
	perPart = 5000
	// maxEntries bounds the pages and tables that a sync knows. They are in memory during a run.
	maxEntries = 200_000
)

func save(ctx context.Context, state source.State, name string, n int, list []*entry) error {
	data, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("write the index: %w", err)
	}
	return state.Save(ctx, fmt.Sprint(name, n), data)
}

// load returns a part of a state: ErrExpired if it is lost.
func load(ctx context.Context, state source.State, name string, n int) (list []*entry, err error) {
	if state == nil {
		return nil, source.ErrExpired
	}
	data, err := state.Load(ctx, fmt.Sprint(name, n))
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(data, &list) != nil {
		return nil, source.ErrExpired
	}
	return list, nil
}

// index is what a run knows of all pages and tables.
type index struct {
	entries   map[string]*entry
	previous  map[string]*entry   // as the run before left them
	databases map[string]bool     // of which a table is known
	inside    map[string][]string // ids of what is in pages and tables, by the keys of these
	order     []string            // in which they are visited
	placed    map[string]bool
	listed    map[string]string // ids of the pages that have files, by their keys, as the visits since the load found
}

// loadIndex returns the index as a run had it when it stored its parts.
func (s *Source) loadIndex(ctx context.Context, at token) (*index, error) {
	x := &index{entries: map[string]*entry{}, previous: map[string]*entry{}, databases: map[string]bool{}, placed: map[string]bool{}, listed: map[string]string{}}
	parts := s.before.Parts
	if at.Anew {
		parts = 0
	}
	for n := range parts {
		part, err := load(ctx, s.follow.Previous, partIndex, n)
		if err != nil {
			return nil, err
		}
		for _, e := range part {
			x.previous[e.ID] = e
			now := *e
			x.entries[e.ID] = &now
			x.databases[e.Database] = true
		}
	}
	first := map[string]bool{}
	for id, e := range x.entries {
		first[id] = !at.All || e.State == "" // what is not shown is asked for where it is needed
	}
	var late []*entry
	for n := range at.Found {
		part, err := load(ctx, s.state, partFound, n)
		if err != nil {
			return nil, err
		}
		for _, e := range part {
			x.add(e)
			if n < at.Gathered {
				first[e.ID] = true
			} else {
				late = append(late, e)
			}
		}
	}
	x.arrange(first, late)
	return x, nil
}

// arrange sets the order of visits: tables first, so that their rows are known.
func (x *index) arrange(first map[string]bool, late []*entry) {
	maps.DeleteFunc(first, func(_ string, visited bool) bool { return !visited })
	ids := slices.Collect(maps.Keys(first))
	rank := func(id string) string {
		if x.entries[id].Table {
			return "0" + id
		}
		return "1" + id
	}
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
	for _, id := range ids {
		x.visitLater(id, false)
	}
	for _, e := range late {
		x.visitLater(e.ID, e.Again)
	}
}

// visitLater adds an entry to the end of the order, unless it is in it and not visited again.
func (x *index) visitLater(id string, again bool) {
	if again || !x.placed[id] {
		x.placed[id] = true
		x.order = append(x.order, id)
	}
}

// add adds an entry that came from Notion. It keeps what only visits find out.
func (x *index) add(e *entry) {
	e.fresh = true
	if known := x.entries[e.ID]; known != nil {
		e.Files, e.Read, e.Name, e.Tag = known.Files, known.Read, known.Name, known.Tag
		if !e.Placed && known.Placed && known.In == e.In {
			e.Above, e.Placed = known.Above, true
		}
		if e.State == stateHidden { // Notion tells no more of it
			e.Table, e.Database, e.In = known.Table, known.Database, known.In
		}
	}
	x.entries[e.ID] = e
	if e.Table && e.State == "" {
		x.databases[e.Database] = true
	}
	x.inside = nil
}

// in returns the ids of what is in a page or a table.
func (x *index) in(key string) []string {
	if x.inside == nil {
		x.inside = map[string][]string{}
		for id, e := range x.entries {
			above := e.Above
			if !e.Placed {
				above = e.In.key()
			}
			if e.State == "" && above != "" {
				x.inside[above] = append(x.inside[above], id)
			}
		}
	}
	return x.inside[key]
}
