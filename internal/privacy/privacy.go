// Package privacy finds personal data in texts: addresses of mail, numbers of phones,
// accounts, cards and persons, addresses of networks and wallets. Its recognisers are
// pure functions of the text. It neither stores nor changes anything: a caller decides
// what a finding means, and Redactor writes placeholders in the place of values.
//
// A recogniser checks the form of a value first and its checksum next. Labels near the
// value ("IBAN", "Steuer-ID", "order no.") then raise or lower its score. The names of
// entities are those of Presidio.
package privacy

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Threshold is the lowest score of a finding, from 0 to 1.
const Threshold = 0.5

// Finding is a value of personal data in a text. It does not hold the value.
type Finding struct {
	Entity string
	// Span is the place of the value, in code points.
	knowledge.Span
	Score      float64 // from Threshold to 1
	Recogniser string  // the rule that decided: checksum, pattern or context
}

// The entities that are not numbers of one country.
const (
	Email  = knowledge.PIIEmail
	Phone  = knowledge.PIIPhone
	IBAN   = knowledge.PIIIBAN
	Card   = knowledge.PIICard
	IP     = knowledge.PIIIP
	Crypto = knowledge.PIICrypto
)

// The recognisers of findings.
const (
	byChecksum = "checksum" // the value has a valid checksum
	byPattern  = "pattern"  // the value has the form of the entity
	byContext  = "context"  // a label beside the value decided
)

// match is a finding in bytes.
type match struct {
	entity     string
	start, end int
	score      float64
	recogniser string
}

// Finder finds the entities that it was made for. It may be used by several goroutines at
// the same time.
type Finder struct {
	wanted   map[string]bool // nil: all
	byLength *[maxNumber + 1][]number
	labels   labels

	none   bool                 // no entity is found by the package itself
	rules  knowledge.PIIRules   // of thresholds
	others map[string][]Finding // what other recognisers found, by text
	asked  map[string]bool      // the texts that it was asked for; nil = nobody wants to know
}

// NewFinder returns a finder of the named entities, of all if none is named.
func NewFinder(entities []string) *Finder {
	f := &Finder{labels: allLabels(), byLength: numbersByLength()}
	if len(entities) > 0 {
		f.wanted = map[string]bool{}
		for _, name := range entities {
			f.wanted[name] = true
		}
	}
	return f
}

// Find returns the values of personal data in a text, in the order of the text and
// without overlap. A value that two recognisers claim is the one with the higher score.
func (f *Finder) Find(text string) []Finding {
	if f.asked != nil {
		f.asked[text] = true
	}
	found := f.own(text)
	if others := f.others[text]; len(others) > 0 {
		return merged(found, others)
	}
	return found
}

// merged returns the findings with the highest scores, in the order of the text.
func merged(own, others []Finding) []Finding {
	all := make([]match, 0, len(own)+len(others))
	for _, f := range slices.Concat(own, others) {
		all = append(all, match{f.Entity, f.Start, f.End, f.Score, f.Recogniser})
	}
	found := make([]Finding, 0, len(all))
	for _, m := range withoutOverlap(all) {
		found = append(found, Finding{m.entity, knowledge.Span{Start: m.start, End: m.end}, m.score, m.recogniser})
	}
	return found
}

// own returns what the package itself finds.
func (f *Finder) own(text string) []Finding {
	if f.none {
		return nil
	}
	if !strings.ContainsAny(text, "@0123456789") { // every value has one of these
		return nil
	}
	d := newDocument(text, f.labels)
	found := d.mails()
	if len(d.tokens) > 0 {
		found = append(found, d.addresses()...)
		found = append(found, d.accounts()...)
		found = append(found, d.cards()...)
		found = append(found, d.wallets()...)
		found = append(found, d.nationals(f.byLength)...)
		found = append(found, d.phones(found)...)
	}
	found = slices.DeleteFunc(found, func(m match) bool { return m.score < Threshold })
	return f.inCodePoints(text, withoutOverlap(found))
}

// withoutOverlap returns the matches with the highest scores, by their place. Of two with
// the same score the longer one stays.
func withoutOverlap(found []match) []match {
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.end-b.start, a.end-a.start), cmp.Compare(a.start, b.start))
	})
	var kept []match
	for _, m := range found {
		if !slices.ContainsFunc(kept, m.overlaps) {
			kept = append(kept, m)
		}
	}
	slices.SortFunc(kept, func(a, b match) int { return cmp.Compare(a.start, b.start) })
	return kept
}

func (m match) overlaps(other match) bool { return m.start < other.end && other.start < m.end }

// inCodePoints returns the matches of wanted entities as findings. The matches are sorted
// by their place.
func (f *Finder) inCodePoints(text string, found []match) []Finding {
	var findings []Finding
	bytes, points := 0, 0
	at := func(offset int) int {
		points += utf8.RuneCountInString(text[bytes:offset])
		bytes = offset
		return points
	}
	for _, m := range found {
		if (f.wanted == nil || f.wanted[m.entity]) && m.score >= f.rules.Threshold(m.entity) {
			start := at(m.start)
			span := knowledge.Span{Start: start, End: at(m.end)}
			findings = append(findings, Finding{Entity: m.entity, Span: span, Score: min(m.score, 1), Recogniser: m.recogniser})
		}
	}
	return findings
}
