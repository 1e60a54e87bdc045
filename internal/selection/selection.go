package selection

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// The limits of a request.
const (
	maxPatterns = 200
	maxPattern  = 1024 // bytes
)

// Fields returns what is wrong with the patterns, the rules and the attributes of a
// request.
func Fields(r store.ImportRequest) []knowledge.Field {
	var rules []string
	wrong := knowledge.TagFields("body.tags", r.Tags)
	wrong = append(wrong, knowledge.MetadataFields("body.metadata", r.Metadata)...)
	for i, rule := range r.Rules {
		location := fmt.Sprintf("body.rules[%d]", i)
		rules = append(rules, rule.Match)
		wrong = append(wrong, knowledge.TagFields(location+".tags", rule.Tags)...)
		wrong = append(wrong, knowledge.MetadataFields(location+".metadata", rule.Metadata)...)
	}
	wrong = append(wrong, knowledge.SubjectFields("body.subjects", r.Subjects)...)
	wrong = append(wrong, patternFields("body.include", "", r.Include)...)
	wrong = append(wrong, patternFields("body.exclude", "", r.Exclude)...)
	wrong = append(wrong, patternFields("body.rules", ".match", rules)...)
	wrong = append(wrong, knowledge.Override{Parser: r.Parser}.Fields("body")...)
	if r.Access != nil {
		wrong = append(wrong, r.Access.Fields("body.access")...)
	}
	return wrong
}

func patternFields(location, field string, patterns []string) []knowledge.Field {
	if len(patterns) > maxPatterns {
		return []knowledge.Field{{Location: location, Message: fmt.Sprintf("must have at most %d patterns", maxPatterns)}}
	}
	var wrong []knowledge.Field
	for i, p := range patterns {
		if p == "" || len(p) > maxPattern || !doublestar.ValidatePattern(p) {
			wrong = append(wrong, knowledge.Field{
				Location: fmt.Sprintf("%s[%d]%s", location, i, field),
				Message:  "must be a pattern such as reports/**/*.pdf: * matches within a folder, ** across folders",
			})
		}
	}
	return wrong
}

// Selection selects and describes the objects of one import.
type Selection struct {
	request store.ImportRequest
}

// New returns the selection of a request that Fields finds nothing wrong with.
func New(r store.ImportRequest) Selection { return Selection{request: r} }

// Includes reports whether an object is imported.
func (s Selection) Includes(key string) bool {
	if len(s.request.Include) > 0 && !matchesAny(s.request.Include, key) {
		return false
	}
	return !matchesAny(s.request.Exclude, key)
}

func matchesAny(patterns []string, key string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return doublestar.MatchUnvalidated(p, key) })
}

// Attributes are what an import says of a document.
type Attributes struct {
	Name     string         `json:"name"`
	Tags     []string       `json:"tags,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Subjects []string       `json:"subjects,omitempty"` // the people whom it is about
}

// Attributes returns the attributes of an object: from the request, from each
// rule that matches, and from its description, which may be nil. Tags are added up;
// later metadata wins.
func (s Selection) Attributes(key string, d *Description) Attributes {
	a := Attributes{Name: Name(key), Tags: slices.Clone(s.request.Tags), Subjects: slices.Clone(s.request.Subjects)}
	a.add(nil, s.request.Metadata)
	for _, rule := range s.request.Rules {
		if doublestar.MatchUnvalidated(rule.Match, key) {
			a.add(rule.Tags, rule.Metadata)
		}
	}
	if d != nil {
		a.add(d.Tags, d.Metadata)
		a.Subjects = append(a.Subjects, d.Subjects...)
		if name := cleanPath(d.Name); name != "" {
			a.Name = name
		}
	}
	return a
}

// AttributesOf returns the attributes of an object, with the labels that its place gives
// it.
func (s Selection) AttributesOf(o source.Object, d *Description) Attributes {
	a := s.Attributes(o.Path(), d)
	a.add(o.Tags, nil)
	return a
}

func (a *Attributes) add(tags []string, metadata map[string]any) {
	for _, tag := range tags {
		if !slices.Contains(a.Tags, tag) {
			a.Tags = append(a.Tags, tag)
		}
	}
	if len(metadata) == 0 {
		return
	}
	if a.Metadata = maps.Clone(a.Metadata); a.Metadata == nil {
		a.Metadata = map[string]any{}
	}
	maps.Copy(a.Metadata, metadata)
}

// Check returns CodeInvalid if a document cannot have the attributes.
func (a Attributes) Check() error {
	wrong := append(knowledge.TagFields("tags", a.Tags), knowledge.MetadataFields("metadata", a.Metadata)...)
	return knowledge.InvalidFields(append(wrong, knowledge.SubjectFields("subjects", a.Subjects)...))
}

// Name returns the name of the document of an object: its path in the source, without
// what a reader must not see. Of a path that is too long, the end is kept.
func Name(key string) string {
	name := cleanPath(key)
	if runes := []rune(name); len(runes) > knowledge.MaxName {
		name = string(runes[len(runes)-knowledge.MaxName:])
	}
	if name == "" {
		return "untitled"
	}
	return name
}

// cleanPath returns a path, or the address of a page, each of whose parts is cleaned.
func cleanPath(path string) string {
	if scheme, rest, found := strings.Cut(path, "://"); found && (scheme == "http" || scheme == "https") {
		return scheme + "://" + cleanPath(rest)
	}
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part = knowledge.CleanName(part); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}
