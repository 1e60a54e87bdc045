package openai

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// citationMark is a citation in the text of an answer: the place of its [n].
type citationMark struct {
	ChunkID    string // of a passage
	URL, Title string // of a web page
	Start, End int    // code points of the text without tags
}

// marker takes the tags of citations out of an answer while it streams: clients of the
// OpenAI protocol show text as it is, and get the citations as annotations. The [n]
// between the tags stays. It is used by one goroutine.
type marker struct {
	held  string // the beginning of what may become a tag
	runes int    // code points that were returned
	open  *citationMark
	marks []citationMark
}

// maxTag bounds a tag that is held back, in bytes.
const maxTag = 4 << 10

var (
	citationTag  = regexp.MustCompile(`^<(/?)(?:web_)?citation(\s[^<>]*)?>`)
	tagAttribute = regexp.MustCompile(`\s(id|url|title)="([^"]*)"`)
	tagNames     = []string{"<citation", "</citation", "<web_citation", "</web_citation"}
)

// Write returns the text of the next words, without what may belong to a tag that is not
// whole yet.
func (m *marker) Write(words string) string {
	return m.read(m.held+words, false)
}

// Close returns what was held back.
func (m *marker) Close() string { return m.read(m.held, true) }

func (m *marker) read(text string, final bool) string {
	var out strings.Builder
	m.held = ""
	for text != "" {
		at := strings.IndexByte(text, '<')
		if at != 0 {
			if at < 0 {
				at = len(text)
			}
			m.write(&out, text[:at])
			text = text[at:]
			continue
		}
		if tag := citationTag.FindStringSubmatch(text); tag != nil {
			m.tag(tag[1] != "", tag[2])
			text = text[len(tag[0]):]
			continue
		}
		if !final && mayBecomeTag(text) {
			m.held = text
			break
		}
		m.write(&out, "<")
		text = text[1:]
	}
	return out.String()
}

func (m *marker) write(out *strings.Builder, text string) {
	out.WriteString(text)
	m.runes += utf8.RuneCountInString(text)
}

// tag notes where a citation begins or ends.
func (m *marker) tag(closes bool, attributes string) {
	switch {
	case !closes:
		m.open = &citationMark{Start: m.runes}
		for _, a := range tagAttribute.FindAllStringSubmatch(attributes, -1) {
			value := html.UnescapeString(a[2])
			switch a[1] {
			case "id":
				m.open.ChunkID = value
			case "url":
				m.open.URL = value
			case "title":
				m.open.Title = value
			}
		}
	case m.open != nil:
		m.open.End = m.runes
		m.marks, m.open = append(m.marks, *m.open), nil
	}
}

// mayBecomeTag reports whether text, which begins with '<', may be the beginning of a
// citation's tag.
func mayBecomeTag(text string) bool {
	if len(text) > maxTag || strings.IndexByte(text, '>') >= 0 || strings.IndexByte(text[1:], '<') >= 0 {
		return false
	}
	for _, name := range tagNames {
		if strings.HasPrefix(name, text) || strings.HasPrefix(text, name) {
			return true
		}
	}
	return false
}
