package layout

import (
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

var item = regexp.MustCompile(`^(?:[•◦▪‣●○■□–—·*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S`)

// blocks groups lines into paragraphs, lists, headings, captions and tables.
func blocks(lines []Line) []knowledge.Block {
	look := typographyOf(lines)
	levels := levels{look: look}
	tables := tables{lines: lines}
	var out []knowledge.Block
	for start := 0; start < len(lines); {
		if n := groupAt(lines[start:]); n > 0 {
			out = append(out, groupBlock(lines[start:start+n]))
			start += n
			continue
		}
		if rows, n := tables.at(start); n > 0 {
			out = append(out, tableBlocks(rows)...)
			start += n
			continue
		}
		end := start + 1
		for end < len(lines) && follows(lines[end-1], lines[end]) {
			if _, n := tables.at(end); n > 0 && !Beside(lines[end-1], lines[end]) {
				break
			}
			end++
		}
		caption := end // the first line of the caption of a table below
		if tables.below(end) {
			caption -= captionLines(lines[start:end])
		}
		b := block(lines[start:caption], look)
		levels.set(&b, lines[start])
		levels.add(len(out), b, lines[start])
		out = appendBlock(out, b)
		if caption < end {
			b := joined(lines[caption:end])
			b.Kind = knowledge.BlockCaption
			out = append(out, b)
		}
		start = end
	}
	levels.settle(out)
	return out
}

// groupAt returns the number of lines of the group that begins with a line, 0 if none does.
func groupAt(lines []Line) int {
	n := 0
	for n < len(lines) && lines[n].group != (group{}) && lines[n].group == lines[0].group {
		n++
	}
	return n
}

// groupBlock returns the block of a group.
func groupBlock(lines []Line) knowledge.Block {
	if lines[0].Role.Kind == knowledge.BlockCode {
		return codeBlock(lines)
	}
	return contentsBlock(lines)
}

// appendBlock adds a block. Consecutive list blocks become one list.
func appendBlock(out []knowledge.Block, b knowledge.Block) []knowledge.Block {
	if len(out) == 0 || b.Kind != knowledge.BlockList || out[len(out)-1].Kind != knowledge.BlockList {
		return append(out, b)
	}
	last := &out[len(out)-1]
	offset := utf8.RuneCountInString(last.Text) + 1
	last.Text += "\n" + b.Text
	for _, l := range b.Lines {
		l.Start += offset
		l.End += offset
		last.Lines = append(last.Lines, l)
	}
	return out
}

// follows reports whether next continues the block that last is in.
func follows(last, next Line) bool {
	switch {
	case last.group != next.group:
		return false
	case last.heading.mark > 0 || next.heading.mark > 0:
		return last.heading == next.heading
	case last.Role.Kind != next.Role.Kind || last.Role.Table != next.Role.Table:
		return false
	case last.Role.Element != next.Role.Element && last.Page == next.Page:
		return false
	case last.Page == next.Page && (headsParagraph(last, next) || beginsHeading(last, next)):
		return false
	case last.Role.Element != 0 && last.Role.Element == next.Role.Element:
		return true
	case last.Role.Paragraph != 0 && last.Role.Paragraph == next.Role.Paragraph:
		return true
	case next.Page != last.Page:
		return alike(last, next) && !beginsItem(last, next) && next.Page == last.Page+1 && continues(last, next)
	case Beside(last, next):
		return true
	case !alike(last, next) || beginsItem(last, next):
		return false
	case continuesInColumn(last.upbox, next.upbox):
		return continues(last, next)
	}
	a, b := last.upbox, next.upbox
	tall := math.Max(height(a), height(b))
	gap := b.Y1 - a.Y2
	return gap < .6*tall && gap > -.8*tall && Overlap(a.X1, a.X2, b.X1, b.X2) > .1
}

// headsParagraph reports whether a line in bold stands above a paragraph that is not, as
// its heading, although the file may state one paragraph.
func headsParagraph(last, next Line) bool {
	if !last.Bold || next.Bold || Beside(last, next) || last.Turned != next.Turned || last.Role.Kind != "" {
		return false
	}
	end, _ := utf8.DecodeLastRuneInString(last.Text)
	begin, _ := utf8.DecodeRuneInString(next.Text)
	return !unicode.IsLower(begin) && !strings.ContainsRune(",;-–", end)
}

// beginsHeading reports whether next is a heading in bold with a label, or with a number
// below another heading or a sentence.
func beginsHeading(last, next Line) bool {
	if !next.Bold || Beside(last, next) || next.Role.Kind != "" {
		return false
	}
	if labelled.MatchString(next.Text) {
		return true
	}
	end, _ := utf8.DecodeLastRuneInString(last.Text)
	return depthOf(next.Text) > 0 && (!last.Bold || depthOf(last.Text) > 0) || !last.Bold && strings.ContainsRune(".!?:", end)
}

// alike reports whether two lines have the same direction, weight and font
// size.
func alike(a, b Line) bool {
	return a.Turned == b.Turned && a.Bold == b.Bold && (a.Size == 0 || b.Size == 0 || math.Abs(a.Size-b.Size) <= .1*a.Size)
}

// continues reports whether a paragraph continues from the end of a column or page
// to the next: its last line there breaks off in mid sentence.
func continues(last, next Line) bool {
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(last.Text, `"'”’»)]`))
	begin, _ := utf8.DecodeRuneInString(next.Text)
	return unicode.IsLower(begin) && !strings.ContainsRune(".!?…:", end) && len(last.Text) > 20
}

