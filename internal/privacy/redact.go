package privacy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Redactor writes placeholders in the place of personal data. The same value has the same
// placeholder in all texts of a Redactor. It is for one document, and not safe for
// concurrent use.
type Redactor struct {
	finder       *Finder
	placeholders map[string]string // by entity and value
	last         map[string]int    // the last number, by entity

	taken map[string]bool                 // placeholders that stand for something else
	note  func(placeholder, value string) // is told of each new placeholder
}

// NewRedactor returns a redactor of what finder finds.
func (f *Finder) NewRedactor() *Redactor {
	return &Redactor{finder: f, placeholders: map[string]string{}, last: map[string]int{}, taken: map[string]bool{}, note: func(string, string) {}}
}

// reserve takes the placeholders that stand in a text out of use.
func (r *Redactor) reserve(text string) {
	for {
		open := strings.IndexByte(text, '<')
		if open < 0 {
			return
		}
		text = text[open+1:]
		if name, _, ok := strings.Cut(text, ">"); ok && isPlaceholderName(name) {
			r.taken["<"+strings.ToUpper(name)+">"] = true
		}
	}
}

// Text returns a text with placeholders.
func (r *Redactor) Text(text string) string {
	e := r.edit(text)
	return e.text
}

// labelled returns a text with placeholders that stands behind a label, "" = none.
func (r *Redactor) labelled(label, text string) string {
	if label != "" {
		if redacted, ok := strings.CutPrefix(r.Text(label+": "+text), label+": "); ok {
			return redacted
		}
	}
	return r.Text(text)
}

// Attributes returns the name, the tags and the metadata of a document with placeholders.
// The keys of metadata are labels of their values.
func (r *Redactor) Attributes(name string, tags []string, metadata map[string]any) (string, []string, map[string]any) {
	name, tags = r.Text(name), slices.Clone(tags)
	for i, tag := range tags {
		tags[i] = r.Text(tag)
	}
	if metadata != nil {
		metadata = r.value("", metadata).(map[string]any)
	}
	return name, tags, metadata
}

// RedactAttributes returns the name, the tags and the metadata of a version that is added
// with a privacy: with placeholders, if it asks for them. Its error is that of a recogniser
// that cannot answer.
func (r Recognisers) RedactAttributes(ctx context.Context, p knowledge.VersionPrivacy, name string, tags []string, metadata map[string]any) (string, []string, map[string]any, error) {
	if !p.Redacts() {
		return name, tags, metadata, nil
	}
	finder, err := r.Finder(ctx, p.Rules(), func(f *Finder) { f.NewRedactor().Attributes(name, tags, metadata) })
	if err != nil {
		return "", nil, nil, err
	}
	name, tags, metadata = finder.NewRedactor().Attributes(name, tags, metadata)
	return name, tags, metadata, nil
}

