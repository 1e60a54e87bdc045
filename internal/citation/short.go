package citation

import (
	"regexp"
	"unicode"
	"unicode/utf8"
)

// shortTags begin marks of other markup: <cite>1</cite>, <ref>[1]</ref>, <sup>1</sup> and
// <source id="1">.
var shortTags = []string{"<cite>", "<ref>", "<sup>", "<source "}

var (
	shortMark = regexp.MustCompile(`(?i)^(?:<(?:cite|ref|sup)>\s*\[?\s*(` + numbers + `)\s*\]?\s*</(?:cite|ref|sup)>|<source\s+(?:id|index)\s*=\s*["']?(\d{1,6})["']?\s*/?>(?:\s*</source>)?)`)
	shortPart = regexp.MustCompile(`(?i)^<(?:(?:cite|ref|sup)>[^<\n]{0,40}(?:</?[a-z]{0,4}>?)?|source\s+(?:i(?:d|nd?|nde|ndex)?(?:\s*=\s*["']?\d{0,6}["']?\s*/?(?:>\s*(?:</?[a-z]{0,6})?)?)?)?)$`)
)

// isShort reports whether a text begins with a mark of other markup. A raised number behind a word
// or a number is an exponent.
func (r *Rewriter) isShort(text string) bool {
	for _, tag := range shortTags {
		if !hasPrefix(text, tag) {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(r.written)
		return tag != "<sup>" || r.spaced || r.written == "" || !unicode.IsLetter(last) && !unicode.IsNumber(last)
	}
	return false
}

// short reads a mark of other markup, which stays as it is if it names no passage.
func (r *Rewriter) short(v view) mark {
	m := shortMark.FindStringSubmatch(v.text)
	switch {
	case r.tags || r.code.open():
		return mark{}
	case !v.final && shortPart.MatchString(v.text):
		return mark{wait: true} // an end tag may follow
	case m == nil:
		return mark{}
	}
	cited := ranksOf(m[1] + m[2]) // one of them is not empty
	for _, rank := range cited {
		if _, known := r.byRank[rank]; !known {
			return mark{}
		}
	}
	return mark{length: len(m[0]), citations: r.citeAll(cited)}
}
