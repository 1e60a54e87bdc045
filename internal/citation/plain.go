package citation

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Cited is a citation in the text of an answer: the place of its [n].
type Cited struct {
	ChunkID    string // of a passage
	URL, Title string // of a web page
	Start, End int    // code points of the text without tags
}

// PlainText takes the tags of citations out of an answer while it streams, for clients that
// show text as it is. The [n] between the tags stays, and the mark <source_n> of a web
// search becomes [n]. It is used by one goroutine.
type PlainText struct {
	Cited []Cited // so far

	held  string // the beginning of what may become a tag
	runes int    // code points that were returned
	open  *Cited
}

// maxHeldTag bounds a tag that is held back, in bytes.
const maxHeldTag = 4 << 10

var (
	citationTag  = regexp.MustCompile(`^<(/?)(?:web_)?citation(\s[^<>]*)?>`)
	tagAttribute = regexp.MustCompile(`\s(id|url|title)="([^"]*)"`)
	webMark      = regexp.MustCompile(`^<source_(\d{1,6})>`)
	tagNames     = []string{openTag, closeTag, openWebTag, closeWebTag, sourceTag}
)

// Write returns the text of the next words, without what may belong to a tag that is not
// whole yet.
func (m *PlainText) Write(words string) string {
	return m.read(m.held+words, false)
}

// Holds reports whether words are held back.
func (m *PlainText) Holds() bool { return m.held != "" }

// Close returns what was held back.
func (m *PlainText) Close() string { return m.read(m.held, true) }

func (m *PlainText) read(text string, final bool) string {
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
		if mark := webMark.FindStringSubmatch(text); mark != nil {
			m.write(&out, "["+mark[1]+"]")
			text = text[len(mark[0]):]
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

func (m *PlainText) write(out *strings.Builder, text string) {
	out.WriteString(text)
	m.runes += utf8.RuneCountInString(text)
}

// tag notes where a citation begins or ends.
func (m *PlainText) tag(closes bool, attributes string) {
	switch {
	case !closes:
		m.open = &Cited{Start: m.runes}
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
		m.Cited, m.open = append(m.Cited, *m.open), nil
	}
}

// mayBecomeTag reports whether text, which begins with '<', may be the beginning of a
// citation's tag.
func mayBecomeTag(text string) bool {
	if len(text) > maxHeldTag || strings.IndexByte(text, '>') >= 0 || strings.IndexByte(text[1:], '<') >= 0 {
		return false
	}
	for _, name := range tagNames {
		if strings.HasPrefix(name, text) || strings.HasPrefix(text, name) {
			return true
		}
	}
	return false
}
