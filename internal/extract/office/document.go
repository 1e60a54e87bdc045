// Package office collects the blocks, pictures and embedded files of an office
// document, for the readers of all its formats.
package office

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Document collects the result of one document. Blocks are added in reading order.
type Document struct {
	// Result is the result so far.
	Result format.Result

	source     format.Source
	size       int          // bytes of text
	cells      int          // of all sheets
	names      map[int]bool // indices of the headings that only name a sheet or a slide
	hasNames   bool         // the document has sheets or slides
	paragraphs []paragraph
	slideTitle string // the first
	furniture  map[string]bool
	figures    map[string]string // by path in the document, the asset, "" = not kept
}

// New returns a document without blocks.
func New(s format.Source) *Document {
	return &Document{source: s, furniture: map[string]bool{}, names: map[int]bool{}, figures: map[string]string{}}
}

// Add adds a block of text. It does nothing if there is no text.
func (d *Document) Add(kind knowledge.BlockKind, text string) {
	if kind != knowledge.BlockCode {
		text = Tidy(text)
	}
	if last := d.last(); kind == knowledge.BlockCode && last != nil && last.Kind == kind && last.Figure == "" {
		last.Text += "\n" + charset.Clean(text)
		d.size += len(text)
		return
	}
	if strings.TrimSpace(text) != "" {
		d.append(knowledge.Block{Kind: kind, Text: text})
	}
}

// Heading adds a heading of a level from 1 on.
func (d *Document) Heading(level int, text string) {
	if text = oneLine(text); text != "" {
		d.append(knowledge.Block{Kind: knowledge.BlockHeading, Level: min(max(level, 1), 6), Text: text})
	}
}

// Item adds an item of a list at a depth from 0 on. Its mark is a number such as
// "2.", or "" for a bullet. Successive items are one list.
func (d *Document) Item(depth int, mark, text string) {
	if text = Tidy(text); text == "" {
		return
	}
	if mark == "" {
		mark = "-"
	}
	indent := strings.Repeat("  ", min(depth, 8))
	text = indent + mark + " " + strings.ReplaceAll(text, "\n", "\n"+indent+"  ")
	if last := d.last(); last != nil && last.Kind == knowledge.BlockList {
		last.Text += "\n" + charset.Clean(text)
		d.size += len(text)
		return
	}
	d.append(knowledge.Block{Kind: knowledge.BlockList, Text: text})
}

// Furniture adds a block of a kind of furniture, once for each text.
func (d *Document) Furniture(kind knowledge.BlockKind, text string) {
	text = Tidy(text)
	if key := string(kind) + "\n" + text; text != "" && !d.furniture[key] {
		d.furniture[key] = true
		d.append(knowledge.Block{Kind: kind, Text: text})
	}
}

// Headers adds page headers before all blocks, once for each text.
func (d *Document) Headers(texts []string) {
	layout := &d.Result.Layout
	body := layout.Blocks
	layout.Blocks = nil
	for _, text := range texts {
		d.Furniture(knowledge.BlockHeader, text)
	}
	added := len(layout.Blocks)
	layout.Blocks = append(layout.Blocks, body...)
	moved := map[int]bool{}
	for i := range d.names {
		moved[i+added] = true
	}
	d.names = moved
}

// Table adds the blocks of a table, which it ends.
func (d *Document) Table(t *table.Table) {
	for _, b := range t.Blocks() {
		d.append(b)
	}
}

// AddBlocks adds blocks that another reader made.
func (d *Document) AddBlocks(blocks []knowledge.Block) {
	for _, b := range blocks {
		d.append(b)
	}
}

func (d *Document) append(b knowledge.Block) {
	b.Text, b.Header = charset.Clean(b.Text), charset.Clean(b.Header)
	d.size += len(b.Text) + len(knowledge.BlockSeparator)
	d.Result.Layout.Blocks = append(d.Result.Layout.Blocks, b)
}

func (d *Document) last() *knowledge.Block {
	if n := len(d.Result.Layout.Blocks); n > 0 {
		return &d.Result.Layout.Blocks[n-1]
	}
	return nil
}

