package enrich

import (
	_ "embed"
	"strings"
)

// The system prompts for a model that looks at a picture.
var (
	// PicturePrompt asks for a description of a figure.
	//go:embed picture.md
	PicturePrompt string
	// PagePrompt asks for the text of a page as Markdown.
	//go:embed page.md
	PagePrompt string
)

// The limits of what a model writes about a picture, in code points.
const (
	maxPicture = 2000
	maxPage    = 60_000
)

// emptyPage is the answer of PagePrompt for a page without text.
const emptyPage = "(empty page)"

// ReadPicture returns the description of a picture in a model's answer, "" if there is
// none.
func ReadPicture(answer string) string {
	return strings.TrimSpace(bounded(strings.ToValidUTF8(answer, ""), maxPicture))
}

// ReadPage returns the Markdown of a page in a model's answer. Many models put it into a
// fence although they are asked not to.
func ReadPage(answer string) string {
	text := strings.TrimSpace(bounded(strings.ToValidUTF8(answer, ""), maxPage))
	if strings.EqualFold(text, emptyPage) {
		return ""
	}
	first, rest, _ := strings.Cut(text, "\n")
	inside, isFenced := strings.CutSuffix(strings.TrimSpace(rest), "```")
	switch strings.ToLower(first) {
	case "```", "```markdown", "```md":
		if isFenced && !strings.Contains(inside, "```") {
			return strings.TrimSpace(inside)
		}
	}
	return text
}

// bounded returns the first code points of a text.
func bounded(s string, most int) string { return string(beginning(s, most)) }
