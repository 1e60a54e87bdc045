package localmodel

import (
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// source is a passage of the prompt.
type source struct {
	number   int // number for its citation
	document string
	heading  string
	text     string
}

// maxSources is the largest number of passages that the model reads.
const maxSources = 200

// findSources returns the passages in the system and tool messages, in the
// order of their numbers. A passage is the text between <source_N document="…"
// heading="…">, where heading is optional, and </source_N>. Of two passages
// with the same number the later counts.
func findSources(messages []protocol.Message) []source {
	var found []source
	for _, m := range messages {
		if m.Role == "assistant" || m.Role == "user" {
			continue
		}
		found = appendSources(found, string(m.Content))
	}
	slices.SortStableFunc(found, func(a, b source) int { return a.number - b.number })
	unique := found[:0]
	for i, s := range found {
		if i+1 == len(found) || found[i+1].number != s.number {
			unique = append(unique, s)
		}
	}
	return unique[:min(len(unique), maxSources)]
}

const sourceMark = "<source_"

func appendSources(found []source, text string) []source {
	for {
		i := strings.Index(text, sourceMark)
		if i < 0 {
			return found
		}
		text = text[i+len(sourceMark):]
		digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
		number, err := strconv.Atoi(text[:digits])
		if err != nil {
			continue
		}
		attributes, size := readAttributes(text[digits:])
		if _, named := attributes["document"]; !named {
			continue // an example in the instructions
		}
		body, rest, closed := strings.Cut(text[digits+size:], "</source_"+text[:digits]+">")
		if !closed {
			continue // the mark is only mentioned
		}
		s := source{number: number, text: strings.TrimSpace(body)}
		s.document, s.heading = attributes["document"], attributes["heading"]
		found, text = append(found, s), rest
	}
}

// readAttributes parses name="value" pairs up to the ">" that ends a tag. It
// returns the number of bytes read, 0 if text is not the rest of a tag. A value
// may contain ">".
func readAttributes(text string) (attributes map[string]string, size int) {
	attributes = map[string]string{}
	rest := text
	for {
		rest = strings.TrimLeft(rest, " \t\n")
		if strings.HasPrefix(rest, ">") {
			return attributes, len(text) - len(rest) + 1
		}
		name, after, ok := strings.Cut(rest, `="`)
		if !ok || strings.ContainsAny(name, "<>\n\"") {
			return nil, 0
		}
		value, after, ok := strings.Cut(after, `"`)
		if !ok {
			return nil, 0
		}
		attributes[name] = html.UnescapeString(value)
		rest = after
	}
}
