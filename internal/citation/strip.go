package citation

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var citationSpace = regexp.MustCompile(` ?(?:<citation\s+id="[^"<>]*"\s*>[^<]*</citation>|<web_citation\s+url="[^"<>]*"\s+title="[^"<>]*"\s*>[^<]*</web_citation>)`)

// Strip removes citations, so that an answer can be shown to a model again.
func Strip(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return citationSpace.ReplaceAllString(text, "")
}
