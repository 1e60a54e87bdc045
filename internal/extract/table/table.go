// Package table reads delimited text: TSV, and CSV with comma, semicolon, tab or
// bar.
package table

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const bytesPerBlock = 4000

// Read returns the table blocks of delimited text: one line per row, with its
// cells joined by knowledge.CellSeparator. Rows before the header row become a
// paragraph. comma is the delimiter; with 0 Read detects it.
func Read(s string, comma rune) []knowledge.Block {
	if rest, found := strings.CutPrefix(s, "sep="); found && len(rest) > 1 && (rest[1] == '\n' || rest[1] == '\r') {
		comma, s = rune(rest[0]), rest[1:] // Excel declares the delimiter in this way
	}
	if comma == 0 {
		comma = delimiter(s)
	}
	rows := parse(s, comma)
	header := headerRow(rows)
	var blocks []knowledge.Block
	if header > 0 {
		blocks = append(blocks, knowledge.Block{Kind: knowledge.BlockParagraph, Text: join(rows[:header]), Origin: originOf(rows[:header])})
	}
	if header < 0 {
		return append(blocks, tableBlocks(rows, "")...)
	}
	return append(blocks, tableBlocks(rows[header:], knowledge.HeaderWithin(line(rows[header].cells), knowledge.MaxHeader))...)
}

func tableBlocks(rows []row, header string) []knowledge.Block {
	var blocks []knowledge.Block
	for len(rows) > 0 {
		n, size := 0, 0
		for n < len(rows) && n < knowledge.RowsPerBlock && (n == 0 || size < bytesPerBlock) {
			size += len(line(rows[n].cells)) + 1
			n++
		}
		blocks = append(blocks, knowledge.Block{Kind: knowledge.BlockTable, Text: join(rows[:n]), Header: header, Origin: originOf(rows[:n])})
		rows = rows[n:]
	}
	return blocks
}

// originOf returns the lines of successive rows. Where each row is on a line of
// its own, and no line between them is blank, the block follows the file line by line.
func originOf(rows []row) knowledge.Origin {
	o := knowledge.Origin{First: rows[0].origin.First, Last: rows[len(rows)-1].origin.Last}
	o.LineByLine = o.Last-o.First+1 == len(rows)
	return o
}

func join(rows []row) string {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line(r.cells))
	}
	return b.String()
}

// line joins the cells of a row without the empty ones at its end.
func line(cells []string) string {
	for len(cells) > 1 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	return strings.Join(cells, knowledge.CellSeparator)
}