// value returns a value of metadata with placeholders in all of its texts.
func (r *Redactor) value(label string, v any) any {
	switch v := v.(type) {
	case string:
		return r.labelled(label, v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = r.value(label, item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) { // so that the numbers are always the same
			object[r.Text(key)] = r.value(key, v[key])
		}
		return object
	}
	return v
}

// Layout returns a layout with placeholders, and what they replace. Boxes stay those of the
// page: the box of a placeholder is that of its value. A figure whose text has personal
// data is no longer named, since it shows the value; dropped are the names of such figures.
// Placeholders that stand in blocks already, as in a layout that was redacted before, stand for
// nothing else.
func (r *Redactor) Layout(layout knowledge.Layout) (redacted knowledge.Layout, report Report, dropped []string) {
	var all reporter
	for _, b := range layout.Blocks {
		r.reserve(b.Text)
	}
	layout.Title = r.Text(layout.Title)
	metadata := make(map[string]string, len(layout.Metadata))
	for _, key := range slices.Sorted(maps.Keys(layout.Metadata)) {
		metadata[key] = r.labelled(key, layout.Metadata[key])
	}
	if layout.Metadata != nil {
		layout.Metadata = metadata
	}
	layout.Blocks = slices.Clone(layout.Blocks)
	for i := range layout.Blocks {
		b := &layout.Blocks[i]
		found := r.block(b)
		if len(found) > 0 && b.Figure != "" {
			dropped, b.Figure = append(dropped, b.Figure), ""
		}
		all.block(*b, runeCount(b.Text), found)
	}
	return layout, all.done(), dropped
}

// block writes placeholders into a block, and returns their places in its new text.
func (r *Redactor) block(b *knowledge.Block) []Finding {
	e := r.edit(b.Text)
	if len(e.changes) == 0 {
		return nil
	}
	header := runeCount(b.Header)
	if strings.HasPrefix(b.Text, b.Header) {
		b.Header = string([]rune(e.text)[:e.moved(header)])
	} else {
		b.Header = r.Text(b.Header)
	}
	b.Text, b.Lines = e.text, e.lines(b.Lines)
	b.Cells = slices.Clone(b.Cells)
	for i := range b.Cells {
		for _, c := range e.changes {
			b.Cells[i].Text = strings.ReplaceAll(b.Cells[i].Text, c.value, c.placeholder)
		}
	}
	b.Speech = slices.Clone(b.Speech)
	for i := range b.Speech {
		b.Speech[i].Start, b.Speech[i].End = e.moved(b.Speech[i].Start), e.moved(b.Speech[i].End)
	}
	return e.found
}

// edit is a text with placeholders.
type edit struct {
	text    string
	changes []change
	found   []Finding // with their places in text
}

// change is a placeholder. before is the place of the value in the text before, and after
// the place of the placeholder.
type change struct {
	before, after      knowledge.Span
	value, placeholder string
}

// edit finds the values of a text and writes placeholders in their place. A line break within a value is
// kept behind its placeholder, so that the lines of a file stay the same.
func (r *Redactor) edit(text string) edit { return r.editFound(text, r.finder.Find(text)) }

// editFound writes placeholders in the place of values that were found.
func (r *Redactor) editFound(text string, found []Finding) edit {
	if len(found) == 0 {
		return edit{text: text}
	}
	runes := []rune(text)
	var e edit
	var b strings.Builder
	at, length := 0, 0
	for _, f := range found {
		value := string(runes[f.Start:f.End])
		c := change{before: f.Span, value: value, placeholder: r.placeholder(f.Entity, value)}
		b.WriteString(string(runes[at:f.Start]))
		length += f.Start - at
		breaks := strings.Repeat("\n", strings.Count(value, "\n"))
		c.after = knowledge.Span{Start: length, End: length + runeCount(c.placeholder)}
		b.WriteString(c.placeholder + breaks)
		length, at = c.after.End+len(breaks), f.End
		f.Span = c.after
		e.changes, e.found = append(e.changes, c), append(e.found, f)
	}
	b.WriteString(string(runes[at:]))
	e.text = b.String()
	return e
}

// placeholder returns the placeholder of a value, which does not depend on how the value
// is spaced.
func (r *Redactor) placeholder(entity, value string) string {
	key := entity + "\n" + strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || entity != Email && strings.ContainsRune("-./()", c) && entity != IP {
			return -1
		}
		return unicode.ToLower(c)
	}, value)
	for r.placeholders[key] == "" {
		r.last[entity]++
		if next := fmt.Sprintf("<%s_%d>", entity, r.last[entity]); !r.taken[next] {
			r.placeholders[key] = next
			r.note(next, value)
		}
	}
	return r.placeholders[key]
}

// moved returns where a place of the text before is now. A place within a value is at the
// end of its placeholder.
func (e edit) moved(at int) int {
	shift := 0
	for _, c := range e.changes {
		if at <= c.before.Start {
			break
		}
		if at < c.before.End {
			return c.after.End
		}
		shift = c.after.End - c.before.End + strings.Count(c.value, "\n")
	}
	return at + shift
}

// lines returns the lines of the new text. A line with a placeholder becomes several, each
// with the box of its own part of the page.
func (e edit) lines(before knowledge.Lines) knowledge.Lines {
	var after knowledge.Lines
	for _, l := range before {
		at := l.Start
		part := func(start, end, newStart, newEnd int) {
			if newStart < newEnd && start < end {
				piece := knowledge.Line{Start: newStart, End: newEnd, Page: l.Page, Box: l.Part(start, end)}
				piece.Hyphen = l.Hyphen && end == l.End
				after = append(after, piece)
			}
		}
		for _, c := range e.changes {
			if c.before.End <= l.Start || l.End <= c.before.Start {
				continue
			}
			if at < c.before.Start {
				part(at, c.before.Start, e.moved(at), c.after.Start)
			}
			if l.Start <= c.before.Start { // else the line before has the placeholder
				part(c.before.Start, min(c.before.End, l.End), c.after.Start, c.after.End)
			}
			at = min(c.before.End, l.End)
		}
		if at < l.End {
			part(at, l.End, e.moved(at), e.moved(l.End))
		}
	}
	return after
}

func runeCount(text string) int { return utf8.RuneCountInString(text) }
