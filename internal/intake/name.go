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

// name returns the document's name as readers are shown it: the one that was
// given, else the first default that is a name.
func (d Document) name() (string, error) {
	if d.Name != "" {
		return CleanName(d.Name, "body.name")
	}
	for _, candidate := range d.defaultNames() {
		name := clean(candidate)
		if runes := []rune(name); len(runes) > maxName {
			name = string(runes[:maxName])
		}
		if name != "" && utf8.ValidString(name) {
			return name, nil
		}
	}
	return "untitled", nil
}

// defaultNames returns what may stand in for a name, best first.
func (d Document) defaultNames() []string {
	if d.Content.URL == nil {
		return []string{d.ExternalID}
	}
	u, err := url.Parse(*d.Content.URL)
	if err != nil {
		return []string{d.ExternalID}
	}
	return []string{path.Base(u.Path), d.ExternalID, u.Host}
}

// CleanName returns a document's name as it is shown: without the folders of a
// path and without control characters, those that turn the direction of text
// around included. location is where the name stands in the request.
func CleanName(name, location string) (string, error) {
	if !utf8.ValidString(name) {
		return "", knowledge.Errorf(knowledge.CodeMalformed, "%s is not UTF-8", location)
	}
	name = clean(name)
	switch {
	case name == "":
		return "", knowledge.Invalid(location, "must name the document")
	case utf8.RuneCountInString(name) > maxName:
		return "", knowledge.Invalid(location, "must have at most %d characters", maxName)
	}
	return name, nil
}

// clean returns a name without folders and control characters, "" if nothing
// that could be a name is left.
func clean(name string) string {
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
	if name = strings.TrimSpace(name); name == "." || name == ".." {
		return ""
	}
	return name
}
