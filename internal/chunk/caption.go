package chunk

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// caption is the text beside a table that every part of the table repeats: its subject,
// its unit, its period.
type caption struct {
	span   knowledge.Span
	text   string // as much of it as the parts repeat
	header string // of the table, in the room that the caption leaves
}

// headerFor returns the lines that a chunk which begins in the block repeats of its
// table: the caption unless it is in the chunk, and the header, with which the first
// part of a table begins.
func (b *block) headerFor(c knowledge.Chunk) string {
	text, header := "", b.header
	if b.caption != nil {
		header = b.caption.header
		if s := b.caption.span; c.Span.End <= s.Start || c.Span.Start >= s.End {
			text = b.caption.text
		}
	}
	if header == "" || knowledge.HasHeader(c.Text, header) {
		return text
	}
	if text == "" {
		return header
	}
	return text + "\n" + header
}

// joinCaptions joins each run of captions with the figure or table beside it, which is
// the figure before it, else the figure or table behind it, else the table before it.
// The caption and the header of a table together have at most so many code points.
func (d *document) joinCaptions(size int) {
	for start := 0; start < len(d.blocks); start++ {
		end := start
		for end < len(d.blocks) && d.blocks[end].kind == knowledge.BlockCaption {
			end++
		}
		if end == start {
			continue
		}
		span := spanOf(d.blocks[start:end])
		switch before, behind := d.kindAt(start-1), d.kindAt(end); {
		case before == knowledge.BlockFigure, before == knowledge.BlockTable && behind != knowledge.BlockFigure && behind != knowledge.BlockTable:
			d.join(start-1, end)
			d.captionTable(start-1, -1, span, size)
		case behind == knowledge.BlockFigure, behind == knowledge.BlockTable:
			d.join(start, end+1)
			d.captionTable(end, 1, span, size)
		}
		start = end
	}
}

// kindAt returns the kind of a block, "" if there is none with the index.
func (d *document) kindAt(i int) knowledge.BlockKind {
	if i < 0 || i >= len(d.blocks) {
		return ""
	}
	return d.blocks[i].kind
}

func (d *document) join(start, end int) {
	for i := start; i+1 < end; i++ {
		d.blocks[i].joined = true
	}
}

// captionTable adds a caption to the blocks of a table, of which the block i is the
// first one or, with a step of -1, the last one.
func (d *document) captionTable(i, step int, span knowledge.Span, size int) {
	if d.blocks[i].kind != knowledge.BlockTable {
		return
	}
	header := d.blocks[i].header
	text := strings.ReplaceAll(string(d.runes[span.Start:span.End]), knowledge.BlockSeparator, "\n")
	c := &caption{span: span, text: d.limit.first(first(text, size/captionShare), 2*headerShare)}
	for room := size; ; room /= 2 {
		c.header = knowledge.HeaderWithin(header, room-len([]rune(c.text))-1)
		if d.limit.holds(c.text+"\n"+c.header, headerShare) {
			break
		}
	}
	for ; d.kindAt(i) == knowledge.BlockTable && d.blocks[i].header == header; i += step {
		if d.blocks[i].caption == nil {
			d.blocks[i].caption = c
		}
	}
}
