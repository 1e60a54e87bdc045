package chunk

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// windows cuts a span into pieces of equal size that overlap, at a separator or
// white space if there is some nearby, but not inside a row that fits into a piece.
// Each piece begins about overlap code points before the end of the previous one.
func (c cutter) windows(within knowledge.Span) []knowledge.Span {
	var spans []knowledge.Span
	for start := within.Start; start < within.End; {
		end := start + c.size
		if end >= within.End {
			return append(spans, knowledge.Span{Start: start, End: within.End})
		}
		end = c.rowStart(start, c.cutBefore(start, start+c.size*3/4, end))
		spans = append(spans, knowledge.Span{Start: start, End: end})
		next := end
		if c.overlap > 0 {
			next = max(c.rowEnd(start, c.cutAfter(start, end-c.overlap, end), end), start+1)
		}
		start = next
	}
	return spans
}

// cutBefore returns the last place in (low, high] after a separator. If there is
// none, it returns the last place next to white space or after a mark that separates
// clauses in scripts without spaces, and else high or the start of its grapheme
// cluster. start is the start of a cluster before low.
func (c cutter) cutBefore(start, low, high int) int {
	for _, text := range c.separators {
		separator := []rune(text)
		for i := high; i > low && i-start >= len(separator); i-- {
			if slices.Equal(c.runes[i-len(separator):i], separator) && !c.inCluster(start, i) {
				return i
			}
		}
	}
	for i := high; i > low; i-- {
		if unicode.IsSpace(c.runes[i-1]) || i < len(c.runes) && unicode.IsSpace(c.runes[i]) || endsClause(c.runes[i-1]) && !c.inCluster(start, i) {
			return i
		}
	}
	return c.clusterStart(start, high)
}

// cutAfter returns the first place in [low, high) after white space or a clause, or
// else the first place from low on that is not inside a grapheme cluster.
func (c cutter) cutAfter(start, low, high int) int {
	for i := max(low, start+1); i < high; i++ {
		if unicode.IsSpace(c.runes[i-1]) || endsClause(c.runes[i-1]) && !c.inCluster(start, i) {
			return i
		}
	}
	for i := low; i < high; i++ {
		if !c.inCluster(start, i) {
			return i
		}
	}
	return high
}

// rowStart returns the start of the row or line of code that the place at is
// inside of, if that is after start, else at.
func (c cutter) rowStart(start, at int) int {
	b := c.rowsAt(at)
	if b == nil {
		return at
	}
	for i := at; i > max(start, b.span.Start); i-- {
		if c.runes[i-1] == '\n' {
			return i
		}
	}
	if b.span.Start > start {
		return b.span.Start
	}
	return at
}

// rowEnd returns the end of the row or line of code that the place at is inside
// of, at most end. It returns at if the row begins before start.
func (c cutter) rowEnd(start, at, end int) int {
	if first := c.rowStart(start, at); first == at {
		return at
	}
	for ; at < end; at++ {
		if c.runes[at-1] == '\n' {
			return at
		}
	}
	return end
}

// rowsAt returns the block of rows or code that has the place at within one of its
// lines, else nil.
func (c cutter) rowsAt(at int) *block {
	b := c.blockAt(at)
	if b == nil || !isRows(b.kind) || at == b.span.Start || c.runes[at] == '\n' {
		return nil
	}
	return b
}

// clauseEnds are marks after which a text without spaces may be cut.
const clauseEnds = "、。，！？；：」』）】》〉"

func endsClause(r rune) bool { return r >= '、' && strings.ContainsRune(clauseEnds, r) }