// Err returns the error of a document with too much text. Readers of long documents
// call it now and then.
func (d *Document) Err() error {
	if d.size > charset.MaxText+charset.MaxText/4 {
		return charset.TooLong()
	}
	return nil
}

// SetMetadata sets what the document says of itself, unless it says nothing, or
// names a date before there were such documents.
func (d *Document) SetMetadata(key, value string) {
	value = oneLine(charset.Clean(value))
	isDate := key == "created" || key == "modified"
	if value == "" || isDate && value < "1980" {
		return
	}
	if d.Result.Layout.Metadata == nil {
		d.Result.Layout.Metadata = map[string]string{}
	}
	d.Result.Layout.Metadata[key] = value
}

// noTitle matches titles that programs give to new documents.
var noTitle = regexp.MustCompile(`(?i)^(powerpoint presentation|presentation ?\d*|microsoft (word|powerpoint|excel) .*|document ?\d*|untitled.*|slide 1|\S+\.[a-z]{3,4})$`)

// Finish returns the result. Its title is the title in the text, else the one that the
// document states, else the title of the first slide that has one, else the first heading
// of level 1 that is not the name of a sheet.
func (d *Document) Finish(stated string) (format.Result, error) {
	if err := d.Err(); err != nil {
		return format.Result{}, err
	}
	d.dropEmpty()
	d.setTitle(stated)
	return d.Result, nil
}

func (d *Document) setTitle(stated string) {
	title, heading := "", ""
	for _, b := range d.Result.Layout.Blocks {
		switch {
		case b.Kind == knowledge.BlockTitle && title == "":
			title = b.Text
		case b.Kind == knowledge.BlockHeading && b.Level == 1 && heading == "" && !d.hasNames:
			heading = b.Text
		}
	}
	if stated = oneLine(stated); noTitle.MatchString(stated) {
		stated = ""
	}
	d.Result.Layout.Title = cmp.Or(oneLine(title), stated, d.slideTitle, heading)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Tidy collapses white space within lines, and removes empty lines.
func Tidy(text string) string {
	if !strings.ContainsAny(text, "\n\r\v\f") {
		return oneLine(text)
	}
	var lines []string
	for line := range strings.Lines(charset.Clean(text)) {
		if line = oneLine(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Comment returns the text of a comment with its author and the day of its date.
// Either may be "".
func Comment(author, date, text string) string {
	if text = Tidy(text); text == "" {
		return ""
	}
	head := "Comment"
	if author = Tidy(author); author != "" {
		head += " by " + author
	}
	if len(date) >= len("2006-01-02") && date > "1980" {
		head += ", " + date[:len("2006-01-02")]
	}
	return head + ": " + text
}

// Slide adds the heading of a slide: its number, so that a citation names it, and its
// title, which may be "".
func (d *Document) Slide(number int, title string, isHidden bool) {
	heading := "Slide " + strconv.Itoa(number)
	if isHidden {
		heading += " (hidden)"
	}
	if title = oneLine(title); title != "" {
		heading += ": " + title
		d.slideTitle = cmp.Or(d.slideTitle, title)
	} else {
		d.names[len(d.Result.Layout.Blocks)] = true
	}
	d.hasNames = true
	d.Heading(1, heading)
}

// dropEmpty removes the names of sheets and slides with nothing on them.
func (d *Document) dropEmpty() {
	blocks := d.Result.Layout.Blocks
	kept := blocks[:0]
	for i, b := range blocks {
		nothing := i+1 == len(blocks) || d.names[i+1] || b.Level == blocks[i+1].Level && blocks[i+1].Kind == knowledge.BlockHeading
		if !d.names[i] || !nothing {
			kept = append(kept, b)
		}
	}
	d.Result.Layout.Blocks = kept
}

// Notes adds the speaker notes of a slide.
func (d *Document) Notes(text string) {
	if text = Tidy(text); text != "" {
		d.Add(knowledge.BlockParagraph, "Speaker notes: "+text)
	}
}
