package scrape

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// maxExcerpt bounds what a model reads of a page, in code points.
	maxExcerpt = 3000
	// maxPart bounds a part of a page that is kept or left out as a whole, in code points.
	maxPart = 600
)

// Excerpt returns the parts of a page that share most words with a query, in their order.
// A short page is returned whole.
func Excerpt(query, text string) string {
	if len(text) <= maxExcerpt {
		return text
	}
	parts := partsOf(text)
	asked := map[string]bool{}
	for _, w := range wordsOf(query) {
		asked[w] = true
	}
	order := make([]int, len(parts))
	scores := make([]float64, len(parts))
	for i, part := range parts {
		order[i] = i
		seen := map[string]bool{}
		for _, w := range wordsOf(part) {
			if asked[w] && !seen[w] {
				seen[w] = true
				scores[i]++
			}
		}
	}
	// Of equal parts the earlier counts: pages begin with what matters.
	slices.SortStableFunc(order, func(a, b int) int { return int(scores[b] - scores[a]) })
	left := maxExcerpt
	var kept []int
	for _, i := range order {
		if n := len([]rune(parts[i])); n <= left {
			left -= n
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	var b strings.Builder
	for n, i := range kept {
		switch {
		case n == 0:
		case kept[n-1] == i-1:
			b.WriteString("\n")
		default:
			b.WriteString("\n…\n")
		}
		b.WriteString(parts[i])
	}
	return b.String()
}

// partsOf cuts a text at the ends of lines, and longer lines after maxPart code points.
func partsOf(text string) []string {
	var parts []string
	for line := range strings.Lines(text) {
		runes := []rune(strings.TrimSpace(line))
		for len(runes) > maxPart {
			cut := maxPart
			for i := cut; i > maxPart/2; i-- {
				if unicode.IsSpace(runes[i]) {
					cut = i
					break
				}
			}
			parts = append(parts, strings.TrimSpace(string(runes[:cut])))
			runes = runes[cut:]
		}
		if part := strings.TrimSpace(string(runes)); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
