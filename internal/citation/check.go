package citation

import (
	"html"
	"regexp"
	"slices"
)

var (
	cited    = regexp.MustCompile(`<citation\s+id="([^"<>]*)"\s*>|<web_citation\s+url="([^"<>]*)"\s+title="[^"<>]*"\s*>`)
	anyCited = regexp.MustCompile(`<(?:web_)?citation[\s>]`)
)

// Unresolved returns the citations of a text that name none of the passages, by their
// chunk or their address, and those that name nothing.
func Unresolved(text string, contexts []Context) []string {
	var wrong []string
	for _, c := range cited.FindAllStringSubmatch(text, -1) {
		id, address := c[1], html.UnescapeString(c[2])
		if !slices.ContainsFunc(contexts, func(p Context) bool {
			return id != "" && p.URL == "" && p.ChunkID == id || address != "" && p.URL == address
		}) {
			wrong = append(wrong, c[0])
		}
	}
	return append(wrong, anyCited.FindAllString(cited.ReplaceAllString(text, ""), -1)...)
}
