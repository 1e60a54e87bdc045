package evaluate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is what is wrong with an item.
type Problem struct {
	Line    int    `json:"line,omitempty"` // of the file, from 1; 0 = unknown
	Item    int    `json:"item"`           // index from 0; -1 = the file as a whole
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Problems is an error of one problem or more. At most MaxProblems are listed.
type Problems struct {
	List []Problem
	More int // further ones
}

// MaxProblems bounds Problems.List.
const MaxProblems = 20

// Error lists the first problems.
func (p *Problems) Error() string {
	var lines []string
	for _, x := range p.List {
		lines = append(lines, x.String())
	}
	if p.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", p.More))
	}
	return strings.Join(lines, "\n")
}

// String returns the problem with its place.
func (p Problem) String() string {
	var place []string
	if p.Line > 0 {
		place = append(place, fmt.Sprintf("line %d", p.Line))
	}
	if p.Item >= 0 {
		place = append(place, fmt.Sprintf("item %d", p.Item+1))
	}
	if p.Field != "" {
		place = append(place, p.Field)
	}
	if len(place) == 0 {
		return p.Message
	}
	return strings.Join(place, ", ") + ": " + p.Message
}

func (p *Problems) add(x Problem) {
	if len(p.List) == MaxProblems {
		p.More++
		return
	}
	p.List = append(p.List, x)
}

// orNil returns p as an error, sorted by line, or nil without a problem.
func (p *Problems) orNil() error {
	if len(p.List) == 0 {
		return nil
	}
	slices.SortStableFunc(p.List, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Item, b.Item)) })
	return p
}

// Check returns a *Problems if items break a limit, lack a question, share an id, or have an
// unknown kind; else nil.
func Check(items []Item) error {
	var p Problems
	p.check(items, nil)
	return p.orNil()
}

// check adds the problems of items. lines has the line of each item, or is nil.
func (p *Problems) check(items []Item, lines []int) {
	switch {
	case len(items) == 0:
		p.add(Problem{Item: -1, Message: "there is no item"})
	case len(items) > MaxItems:
		p.add(Problem{Item: -1, Message: fmt.Sprintf("there are more than %d items", MaxItems)})
		return
	}
	first := map[string]int{}
	for i, item := range items {
		line := 0
		if lines != nil {
			line = lines[i]
		}
		wrong := func(field, format string, values ...any) {
			p.add(Problem{Line: line, Item: i, Field: field, Message: fmt.Sprintf(format, values...)})
		}
		item.check(wrong)
		if before, ok := first[item.ID]; ok && item.ID != "" {
			wrong("id", "%q is the id of item %d too", item.ID, before+1)
		} else {
			first[item.ID] = i
		}
	}
}

// check calls wrong for each field that breaks a limit.
func (i Item) check(wrong func(field, format string, values ...any)) {
	short := func(field, text string, limit int) {
		if n := utf8.RuneCountInString(text); n > limit {
			wrong(field, "it has %d characters, more than %d", n, limit)
		}
	}
	if strings.TrimSpace(i.ID) == "" {
		wrong("id", "it is missing")
	}
	if strings.TrimSpace(i.Question) == "" {
		wrong("question", "it is missing")
	}
	short("id", i.ID, MaxID)
	short("question", i.Question, MaxQuestion)
	short("reference", i.Reference, MaxReference)
	if i.Kind != "" && !slices.Contains(GeneratedKinds(), i.Kind) {
		wrong("kind", "%q is none of fact, table, comparison and unanswerable", i.Kind)
	}
	i.checkLists(wrong, short)
}

func (i Item) checkLists(wrong func(field, format string, values ...any), short func(field, text string, limit int)) {
	for field, count := range map[string]int{"expected_documents": len(i.ExpectedDocuments), "expected_pages": len(i.ExpectedPages), "passages": len(i.Passages)} {
		if count > MaxExpected {
			wrong(field, "there are %d, more than %d", count, MaxExpected)
		}
	}
	if len(i.Tags) > MaxTags {
		wrong("tags", "there are %d, more than %d", len(i.Tags), MaxTags)
	}
	for _, name := range i.ExpectedDocuments {
		if strings.TrimSpace(name) == "" {
			wrong("expected_documents", "one is empty")
		}
		short("expected_documents", name, MaxName)
	}
	for _, page := range i.ExpectedPages {
		if page.Number < 1 {
			wrong("expected_pages", "%d is no page: the first is 1", page.Number)
		}
		short("expected_pages", page.Document, MaxName)
	}
	for _, passage := range i.Passages {
		if strings.TrimSpace(passage) == "" {
			wrong("passages", "one is empty")
		}
		short("passages", passage, MaxID)
	}
	for _, tag := range i.Tags {
		if strings.TrimSpace(tag) == "" {
			wrong("tags", "one is empty")
		}
		short("tags", tag, MaxTag)
	}
}

// WithIDs returns the items, each without an id with one that is made from its question. The
// same items get the same ids.
func WithIDs(items []Item) []Item {
	items = slices.Clone(items)
	taken := map[string]bool{}
	for _, item := range items {
		taken[item.ID] = true
	}
	for i := range items {
		if items[i].ID != "" {
			continue
		}
		hash := sha256.Sum256([]byte(items[i].Question))
		id := hex.EncodeToString(hash[:6])
		for n := 2; taken[id]; n++ {
			id = fmt.Sprintf("%s-%d", hex.EncodeToString(hash[:6]), n)
		}
		items[i].ID, taken[id] = id, true
	}
	return items
}
