package pdf

import (
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxHeading   = 200  // code points
	headingRatio = 1.12 // of the font size of the body
)

var item = regexp.MustCompile(`^(?:[•◦▪‣●○■□–—·*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S`)

// blocks groups lines into paragraphs, lists, headings and tables.
func blocks(lines []line) []knowledge.Block {
	look := typographyOf(lines)
	var out []knowledge.Block
	for start := 0; start < len(lines); {
		if rows, n := tableAt(lines[start:]); n > 0 {
			out = append(out, tableBlocks(rows)...)
			start += n
			continue
		}
		end := start + 1
		for end < len(lines) && follows(lines[end-1], lines[end]) {
			if _, n := tableAt(lines[end:]); n > 0 && !beside(lines[end-1], lines[end]) {
				break
			}
			end++
		}
		out = appendBlock(out, block(lines[start:end], look))
		start = end
	}
	return out
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
func follows(last, next line) bool {
	switch {
	case next.page != last.page:
		return alike(last, next) && !isItem(next) && continues(last, next)
	case beside(last, next):
		return true
	case !alike(last, next) || isItem(next):
		return false
	}
	a, b := last.upbox, next.upbox
	tall := math.Max(height(a), height(b))
	gap := b.Y1 - a.Y2
	return gap < .6*tall && gap > -.8*tall && overlap(a.X1, a.X2, b.X1, b.X2) > .1
}

// alike reports whether two lines have the same direction, weight and font
// size.
func alike(a, b line) bool {
	return a.turned == b.turned && a.bold == b.bold && math.Abs(a.size-b.size) <= .1*a.size
}

// continues reports whether a paragraph continues across the end of a page: its
// last line there breaks off in mid sentence.
func continues(last, next line) bool {
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(last.text, `"'”’»)]`))
	begin, _ := utf8.DecodeRuneInString(next.text)
	return next.page == last.page+1 && unicode.IsLower(begin) && !strings.ContainsRune(".!?…:", end) && len(last.text) > 20
}

func isItem(l line) bool { return item.MatchString(l.text) }

// block joins lines to one block.
func block(lines []line, look typography) knowledge.Block {
	b := knowledge.Block{Kind: knowledge.BlockParagraph}
	var text strings.Builder
	at := 0 // offset in code points
	for i, l := range lines {
		s, broken := l.text, i+1 < len(lines) && joins(l, lines[i+1])
		if broken {
			s = strings.TrimSuffix(s, "-")
		}
		if i > 0 && !joins(lines[i-1], l) && spaced(lines[i-1].text, s) {
			text.WriteByte(' ')
			at++
		}
		text.WriteString(s)
		n := utf8.RuneCountInString(s)
		b.Lines = append(b.Lines, knowledge.Line{Start: at, End: at + n, Page: l.page, Box: l.box, Hyphen: broken})
		at += n
	}
	b.Text = text.String()
	switch {
	case isItem(lines[0]) && len(lines) < 40 && lines[0].size < headingRatio*look.body && !lines[0].bold:
		b.Kind = knowledge.BlockList
	case look.isHeading(lines, b.Text):
		b.Kind = knowledge.BlockHeading
		b.Level = look.level(lines[0])
	}
	return b
}

// joins reports whether a word is hyphenated across the end of l and the start
// of next.
func joins(l, next line) bool {
	before, broken := strings.CutSuffix(l.text, "-")
	if !broken || before == "" {
		return false
	}
	end, _ := utf8.DecodeLastRuneInString(before)
	begin, _ := utf8.DecodeRuneInString(next.text)
	return unicode.IsLetter(end) && unicode.IsLower(begin)
}

// spaced reports whether a space belongs between two lines. There is none in
// scripts without spaces, and none after a hyphen that is kept.
func spaced(before, after string) bool {
	end, _ := utf8.DecodeLastRuneInString(before)
	begin, _ := utf8.DecodeRuneInString(after)
	joined := end == '-' && len(before) > 1 && unicode.IsLetter(begin) && !strings.HasSuffix(before, " -")
	return !joined && (!knowledge.Unspaced(end) || !knowledge.Unspaced(begin))
}
