package table

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// maxCaption bounds a line of a caption that no label marks, in code points.
	maxCaption = 120
	// maxCaptions is how many paragraphs above a table are its caption at most: its
	// subject, its unit and its period.
	maxCaptions = 3
)

// MarkCaptions makes captions of the short paragraphs right above each table that are
// no sentences: its subject, its unit or its period. The paragraph right below a
// figure may be the caption of the figure, so that it stays as it is.
func MarkCaptions(blocks []knowledge.Block) {
	var above []int // successive blocks that can be the caption of a table below them
	for i, b := range blocks {
		switch {
		case b.Kind.IsFurniture():
		case b.Kind == knowledge.BlockCaption, b.Kind == knowledge.BlockParagraph && b.Figure == "" && IsCaption(b.Text):
			above = append(above, i)
		case b.Kind == knowledge.BlockFigure:
			above = append(above[:0], i)
		case b.Kind == knowledge.BlockTable:
			mark(blocks, above)
			above = above[:0]
		default:
			above = above[:0]
		}
	}
}

// mark makes captions of the last blocks above a table.
func mark(blocks []knowledge.Block, above []int) {
	if len(above) > 0 && blocks[above[0]].Kind == knowledge.BlockFigure {
		above = above[min(2, len(above)):]
	}
	for _, i := range above[max(0, len(above)-maxCaptions):] {
		blocks[i].Kind = knowledge.BlockCaption
	}
}

// IsCaption reports whether a text that stands right above a table can be a line of
// its caption: it is short, and no line of it ends as a sentence does.
func IsCaption(text string) bool {
	if len(text) > utf8.UTFMax*maxCaption || utf8.RuneCountInString(text) > maxCaption || !strings.ContainsFunc(text, unicode.IsLetter) {
		return false
	}
	for line := range strings.Lines(text) {
		end, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(line, unicode.IsSpace))
		if strings.ContainsRune(".!?…;,。！？；、，", end) {
			return false
		}
	}
	return true
}
