package intake

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

// name returns the document's name as readers are shown it.
func (d Document) name() (string, error) {
	name := d.Name
	if name == "" {
		name = d.ExternalID
	}
	if name == "" && d.Content.URL != nil {
		if u, err := url.Parse(*d.Content.URL); err == nil {
			name = nameOfURL(u)
		}
	}
	if name == "" {
		name = "untitled"
	}
	return CleanName(name, "body.name")
}

// CleanName returns a document's name as it is shown: without the folders of a
// path and without control characters, those that turn the direction of text
// around included. location is where the name stands in the request.
func CleanName(name, location string) (string, error) {
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
		return "", knowledge.Invalid(location, "must name the document")
	case utf8.RuneCountInString(name) > maxName:
		return "", knowledge.Invalid(location, "must have at most %d characters", maxName)
	}
	return name, nil
}

// nameOfURL returns the last part of an address's path, or its host.
func nameOfURL(u *url.URL) string {
	if base := path.Base(u.Path); base != "." && base != "/" {
		return base
	}
	return u.Host
}
