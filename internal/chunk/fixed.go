package chunk

import (
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// fixed cuts a document into pieces of one size with an overlap, at white space
// where some is near.
func fixed(d *document, s knowledge.Splitter) []knowledge.Span {
	return windows(d.runes, knowledge.Span{Start: 0, End: len(d.runes)}, s)
}

// windows cuts a span into pieces of at most ChunkSize. Each begins about
// ChunkOverlap before the end of the one before it.
func windows(runes []rune, within knowledge.Span, s knowledge.Splitter) []knowledge.Span {
	var spans []knowledge.Span
	for start := within.Start; start < within.End; {
		end := start + s.ChunkSize
		if end >= within.End {
			return append(spans, knowledge.Span{Start: start, End: within.End})
		}
		end = cutBefore(runes, start+s.ChunkSize*3/4, end)
		spans = append(spans, knowledge.Span{Start: start, End: end})
		next := end
		if s.ChunkOverlap > 0 {
			next = max(cutAfter(runes, end-s.ChunkOverlap, end), start+1)
		}
		start = next
	}
	return spans
}

// cutBefore is the last place in (low, high] behind white space, or high.
func cutBefore(runes []rune, low, high int) int {
	for i := high; i > low; i-- {
		if unicode.IsSpace(runes[i-1]) || i < len(runes) && unicode.IsSpace(runes[i]) {
			return i
		}
	}
	return high
}

// cutAfter is the first place in [low, high) behind white space, or low.
func cutAfter(runes []rune, low, high int) int {
	for i := max(low, 1); i < high; i++ {
		if unicode.IsSpace(runes[i-1]) {
			return i
		}
	}
	return low
}
