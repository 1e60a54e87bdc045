package knowledge

import (
	"slices"
	"strconv"
	"strings"
)

// maxFound bounds a text of a file's metadata, in code points.
const maxFound = 500

// The keys of Layout.Metadata whose values are numbers or lists.
var (
	numberKeys = []string{
		"duration", "ocr_pages", "pages_not_read", "pages_not_transcribed", "pages_transcribed",
		"pictures_described", "pictures_not_described",
	}
	listKeys = []string{"keywords", "ocr_languages"}
)

// Found returns what the file says of itself and what was found out about it, as metadata
// of its document: texts, numbers (float64) and lists of texts. nil if there is nothing.
func (l Layout) Found() map[string]any {
	if len(l.Metadata) == 0 {
		return nil
	}
	found := make(map[string]any, len(l.Metadata))
	for key, text := range l.Metadata {
		found[key] = foundValue(key, text)
	}
	return found
}

func foundValue(key, text string) any {
	if slices.Contains(numberKeys, key) {
		if number, err := strconv.ParseFloat(text, 64); err == nil {
			return number
		}
	}
	if runes := []rune(text); len(runes) > maxFound {
		text = string(runes[:maxFound])
	}
	if !slices.Contains(listKeys, key) {
		return text
	}
	list := []any{}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(",;+\n", r) }) {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
