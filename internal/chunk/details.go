package chunk

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// details are facts of a block that most blocks do not have.
type details struct {
	sheet   knowledge.Sheet
	time    knowledge.Seconds
	speech  knowledge.Speech // its segments, in code points of the document
	figures []string         // names of the assets that show it
}

// describe adds the details of a block to the last block of the document, and
// figures that belong to it.
func (d *document) describe(b knowledge.Block, figures []string) {
	if b.Figure != "" {
		figures = append(figures, b.Figure)
	}
	if b.Sheet.Name != "" || b.Time != (knowledge.Seconds{}) || b.Kind == knowledge.BlockFigure {
		d.lastDetails().sheet, d.lastDetails().time = b.Sheet, b.Time
	}
	start := d.blocks[len(d.blocks)-1].span.Start
	for _, s := range b.Speech {
		s.Start, s.End = s.Start+start, s.End+start
		d.lastDetails().speech = append(d.lastDetails().speech, s)
	}
	d.show(figures)
}

// show adds figures to the last block of the document.
func (d *document) show(figures []string) {
	if len(figures) > 0 && len(d.blocks) > 0 {
		d.lastDetails().figures = append(d.lastDetails().figures, figures...)
	}
}

func (d *document) lastDetails() *details {
	last := &d.blocks[len(d.blocks)-1]
	if last.details == nil {
		last.details = &details{}
		d.detailed = true
	}
	return last.details
}

// addDetails sets the place, time, figures and modality of a chunk. A part of a
// block that is not a table has the figures of the whole block, and its time if the
// times of its segments are not known.
func (d *document) addDetails(c *knowledge.Chunk) {
	var places []place
	picture, described, headed := true, false, false
	for _, b := range d.within(c.Span) {
		described = described || b.alone
		headed = headed || b.kind == knowledge.BlockHeading
		picture = picture && (b.kind == knowledge.BlockFigure || b.kind == knowledge.BlockCaption || b.kind == knowledge.BlockHeading)
		if b.details == nil {
			continue
		}
		addTime(c, b.details)
		for _, name := range b.details.figures {
			if !slices.Contains(c.Figures, name) {
				c.Figures = append(c.Figures, name)
			}
		}
		if p, ok := d.placeOf(b, c.Span); ok {
			places = addPlace(places, p)
		}
	}
	if picture && (described || !headed) && c.Modality == knowledge.ModalityText {
		c.Modality = knowledge.ModalityImage
	}
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.String()
	}
	c.Place = strings.Join(names, ", ")
}

// addTime adds the time of a block, or of its segments within a chunk, to the chunk.
func addTime(c *knowledge.Chunk, d *details) {
	t := d.time
	if len(d.speech) > 0 {
		t = d.speech.During(c.Span.Start, c.Span.End)
	}
	if t == (knowledge.Seconds{}) {
		return
	}
	if c.Time == (knowledge.Seconds{}) {
		c.Time = t
	}
	c.Time.Start, c.Time.End = min(c.Time.Start, t.Start), max(c.Time.End, t.End)
	for _, s := range d.speech {
		s.Start, s.End = max(s.Start, c.Span.Start)-c.Span.Start, min(s.End, c.Span.End)-c.Span.Start
		if s.Start < s.End {
			c.Speech = append(c.Speech, s)
		}
	}
}

// place is a range of cells of a spreadsheet, from column A on.
type place struct {
	sheet       string
	columns     int
	first, last int // rows, 1 = first
}

// placeOf returns the rows of a block that a span overlaps.
func (d *document) placeOf(b block, span knowledge.Span) (place, bool) {
	sheet := b.details.sheet
	row := func(at int) int {
		line := 0
		for _, r := range d.runes[b.span.Start:at] {
			if r == '\n' {
				line++
			}
		}
		return min(line, len(sheet.Rows)-1)
	}
	if sheet.Name == "" || len(sheet.Rows) == 0 {
		return place{}, false
	}
	first, last := row(max(span.Start, b.span.Start)), row(min(span.End, b.span.End)-1)
	return place{sheet.Name, max(sheet.Columns, 1), sheet.Rows[first], sheet.Rows[last]}, true
}

// addPlace adds a place to a list, as one with the last place if that is of the same
// sheet.
func addPlace(places []place, p place) []place {
	if n := len(places); n > 0 && places[n-1].sheet == p.sheet {
		q := &places[n-1]
		q.columns, q.first, q.last = max(q.columns, p.columns), min(q.first, p.first), max(q.last, p.last)
		return places
	}
	return append(places, p)
}

// String returns the place in the notation of spreadsheets, Sales!A2:D41.
func (p place) String() string {
	name := p.sheet
	plain := func(r rune) bool { return r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	if strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) || unicode.IsDigit([]rune(name)[0]) {
		name = "'" + strings.ReplaceAll(name, "'", "''") + "'"
	}
	return name + "!A" + strconv.Itoa(p.first) + ":" + column(p.columns) + strconv.Itoa(p.last)
}

// column returns the name of a column of a spreadsheet: 1 is A, 27 is AA.
func column(n int) string {
	name := ""
	for ; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}
