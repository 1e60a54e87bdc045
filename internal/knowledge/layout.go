package knowledge

import (
	"encoding/json"
	"math"
)

// Box is a rectangle on a page: PDF points, origin at the top left of the page
// as it is displayed (after rotation, within the crop box), X1<X2 and Y1<Y2.
type Box struct{ X1, Y1, X2, Y2 float64 }

// MarshalJSON returns [x1,y1,x2,y2], rounded to hundredths of a point.
func (b Box) MarshalJSON() ([]byte, error) {
	return append(appendNumbers([]byte{'['}, b.X1, b.Y1, b.X2, b.Y2), ']'), nil
}

// UnmarshalJSON reads [x1,y1,x2,y2].
func (b *Box) UnmarshalJSON(data []byte) error {
	var a [4]float64
	if err := json.Unmarshal(data, &a); err != nil {
		return err
	}
	*b = Box{a[0], a[1], a[2], a[3]}
	return nil
}

// Union is the smallest box around both.
func (b Box) Union(c Box) Box {
	return Box{math.Min(b.X1, c.X1), math.Min(b.Y1, c.Y1), math.Max(b.X2, c.X2), math.Max(b.Y2, c.Y2)}
}

// Span is a half-open range of Unicode code points, [Start, End).
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Line is one line of text on one page. Start and End are code points into the
// text that holds the line (a block's, or a chunk's).
type Line struct {
	Start int `json:"start"`
	End   int `json:"end"`
	Page  int `json:"page_number"` // 1 = first
	Box   Box `json:"bbox"`
	// Hyphen says that on the page the line ends in a hyphen that the text leaves
	// out: the word continues in the next line.
	Hyphen bool `json:"hyphen,omitempty"`
}

// Part is the box of the characters [start, end) of a line, which lie in it,
// taking them to be equally wide. The last one's box holds the hyphen behind it.
func (l Line) Part(start, end int) Box {
	count := l.End - l.Start
	if l.Hyphen {
		count++
	}
	box := l.Box
	width := (box.X2 - box.X1) / float64(max(count, 1))
	box.X1 = l.Box.X1 + width*float64(start-l.Start)
	if end < l.End {
		box.X2 = l.Box.X1 + width*float64(end-l.Start)
	}
	return box
}

