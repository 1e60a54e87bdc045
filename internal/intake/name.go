package intake

import (
	"net/url"
	"path"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// untitled is the name of a document that has no other.
const untitled = "untitled"

// name returns the document's name as readers are shown it: the one that was given,
// which is a title and keeps its slashes, else the first default that is a name.
func (d Document) name() (string, error) {
	if !utf8.ValidString(d.Name) {
		return "", knowledge.Errorf(knowledge.CodeMalformed, "body.name is not UTF-8")
	}
	switch title := knowledge.CleanTitle(d.Name); {
	case utf8.RuneCountInString(title) > knowledge.MaxName:
		return "", knowledge.Invalid("body.name", "must have at most %d characters", knowledge.MaxName)
	case title != "":
		return title, nil
	}
	for _, candidate := range d.defaultNames() {
		name := knowledge.CleanName(candidate)
		if runes := []rune(name); len(runes) > knowledge.MaxName {
			name = string(runes[:knowledge.MaxName])
		}
		if name != "" && utf8.ValidString(name) {
			return name, nil
		}
	}
	return untitled, nil
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

// CleanName returns the name of a file as it is shown: without the folders of a
// path and without control characters, those that turn the direction of text
// around included. If nothing is left, it is untitled. location is where the name stands
// in the request.
func CleanName(name, location string) (string, error) {
	if !utf8.ValidString(name) {
		return "", knowledge.Errorf(knowledge.CodeMalformed, "%s is not UTF-8", location)
	}
	name = knowledge.CleanName(name)
	switch {
	case name == "":
		return untitled, nil
	case utf8.RuneCountInString(name) > knowledge.MaxName:
		return "", knowledge.Invalid(location, "must have at most %d characters", knowledge.MaxName)
	}
	return name, nil
}
