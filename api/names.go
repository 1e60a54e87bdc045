package api

import (
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxName bounds the name of a document, in code points.
const maxName = 512

// cleanName gives a document's name as it is shown: without the folders that a
// path in it names and without control characters (those that turn the
// direction of text around too).
func cleanName(name, location string) (string, error) {
	if !utf8.ValidString(name) {
		return "", knowledge.Errorf(knowledge.CodeMalformed, "%s is not UTF-8", location)
	}
	name = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' || c == '\u2029' {
			return -1
		}
		return c
	}, name)
	name = strings.TrimRight(name, `/\ `)
	if cut := strings.LastIndexAny(name, `/\`); cut >= 0 {
		name = name[cut+1:]
	}
	name = strings.TrimSpace(name)
	switch {
	case name == "" || name == "." || name == "..":
		return "", invalid(location, "must name the document")
	case utf8.RuneCountInString(name) > maxName:
		return "", invalid(location, "must have at most %d characters", maxName)
	}
	return name, nil
}

// nameOfURL gives the name that an address suggests.
func nameOfURL(u *url.URL) string {
	if base := path.Base(u.Path); base != "." && base != "/" {
		return base
	}
	return u.Host
}