// PageSize is the displayed size of a page in PDF points.
type PageSize struct {
	Page   int     `json:"page_number"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// BlockKind is the role of a block in a document.
type BlockKind string

// The kinds of block.
const (
	BlockTitle     BlockKind = "title" // of the document; not part of a heading path
	BlockHeading   BlockKind = "heading"
	BlockParagraph BlockKind = "paragraph"
	BlockList      BlockKind = "list"
	BlockTable     BlockKind = "table"
	BlockFigure    BlockKind = "figure"  // Text is its description or the text in it
	BlockCaption   BlockKind = "caption" // of the figure or table beside it
	BlockCode      BlockKind = "code"
	BlockHeader    BlockKind = "header"    // repeated above the text of a page
	BlockFooter    BlockKind = "footer"    // repeated below the text of a page
	BlockFurniture BlockKind = "furniture" // navigation, a cookie notice, an advertisement
)

// IsFurniture reports whether a block is not part of the document's text: a page
// header, a page footer or other furniture. The layout keeps it, and no chunk
// contains it.
func (k BlockKind) IsFurniture() bool {
	return k == BlockHeader || k == BlockFooter || k == BlockFurniture
}

// Origin is the lines of the original file in which a text stands, 1 = first. The
// zero Origin means that the format has pages, or no lines that a reader sees.
type Origin struct {
	First int `json:"first"`
	Last  int `json:"last"`
	// LineByLine means that each line of the text is the next line of the file. If
	// the text has one line more, its second line is the row of dashes of a table,
	// which the file does not have. Without LineByLine a line of the text cannot be
	// told from the others: a paragraph may have been joined from several lines.
	LineByLine bool `json:"line_by_line,omitempty"`
}

// Block is a piece of a document that belongs together, in reading order.
type Block struct {
	Kind   BlockKind `json:"kind"`
	Level  int       `json:"level,omitempty"` // of a heading, 1..6
	Text   string    `json:"text"`
	Header string    `json:"header,omitempty"` // of a table: its header (HeaderWithin MaxHeader), with which Text of the first block begins
	Lines  Lines     `json:"lines,omitempty"`  // of formats that have pages; they lie in Text, in order, without overlap
	Origin Origin    `json:"origin,omitzero"`
	Cells  []Cell    `json:"cells,omitempty"`  // of a table, by row and column
	Sheet  Sheet     `json:"sheet,omitzero"`   // of a table that is part of a spreadsheet
	Figure string    `json:"figure,omitempty"` // name of the asset that shows the block
	Time   Seconds   `json:"time,omitzero"`    // of speech and subtitles
	Speech Speech    `json:"speech,omitempty"` // its segments, where their times are known
	// Described means that a model that saw the figure wrote Text. The block and its
	// captions are a chunk of their own.
	Described bool `json:"described,omitempty"`
}

// FirstPage returns the page on which a block begins, 0 if it has no lines on pages.
func (b Block) FirstPage() int {
	if len(b.Lines) == 0 {
		return 0
	}
	return b.Lines[0].Page
}

// BoxOn returns the box around the lines of a block on a page. ok is false if there are
// none.
func (b Block) BoxOn(page int) (box Box, ok bool) {
	for _, l := range b.Lines {
		switch {
		case l.Page != page:
		case !ok:
			box, ok = l.Box, true
		default:
			box = box.Union(l.Box)
		}
	}
	return box, ok
}

// Modality is the kind of content that a text was made from.
type Modality string

// The modalities. Text has the empty one.
const (
	ModalityText  Modality = ""
	ModalityImage Modality = "image" // a picture: the text in it, or a description
	ModalityAudio Modality = "audio" // speech: its transcript
)

// Seconds is a half-open range of time in audio or video, in seconds from its
// beginning. The zero Seconds means that the text has no time.
type Seconds struct {
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// Segment is a part of a text that was spoken. Start and End are code points into the
// text that holds it (a block's, or a chunk's).
type Segment struct {
	Start, End int
	Time       Seconds
}

// Cell is one cell of a table. Row and Column count from 0 within the block.
type Cell struct {
	Row        int    `json:"row"`
	Column     int    `json:"column"`
	RowSpan    int    `json:"row_span,omitempty"`    // rows that it covers, if more than one
	ColumnSpan int    `json:"column_span,omitempty"` // columns that it covers, if more than one
	Text       string `json:"text"`
}

// Sheet is a range of cells of a spreadsheet. The lines of the block's text are
// its rows, in order. Rows[i] is the row of line i in the file, 1 = first; the row
// of dashes below a header has the number of the header.
type Sheet struct {
	Name    string `json:"name"`
	Columns int    `json:"columns"` // from column A on
	Rows    []int  `json:"rows"`
	// Exact are the stored values of numbers that are shown rounded, where they were asked for.
	Exact []Exact `json:"exact,omitempty"`
}

// Exact is a number as a spreadsheet stores it. Line and Column count from 0 within the block.
type Exact struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Value  string `json:"value"` // digits with a point
}

// Layout is what extraction makes of a file.
type Layout struct {
	MediaType string            `json:"media_type"`
	Title     string            `json:"title,omitempty"`
	Modality  Modality          `json:"modality,omitempty"` // of the whole file
	Metadata  map[string]string `json:"metadata,omitempty"` // what the file says of itself: author, created, …
	Reader    string            `json:"reader,omitempty"`   // the program that read it, where there is a choice
	Pages     []PageSize        `json:"pages,omitempty"`
	Blocks    []Block           `json:"blocks"`
	Warnings  []Warning         `json:"warnings,omitempty"` // one for each code at most
}

// BlockSeparator stands between the texts of two blocks in a document's text.
const BlockSeparator = "\n\n"
