package knowledge

import (
	"slices"
	"strings"
)

// Levels are the levels of classification of an instance, the lowest first. The zero value
// has the levels public, internal, confidential and restricted.
type Levels struct {
	Names []string
	// Default is the level of documents without a classification, and the clearance of
	// readers to whom nobody gave one. Defaults to internal.
	Default string
}

// defaultLevel is the level of what nobody has classified, unless the configuration names one.
const defaultLevel = "internal"

// EveryLevel is among the classifications that the highest clearance covers. It stands for
// all of them, those that are no level of the instance too.
const EveryLevel = "*"

// maxLevel bounds the name of a level, in bytes.
const maxLevel = 63

func (l Levels) names() []string {
	if len(l.Names) == 0 {
		return []string{"public", defaultLevel, "confidential", "restricted"}
	}
	return l.Names
}

// All returns the levels, the lowest first.
func (l Levels) All() []string { return slices.Clone(l.names()) }

// Base returns the level of documents without a classification, and the clearance of readers
// without one.
func (l Levels) Base() string {
	if l.Default == "" {
		return defaultLevel
	}
	return l.Default
}

// Top returns the highest level.
func (l Levels) Top() string {
	names := l.names()
	return names[len(names)-1]
}

// Has reports whether a word is a level.
func (l Levels) Has(name string) bool { return slices.Contains(l.names(), name) }

// Below reports whether level a is below level b. A word that is no level counts as the base.
func (l Levels) Below(a, b string) bool { return l.rank(a) < l.rank(b) }

func (l Levels) rank(name string) int {
	if !l.Has(name) {
		name = l.Base()
	}
	return slices.Index(l.names(), name)
}

// Covered returns the classifications of the documents that a clearance reaches: "" is among
// them if it reaches documents without one, and EveryLevel if it is the highest. A document
// whose classification is no level is reached by the highest clearance alone.
func (l Levels) Covered(clearance string) []string {
	rank := l.rank(clearance)
	var covered []string
	if l.rank(l.Base()) <= rank {
		covered = append(covered, "")
	}
	covered = append(covered, l.names()[:rank+1]...)
	if rank == len(l.names())-1 {
		covered = append(covered, EveryLevel)
	}
	return covered
}

// Fields returns what is wrong with a level that stands at location. The empty one is none.
func (l Levels) Fields(location, name string) []Field {
	if name == "" || l.Has(name) {
		return nil
	}
	return []Field{{Location: location, Message: "must be one of " + strings.Join(l.names(), ", ")}}
}

// Check returns what is wrong with the levels themselves, "" = nothing.
func (l Levels) Check() string {
	seen := map[string]bool{"": true, EveryLevel: true}
	for _, name := range l.names() {
		if seen[name] || len(name) > maxLevel || HasControl(name) {
			return "classification.levels must name different levels, the lowest first, each with at most 63 bytes"
		}
		seen[name] = true
	}
	if !l.Has(l.Base()) {
		return "classification.default is " + l.Base() + ", which is not among classification.levels: name one of them"
	}
	return ""
}