// IsItem reports whether a text begins with the mark of a list's item.
func IsItem(text string) bool { return item.MatchString(text) }

// beginsItem reports whether next begins an item of a list: not the number of a part
// such as SK-9, of which last has the beginning.
func beginsItem(last, next Line) bool {
	return IsItem(next.Text) && !endsInHyphen(last.Text)
}

// block joins lines to one block.
func block(lines []Line, look typography) knowledge.Block {
	b := joined(lines)
	first := lines[0]
	switch {
	case first.heading.level > 0:
		b.Kind, b.Level = knowledge.BlockHeading, first.heading.level
	case first.Role.Kind != "":
		b.Kind, b.Level = first.Role.Kind, first.Role.Level
	case IsItem(first.Text) && len(lines) < 40 && (first.Size == 0 || first.Size < headingRatio*look.body) && !first.Bold:
		b.Kind = knowledge.BlockList
	case isCaption(b.Text):
		b.Kind = knowledge.BlockCaption
	case look.isHeading(lines, b.Text):
		b.Kind, b.Level = knowledge.BlockHeading, look.level(first)
	}
	return b
}

// joined joins lines to one text. A word that is broken across two of them becomes
// one again.
func joined(lines []Line) knowledge.Block {
	b := knowledge.Block{Kind: knowledge.BlockParagraph}
	var text strings.Builder
	at := 0 // offset in code points
	for i, l := range lines {
		s, seam := l.Text, touching
		if i+1 < len(lines) {
			seam = seamOf(l, lines[i+1])
		}
		if seam == broken {
			s = trimHyphen(s)
		}
		text.WriteString(s)
		n := utf8.RuneCountInString(s)
		b.Lines = append(b.Lines, knowledge.Line{Start: at, End: at + n, Page: l.Page, Box: l.Box, Hyphen: seam == broken})
		if at += n; seam == spaced {
			text.WriteByte(' ')
			at++
		}
	}
	b.Text = text.String()
	return b
}

// maxCaption bounds a caption in code points.
const maxCaption = 400

// caption matches the label of a figure or a table with the mark behind it, without
// which a sentence such as "Table 3 shows" would be a caption.
var caption = regexp.MustCompile(`(?i)^(?:figure|fig\.?|table|tab\.?|chart|exhibit|plate|scheme|abbildung|abb\.?|tabelle|tableau|figura|tabla|图|圖|表)\s*[a-z]?\d+(?:[.\-]\d+)*[a-z]?\s*(?:[:.|–—：．]|$)`)

func isCaption(text string) bool {
	return caption.MatchString(text) && utf8.RuneCountInString(text) <= maxCaption
}
