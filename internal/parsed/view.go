package parsed

import "github.com/cairn-rag/cairn/internal/knowledge"

// Content is a document as it was read, in reading order.
type Content struct {
	DocumentID string               `json:"document_id"`
	Version    int                  `json:"version"`
	MediaType  string               `json:"media_type"`
	Title      string               `json:"title,omitempty"`
	Metadata   map[string]any       `json:"metadata,omitempty" doc:"What the file says of itself"`
	Pages      []knowledge.PageSize `json:"pages,omitempty"`
	Warnings   []knowledge.Warning  `json:"warnings,omitempty" doc:"What was read with doubt"`
	Blocks     []Block              `json:"blocks"`
}

// Block is a heading, a paragraph, a table or another piece of a document.
type Block struct {
	Kind  knowledge.BlockKind `json:"kind" enum:"title,heading,paragraph,list,table,figure,caption,code,header,footer,furniture" doc:"header, footer and furniture are not part of the text of the document"`
	Level int                 `json:"level,omitempty" doc:"Of a heading, 1 to 6"`
	Text  string              `json:"text" doc:"A table is in Markdown"`
	Page  int                 `json:"page,omitempty" doc:"The page on which the block begins, 1 = first"`
	Box   *knowledge.Box      `json:"box,omitempty" doc:"[x1,y1,x2,y2] on that page, in PDF points from the top left"`
	Lines []knowledge.Line    `json:"lines,omitempty" doc:"The lines of the block on their pages. start and end are code points in text"`
	// Header repeats the columns of a table that is cut into several blocks.
	Header string             `json:"header,omitempty" doc:"Of a table: the names of its columns, in Markdown"`
	Cells  []knowledge.Cell   `json:"cells,omitempty" doc:"Of a table: its cells by row and column, 0 = first"`
	Sheet  string             `json:"sheet,omitempty" doc:"Of a table of a spreadsheet: the name of the sheet"`
	Origin *knowledge.Origin  `json:"origin,omitempty" doc:"Of a text: its lines in the file, 1 = first"`
	Time   *knowledge.Seconds `json:"time,omitempty" doc:"Of speech and subtitles, in seconds"`
}

// NewContent returns the view of a layout.
func NewContent(v knowledge.VersionRef, layout knowledge.Layout) Content {
	d := Content{
		DocumentID: v.Document, Version: v.Version, MediaType: layout.MediaType, Title: layout.Title,
		Metadata: layout.Found(), Pages: layout.Pages, Warnings: layout.Warnings, Blocks: make([]Block, len(layout.Blocks)),
	}
	for i, b := range layout.Blocks {
		d.Blocks[i] = newBlock(b)
	}
	return d
}

func newBlock(b knowledge.Block) Block {
	out := Block{Kind: b.Kind, Level: b.Level, Text: b.Text, Lines: b.Lines, Header: b.Header, Cells: b.Cells, Sheet: b.Sheet.Name}
	if box, ok := b.BoxOn(b.FirstPage()); ok {
		out.Page, out.Box = b.FirstPage(), &box
	}
	if b.Origin != (knowledge.Origin{}) {
		out.Origin = &b.Origin
	}
	if b.Time != (knowledge.Seconds{}) {
		out.Time = &b.Time
	}
	return out
}
