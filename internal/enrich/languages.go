package enrich

import (
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// A text of more than sampleRunes code points is sampled in several places: one for
// each sampleRunes up to fewSamples, then one for each distantRunes up to
// manySamples. A guess takes about a microsecond for each code point of a sample.
const (
	partRunes    = 600 // of one sample
	fewSamples   = 8
	manySamples  = 64
	distantRunes = 50_000
)

// Languages are the languages of a document.
type Languages struct {
	Document string // the language of most samples, Undetermined if none has one
	mixed    bool
	found    whatlanggo.Options // allows the languages of the samples
}

// NewLanguages detects the languages of a document from samples of its text.
func NewLanguages(text string) Languages {
	l := Languages{Document: Undetermined, found: whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{}}}
	runes := utf8.RuneCountInString(text)
	if runes <= sampleRunes {
		l.Document = detectProse(text, sampleRunes, whatlanggo.Options{})
		return l
	}
	samples := min((runes+sampleRunes-1)/sampleRunes, fewSamples)
	samples = min(max(samples, runes/distantRunes), manySamples)
	times := map[string]int{}
	last := len(text) * (runes - partRunes) / runes // in bytes, so that the text is not decoded as a whole
	for i := range samples {
		part := text[boundary(text, last*i/(samples-1)):]
		code := detectProse(string(beginning(part, partRunes)), partRunes, whatlanggo.Options{})
		if code == Undetermined {
			continue
		}
		l.found.Whitelist[whatlanggo.CodeToLang(code)] = true
		if times[code]++; times[code] > times[l.Document] {
			l.Document = code
		}
	}
	l.mixed = len(times) > 1
	return l
}

// boundary returns the first place from at on where a character begins.
func boundary(text string, at int) int {
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// Of returns the language of a part of the document. It looks at the part only if
// the samples are of several languages, and chooses among those. A part whose
// language cannot be told, such as a table of names and numbers, has the document's.
func (l Languages) Of(part string) string {
	if !l.mixed {
		return l.Document
	}
	if code := detectProse(part, partRunes, l.found); code != Undetermined {
		return code
	}
	return l.Document
}
