package chunk

import (
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// fixed cuts a document into pieces of equal size that overlap, at white space
// if there is some nearby.
func fixed(d *document, s knowledge.Splitter) []knowledge.Span {
	return windows(d.runes, knowledge.Span{Start: 0, End: len(d.runes)}, s.ChunkSize, *s.ChunkOverlap)
}

// windows cuts a span into pieces of at most size code points. Each begins
// about overlap code points before the end of the previous one.
func windows(runes []rune, within knowledge.Span, size, overlap int) []knowledge.Span {
	var spans []knowledge.Span
	for start := within.Start; start < within.End; {
		end := start + size
		if end >= within.End {
			return append(spans, knowledge.Span{Start: start, End: within.End})
		}
		end = cutBefore(runes, start+size*3/4, end)
		spans = append(spans, knowledge.Span{Start: start, End: end})
		next := end
		if overlap > 0 {
			next = max(cutAfter(runes, end-overlap, end), start+1)
		}
		start = next
	}
	return spans
}

// cutBefore returns the last position in (low, high] next to white space, or
// high.
func cutBefore(runes []rune, low, high int) int {
	for i := high; i > low; i-- {
		if unicode.IsSpace(runes[i-1]) || i < len(runes) && unicode.IsSpace(runes[i]) {
			return i
		}
	}
	return high
}

// cutAfter returns the first position in [low, high) after white space, or low.
func cutAfter(runes []rune, low, high int) int {
	for i := max(low, 1); i < high; i++ {
		if unicode.IsSpace(runes[i-1]) {
			return i
		}
	}
	return low
}
